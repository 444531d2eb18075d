import numpy as np
import pytest

from infgp.bench import claims, figures, records, tables
from infgp.bench.statistics import by_task
from infgp.errors import InvalidInputError

STEPS = 100


def record(task, method, seed, level=1.0, power=0.5, steps=STEPS, cpu=0.01):
    rng = np.random.default_rng([seed, len(task), len(method)])
    n = np.arange(1, steps + 1)
    regret = level * rng.lognormal(0.0, 0.05) * np.diff(np.concatenate(([0.0], n**power)))
    return {
        "task": task,
        "method": method,
        "seed": seed,
        "d": 2,
        "steps": steps,
        "regret": regret.tolist(),
        "seconds": [2 * cpu] * steps,
        "cpu_seconds": [cpu] * steps,
        "greedy_steps": [3],
        "failures": [],
        "versions": {},
    }


def store(folder, entries):
    for entry in entries:
        records.append(folder, entry)


def verdict(entries, part):
    return next(claim.verdict for claim in claims.check(by_task(entries)) if part in claim.text)


@pytest.fixture(scope="module")
def partial(tmp_path_factory):
    """Three tasks with missing methods and seeds, one of them unknown to the paper."""
    folder = tmp_path_factory.mktemp("records")
    entries = [record("ackley-ht", m, s) for m in ("infgp", "gp-ei", "random") for s in range(3)]
    entries += [record("ackley-ht", "pursuit", 0) | {"failures": ["step 4: ValueError: a|b"]}]
    entries += [record("portfolio", "infgp", 7) | {"recommend_regret": 0.25}]
    entries += [record("sphere", "my-method", s, steps=5) for s in range(2)]
    store(folder, entries)
    return folder


