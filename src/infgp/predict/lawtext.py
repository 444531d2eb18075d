"""What is shown of a reward law: a line for each point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from infgp.printing import brief, counted, html_table, noun, text_table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from infgp.core.linalg import FloatArray

#: Number of points whose law is shown.
SHOWN = 10
#: Levels of the quantiles that are shown, as probabilities.
LEVELS = (0.05, 0.5, 0.95)


class AnyLaw(Protocol):
    """What a law needs to be shown."""

    @property
    def sign(self) -> float:
        """1, or −1 for costs."""

    @property
    def mean(self) -> FloatArray:
        """Mean at each point."""

    @property
    def std(self) -> FloatArray:
        """Standard deviation at each point."""

    def quantile(self, q: ArrayLike) -> FloatArray:
        """Quantiles at each point."""

    def __len__(self) -> int: ...


class PrintedLaw:
    """The text and the HTML form of laws: mean, standard deviation and quantiles at the first ten points.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.scaling import RewardScale
    >>> from infgp.predict.law import Law
    >>> from infgp.predict.mixture import Mixture
    >>> law = Law(Mixture(np.ones((2, 1)), np.array([[0.0], [1.0]]), np.ones((2, 1))), RewardScale(5.0, 2.0))
    >>> law
    <Law of a further reward at 2 points>
    >>> print(law)
    point  mean  std  5 % below  50 % below  95 % below
    0      5     2    1.71       5           8.29
    1      7     2    3.71       7           10.29
    """

    def __repr__(self: AnyLaw) -> str:
        return f"<{_title(self)}>"

    def __str__(self: AnyLaw) -> str:
        heads, rows, rest = _cells(self)
        return "\n".join([text_table([heads, *rows]), *rest])

    def _repr_html_(self: AnyLaw) -> str:
        heads, rows, rest = _cells(self)
        return html_table(_title(self), rows, rest, heads)


def _title(law: AnyLaw) -> str:
    return f"{type(law).__name__} of a further {noun(law.sign)} at {counted(len(law), 'point')}"


def _cells(law: AnyLaw) -> tuple[list[str], list[list[str]], list[str]]:
    """Headings, a row of cells for each point that is shown, and what is said of the others."""
    heads = ["point", "mean", "std", *(f"{100.0 * q:g} % below" for q in LEVELS)]
    columns = zip(law.mean[:SHOWN], law.std[:SHOWN], *law.quantile(LEVELS)[:SHOWN].T, strict=True)
    rows = [[str(i), *(brief(float(value)) for value in row)] for i, row in enumerate(columns)]
    left = len(law) - SHOWN
    return heads, rows, [f"and {counted(left, 'further point')}"] if left > 0 else []
