"""What is printed, on a terminal and in a notebook: readable, short, and no markup of the user's."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from infgp import Choice, Float, InfiniteGP, Optimizer
from infgp.core.scaling import RewardScale
from infgp.predict.law import Law
from infgp.predict.lawmixture import LawMixture
from infgp.predict.mixture import Mixture
from infgp.run import Result
from infgp.search.outcomes import Recommendation

HOSTILE = '<script>alert("x")</script> & \x1b[31mred'
SPACE = {"rate": Float(0.0, 1.0), HOSTILE: Choice([HOSTILE, None])}


def told(direction="minimize"):
    optimizer = Optimizer(SPACE, direction, seed=0)
    for rate in np.linspace(0.0, 1.0, 7):
        optimizer.tell({"rate": float(rate), HOSTILE: HOSTILE}, (rate - 1.0 / 3.0) ** 2 + 100.0 / 3.0)
    optimizer.tell({"rate": 0.5, HOSTILE: None}, None)
    return optimizer


def recommended(**changes):
    point = {"rate": 1.0 / 3.0, HOSTILE: HOSTILE}
    found = Recommendation(point, 100.0 / 3.0, 0.0123, {0.05: 1.23456, 0.5: 2.0, 0.95: 3.0}, point)
    return replace(found, **changes)


def law(m=1, sign=1.0):
    return Law(
        Mixture(np.ones((m, 1)), np.arange(m, dtype=float)[:, None] / 3.0, np.ones((m, 1))), RewardScale(0, 1), sign
    )


def result(direction="minimize"):
    optimizer = told(direction)
    found = recommended(
        direction=direction, objective="expected cost" if direction == "minimize" else "expected reward"
    )
    return Result(found, optimizer.best_observed, optimizer.observations, 1.0, "budget", optimizer)


def cells(html):
    """The texts of a table, which must be well-formed."""
    return [text for text in ElementTree.fromstring(f"<div>{html}</div>").itertext() if text.strip()]


@pytest.mark.parametrize(
    "thing", [told(), recommended(), recommended(otherwise={"rate": 0.5, HOSTILE: HOSTILE}), result()]
)
def test_text_of_the_user_is_no_markup(thing):
    html = thing._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert any("<script>" in text and "&" in text for text in cells(html))
    for text in (str(thing), html):
        assert "\x1b" not in text
        assert r"\x1b" in text


@pytest.mark.parametrize("thing", [told(), recommended(otherwise={"rate": 0.5}), result(), law(3)])
def test_html_says_what_the_text_says(thing):
    words = set(re.findall(r"[\w.]+", str(thing)))
    assert len(words) > 10
    assert not words - set(re.findall(r"[\w.]+", " ".join(cells(thing._repr_html_()))))


@pytest.mark.parametrize(
    ("direction", "right", "wrong"), [("minimize", "cost", "reward"), ("maximize", "reward", "cost")]
)
def test_costs_are_called_costs(direction, right, wrong):
    optimizer = told(direction)
    found = optimizer.recommend()
    other = replace(found, otherwise=found.point, stand_in=(9.0, 3))
    laws = optimizer.law([found.point])
    for thing in (optimizer, found, other, result(direction), laws):
        for text in (str(thing), repr(thing) if thing is optimizer or thing is laws else "", thing._repr_html_()):
            assert wrong not in text
    for thing in (str(optimizer), repr(optimizer), str(found), str(other), str(result(direction)), repr(laws)):
        assert right in thing
    assert found.objective == optimizer.regret().objective == f"expected {right}"


def test_numbers_have_four_significant_digits():
    assert "recommended: {'rate': 0.3333, " in str(recommended())
    assert "expected reward: 33.33 ± 0.012" in str(recommended())
    assert "5 % below 1.235" in str(recommended())
    assert re.search(r"rate +0\.3333\n", str(result()))
    assert "0.3333" in str(law(2))
    assert "33.33" in str(told())
    for text in map(str, (recommended(), result(), law(3), told())):
        assert not re.search(r"\d\.\d{5}", text)


def test_a_long_law_is_cut():
    text, html = str(law(25)), law(25)._repr_html_()
    assert len(text.splitlines()) == 12
    assert text.endswith("and 15 further points")
    assert "and 15 further points" in html
    assert repr(law(1)) == "<Law of a further reward at 1 point>"


def test_a_mixture_of_laws_prints_as_a_law_does():
    one, mixture = law(2, -1.0), LawMixture([law(2, -1.0)] * 2, np.array([0.5, 0.5]))
    assert str(mixture) == str(one)
    assert repr(mixture) == "<LawMixture of a further cost at 2 points>"


def test_the_law_of_an_estimator_prints():
    x = np.linspace(0.0, 1.0, 6)[:, None]
    model = InfiniteGP(n_warmup=20, n_samples=4, n_chains=1, random_state=0).fit(x, x[:, 0])
    assert len(str(model.law(x)).splitlines()) == 7


def test_an_optimizer_says_where_it_stands():
    optimizer = told()
    optimizer.ask()
    assert repr(optimizer) == (
        "<Optimizer to minimize the expected cost: 2 parameters, 8 evaluations (1 failed), 1 pending>"
    )
    assert "luckiest cost" in str(optimizer)
    several = Optimizer({"x": Float(0.0, 1.0)}, ["maximize", "minimize"])
    assert "maximize the expected reward; minimize the expected cost" in repr(several)
    assert "luckiest" not in str(several)


def test_to_print_an_optimizer_asks_no_model(monkeypatch):
    monkeypatch.setattr(Optimizer, "_believe", None)
    monkeypatch.setattr(Optimizer, "_learn", None)
    optimizer = told()
    assert str(optimizer)
    assert optimizer._repr_html_()
