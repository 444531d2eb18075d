import json

import numpy as np
import pytest
from scipy import stats

from infgp.bench import runner
from infgp.bench.core import Task
from infgp.bench.theory import summary, surfaces, truncation, tvd, weights
from infgp.bench.theory.fits import fit
from infgp.bench.theory.rewards import NOISES, gaussian_gap, total_variation
from infgp.bench.theory.runs import method, truncated, untruncated
from infgp.bench.theory.store import load, measure
from infgp.core.partition import expected_surfaces

LINE = Task("line", 1, "plain", lambda x: x[:, 0], lambda rng, x: float(x[0] + 0.1 * rng.normal()), 1.0)


@pytest.mark.parametrize("shift", [0.0, 0.5, 2.0])
def test_total_variation_of_two_gaussians(shift):
    edges = np.linspace(-9.0, 11.0, 801)
    found = total_variation(stats.norm.cdf(edges), stats.norm.cdf(edges, shift))
    assert found == pytest.approx(2.0 * stats.norm.cdf(shift / 2.0) - 1.0, abs=1e-4)


def test_total_variation_sees_the_tails():
    inside = np.array([0.0])  # a single border: the half-lines are the bins
    assert total_variation(stats.norm.cdf(inside), stats.norm.cdf(inside, 50.0)) == pytest.approx(0.5)


@pytest.mark.parametrize("name", NOISES)
def test_noises_are_what_they_say(name):
    noise = NOISES[name]
    draws = noise.draw(np.random.default_rng(0), 4000)
    assert stats.kstest(draws, noise.cdf).pvalue > 1e-4
    levels = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(noise.cdf(noise.ppf(levels)), levels, atol=1e-9)
    assert abs(draws.mean()) < 5.0 * noise.sd / np.sqrt(4000)


def test_gaussians_keep_a_gap_to_all_but_the_gaussian():
    assert gaussian_gap("gaussian")[1] < 1e-6
    for name in set(NOISES) - {"gaussian"}:
        matched, best, _, _ = gaussian_gap(name)
        assert 0.05 < best <= matched


def test_a_gp_stays_at_its_gap_and_the_infinite_gp_goes_below():
    job = {"seed": 0, "reward": "bimodal", "design": "one"}
    one = fit({**job, "model": "gp"}, sizes=(60,), budget=(40, 15))["tvd"][0]
    many = fit({**job, "model": "paper"}, sizes=(60,), budget=(40, 15))["tvd"][0]
    assert one > gaussian_gap("bimodal")[1] - 0.01
    assert many < 0.5 * one


def test_urn_counts_follow_the_sum():
    found = surfaces.simulate(0, 60, 300)
    for nu in surfaces.CONCENTRATIONS:
        cell = found[str(nu)]
        gap = np.abs(np.array(cell["mean"]) - [expected_surfaces(nu, n) for n in found["n"]])
        assert (gap < 4.0 * np.array(cell["error"]) + 1e-3).all()


def test_measure_goes_on_after_a_kill(tmp_path):
    path, done = tmp_path / "x.jsonl", []

    def run(job):
        done.append(job["k"])
        return {"value": 10 * job["k"]}

    jobs = [{"k": k} for k in range(3)]
    measure(path, jobs[:2], run, print=str)
    with path.open("a") as file:
        file.write('{"k": 2, "val')  # cut off
    assert [r["value"] for r in measure(path, jobs, run, print=str)] == [0, 10, 20]
    assert done == [0, 1, 2]
    assert [r["k"] for r in load(path)] == [0, 1, 2]


@pytest.mark.parametrize("sampler", [truncated(1, 15), truncated(4, 15), untruncated(15)])
def test_runs_are_reproducible_and_free_of_failures(sampler):
    first, second = (runner.run(LINE, method("x", sampler), seed=3, steps=9) for _ in range(2))
    assert first["failures"] == []
    assert first["regret"] == second["regret"]


def test_printed_step_4a_inflates_the_concentration():
    seen = {}
    for kind, (_, moves) in weights.STEPS_4A.items():
        nu = []
        running = method("x", truncated(4, 40, moves), lambda n, belief, nu=nu: nu.append(belief.state.nu))
        assert runner.run(LINE, running, seed=0, steps=24)["failures"] == []
        seen[kind] = np.mean(nu[-5:])
    assert seen["printed"] > 3.0 * seen["mended"]


def test_extra_regret_pairs_seeds():
    records = [
        {"task": "t", "L": level, "seed": seed, "regret": value}
        for level, seed, value in ((0, 0, 1.0), (0, 1, 2.0), (4, 1, 5.0), (4, 2, 9.0))
    ]
    assert truncation.extra(records, "t", 4).tolist() == [3.0]


def test_summary_and_pictures_of_partial_records(tmp_path):
    fitted = {"seed": 0, "reward": "t3", "design": "one", "n": [10, 20], "surfaces": [1.0, 2.0], "nu": [0.5, 0.6]}
    fits = [fitted | {"model": "gp", "tvd": [0.3, 0.2]}, fitted | {"model": "paper", "tvd": [0.3, 0.1]}]
    (tmp_path / "fits.jsonl").write_text("".join(json.dumps(r) + "\n" for r in fits))
    tvd.draw(fits, tmp_path / "tvd.png")
    tvd.draw_gap(fits, tmp_path / "tvd-gap.png")
    seen = [{"n": n, "weights": [0.7, 0.2, 0.1, 0.0], "shares": [1.0, 0.0, 0.0, 0.0], "nu": 0.5} for n in (10, 20)]
    heat = [{"seed": 1, "step 4a": "mended", "regret": 3.0, "seen": seen, "failures": []}]
    weights.draw(heat, tmp_path / "weights.png")
    text = summary.write(tmp_path).read_text()
    assert "in 1 of 1 cells" in text
    assert "0.200 (1) | 0.100 (1)" in text
    assert "Not measured yet." in text  # truncation
    assert "](tvd.png)" in text
    assert "](truncation.png)" not in text


@pytest.mark.slow
@pytest.mark.parametrize("module", [tvd, surfaces, truncation, weights])
def test_commands_in_their_quick_version(module, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["x", "--quick", "--out", str(tmp_path)])
    module.main()
    assert list((tmp_path / "quick").glob("*.png"))
    for path in (tmp_path / "quick").glob("*.jsonl"):
        assert all(json.loads(line) for line in path.read_text().splitlines())
