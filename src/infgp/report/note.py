"""The recommendation as a note of a study, which optuna-dashboard shows on the study's first page."""

from __future__ import annotations

from typing import Any

from infgp.errors import require

#: Where infgp's part of a note begins. What the user has written before it stays; what follows is replaced.
BEGINS = "<!-- infgp -->"


def save_note(study: Any, text: str) -> None:
    """Put a text at the end of a study's note, in the place of the one that was put there before.

    Parameters
    ----------
    study : optuna.Study
    text : str
        It is shown as it is, with a fixed width.

    Raises
    ------
    MissingExtraError
        Where optuna-dashboard is not installed.

    Examples
    --------
    >>> import optuna, optuna_dashboard
    >>> study = optuna.create_study()
    >>> for words in ("use x = 1", "use x = 2"):
    ...     save_note(study, words)
    >>> print(optuna_dashboard.get_note(study))
    <!-- infgp -->
    ```
    use x = 2
    ```
    """
    dashboard = require("optuna_dashboard", "dashboard")
    own = (dashboard.get_note(study) or "").partition(BEGINS)[0].rstrip()
    shown = text.replace("```", "'''").rstrip()
    dashboard.save_note(study, f"{own}\n\n{BEGINS}\n```\n{shown}\n```".lstrip())
