"""One set of model options for `InfiniteGP`, `Optimizer` and `InfGPSampler`: same names, same meaning."""

from __future__ import annotations

from dataclasses import dataclass, replace

from infgp.core.kernels import KERNELS, LEARNED
from infgp.core.model import FLAT_GRADES, OWN_SCALE_SHAPE, Model
from infgp.core.odds import SMOOTH_ODDS
from infgp.core.priors import Fixed, Grid, Priors
from infgp.errors import InvalidInputError, check_choice, check_int, shown

#: Values of the option `sampler`.
SAMPLERS = ("collapsed", "truncated")
#: Number of length-scales on the grid of the truncated sampler.
GRID_SIZE = 20
#: Prior probability that a surface belongs to a place, where the option `regions` is on.
LOCAL = 0.5
#: Values of the option `surface_scales`.
SURFACE_SCALES = ("own", "shared")
#: Largest number of observations with which the posterior is drawn from exactly, by default.
EXACT_UP_TO = 1000
#: Least value of the option `exact_up_to`.
LEAST_EXACT = 20
#: Values of the option `odds`.
ODDS = ("kriged", "smooth", "constant")


def check_warp(warp: object, known: tuple[str, ...] = ("learned",)) -> None:
    """Raise unless the option `warp` is None or known."""
    if warp is not None and warp not in known:
        options = ", ".join(map(repr, known))
        raise InvalidInputError(f"warp={shown(warp)} is not known; use one of {options}, or None for no warp.")


@dataclass(frozen=True)
class ModelOptions:
    """What users choose about the model.

    Attributes
    ----------
    kernel : {"auto", "learned", "se", "matern52", "matern32"}
        Correlation of the surfaces: squared exponential, Matérn with smoothness 5/2 or 3/2, or which of the three is
        learned. "auto" is "learned", but "se" for an ordinary GP and with the truncated sampler.
    ard : bool
        A length-scale for each input, or one for all.
    surfaces : {None, 1}
        None for any number of surfaces; 1 for an ordinary GP.
    regions : bool
        Whether surfaces may belong to a place, and have length-scales of their own or be flat.
    surface_scales : {"own", "shared"}
        Whether every surface has a scale of its own that multiplies σ² and τ².
    odds : {"kriged", "smooth", "constant"}
        Whether the chances of the surfaces may change with the input: in laws of further rewards, given labels that
        were drawn with constant odds; in the labels' prior too; or not at all.
    priors : Priors or None
        None for the default of whoever asks.
    sampler : {"collapsed", "truncated"}
        How the posterior is drawn from: with the surfaces integrated out, or by the paper's blocked Gibbs sampler. The
        truncated one knows the paper's model alone: `regions`, `surface_scales` and `odds` are without effect there.
    exact_up_to : int or None
        Number of observations up to which the posterior is drawn from exactly. With more, the chain runs on half as
        many selected ones, and its states take in all others (:mod:`infgp.sample.large`). None: always exact. Without
        effect for the truncated sampler.

    Examples
    --------
    >>> ModelOptions(surfaces=1).model(2, Priors()).one_surface
    True
    """

    kernel: str = "auto"
    ard: bool = True
    surfaces: int | None = None
    regions: bool = True
    surface_scales: str = "own"
    odds: str = "kriged"
    priors: Priors | None = None
    sampler: str = "collapsed"
    exact_up_to: int | None = EXACT_UP_TO

    def check(self) -> None:
        """Raise unless every option is known."""
        check_choice("kernel", self.kernel, ("auto", LEARNED, *KERNELS))
        check_choice("surface_scales", self.surface_scales, SURFACE_SCALES)
        check_choice("odds", self.odds, ODDS)
        check_choice("sampler", self.sampler, SAMPLERS)
        if self.kernel == LEARNED and self.sampler == "truncated":
            raise InvalidInputError(
                'kernel="learned" is for sampler="collapsed"; with the truncated sampler name the kernel, or leave it '
                "out."
            )
        if self.surfaces is not None and (isinstance(self.surfaces, bool) or self.surfaces != 1):
            raise InvalidInputError(
                f"surfaces must be None (any number) or 1 (an ordinary GP), but got {self.surfaces!r}."
            )
        if self.exact_up_to is not None:
            check_int("exact_up_to", self.exact_up_to, LEAST_EXACT)
        for name in ("ard", "regions"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidInputError(f"{name} must be True or False, but got {getattr(self, name)!r}.")
        if self.priors is not None and not isinstance(self.priors, Priors):
            raise InvalidInputError(f"priors must be an infgp.Priors or None, but got {self.priors!r}.")

    def warps(self, warp: str | None) -> bool:
        """Whether a warp is learned; "auto" means yes, but not for an ordinary GP or with the truncated sampler."""
        return warp == "learned" or (warp == "auto" and self.surfaces is None and self.sampler == "collapsed")

    def model(self, d: int, priors: Priors, noise_known: bool = False, grid_size: int = GRID_SIZE) -> Model:
        """The model for d inputs.

        `priors` are used where the user gave none. Where noise variances are known, surfaces share their scales:
        a scale of its own would multiply the variances too, and they would not mean what they say. The truncated
        sampler draws one length-scale for all inputs from a grid of `grid_size`, and its prior is then that grid.
        """
        truncated = self.sampler == "truncated"
        several = self.surfaces is None
        own = several and self.surface_scales == "own" and not (noise_known or truncated)
        regions = several and self.regions and not truncated
        kernel = self.kernel
        if kernel == "auto":
            kernel = LEARNED if several and not truncated else "se"
        odds = "constant" if truncated else self.odds
        model = Model(
            kernel=kernel,
            priors=(self.priors or priors).resolve(d),
            ard=self.ard and d > 1,
            scale_shape=OWN_SCALE_SHAPE if own else 0.0,
            local=LOCAL if regions else 0.0,
            grades=FLAT_GRADES if regions else (1.0,),
            odds=SMOOTH_ODDS if several and odds == "smooth" else (1.0,),
            kriged=several and odds == "kriged",
            one_surface=not several,
        )
        lengthscale = model.priors.lengthscale
        if isinstance(lengthscale, Grid) and (model.ard or not truncated):
            raise InvalidInputError(
                "A Grid prior of the length-scale is for the isotropic kernel of the truncated sampler; set ard=False "
                'and sampler="truncated", or use LogNormal or UniformPhi.'
            )
        if truncated and not model.ard and not isinstance(lengthscale, Fixed):
            grid = Grid.of(lengthscale, d, grid_size)  # the discrete prior is the one that the sampler draws under
            model = replace(model, priors=replace(model.priors, lengthscale=grid))
        return model
