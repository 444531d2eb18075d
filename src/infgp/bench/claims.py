"""What the paper's section 7 claims, each with a verdict that the records give.

A verdict is computed by a rule that the claim's line states: a claim that fails here may hold under choices that the
paper does not report (noise levels, domains, number of runs).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from infgp.bench.figures import ACKLEY_D5, SYNTHETIC, label, title
from infgp.bench.statistics import (
    Average,
    Comparison,
    Runs,
    compare,
    curves,
    growth,
    late_share,
    seconds,
    settled,
    without_greedy,
)

#: Verdict on a claim that the records support.
HOLDS = "reproduces"
#: Verdict on a claim that the records support in part.
PARTLY = "partly"
#: Verdict on a claim that the records contradict.
FAILS = "does not reproduce"
#: Verdict on a claim for which there are no records.
UNKNOWN = "not measured"
#: Name of the paper's own method.
PAPER = "infgp-ts-paper"
#: Names of the methods with one GP.
CLASSICAL = ("gp-ts", "gp-ei", "gp-ucb", "gp-kg")
#: Names of the methods with one GP of warped inputs.
WARPED = tuple(f"w{name}" for name in CLASSICAL)
#: Exponent of the growth of regret from which the growth counts as nearly linear.
NEARLY_LINEAR = 0.9
#: Largest share of the regret of 100 steps that may come after step 60 for a plateau; under linear growth it is 0.4.
PLATEAU = 0.15
#: The paper's times for a run, in seconds, by beginning of the task's name.
PAPER_SECONDS: dict[str, dict[str, int]] = {
    task: dict(zip((*CLASSICAL[:1], "gp-ucb", "gp-ei", "gp-kg", PAPER), row, strict=True))
    for task, row in {
        "ackley-ht": (2773, 2649, 3017, 3388, 2813),
        "ackley-ns": (2798, 2535, 3001, 3450, 2912),
        "rosenbrock-ht": (2782, 2737, 3210, 3309, 2858),
        "rosenbrock-ns": (2689, 2712, 2803, 3383, 2853),
        "stybtang-ht": (2790, 2619, 3107, 3007, 2901),
        "stybtang-ns": (2805, 2720, 3030, 3378, 3098),
        "portfolio": (3510, 3309, 3807, 3790, 3411),
        "hpo": (3337, 3300, 3492, 3703, 3502),
        "mnist": (3337, 3300, 3492, 3703, 3502),  # HPOBench, live
        "nas": (3920, 3689, 3802, 4202, 4009),
    }.items()
}


def paper_seconds(task: str, method: str) -> int | None:
    """Seconds of a run in the paper's tables: of ∞-GP-TS for infgp's default, of a GP for its warped form.

    Examples
    --------
    >>> paper_seconds("ackley-ht", "infgp"), paper_seconds("nasbench201", "wgp-ei"), paper_seconds("ackley", "gp-ei")
    (2813, 3802, None)
    """
    if task in ACKLEY_D5:
        return None
    row: dict[str, int] = next((row for name, row in PAPER_SECONDS.items() if task.startswith(name)), {})
    return row.get(PAPER if method == "infgp" else method.removeprefix("w") if method in WARPED else method)


@dataclass(frozen=True)
class Claim:
    """A claim, the verdict on it, and what the verdict rests on."""

    text: str
    verdict: str
    evidence: str


def heavy_tailed(runs: Runs) -> list[str]:
    """Tasks with heavy-tailed rewards."""
    return [task for task in runs if "-ht" in task or task.startswith("portfolio")]


def non_stationary(runs: Runs) -> list[str]:
    """Tasks with non-stationary rewards, the machine-learning tasks included."""
    return [task for task in runs if "-ns" in task or task.startswith(("hpo", "mnist", "nas"))]


def plain(runs: Runs) -> list[str]:
    """Tasks that are neither heavy-tailed nor non-stationary."""
    return [task for task in runs if task not in (*heavy_tailed(runs), *non_stationary(runs))]


def comparisons(runs: Runs, tasks: Iterable[str], a: str, others: Sequence[str]) -> list[Comparison]:
    """Method `a` against each method of `others` on some tasks, as far as there are records."""
    pairs = [
        compare(task, a, b, runs[task][a], runs[task][b])
        for task in tasks
        for b in others
        if a in runs.get(task, {}) and b in runs[task]
    ]
    return [pair for pair in pairs if pair is not None]


def better(found: Sequence[Comparison]) -> tuple[str, str]:
    """Whether the first of each pair has less regret: verdict and evidence.

    It reproduces where more than half of the comparisons are won with p < 0.05 and none is lost so; partly, where more
    are won than lost.
    """
    if not found:
        return UNKNOWN, "no runs on common seeds"
    won, lost = (sum(c.outcome == side for c in found) for side in (-1, 1))
    lower = sum(c.ratio < 1.0 for c in found)
    ratio = float(np.exp(np.mean([np.log(c.ratio) for c in found])))
    evidence = (
        f"{len(found)} comparisons on {_seeds(found)}: less regret in {lower}, with p < 0.05 in {won}; more with "
        f"p < 0.05 in {lost}; geometric mean of the ratios {ratio:.2f}"
    )
    if 2 * won > len(found) and not lost:
        return HOLDS, evidence
    return (PARTLY if won > lost else FAILS), evidence


def _seeds(found: Sequence[Comparison]) -> str:
    counts = [c.count for c in found]
    return f"{min(counts)}–{max(counts)} seeds" if min(counts) != max(counts) else f"{counts[0]} seeds"


def exponents(
    runs: Runs, tasks: Iterable[str], methods: Sequence[str], wanted: Callable[[float], bool]
) -> tuple[str, str]:
    """Whether the growth exponents of some methods are as wanted: on all tasks, on more than half (partly), or not."""
    found = {
        (task, method): growth(curves(runs[task][method]))
        for task in tasks
        for method in methods
        if method in runs.get(task, {})
    }
    found = {key: value for key, value in found.items() if np.isfinite(value.exponent)}
    if not found:
        return UNKNOWN, "no runs"
    agree = sum(wanted(value.exponent) for value in found.values())
    shown = "; ".join(f"{label(m)} on {title(t)} {v.exponent:.2f} ({v.count})" for (t, m), v in found.items())
    verdict = HOLDS if agree == len(found) else PARTLY if 2 * agree > len(found) else FAILS
    return verdict, f"growth exponent (seeds): {shown}"


def beats_on_hard_tasks(runs: Runs) -> Claim:
    """∞-GP-TS against GPs on heavy-tailed and non-stationary synthetic tasks, on the second kind warped GPs too."""
    hard = [task for task in (*SYNTHETIC, *ACKLEY_D5) if "-ht" in task or "-ns" in task]
    found = comparisons(runs, hard, PAPER, CLASSICAL)
    found += comparisons(runs, [task for task in hard if "-ns" in task], PAPER, WARPED)
    return Claim("∞-GP-TS consistently outperforms the GP baselines on HT and NS tasks", *better(found))


def plateaus(runs: Runs) -> Claim:
    """Late part of the regret on Rosenbrock and StybTang."""
    text = "∞-GP-TS nearly plateaus after 60 iterations on Rosenbrock and StybTang"
    tasks = [task for task in SYNTHETIC if task.startswith(("rosenbrock", "stybtang")) and PAPER in runs.get(task, {})]
    shares = {task: late_share(curves(runs[task][PAPER])) for task in tasks}
    own = {task: late_share(curves(without_greedy(runs[task][PAPER]))) for task in tasks}
    known = {task: share for task, share in shares.items() if share is not None}
    if not known:
        return Claim(text, UNKNOWN, "no runs of more than 60 steps")
    flat = sum(share.mean <= PLATEAU for share in known.values())
    verdict = HOLDS if flat == len(known) else PARTLY if flat else FAILS

    def shown(task: str, share: Average) -> str:
        other = own[task]
        assert other is not None
        return f"{title(task)} {share.mean:.0%} ({other.mean:.0%} without the ζ_n-greedy steps, {share.count} seeds)"

    details = "; ".join(shown(task, share) for task, share in known.items())
    return Claim(
        text, verdict, f"part of the regret after step 60, 40% under linear growth, {PLATEAU:.0%} asked: {details}"
    )


def sublinear(runs: Runs) -> Claim:
    """Growth of the regret of ∞-GP-TS on the hard synthetic tasks (Theorem 2)."""
    hard = [task for task in (*SYNTHETIC, *ACKLEY_D5) if "-ht" in task or "-ns" in task]
    verdict = exponents(runs, hard, (PAPER,), lambda exponent: exponent < NEARLY_LINEAR)
    return Claim(f"∞-GP-TS is sublinear (exponent < {NEARLY_LINEAR}) on HT and NS tasks", *verdict)


def linear_baselines(runs: Runs) -> Claim:
    """GP-EI and GP-KG on StybTang, Rosenbrock and Ackley-NS."""
    tasks = [task for task in SYNTHETIC if task.startswith(("stybtang", "rosenbrock")) or task == "ackley-ns"]
    verdict = exponents(runs, tasks, ("gp-ei", "gp-kg"), lambda exponent: exponent >= NEARLY_LINEAR)
    return Claim(
        f"GP-EI and GP-KG are nearly linear (exponent ≥ {NEARLY_LINEAR}) on StybTang, Rosenbrock and Ackley-NS",
        *verdict,
    )


def thompson_is_good(runs: Runs) -> Claim:
    """GP-TS against the other acquisitions on the same surrogate."""
    verdict = better(comparisons(runs, SYNTHETIC, "gp-ts", ("gp-ei", "gp-ucb", "gp-kg")))
    return Claim(
        "Thompson sampling generally does well among the acquisitions (GP-TS against GP-EI, -UCB, -KG)", *verdict
    )


def higher_variance(runs: Runs) -> Claim:
    """Spread over seeds of ∞-GP-TS against that of GP-EI, relative to the mean."""
    text = "the price of ∞-GP-TS is a higher variance of the regret"
    spreads = []
    for task in SYNTHETIC:
        mine = runs.get(task, {})
        if all(len(mine.get(method, {})) > 2 for method in (PAPER, "gp-ts", "gp-ei")):
            last = {method: curves(mine[method])[:, -1] for method in (PAPER, "gp-ts", "gp-ei")}
            spreads.append([float(np.std(v, ddof=1) / np.mean(v)) for v in last.values()])
    if not spreads:
        return Claim(text, UNKNOWN, "fewer than three seeds")
    mine_more = sum(row[0] > max(row[1:]) for row in spreads)
    middle = np.median(spreads, axis=0)
    verdict = HOLDS if 2 * mine_more > len(spreads) else FAILS
    evidence = (
        f"largest relative spread over seeds on {mine_more} of {len(spreads)} tasks; median {middle[0]:.2f}, GP-TS "
        f"{middle[1]:.2f}, GP-EI {middle[2]:.2f}"
    )
    return Claim(text, verdict, evidence)


def alike_on_plain(runs: Runs) -> Claim:
    """∞-GP-TS against GP-TS on plain tasks."""
    text = "on plain tasks ∞-GP-TS and GP-TS are nearly identical"
    found = comparisons(runs, ("ackley", "rosenbrock", "stybtang"), PAPER, ("gp-ts",))
    if not found:
        return Claim(text, UNKNOWN, "no runs on common seeds")
    apart = [c for c in found if c.outcome]
    shown = "; ".join(f"{title(c.task)} {c.ratio:.2f} ({c.low:.2f}–{c.high:.2f}, {c.count} seeds)" for c in found)
    within = all(0.8 <= c.ratio <= 1.25 for c in found)
    verdict = HOLDS if within and not apart else PARTLY if len(apart) < len(found) else FAILS
    return Claim(text, verdict, f"ratio of the regrets (95 % interval): {shown}")


def times(runs: Runs) -> list[Claim]:
    """Seconds of ∞-GP-TS against the seconds of the GPs."""
    rules: tuple[tuple[str, str, Callable[[float], bool]], ...] = (
        ("∞-GP-TS takes about as long as GP-EI (ratio 0.5–2)", "gp-ei", lambda ratio: 0.5 <= ratio <= 2.0),
        ("∞-GP-TS takes less time than GP-KG", "gp-kg", lambda ratio: ratio < 1.0),
        ("∞-GP-TS takes slightly longer than GP-TS (ratio 1–1.5)", "gp-ts", lambda ratio: 1.0 <= ratio <= 1.5),
        ("∞-GP-TS takes slightly longer than GP-UCB (ratio 1–1.5)", "gp-ucb", lambda ratio: 1.0 <= ratio <= 1.5),
    )
    return [Claim(text, *_time(runs, other, rule)) for text, other, rule in rules]


def _time(runs: Runs, other: str, rule: Callable[[float], bool]) -> tuple[str, str]:
    ratios = [
        seconds(mine[PAPER], "cpu_seconds") / seconds(mine[other], "cpu_seconds")
        for mine in runs.values()
        if PAPER in mine and other in mine and seconds(mine[other], "cpu_seconds") > 0.0
    ]
    if not ratios:
        return UNKNOWN, "no runs of both"
    agree = sum(map(rule, ratios))
    verdict = HOLDS if agree == len(ratios) else PARTLY if 2 * agree > len(ratios) else FAILS
    return verdict, (
        f"ratio of CPU seconds, median over {len(ratios)} tasks {np.median(ratios):.2f} "
        f"({min(ratios):.2f}–{max(ratios):.2f})"
    )


def portfolio(runs: Runs) -> list[Claim]:
    """The three claims about the portfolio task."""
    tasks = [task for task in runs if task.startswith("portfolio")]
    texts = (
        "Portfolio: ∞-GP-TS is significantly better than the others after 60 iterations",
        "Portfolio: truncated GP-UCB is better than GP-TS and GP-KG",
        "Portfolio: all methods are sublinear (exponent < 0.9)",
    )
    if not tasks:
        return [Claim(text, UNKNOWN, "no runs") for text in texts]
    late: Runs = {
        task: {
            method: {seed: {**r, "regret": r["regret"][60:]} for seed, r in mine.items() if len(r["regret"]) > 60}
            for method, mine in runs[task].items()
        }
        for task in tasks
    }
    others = [m for task in tasks for m in runs[task] if m in (*CLASSICAL, "tgp-ucb")]
    first = better(comparisons(late, tasks, PAPER, list(dict.fromkeys(others))))
    second = better(comparisons(runs, tasks, "tgp-ucb", ("gp-ts", "gp-kg")))
    third = exponents(runs, tasks, [PAPER, *CLASSICAL, "tgp-ucb"], lambda exponent: exponent < NEARLY_LINEAR)
    rule = "regret of the steps after the 60th: "
    return [Claim(texts[0], first[0], rule + first[1]), Claim(texts[1], *second), Claim(texts[2], *third)]


def machine_learning(runs: Runs) -> list[Claim]:
    """The claims about HPOBench and NAS-Bench-201."""
    tasks = [task for task in runs if task.startswith(("hpo", "mnist", "nas"))]
    straight = exponents(runs, tasks, ("wgp-ei", "wgp-kg"), lambda exponent: exponent >= NEARLY_LINEAR)
    sublinear = exponents(runs, tasks, (PAPER,), lambda exponent: exponent < NEARLY_LINEAR)
    return [
        Claim(f"HPOBench, NAS: warped GP-KG and GP-EI are nearly linear (exponent ≥ {NEARLY_LINEAR})", *straight),
        Claim(f"HPOBench, NAS: ∞-GP-TS is sublinear (exponent < {NEARLY_LINEAR})", *sublinear),
        Claim(
            "HPOBench, NAS: ∞-GP-TS has less regret than the warped GPs",
            *better(comparisons(runs, tasks, PAPER, WARPED)),
        ),
    ]


def check(runs: Runs) -> list[Claim]:
    """All claims with their verdicts, by the methods that have three seeds on a task.

    Examples
    --------
    >>> {claim.verdict for claim in check({})}
    {'not measured'}
    """
    runs = settled(runs)
    return [
        beats_on_hard_tasks(runs),
        sublinear(runs),
        plateaus(runs),
        linear_baselines(runs),
        thompson_is_good(runs),
        higher_variance(runs),
        alike_on_plain(runs),
        *times(runs),
        *portfolio(runs),
        *machine_learning(runs),
    ]
