"""What the experiments on the theory found, in numbers: ``results/theory/summary.md``.

python -m infgp.bench.theory.summary
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from infgp.bench.cells import number, table
from infgp.bench.provenance import age
from infgp.bench.statistics import Average
from infgp.bench.theory.fits import DESIGNS, MODELS
from infgp.bench.theory.rewards import NOISES, gaussian_gap
from infgp.bench.theory.store import Record, load, options
from infgp.bench.theory.surfaces import CONCENTRATIONS, prior_mean
from infgp.bench.theory.truncation import LEVELS, TASKS, extra
from infgp.bench.theory.weights import STEPS_4A, STICKS
from infgp.core.partition import expected_surfaces


def shown(values: Sequence[float]) -> str:
    """Mean ± standard error (seeds)."""
    found = Average.of(values)
    return number(found.mean) + (f" ± {number(found.error)}" if found.count > 1 else "") + f" ({found.count})"


def of(records: list[Record], reward: str, design: str, model: str) -> list[Record]:
    """Fits of one cell."""
    return [r for r in records if (r["reward"], r["design"], r["model"]) == (reward, design, model)]


def distances(records: list[Record]) -> str:
    """Total variation at the largest n."""
    if not records:
        return "Not measured yet."
    n, rows, below, cells = max(records[0]["n"]), [], 0, 0
    for design, caption in DESIGNS.items():
        for reward, noise in NOISES.items():
            mine = {m: [r["tvd"][-1] for r in of(records, reward, design, m)] for m in MODELS}
            matched, best = gaussian_gap(reward)[:2]
            rows.append(
                [caption, noise.label, *(shown(v) if v else "" for v in mine.values()), number(matched), number(best)]
            )
            if reward != "gaussian" and mine["gp"] and mine["paper"]:
                cells += 1
                below += np.mean(mine["paper"]) < np.mean(mine["gp"])
    head = [
        "where",
        "reward",
        *(name for name, _ in MODELS.values()),
        "Gaussian of the same moments",
        "closest Gaussian",
    ]
    return (
        f"Total variation after {n} rewards: mean ± standard error (seeds). The ∞-GP with the paper's model is closer "
        f"to the truth than one GP in {below} of {cells} cells with rewards that are not Gaussian.\n\n"
        + table(head, rows)
    )


def counts(prior: Record | None, records: list[Record]) -> str:
    """Occupied surfaces."""
    parts = [
        f"With ν = 1 and n = 10⁵ the urn has {expected_surfaces(1.0, 10**5):.1f} surfaces on average; the paper says "
        "fewer than five."
    ]
    if prior is not None:
        rows = [
            [
                f"{nu:g}",
                number(c["mean"][-1]) + f" ± {number(c['error'][-1])}",
                number(c["sum"][-1]),
                number(c["rate"][-1]),
            ]
            for nu in CONCENTRATIONS
            for c in (prior[str(nu)],)
        ]
        head = ["ν", f"urn, {prior['draws']} draws", "Σ ν / (ν + i − 1)", "ν log(n / ν)"]
        parts.append(f"Surfaces under the prior at n = {prior['n'][-1]}.\n\n" + table(head, rows))
    if records:
        n = max(records[0]["n"])
        rows = []
        for reward, noise in NOISES.items():
            cells = [of(records, reward, design, model) for design in DESIGNS for model in ("paper", "default")]
            rows.append([noise.label, *(shown([r["surfaces"][-1] for r in cell]) if cell else "" for cell in cells)])
        head = [
            "reward",
            *(f"{where}, {name}" for where in ("one input", "spread") for name in ("paper's model", "default")),
        ]
        parts.append(
            f"Surfaces in the posterior at n = {n}, where the prior of the concentration expects {prior_mean(n):.1f}: "
            "mean ± standard error (seeds).\n\n" + table(head, rows)
        )
    return "\n\n".join(parts)


def truncations(records: list[Record]) -> str:
    """Extra regret against L."""
    rows = []
    for name in TASKS:
        base = [r["regret"] for r in records if r["task"] == name and r["L"] == 0]
        if base:
            gaps = [list(extra(records, name, level)) for level in LEVELS]
            rows.append([name, shown(base), *(shown(gap) if gap else "" for gap in gaps)])
    if not rows:
        return "Not measured yet."
    return (
        "Cumulative regret without truncation, and how much more with L surfaces: mean ± standard error (seeds).\n\n"
        + table(["task", "untruncated", *(f"L = {level}" for level in LEVELS)], rows)
    )


def last_weights(records: list[Record]) -> str:
    """Weights of the surfaces at the end of a run."""
    rows = []
    for kind, (name, _) in STEPS_4A.items():
        ends = [r["seen"][-1] for r in records if r["step 4a"] == kind]
        if ends:
            weights = [shown([entry["weights"][stick] for entry in ends]) for stick in range(STICKS)]
            rows.append([name, *weights, shown([entry["nu"] for entry in ends])])
    if not rows:
        return "Not measured yet."
    head = ["", *(f"surface {stick + 1}" for stick in range(STICKS)), "ν"]
    return "Weights and concentration at the end of 100 evaluations: mean ± standard error (seeds).\n\n" + table(
        head, rows
    )


def write(out: Path) -> Path:
    """Write the summary of what is in a folder."""
    prior = out / "surfaces.json"
    fitted = load(out / "fits.jsonl")
    parts = {
        "Theorem 1: total variation": (("tvd", "tvd-gap"), distances(fitted)),
        "Proposition 2: number of surfaces": (
            ("surfaces",),
            counts(json.loads(prior.read_text(encoding="utf-8")) if prior.exists() else None, fitted),
        ),
        "Corollary 1: truncation": (("truncation",), truncations(load(out / "truncation.jsonl"))),
        "Weights of the surfaces on Ackley-NS": (("weights",), last_weights(load(out / "weights.jsonl"))),
    }
    made = [{"method": r["model"], **r} for r in fitted]
    made += [{"method": name, **r} for name in ("truncation", "weights") for r in load(out / f"{name}.jsonl")]
    lines = ["# The theory, measured", "", f"Written by `python -m infgp.bench.theory.summary`. {age(made)}", ""]
    for heading, (pictures, text) in parts.items():
        links = [f"![{heading}]({name}.png)" for name in pictures if (out / f"{name}.png").exists()]
        lines += [f"## {heading}", "", *(line for link in links for line in (link, "")), text, ""]
    path = out / "summary.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


if __name__ == "__main__":
    print(write(options(__doc__).out).read_text(encoding="utf-8"))
