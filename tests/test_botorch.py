"""`InfGPModel` says what `InfiniteGP` says, with gradients, in the shapes that acquisition functions expect."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra 'botorch' is not installed")
pytest.importorskip("botorch", reason="the extra 'botorch' is not installed")

from botorch.acquisition import (  # noqa: E402
    LogExpectedImprovement,
    PosteriorMean,
    qKnowledgeGradient,
    qLogExpectedImprovement,
    qLogNoisyExpectedImprovement,
    qSimpleRegret,
    qUpperConfidenceBound,
)
from botorch.acquisition.multi_objective.parego import qLogNParEGO  # noqa: E402
from botorch.models import ModelList, SingleTaskGP  # noqa: E402
from botorch.models.transforms import Log, Normalize, Standardize  # noqa: E402
from botorch.optim import optimize_acqf  # noqa: E402
from botorch.sampling import SobolQMCNormalSampler  # noqa: E402

from infgp.botorch import InfGPModel  # noqa: E402
from infgp.errors import InvalidInputError  # noqa: E402

QUICK = {"n_warmup": 40, "n_samples": 4, "thin": 2, "random_state": 0}
#: Options of models whose posteriors are computed in different ways.
KINDS = {
    "default": {},
    "warped": {"warp": "learned"},
    "matern": {"kernel": "matern52", "regions": False},
    "rough": {"kernel": "matern32"},
    "kernel learned": {"kernel": "learned"},
    "one surface": {"surfaces": 1},
    "smooth odds": {"odds": "smooth"},
    "paper": {"odds": "constant", "regions": False, "surface_scales": "shared"},
    "truncated": {"sampler": "truncated"},
}
SQUARE = torch.tensor([[0.0, 0.0], [3.0, 1.0]], dtype=torch.float64)


def rewards(seed=0, n=30, warped=False):
    """Rewards at points of a rectangle, some gross, and some on a second surface where the first input is large."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, 2)) * (3.0, 1.0)
    y = np.sin(3.0 * x[:, 0]) + x[:, 1] + 0.1 * rng.normal(size=n) + 5.0 * (x[:, 0] > 1.5) * (rng.random(n) < 0.4)
    y[::9] += 20.0 * rng.normal(size=y[::9].size)
    y = np.exp(np.clip(y, -3.0, 6.0)) if warped else y
    return torch.as_tensor(x), torch.as_tensor(y)[:, None]


def places(*shape, seed=1):
    return SQUARE[1] * torch.as_tensor(np.random.default_rng(seed).random((*shape, 2)))


@pytest.fixture(scope="module")
def model():
    return InfGPModel(*rewards(), **QUICK)


# --- What it says ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_mean_and_variance_are_those_of_the_estimator(kind):
    own = InfGPModel(*rewards(warped=kind == "warped"), target="mean", **KINDS[kind], **QUICK)
    at = places(6)
    mean, std = own.regressor.predict(at.numpy(), return_std=True)
    further, latent = own.posterior(at, observation_noise=True), own.posterior(at)
    np.testing.assert_allclose(further.mixture_mean[:, 0], mean, rtol=1e-9)
    np.testing.assert_allclose(further.mixture_variance[:, 0].sqrt(), std, rtol=1e-5)
    assert torch.equal(latent.mean, further.mean)
    assert (latent.variance < further.variance).all()
    if kind == "warped":
        assert {state.warp for state in own.regressor._states} != {0}


def test_known_noise_enters_the_fit():
    x, y = rewards()
    own = InfGPModel(x, y, torch.full_like(y, 0.3), target="mean", **QUICK)
    mean, _ = own.regressor.predict(x.numpy(), return_std=True)
    np.testing.assert_allclose(own.posterior(x).mixture_mean[:, 0], mean, rtol=1e-9)
    assert (own.regressor._noise == 0.3).all()


def test_the_main_surface_is_that_of_the_estimator(model):
    at = places(6)
    mean, std = model.regressor.predict_main(at.numpy(), return_std=True)
    np.testing.assert_allclose(model.posterior(at).mixture_mean[:, 0], mean, rtol=1e-9)
    np.testing.assert_allclose(model.posterior(at).mixture_variance[:, 0].sqrt(), std, rtol=1e-5)