def test_figures_and_tables_of_partial_records(partial, tmp_path):
    drawn = figures.write(partial, tmp_path)
    assert [path.name for path in drawn] == ["synthetic.png", "real.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)
    written = tables.write(partial, tmp_path)
    assert partial / "summary.md" in written
    summary = (partial / "summary.md").read_text()
    assert "synthetic.png" in summary
    regret = (tmp_path / "regret.md").read_text()
    assert "(3)" in regret  # seeds behind a number
    assert "| Portfolio |  | " not in regret
    portfolio = next(line for line in regret.splitlines() if line.startswith("| Portfolio"))
    assert portfolio.count("(1)") == 1
    assert "±" not in portfolio  # one seed has no error
    assert "0.250" in (tmp_path / "recommended.md").read_text()
    assert "step 4: ValueError: a/b" in (tmp_path / "failures.md").read_text()
    assert "my-method" in summary


def test_panels_say_on_how_many_seeds_they_rest(partial):
    plt = figures.pyplot()
    _, axis = plt.subplots()
    runs = by_task(records.load(partial))
    figures.panel(axis, "ackley-ht", runs["ackley-ht"])
    assert [text.get_text() for text in axis.texts] == ["1–3 seeds"]
    assert len(axis.get_lines()) == 4
    last = next(line for line in axis.get_lines() if line.get_label() == "GP-EI").get_ydata()[-1]
    assert last == pytest.approx(np.mean([sum(r["regret"]) for r in runs["ackley-ht"]["gp-ei"].values()]))
    plt.close()


def test_one_record_is_enough(tmp_path):
    store(tmp_path, [record("hpo-segment", "infgp-ts-paper", 0)])
    assert [path.name for path in figures.write(tmp_path, tmp_path)] == ["real.png"]
    tables.write(tmp_path, tmp_path)
    assert "not measured" in (tmp_path / "claims.md").read_text()


def test_no_records_is_said(tmp_path):
    for write in (figures.write, tables.write):
        with pytest.raises(InvalidInputError, match="no records"):
            write(tmp_path, tmp_path)


def test_seconds_stand_next_to_the_papers(tmp_path):
    store(
        tmp_path,
        [record("ackley-ht", m, s, cpu=c) for m, c in (("infgp-ts-paper", 0.1), ("gp-ei", 0.02)) for s in (0, 1)],
    )
    tables.write(tmp_path, tmp_path)
    text = (tmp_path / "time.md").read_text()
    assert "20.0 (10.0); paper 2813, 1/141" in text
    assert "at most 1/20 of the paper's seconds: on 1 of 1 tasks" in text
    assert "at most 3 × the CPU seconds of GP-EI: on 0 of 1 tasks; missed on Ackley-HT (5)" in text
    assert "infgp takes at most 1/100 of the paper's seconds: not measured" in text


def test_losses_are_found_and_counted(tmp_path):
    entries = [record("ackley", m, s, level) for m, level in (("infgp", 2.0), ("gp-ei", 1.0)) for s in range(5)]
    store(tmp_path, entries)
    tables.write(tmp_path, tmp_path)
    losses = (tmp_path / "losses.md").read_text()
    assert "1 of 1 comparisons are lost" in losses
    assert "| Ackley | infgp | GP-EI |" in losses


HARD = [task for task in figures.SYNTHETIC if "-" in task]


@pytest.mark.parametrize(("mine", "theirs", "expected"), [(1.0, 2.0, claims.HOLDS), (2.0, 1.0, claims.FAILS)])
def test_beating_the_gps_flips_with_the_records(mine, theirs, expected):
    levels = {"infgp-ts-paper": mine, "gp-ts": theirs, "gp-ei": theirs}
    entries = [record(t, m, s, level) for t in HARD for m, level in levels.items() for s in range(4)]
    assert verdict(entries, "consistently outperforms") == expected


def test_beating_some_is_partly():
    entries = [record(t, "infgp-ts-paper", s) for t in HARD for s in range(4)]
    entries += [record(t, "gp-ei", s, 2.0 if "ht" in t or "ackley" in t else 0.5) for t in HARD for s in range(4)]
    assert verdict(entries, "consistently outperforms") == claims.PARTLY


@pytest.mark.parametrize(("power", "expected"), [(0.05, claims.HOLDS), (1.0, claims.FAILS)])
def test_plateau_flips_with_the_records(power, expected):
    entries = [record(t, "infgp-ts-paper", s, power=power) for t in ("rosenbrock", "stybtang-ns") for s in range(3)]
    assert verdict(entries, "plateaus") == expected
    assert verdict([r for r in entries if r["seed"] < 2], "plateaus") == claims.UNKNOWN  # too few seeds


@pytest.mark.parametrize(
    ("power", "linear", "sublinear"), [(1.0, claims.HOLDS, claims.FAILS), (0.5, claims.FAILS, claims.HOLDS)]
)
def test_growth_claims_flip_with_the_records(power, linear, sublinear):
    runs = [(t, m) for t in ("ackley-ns", "stybtang") for m in ("gp-ei", "gp-kg")]
    runs += [("nasbench201", m) for m in ("wgp-ei", "infgp-ts-paper")]
    entries = [record(t, m, s, power=power) for t, m in runs for s in range(3)]
    assert verdict(entries, "GP-EI and GP-KG are nearly linear") == linear
    assert verdict(entries, "warped GP-KG and GP-EI are nearly linear") == linear
    assert verdict(entries, "NAS: ∞-GP-TS is sublinear") == sublinear


@pytest.mark.parametrize(("level", "expected"), [(1.0, claims.HOLDS), (3.0, claims.FAILS)])
def test_alike_on_plain_flips_with_the_records(level, expected):
    entries = [record("ackley", "gp-ts", s) for s in range(4)]
    entries += [record("ackley", "infgp-ts-paper", s, level) for s in range(4)]
    # The two methods draw their own spread, so that equal levels are alike but not the same.
    assert verdict(entries, "nearly identical") == expected


@pytest.mark.parametrize(("cpu", "expected"), [(0.01, claims.HOLDS), (0.1, claims.FAILS)])
def test_time_claims_flip_with_the_records(cpu, expected):
    costs = {"infgp-ts-paper": cpu, "gp-kg": 0.05}
    entries = [record("ackley-ht", m, s, cpu=c) for m, c in costs.items() for s in range(3)]
    assert verdict(entries, "less time than GP-KG") == expected
    assert verdict(entries, "about as long as GP-EI") == claims.UNKNOWN


def test_portfolio_looks_at_the_steps_after_the_60th():
    late = {"infgp-ts-paper": 0.1, "gp-ts": 1.0, "gp-kg": 1.0, "tgp-ucb": 0.5}
    entries = []
    for method, level in late.items():
        for seed in range(5):
            entry = record("portfolio", method, seed, level)
            entry["regret"][:60] = [50.0 if method == "infgp-ts-paper" else 1.0] * 60  # poor at first
            entries.append(entry)
    assert verdict(entries, "significantly better than the others") == claims.HOLDS
    assert verdict(entries, "truncated GP-UCB is better") == claims.HOLDS
