"""Test functions and noises of studies: their values are those that the stored records were made with."""

import numpy as np
import pytest

from infgp.bench import runner
from infgp.bench.core import Method
from infgp.bench.tasks import families, functions, noisy, task, uneven
from infgp.bench.tasks.noisy import Problem

#: Expected reward at two points, and the optimum.
EXPECTED = {
    "ackley-small-d2": (-9.09410350604444, -9.0524094559225, 0.0),
    "ackley-nonstationary-d2": (-11.2853656922504, -8.26557560736856, 0.0),
    "rosenbrock-small-d2": (-0.283082861215285, -0.875232635985239, 0.0),
    "rosenbrock-nonstationary-d2": (-0.351292857828116, -0.79915756815877, 0.0),
    "styblinski_tang-small-d2": (-0.000237671699621043, 1.40667375397742, 1.72716557700082),
    "styblinski_tang-nonstationary-d2": (-0.416462692306729, 1.43453084724827, 1.72716557700082),
    "levy-small-d2": (-0.488123254075053, -1.08973423445291, 0.0),
    "levy-nonstationary-d2": (-0.605738588907291, -0.995014725158667, 0.0),
    "schwefel-small-d2": (-2.22943679387411, -3.08039708734232, 0.0),
    "schwefel-nonstationary-d2": (-2.76662889199631, -2.8126495106215, 0.0),
    "ackley-small-d5": (-25.907800133517, -25.7364196906193, 0.0),
    "ackley-nonstationary-d5": (-27.9589212322581, -30.313862126943, 0.0),
    "rosenbrock-small-d5": (-0.99437486245398, -2.06949943536243, 0.0),
    "rosenbrock-nonstationary-d5": (-1.07309954189129, -2.43757761605936, 0.0),
    "styblinski_tang-small-d5": (1.29396512335707, -0.548209097181336, 2.73189540112275),
    "styblinski_tang-nonstationary-d5": (1.18012415206487, -1.1316037459555, 2.73189540112275),
    "levy-small-d5": (-1.33585023345478, -3.47066141636904, 0.0),
    "levy-nonstationary-d5": (-1.44160952542387, -4.08794824337822, 0.0),
    "schwefel-small-d5": (-4.78960674000783, -5.39608315290816, 0.0),
    "schwefel-nonstationary-d5": (-5.16880000954341, -6.35582270918592, 0.0),
}
#: Two rewards of levy-NOISE-d2 at one point.
REWARDS = {
    "gaussian": (-0.624514526767831, -0.234355788407264),
    "student_t2": (-0.585776976487281, -0.41219117504675),
    "cauchy": (-0.567586161874637, -0.235850981391018),
    "weibull": (-1.18586041264546, -0.998134893424422),
    "outliers": (-0.624514526767831, -0.410320453848942),
    "heteroscedastic": (-0.808237040435726, -0.14496718522276),
    "small": (-0.41454593971881, -0.336514192046696),
    "nonstationary": (-0.461077901229671, -0.383046153557557),
    "nonstationary_outliers": (-0.671046488278692, -0.456852415359802),
}
#: First input, sum of the rewards, one held-out reward, its truth, and the scale of the noise.
SAMPLES = {
    "gaussian": (0.577669601871791, 2.34929914661145, -0.521430014099253, -0.462435255848354, 0.0999853082712607),
    "student_t2": (0.677212234572465, 0.705316219828375, -0.48405899329881, -0.659123012794655, 0.132836171843497),
    "cauchy": (0.615718321991007, 4.15499521958229, -1.03394633767888, -0.583950468022265, 0.180137093258623),
    "weibull_0.3": (0.755945119805549, 30.1380375737659, -0.446609894668993, -0.417150715265689, 0.376280871009151),
    "outliers_5%": (0.861680008853671, 19.492959409198, 1.15407096966111, 1.28381789946752, 0.107643788726481),
    "bimodal": (0.601164069875624, -0.925994409242119, -0.0337703745627408, -0.926943075901897, 1.04676547393742),
    "heteroscedastic": (
        0.0218482727004092,
        0.0884934541712602,
        -0.8575797502877,
        -0.772057013589317,
        0.248176885627773,
    ),
    "nonstationary": (0.962378649887337, 8.88784510636407, 0.583704258850296, 0.629066316033374, 0.100054726918946),
}
#: Sum of the rewards, one held-out truth, its reward.
UNEVEN = {
    "halves": (32.7467877877919, 1.37508414431599, 1.30781840132106),
    "step": (34.8183600336817, 0.481256452390873, 0.392133212772427),
    "needle": (-1.78173427108608, -0.252680635303248, -0.32512067599416),
    "chirp": (-8.82446461357843, -0.593194969422591, -0.579129912276139),
    "ridge": (25.248710872822, 0.323863198934553, 0.346865064269649),
    "plateau": (-1.18547248246008, -0.0, -0.0103442659961421),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_expected_rewards_are_what_they_were(name):
    problem = Problem.of(name)
    x = np.random.default_rng(7).random((2, problem.d))
    found = [*problem.expected(x), problem.optimum]
    np.testing.assert_allclose(found, EXPECTED[name], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("noise", noisy.KINDS_OF_NOISE)
def test_rewards_are_what_they_were(noise):
    made, rng = task(f"levy-{noise}-d2"), np.random.default_rng([4, 2])
    found = [made.draw(rng, np.array([0.3, 0.8])) for _ in range(2)]
    np.testing.assert_allclose(found, REWARDS[noise], rtol=1e-12)


@pytest.mark.parametrize("name", functions.LANDSCAPES)
@pytest.mark.parametrize("noise", ["small", "nonstationary"])
def test_no_point_beats_the_optimum_and_it_is_off_the_centre(name, noise, rng):
    made, landscape = task(f"{name}-{noise}-d2"), functions.LANDSCAPES[name]
    assert made.expected(rng.random((20_000, 2))).max() <= made.best
    place = (landscape.minimum - landscape.low) / (landscape.high - landscape.low)
    assert abs(place - 0.5) > 0.04
    assert made.expected(np.full((1, 2), place))[0] == pytest.approx(made.best, abs=1e-6)


def test_design_and_noise_are_those_of_the_stored_records():
    """Old records and new ones of the same seed are compared in pairs."""
    told = []

    class Still:
        def ask(self):
            return np.full(2, 0.5)

        def tell(self, x, y):
            told.append((x, y))

    made = task("ackley-outliers-d2")
    runner.run(made, Method("still", "", lambda d, seed: Still()), seed=3, steps=9, greedy=False)
    np.testing.assert_array_equal([x for x, _ in told[:6]], noisy.sobol(6, 2, 3))
    rng = np.random.default_rng([3, 2, 0, list(noisy.KINDS_OF_NOISE).index("outliers")])
    expected = [Problem.of("ackley-outliers-d2").evaluate(rng, x) for x, _ in told]
    np.testing.assert_array_equal([y for _, y in told], expected)


@pytest.mark.parametrize("family", families.FAMILIES)
def test_samples_are_what_they_were(family):
    s = families.draw(family, 2, 30, 1)
    found = (s.x[0, 0], s.y.sum(), s.y_test[3], s.truth[3], s.noise_scale)
    np.testing.assert_allclose(found, SAMPLES[family], rtol=1e-12)


@pytest.mark.parametrize("function", uneven.FUNCTIONS)
def test_uneven_samples_are_what_they_were(function):
    _, y, _, truth, y_test = uneven.sample(function, 40, 1)
    np.testing.assert_allclose((y.sum(), truth[5], y_test[5]), UNEVEN[function], rtol=1e-12)