def test_without_clutter_it_is_the_search_s_sum_of_surfaces():
    """As `Optimizer(outliers="ignore")` has it: clutter and new surfaces set aside."""
    from infgp.predict.targets import TargetLaw

    at, model = places(6), InfGPModel(*rewards(), target="expected", **QUICK)
    draws, _, inputs, scale = model.regressor.posterior_draws()
    laws = [TargetLaw.of(given, "expected")(inputs.to_unit(at.numpy())) for given in draws]
    assert any(TargetLaw.of(given, "expected").weights.clutter for given in draws)
    found = model.posterior(at)
    np.testing.assert_allclose(found.mean[..., 0], scale.from_standard(np.array([m for m, _ in laws])), rtol=1e-9)
    np.testing.assert_allclose(found.variance[..., 0], scale.scale**2 * np.array([v for _, v in laws]), rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_slopes(kind):
    own = InfGPModel(*rewards(warped=kind == "warped"), target="mean", **KINDS[kind], **QUICK)

    def value(at):
        posterior = own.posterior(at, observation_noise=True)
        covariance = posterior.distribution.covariance_matrix
        return posterior.mean.sum() + posterior.variance.sqrt().sum() + covariance.sum() / unit

    at, step = places(3), 1e-6
    unit = own.regressor.posterior_draws()[3].scale
    gradient = torch.autograd.functional.jacobian(value, at)
    slopes = torch.zeros_like(at)
    for i in range(3):
        for j in range(2):
            move = torch.zeros_like(at)
            move[i, j] = step
            slopes[i, j] = (value(at + move) - value(at - move)) / (2.0 * step)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-4, atol=1e-5 * float(slopes.abs().max()))


def test_batches_are_computed_alike_alone_and_together(model, monkeypatch):
    at = places(2, 3, 4)
    together = model.posterior(at)
    assert together.mean.shape == (2, 3, 8, 4, 1)
    assert together.rsample(torch.Size([5])).shape == (5, 2, 3, 8, 4, 1)
    alone = model.posterior(at[1, 2])
    for a, b in ((together.mean[1, 2], alone.mean), (together.covariance_matrix[1, 2], alone.covariance_matrix)):
        torch.testing.assert_close(a, b)
    monkeypatch.setattr("infgp.botorch.law.CHUNK", 1)
    torch.testing.assert_close(model.posterior(at).covariance_matrix, together.covariance_matrix)
    assert model.num_outputs == 1
    assert model.batch_shape == (8,)


def test_merged_it_has_the_mixture_s_moments(model):
    at = places(3, 4)
    one, mixture = model.merged().posterior(at), model.posterior(at)
    assert one.mean.shape == (3, 4, 1)
    torch.testing.assert_close(one.mean, mixture.mixture_mean)
    gap = mixture.mean - mixture.mixture_mean.unsqueeze(1)
    within, between = mixture.covariance_matrix.mean(dim=1), (gap @ gap.transpose(-1, -2)).mean(dim=1)
    torch.testing.assert_close(one.covariance_matrix, within + between)
    noisy = [m.posterior(at, observation_noise=True) for m in (model.merged(), model)]
    torch.testing.assert_close(noisy[0].variance, noisy[1].mixture_variance)


def test_given_noise_is_added_in_place_of_the_learned(model):
    at, noise = places(3, 2), torch.full((3, 2, 1), 0.7, dtype=torch.float64)
    extra = model.posterior(at, observation_noise=noise).variance - model.posterior(at).variance
    torch.testing.assert_close(extra, torch.full_like(extra, 0.7))


