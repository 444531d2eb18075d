"""The report: its numbers are the optimizer's, nothing of the user's is markup, and a browser shows what it should."""

import math
import re
import shutil
import subprocess
from html import escape, unescape
from html.parser import HTMLParser

import numpy as np
import optuna
import pytest

import infgp.report
from infgp import Choice, Float, InvalidInputError, Optimizer
from infgp.optuna import InfGPSampler
from infgp.printing import brief
from infgp.report.markup import STYLE, chosen, text
from infgp.report.search import Search, distrusted, judge, percent
from infgp.report.svg import Axis, Chart, breadth
from infgp.search.stopping import RegretBelow

#: Bytes that a report may have.
LARGEST = 5_000_000
EVIL = '<script>document.title="owned"</script>'
OPTION = '"><img src=x onerror=alert(1)>'
#: Number of the trial whose reward is a gross error.
ODD = 9


@pytest.fixture(scope="module")
def study():
    """Trials of another sampler, with a gross error on the good side and a failure."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    rng = np.random.default_rng(0)
    study = optuna.create_study(
        study_name=EVIL, direction="maximize", sampler=InfGPSampler(seed=0, n_startup_trials=40, store_beliefs=False)
    )

    def objective(trial):
        rate = trial.suggest_float("<b>rate", 1e-3, 1.0, log=True)
        kind = trial.suggest_categorical("kind", ["plain", OPTION])
        if trial.number == 5:
            return math.nan
        value = -((math.log10(rate) + 1.0) ** 2) + (kind == "plain") + 0.05 * rng.standard_normal()
        return value + 40.0 * (trial.number == ODD)

    study.optimize(objective, n_trials=30)
    return study


@pytest.fixture(scope="module")
def made(study, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    found = infgp.report.write(study, path, rule=RegretBelow(0.5, 0.9))
    return found, path


class Page(HTMLParser):
    """Tags with their attributes, and the text outside of scripts and styles."""

    def __init__(self, content):
        super().__init__()
        self.tags, self.words, self.open = [], [], []
        self.feed(content)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.words.append(data)

    @property
    def text(self):
        return " ".join("".join(self.words).split())


def test_the_verdict_is_the_sampler_s(made, study):
    found, path = made
    best, page = study.sampler.recommend(study), Page(path.read_text(encoding="utf-8")).text
    assert found.recommendation.point == best.point
    assert f"The expected reward there is {brief(best.mean)} ± {best.std:.2g}." in page
    assert f"The luckiest trial is {ODD}, with the reward {brief(study.best_value)}" in page
    assert study.best_trial.number == ODD
    assert found.recommendation.point != study.best_params
    assert "It is distrusted" in page


def test_other_numbers_are_the_sampler_s_too(made, study):
    found, path = made
    page = Page(path.read_text(encoding="utf-8")).text
    regret = study.sampler.regret(study)
    assert f"by more than {regret.quantile(0.95):.3g}" in page
    rule = found.rule.met(regret)
    assert ("You may stop" if rule else "Do not stop yet") in page
    for row in study.sampler.candidates(study):
        assert f"{brief(row.mean)} ± {row.std:.2g}" in page
    assert f"{100.0 * study.sampler.candidates(study)[0].probability:.0f} %" in page
    law = study.sampler.optimizer(study).law([study.sampler.optimizer(study).recommend().point])
    for value in law.quantile((0.05, 0.5, 0.95))[0]:
        assert brief(float(value)) in page


def test_a_gross_error_is_distrusted_and_what_was_expected_is_what_the_others_say(made):
    found, _ = made
    item = found.distrusted[0]
    assert (item.number, item.distrusted) == (ODD, True)
    assert item.value > 30.0
    truth = -((math.log10(item.point["<b>rate"]) + 1.0) ** 2) + (item.point["kind"] == "plain")
    assert abs(item.expected - truth) < 0.5
    assert item.low < item.expected < item.high < item.value


def test_nothing_of_the_users_is_markup(made):
    content = made[1].read_text(encoding="utf-8")
    tags = Page(content).tags
    assert EVIL not in content
    assert OPTION not in content
    assert [tag for tag, _ in tags].count("script") == 1
    assert not {"img", "b", "iframe", "link", "object", "embed"} & {tag for tag, _ in tags}
    assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]
    assert EVIL in unescape(content)
    assert OPTION in unescape(content)


def test_nothing_is_loaded(made):
    content = made[1].read_text(encoding="utf-8")
    assert len(content.encode()) < LARGEST
    page = Page(content)
    assert not re.search(r"https?://|//\w+\.\w|url\(|@import", content)
    assert not [a for _, a in page.tags if "src" in a]
    assert all(a["href"].startswith("#") for _, a in page.tags if "href" in a)
    assert "default-src 'none'" in content


def test_every_chart_has_words_and_a_table(made):
    content = made[1].read_text(encoding="utf-8")
    figures = re.findall(r"<figure>.*?</figure>", content, re.DOTALL)
    assert len(figures) > 10
    for figure in figures:
        label = re.search(r'<svg role="img" [^>]*aria-label="([^"]+)"', figure)
        assert len(label[1]) > 20
        assert figure.count("<tbody><tr>") == 1
        assert "nan" not in re.sub("<title>.*?</title>", "", figure).replace("dominant", "")
    tags = Page(content).tags
    ids = [a["id"] for _, a in tags if "id" in a]
    assert len(ids) == len(set(ids))
    named = {a["for"] for tag, a in tags if tag == "label"}
    assert named == {a["id"] for tag, a in tags if tag == "select"}
    assert {a["href"][1:] for tag, a in tags if tag == "a"} <= set(ids)


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def test_colours_of_text_have_contrast():
    named = {name: value if len(value) == 7 else "#222222" for name, value in re.findall(r"--(\w+): (#\w+)", STYLE)}
    assert {"ink", "blue", "red", "grey", "pale"} <= set(named)
    for name in ("ink", "blue", "red", "grey"):
        for ground in ("#ffffff", named["pale"]):
            assert (luminance(ground) + 0.05) / (luminance(named[name]) + 0.05) >= 4.5


def test_same_seed_same_report(tmp_path):
    def one(path):
        optimizer = Optimizer({"x": Float(0.0, 1.0), "kind": Choice(["a", "b"])}, "minimize", seed=0)
        for k in range(8):
            optimizer.tell({"x": k / 7, "kind": "ab"[k % 2]}, abs(k - 3.0))
        before = optimizer.to_json()
        infgp.report.write(optimizer, path)
        assert optimizer.to_json() == before  # it is only read
        return path.read_text(encoding="utf-8")

    assert one(tmp_path / "a.html") == one(tmp_path / "b.html")


def test_a_single_reward_and_a_condition_make_a_report(tmp_path):
    space = {"kind": Choice(["a", "b"]), "z": Float(0.0, 1.0, when={"kind": "b"})}
    optimizer = Optimizer(space, seed=0, objective=("probability", 0.5))
    optimizer.tell({"kind": "a"}, 1.0)
    infgp.report.write(optimizer, tmp_path / "one.html")
    optimizer.tell_many([{"kind": "b", "z": 0.3}, {"kind": "a"}, {"kind": "b", "z": 0.9}], [0.0, None, 0.25])
    found = infgp.report.write(optimizer, tmp_path / "few.html")
    assert found.luckiest.number == 0
    assert "z does not apply at the recommended point" in (tmp_path / "few.html").read_text(encoding="utf-8")


def test_what_cannot_be_reported_is_refused(tmp_path):
    optimizer = Optimizer({"x": Float(0.0, 1.0)}, ["maximize", "minimize"], seed=0)
    optimizer.tell({"x": 0.5}, [1.0, 2.0])
    with pytest.raises(InvalidInputError, match="There are 2 objectives"):
        infgp.report.write(optimizer, tmp_path / "x.html")
    with pytest.raises(InvalidInputError, match="nothing to"):
        infgp.report.write(Optimizer({"x": Float(0.0, 1.0)}), tmp_path / "x.html")
    with pytest.raises(InvalidInputError, match="a folder that does not exist"):
        infgp.report.write(optimizer, tmp_path / "none" / "x.html")
    assert not list(tmp_path.iterdir())


def test_the_recommended_point_has_its_probability_even_if_others_are_likelier(tmp_path, monkeypatch):
    monkeypatch.setattr("infgp.report.findings.TOP", 1)
    optimizer = Optimizer({"x": Float(0.0, 1.0)}, seed=1)
    noise = np.random.default_rng(0).standard_normal(16)
    optimizer.tell_many([{"x": k / 15} for k in range(16)], noise)
    found = infgp.report.write(optimizer, tmp_path / "r.html")
    assert len(found.candidates) == 1 + (not found.candidates[0].recommended)
    chance = next(row.probability for row in found.candidates if row.recommended)
    shown = Page((tmp_path / "r.html").read_text(encoding="utf-8")).text
    assert f"probability of being best{percent(chance)}" in shown
    assert "nan" not in shown.replace("dominant", "")


def test_judgements_of_an_optimizer_with_failures():
    optimizer = Optimizer({"x": Float(0.0, 1.0)}, "minimize", seed=0)
    values = [0.0, None, 0.1, 0.1, -9.0, 0.2, None, 0.2, 0.3, 0.3, 0.4, 0.4]
    optimizer.tell_many([{"x": k / 11} for k in range(12)], values)
    search = Search.of(optimizer)
    assert search.numbers[search.done[search.luckiest]] == 4
    assert [search.numbers[search.done[k]] for k in distrusted(search)] == [4]
    found = judge(search, [search.luckiest])[0]
    assert (found.point, found.value, found.noun) == ({"x": 4 / 11}, -9.0, "cost")
    assert found.tail < 0.05
    assert f"small or smaller has the probability {percent(found.tail)}" in found.why


@pytest.mark.parametrize("ends", [(0.0, 1.0), (-3.2e-7, 9.1e-7), (1e6, 1e6 + 1.0), (-40.0, 3000.0)])
def test_marks_are_round_and_inside(ends):
    marks = [value for value, _ in Axis("x", *ends).marks()]
    assert 3 <= len(marks) <= 11
    slack = 1e-9 * (ends[1] - ends[0]) + 1e-12 * abs(ends[1])
    assert all(ends[0] - slack <= value <= ends[1] + slack for value in marks)


def test_what_is_outside_a_chart_is_at_its_edge():
    chart = Chart(Axis("x", 0.0, 1.0), Axis("y", 0.0, 1.0))
    chart.dots([0.5, 0.5], [0.5, 9.0], "grey", "seen")
    assert chart.parts[0].startswith("<circle")
    assert chart.parts[1].startswith("<path")
    assert [words for _, words in chart.legend] == ["seen", "outside the picture"]


@pytest.mark.parametrize("name", ["recommended", "point B", "momentum", "WWWW", "heat"])
def test_names_beside_bars_have_room(name):
    """In a broad font of 15 pixels."""
    textpath = pytest.importorskip("matplotlib.textpath")
    assert textpath.TextPath((0, 0), name, size=15).get_extents().width < breadth(name)


def test_a_panel_for_each_choice_and_text_is_text():
    html = chosen("a", ["<i>"], [["<u>", "b"]], {(0,): "A", (1,): "B"})
    assert "<i>" not in html
    assert "<u>" not in html
    assert re.findall(r'data-pick="(\d)"', html) == ["0", "1"]
    assert text("a\x1b[31m\n\ud800") == "a\\x1b[31m \\ud800"


CHROMIUM = shutil.which("chromium")
QUIET = "--disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update"


#: What a user does who selects the second input of the slices.
SELECT = """<script>
const select = document.getElementById("slice-0");
select.value = "1";
select.dispatchEvent(new Event("change"));
</script></body>"""


def dumped(path, folder):
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-sync", *QUIET.split()]
    command += [f"--user-data-dir={folder}", "--virtual-time-budget=3000", "--dump-dom", path.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


#: A page that shows a report in a window of some width, and says what it finds there in its title.
WINDOW = """<iframe id="report" style="width: {width}px; height: 900px" srcdoc="{content}"></iframe>
<script>
document.getElementById("report").onload = (event) => {{
  const page = event.target.contentDocument, drawn = [...page.querySelectorAll("svg")];
  const seen = drawn.filter((svg) => svg.getBoundingClientRect().width > 0 && svg.querySelector("path, rect, circle"));
  document.title = [page.documentElement.scrollWidth, seen.length, page.querySelectorAll("select").length].join(" ");
}};
</script>"""


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize("width", [390, 1400])
def test_a_browser_draws_all_pictures_wide_and_narrow(made, tmp_path, width):
    content = escape(made[1].read_text(encoding="utf-8"), quote=True)
    (tmp_path / "window.html").write_text(WINDOW.format(width=width, content=content), encoding="utf-8")
    title = re.search("<title>(.*?)</title>", dumped(tmp_path / "window.html", tmp_path / "user"))[1]
    across, pictures, selectors = map(int, title.split())
    assert across <= width  # nothing but tables scrolls sideways, each in a box of its own
    assert pictures >= 8
    assert selectors >= 3


def complaints(path, folder):
    """What the browser writes to the page's console, refusals of the page's own policy among them."""
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-sync", *QUIET.split(), "--enable-logging=stderr"]
    command += [f"--user-data-dir={folder}", "--virtual-time-budget=3000", "--dump-dom", path.as_uri()]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stderr
    return [line for line in said.splitlines() if "CONSOLE" in line]


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_browser_has_nothing_to_complain_about(made, tmp_path):
    """The page's policy refuses to load anything, and a page that tried would be complained about."""
    assert complaints(made[1], tmp_path / "user") == []
    tried = made[1].read_text(encoding="utf-8").replace("</body>", '<img src="http://127.0.0.1:9/x.png"></body>')
    (tmp_path / "tried.html").write_text(tried, encoding="utf-8")
    assert "Content Security Policy" in " ".join(complaints(tmp_path / "tried.html", tmp_path / "user"))


def shown_panels(dom):
    return [a["data-pick"] for _, a in Page(dom).tags if "data-pick" in a and "hidden" not in a]


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_browser_shows_one_panel_of_each_group_and_runs_no_other_script(made, tmp_path):
    dom = dumped(made[1], tmp_path / "user")
    assert unescape(re.search("<title>(.*?)</title>", dom)[1]) == f"Study {EVIL}"
    assert shown_panels(dom) == ["0-0", "0", "0", "0"]
    content = made[1].read_text(encoding="utf-8").replace("</body>", SELECT)
    (tmp_path / "guarded.html").write_text(content, encoding="utf-8")
    assert shown_panels(dumped(tmp_path / "guarded.html", tmp_path / "user")) == ["0-0", "0", "0", "0"]


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_selector_shows_another_panel(made, tmp_path):
    content = made[1].read_text(encoding="utf-8").replace("</body>", SELECT)
    content = re.sub("<meta http-equiv[^>]*>", "", content)  # which forbids the script of this test
    (tmp_path / "open.html").write_text(content, encoding="utf-8")
    assert shown_panels(dumped(tmp_path / "open.html", tmp_path / "user")) == ["1-0", "0", "0", "0"]
