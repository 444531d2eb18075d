"""The sections of a report, in their order: the verdict first, then what it rests on."""

from __future__ import annotations

import numpy as np

import infgp.report.pictures as pictures
from infgp.printing import brief, counted
from infgp.report.findings import Findings
from infgp.report.markup import chosen, page, table, text
from infgp.report.pictures import point_words
from infgp.report.search import percent

#: Probability with which it is said how large the regret is.
CERTAIN = 0.95
#: Number of further evaluations of which it is said what they may add.
FURTHER = (10, 50)


def render(found: Findings, version: str) -> str:
    """The report as one HTML page."""
    search = found.search
    told, done = search.optimizer.counts
    aim = f"{search.optimizer.direction} the {found.recommendation.objective}"
    over = counted(len(search.subject.space.names), "input")
    lead = f"{counted(told, search.trial)} ({told - done} failed) to {aim} over {over}."
    sections = [
        ("verdict", "Verdict", verdict(found)),
        ("next", "Stop, try or repeat?", next_steps(found)),
        ("distrusted", "Distrusted observations", doubts(found)),
        ("best", "Which point may be best, and what is still to be gained", decisions(found)),
        ("history", "How it went", pictures.history(found.history, search.numbers, search.trial)),
        ("inputs", "What the inputs do", inputs(found)),
        ("laws", "What to expect at a point", laws(found)),
        ("checks", "Can it be believed?", checks(found)),
    ]
    return page(search.title, lead, sections, f"Made by infgp {version}. This file loads nothing from anywhere.")


def verdict(found: Findings) -> str:
    """What is recommended with its law, the luckiest evaluation beside it, and why they differ."""
    best, lucky, search = found.recommendation, found.luckiest, found.search
    rows = [
        ("point", point_words(best.point), point_words(lucky.point)),
        (f"{best.noun} seen", _seen(found), f"{brief(lucky.value)} ({search.trial} {lucky.number})"),
        (best.objective, f"{brief(best.mean)} ± {best.std:.2g}", f"{brief(lucky.mean)} ± {lucky.std:.2g}"),
    ]
    labels = list(found.points)
    there = found.laws[0][1] if len(labels) == 1 or lucky.point == best.point else found.laws[1][1]
    for q, value in found.laws[0][1].items():
        rows.append((f"a further {best.noun}: {100.0 * q:g} % below", brief(value), brief(there[q])))
    chance = next(row.probability for row in found.candidates if row.recommended)
    rows.append(("probability of being best", percent(chance), percent(found.lucky_chance)))
    heads = ["", "recommended", f"luckiest {search.trial}"]
    parts = [
        f'<div class="verdict"><p><strong>Use {text(point_words(best.point))}.</strong> '
        f"{text(_expect(found))}</p><p>{text(differ(found))}</p></div>",
        *(f'<p class="warning">{text(words)}</p>' for words in best.warnings),
        table("The recommended point and the luckiest one", heads, rows),
    ]
    if best.feasibility < 1.0:
        parts.append(f"<p>{text(f'All constraints hold there with probability {percent(best.feasibility)}.')}</p>")
    return "".join(parts)


def _expect(found: Findings) -> str:
    best, levels = found.recommendation, found.laws[0][1]
    low, middle, high = (brief(value) for value in levels.values())
    return (
        f"The {best.objective} there is {brief(best.mean)} ± {best.std:.2g}. A single further {best.noun} there is "
        f"expected between {low} and {high} with probability 90 %, with the median {middle}."
    )


def _seen(found: Findings) -> str:
    """The rewards at the recommended point."""
    search, noun, rewards = found.search, found.recommendation.noun, found.search.subject.rewards.tolist()
    values = [value for k, value in enumerate(rewards) if search.point(k) == found.recommendation.point]
    if not values:
        return "not evaluated yet"
    mean = brief(float(np.mean(values)))
    return mean if len(values) == 1 else f"{counted(len(values), noun)}, mean {mean}"


def differ(found: Findings) -> str:
    """Why the recommended point is not the luckiest one, in words; or that it is."""
    best, lucky, trial = found.recommendation, found.luckiest, found.search.trial
    seen = f"The luckiest {trial} is {lucky.number}, with the {lucky.noun} {brief(lucky.value)}"
    if lucky.point == best.point:
        return f"{seen}, at the recommended point itself. {lucky.why}"
    law = f"{brief(lucky.expected)} there (90 % between {brief(lucky.low)} and {brief(lucky.high)})"
    there, here = f"{brief(lucky.mean)} ± {lucky.std:.2g}", f"{brief(best.mean)} ± {best.std:.2g}"
    reason = (
        f"{seen}. The other {lucky.noun}s lead to expect {law}. {lucky.why} Counting everything, the {best.objective} "
        f"there is {there}, against {here} at the recommended point"
    )
    if best.mean == lucky.mean:
        return f"{reason}: the two cannot be told apart."
    close = abs(best.mean - lucky.mean) < max(best.std, lucky.std)
    return f"{reason}: {'the two points are hardly different by now.' if close else 'its ' + lucky.noun + ' was luck.'}"