def test_transforms(model):
    """A model in units of its own does not care for linear ones; what is not linear is undone."""
    x, y = rewards()
    at, scaled = places(2, 3), {"input_transform": Normalize(2, bounds=SQUARE), "outcome_transform": Standardize(1)}
    other, plain = InfGPModel(x, y, **scaled, **QUICK).posterior(at), model.posterior(at)
    torch.testing.assert_close(other.mean, plain.mean, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(other.variance, plain.variance, rtol=1e-4, atol=1e-5)
    logs = InfGPModel(x, y.exp(), outcome_transform=Log(), **QUICK).posterior(at)
    sampler = SobolQMCNormalSampler(torch.Size([4]), seed=0)
    torch.testing.assert_close(sampler(logs), sampler(plain).exp(), rtol=1e-6, atol=1e-9)


# --- More rewards ----------------------------------------------------------------------------------------------------


def test_rewards_one_by_one_and_at_once_teach_the_same(model):
    at, x, y = places(2, 3), places(2, seed=5), torch.tensor([[1.0], [0.3]], dtype=torch.float64)
    at_once = model.condition_on_observations(x, y)
    in_turn = model.condition_on_observations(x[:1], y[:1]).condition_on_observations(x[1:], y[1:])
    for a, b in zip(at_once._extra.update(model._moments, at), in_turn._extra.update(model._moments, at), strict=True):
        torch.testing.assert_close(a, b)
    assert (at_once.posterior(at).variance < model.posterior(at).variance + 1e-12).all()
    sure = model.condition_on_observations(x, y, noise=torch.full_like(y, 1e-8)).posterior(x)
    torch.testing.assert_close(sure.mixture_mean, y, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("merged", [False, True])
def test_fantasies_keep_the_mean(model, merged):
    """Over fantasies, the mean stays what it was, and the variance before is what is left plus what they explain."""
    own = model.merged() if merged else model
    x, at = places(3, 1, seed=7), places(3, 2)
    fantasies = own.fantasize(x, SobolQMCNormalSampler(torch.Size([512]), seed=0))
    assert fantasies.batch_shape == ((512, 3) if merged else (512, 3, 8))
    after, before = fantasies.posterior(at), own.posterior(at)
    assert after.mean.shape == (512, *before.mean.shape)
    torch.testing.assert_close(after.mean.mean(dim=0), before.mean, rtol=0.01, atol=0.01)
    explained = after.mean.var(dim=0)
    torch.testing.assert_close(after.variance[0] + explained, before.variance, rtol=0.05, atol=0.01)
    assert explained.max() > 0.0


def test_refit_goes_on_with_the_chains():
    x, y = rewards(n=33)
    first = InfGPModel(x[:30], y[:30], **QUICK)
    more = first.refit(x, y, n_warmup=10)
    assert len(first.train_targets) == 30
    assert len(more.train_targets) == 33
    mean = more.regressor.predict_main(x.numpy())
    assert np.abs(mean - y[:, 0].numpy()).min() < 0.5
    assert first.regressor.get_params()["warm_start"] is False
    torch.testing.assert_close(first.refit(x, y, n_warmup=10).posterior(x).mean, more.posterior(x).mean)
    with pytest.raises(InvalidInputError, match="must begin with the 30 observations"):
        first.refit(x[1:], y[1:])


# --- In acquisition functions ----------------------------------------------------------------------------------------

ACQUISITIONS = {
    "qLogEI": lambda m, x: qLogExpectedImprovement(m, best_f=0.0),
    "qLogNEI": lambda m, x: qLogNoisyExpectedImprovement(m, X_baseline=x, prune_baseline=True),
    "qUCB": lambda m, x: qUpperConfidenceBound(m, beta=2.0),
    "qSimpleRegret": lambda m, x: qSimpleRegret(m),
    "qLogNParEGO": lambda m, x: qLogNParEGO(
        ModelList(m, InfGPModel(x, -x[:, :1], **QUICK)), X_baseline=x, prune_baseline=True
    ),
    "LogEI": lambda m, x: LogExpectedImprovement(m, best_f=0.0),
    "PosteriorMean": lambda m, x: PosteriorMean(m),
    "merged qLogNEI": lambda m, x: qLogNoisyExpectedImprovement(m.merged(), X_baseline=x, prune_baseline=True),
    "merged qKG": lambda m, x: qKnowledgeGradient(m.merged(), num_fantasies=2),
}


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_acquisition_functions_are_maximised(model, name):
    """The point found is at least as good as random ones."""
    torch.manual_seed(0)
    acquisition = ACQUISITIONS[name](model, rewards()[0])
    q = 1 if name in ("LogEI", "PosteriorMean", "merged qKG") else 2
    found, value = optimize_acqf(
        acquisition, SQUARE, q=q, num_restarts=2, raw_samples=16, sequential=False, options={"maxiter": 15}
    )
    assert found.shape == (q, 2)
    others = acquisition(places(8, acquisition.get_augmented_q_batch_size(q) if "KG" in name else q))
    assert value >= others.max() - 1e-6


def test_beside_other_models_in_a_list(model):
    x, y = rewards()
    both = ModelList(model, SingleTaskGP(x, y, input_transform=Normalize(2)))
    assert both.posterior(places(3, 2)).mean.shape == (3, 8, 2, 2)


def test_same_seed_same_posterior(model):
    at = places(3)
    assert torch.equal(InfGPModel(*rewards(), **QUICK).posterior(at).mean, model.posterior(at).mean)


@pytest.mark.filterwarnings("ignore")  # of Ax and what it imports
def test_ax_takes_it_through_its_modular_interface():
    pytest.importorskip("ax", reason="Ax is not installed")
    from ax.adapter.registry import Generators
    from ax.generation_strategy.generation_node import GenerationNode
    from ax.generation_strategy.generation_strategy import GenerationStrategy
    from ax.generation_strategy.generator_spec import GeneratorSpec
    from ax.generation_strategy.transition_criterion import MinTrials
    from ax.generators.torch.botorch_modular.surrogate import ModelConfig, SurrogateSpec
    from ax.generators.torch.botorch_modular.utils import fit_botorch_model
    from ax.service.ax_client import AxClient, ObjectiveProperties

    fit_botorch_model.register(InfGPModel)(lambda model, mll_class, mll_options=None: None)
    spec = SurrogateSpec(model_configs=[ModelConfig(botorch_model_class=InfGPModel, model_options=QUICK)])
    modular = GeneratorSpec(Generators.BOTORCH_MODULAR, generator_kwargs={"surrogate_spec": spec})
    design = GenerationNode(
        name="design",
        generator_specs=[GeneratorSpec(Generators.SOBOL, generator_kwargs={"seed": 0})],
        transition_criteria=[MinTrials(threshold=5, transition_to="search")],
    )
    strategy = GenerationStrategy(nodes=[design, GenerationNode(name="search", generator_specs=[modular])])
    client = AxClient(generation_strategy=strategy, verbose_logging=False, random_seed=0)
    inputs = [{"name": name, "type": "range", "bounds": [0.0, 1.0], "value_type": "float"} for name in "ab"]
    client.create_experiment(parameters=inputs, objectives={"y": ObjectiveProperties(minimize=False)})
    for _ in range(7):
        point, number = client.get_next_trial()
        client.complete_trial(number, raw_data={"y": (-((point["a"] - 0.3) ** 2), None)})
    assert isinstance(strategy.adapter.generator.surrogate.model, InfGPModel)


# --- What it refuses -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x, y: (x.float(), y, {}), "must be float64"),
        (lambda x, y: (x, torch.hstack((y, y)), {}), "ModelList of one InfGPModel for each"),
        (lambda x, y: (x, y, {"target": "best"}), "target='best'"),
        (lambda x, y: (x, y, {"nu": 3}), r"\['nu'\] are no options"),
    ],
)
def test_unusable_arguments(change, message):
    x, y, options = change(*rewards())
    with pytest.raises(InvalidInputError, match=message):
        InfGPModel(x, y, **options)


def test_unusable_points_and_rewards(model):
    at = places(2)
    with pytest.raises(InvalidInputError, match="has one outcome"):
        model.posterior(at, output_indices=[1])
    with pytest.raises(InvalidInputError, match=r"shape \(..., q, 2\)"):
        model.posterior(at[:, :1])
    with pytest.raises(InvalidInputError, match="one reward for each point"):
        model.condition_on_observations(at, at)
    with pytest.raises(InvalidInputError, match="must be the 8 draws"):
        model.condition_on_observations(at, at[None, :, :1].expand(3, 2, 1))
    given = model.condition_on_observations(at, at[:, :1])
    with pytest.raises(InvalidInputError, match="before it is conditioned"):
        given.merged()
    with pytest.raises(InvalidInputError, match="of all rewards"):
        given.condition_on_observations(at, at[:, :1], noise=at[:, :1])