def next_steps(found: Findings) -> str:
    """Whether to stop, what to try and what to repeat."""
    regret, search = found.regret, found.search
    spread = float(np.subtract(*np.percentile(search.subject.rewards, (84.0, 16.0)))) / 2.0
    bound = regret.quantile(CERTAIN)
    words = [
        f"With probability {100.0 * CERTAIN:g} %, no point is better than the recommended one by more than "
        f"{bound:.3g}{_of_spread(found, bound, spread)}."
    ]
    words.append(
        "What further evaluations can be expected to add, at most: "
        + "; ".join(f"{n} evaluations {regret.gain(n):.3g} ± {regret.gain_error(n):.1g}" for n in FURTHER)
        + "."
    )
    if found.rule is not None:
        rule, met = found.rule, found.rule.met(regret)
        chance = percent(regret.probability_below(rule.epsilon))
        words.append(
            f"{'You may stop' if met else 'Do not stop yet'}: no point is better by more than {rule.epsilon:g} with "
            f"probability {chance}, and {percent(rule.probability)} was asked for "
            "(one Monte Carlo error is counted against stopping)."
        )
    else:
        words.append(
            "Stop if that is less than you care for; infgp report --until-regret EPS says whether a bound is met."
        )
    rows = [
        (name, point_words(point) if point is not None else "the model failed; any point will do")
        for name, point in (("try next", found.next_point), ("evaluate again next", found.again))
    ]
    return "".join(f"<p>{text(line)}</p>" for line in words) + table("What next", ["", "point"], rows)


def _of_spread(found: Findings, bound: float, spread: float) -> str:
    """A regret beside the spread of the rewards, in words."""
    if not (np.isfinite(bound) and spread > 0.0 and found.search.subject.of_rewards):
        return ""
    share, noun = percent(bound / spread), found.recommendation.noun
    return f" ({share} of {brief(spread)}, half the range of the middle 68 % of all {noun}s)"


def doubts(found: Findings) -> str:
    """Rewards that are distrusted: what was expected, and what was seen."""
    noun, trial = found.recommendation.noun, found.search.trial
    if not found.distrusted:
        return f"<p>{text(f'No {noun} is held to lie off the dominant surface.')}</p>"
    rows = [
        (
            item.number,
            brief(item.value),
            brief(item.expected),
            f"{brief(item.low)} to {brief(item.high)}",
            percent(item.tail),
            percent(item.off_surface),
            point_words(item.point),
        )
        for item in found.distrusted
    ]
    heads = [trial, "seen", "expected", "90 % of the law", "as far out", "off surface", "point"]
    best = found.recommendation
    words = (
        f"Of {counted(best.n_rewards, noun)}, {found.n_distrusted} are held to lie off the dominant surface with a "
        f"probability above 50 %. What is expected at their points is the law that all other {noun}s give. Such "
        f"{noun}s are {'counted' if best.outliers == 'count' else 'ignored'} in the objective; counting them changes "
        f"it at the recommended point by {best.off_surface_effect:+.2g}."
    )
    if found.n_distrusted > len(rows):
        words += f" The {len(rows)} least trusted ones are shown."
    return f"<p>{text(words)}</p>" + table("Predicted against seen", heads, rows)


def decisions(found: Findings) -> str:
    """P(best) and regret."""
    best = pictures.candidates(found.candidates, found.names)
    return f'<div class="pair">{best}{pictures.regret(found.regret)}</div>'


def inputs(found: Findings) -> str:
    """Importances, slices, odds and contours."""
    names, points = list(dict.fromkeys(name for name, _ in found.slices)), list(found.points)
    through = sorted({k for _, k in found.slices})
    slices = {
        (i, k): pictures.slice_along(found.slices[name, k], points[k])
        if (name, k) in found.slices
        else f"<p>{text(f'{name} does not apply at {points[k]}.')}</p>"
        for i, name in enumerate(names)
        for k in through
    }
    odds = {(i,): pictures.mode_odds(data) for i, data in enumerate(found.odds.values())}
    contours = {(i,): pictures.contour(data) for i, data in enumerate(found.contours.values())}
    parts = [
        pictures.importances(found.importances),
        chosen("slice", ["Input", "Through"], [names, [points[k] for k in through]], slices) if slices else "",
        chosen("odds", ["Input"], [list(found.odds)], odds) if odds else "",
        chosen("contour", ["Inputs"], [[f"{a} and {b}" for a, b in found.contours]], contours) if contours else "",
    ]
    return f'<div class="pair">{"".join(f"<div>{part}</div>" for part in parts if part)}</div>'


def laws(found: Findings) -> str:
    """The law at each of the points."""
    panels = {(k,): pictures.law(data, quantiles) for k, (data, quantiles) in enumerate(found.laws)}
    return chosen("law", ["Point"], [list(found.points)], panels)


def checks(found: Findings) -> str:
    """Calibration and the health of the sampler."""
    health, best = found.health, found.recommendation
    agree = (
        "New chains agree on the recommended point."
        if health.agree
        else "New chains disagree on the recommended point: trust it less than its ± says, and evaluate it again."
    )
    rows = [
        (f"{best.objective} at the recommended point", f"{brief(best.mean)} ± {best.std:.2g}"),
        (f"the same by {len(health.means)} chains from the start", ", ".join(map(brief, health.means))),
        ("largest distance between them", f"{health.apart:.2g} standard deviations"),
        ("surfaces in each of them, mean", ", ".join(f"{value:.1f}" for value in health.surfaces)),
        ("concentration ν, mean", f"{health.concentration:.2g}"),
        ("posterior states behind this report", health.states),
        ("suggestions for which the model failed", health.fallbacks),
    ]
    left = "" if found.calibration is None else pictures.calibration(found.calibration)
    right = f"<div><p>{text(agree)}</p>{table('Health of the sampler', ['', ''], rows)}</div>"
    return f'<div class="pair">{left}{right}</div>'
