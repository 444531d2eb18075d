"""Workers killed with SIGKILL every few seconds and replaced, servers restarted: nothing that was reported is lost."""

import random
import time
from contextlib import suppress
from itertools import combinations
from threading import Thread

import pytest
from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import TrialState
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from infgp.app.cli import main
from infgp.app.storage import UTC, Plan, StorageError, _prepare, open_study
from infgp.app.study import INSTEAD_OF
from infgp.optuna import distributions
from infgp.space import Float, Space
from tests.app.crew import crew, fresh, trials_of
from tests.servers import SERVERS, Missing

quiet = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning", "ignore:Heartbeat of storage")


ONE = Space.of({"a": Float(0.0, 1.0)})


def running(kind):
    try:
        made = SERVERS[kind]()
    except Missing as missing:
        pytest.skip(str(missing))
    yield made
    made.remove()


@pytest.fixture(scope="module")
def postgresql():
    yield from running("postgresql")


@pytest.fixture(scope="module")
def mariadb():
    yield from running("mariadb")


@pytest.fixture(params=SERVERS)
def server(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(params=["sqlite", *SERVERS])
def url(request, tmp_path):
    """The URL of an empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'study.db'}"
    server = request.getfixturevalue(request.param)
    fresh(server.url)
    return server.url


@pytest.fixture
def begin():
    """Open a study as runs do; it is closed at the end."""
    opened = []

    def open_one(url, space=ONE, name="objective:f"):
        opened.append(open_study(Plan(name, "", 1, storage=url), space))
        return opened[-1]

    yield open_one
    for _, there in opened:
        there.engine.dispose()


def survive(folder, url, size, trials, every, limit, server=None):
    """Run a study under fire; returns how many workers were killed."""
    rng, begin, restarted = random.Random(0), time.monotonic(), server is None
    with crew(folder, url, size, trials) as workers:
        next_kill = begin
        while not workers.done():
            assert time.monotonic() - begin < limit, workers.output()[-2000:]
            if time.monotonic() > next_kill:
                workers.kill_one(rng)
                next_kill = time.monotonic() + every
            if not restarted and workers.output().count("] trial") > trials // 2:
                server.stop()
                time.sleep(2.0)
                server.start()
                restarted = True
            workers.replace_the_failed()
            time.sleep(0.1)
        output, killed = workers.output(), workers.killed
    assert restarted
    check(url, output, workers.reported(), trials, size)
    print(f"{size} workers, {killed} killed, {time.monotonic() - begin:.0f} seconds")
    return killed


def overlap(a, b):
    """Whether two trials were under way at the same time; one that was given up counts until the run noticed."""
    first, second = sorted((a, b), key=lambda trial: trial.datetime_start)
    return first.datetime_complete is None or second.datetime_start < first.datetime_complete


def check(url, output, reported, trials, size):
    stored = trials_of(url)
    complete = {t.number: t for t in stored if t.state == TrialState.COMPLETE}
    assert trials <= len(complete) < trials + size  # runs that begin a trial at the same moment may pass the budget
    assert len(reported) > trials // 2
    for number, value in reported:
        assert f"{complete[number].value:.6g}" == value
    suggested = [t for t in stored if len(t.params) == 3 and INSTEAD_OF not in t.user_attrs]
    at_once = [(a.number, b.number) for a, b in combinations(suggested, 2) if a.params == b.params and overlap(a, b)]
    # a replicate is a choice, which workers that do not see each other yet may make at once, but rarely
    assert len(at_once) < 0.03 * len(suggested), at_once
    assert len({tuple(t.params.values()) for t in suggested}) > 0.9 * len(suggested)
    assert "S3cret" not in output
    assert "Traceback" not in output
    assert "sqlalche" not in output  # of lost connections, one line of ours tells


def test_workers_killed_and_server_restarted(tmp_path, server):
    fresh(server.url)
    assert survive(tmp_path, server.url, 3, 24, every=3.0, limit=400.0, server=server) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("restart", [False, True], ids=["steady", "restarted"])
def test_eight_workers(tmp_path, server, restart):
    fresh(server.url)
    killed = survive(tmp_path, server.url, 8, 200, 3.0, 1200.0, server=server if restart else None)
    assert killed >= 8


@pytest.mark.parametrize("trials", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_sqlite_two_workers(tmp_path, trials):
    url = f"sqlite:///{tmp_path / 'study.db'}"
    assert survive(tmp_path, url, 2, trials, every=3.0, limit=300.0 + 6.0 * trials) >= 1 + trials // 50


@quiet
def test_runs_in_several_time_zones(server, begin, monkeypatch):
    """A trial that one run has just shown to be alive is so for a run whose session is in another time zone."""
    fresh(server.url)
    opened = []
    for zone in ("-08:00", "+00:00", "+09:00"):
        monkeypatch.setenv("PGTZ", zone)
        server.set_zone(zone)
        opened.append(begin(server.url))
        study, there = opened[-1]
        there.record_heartbeat(study.ask(distributions(ONE))._trial_id)  # the server's clock
        twice = study.ask(distributions(ONE))._trial_id
        there.record_heartbeat(twice)
        there.record_heartbeat(twice)  # the session's clock
    server.set_zone("+00:00")
    for study, there in opened:
        assert len(study.trials) == 6
        assert there._get_stale_trial_ids(study._study_id) == []


@quiet
def test_a_value_that_is_told_while_another_run_gives_the_trial_up(url, begin):
    """One of the two comes first; a value is not taken back once it is stored."""
    (study, _), (_, other) = begin(url), begin(url)
    trial, told = study.ask(distributions(ONE)), []
    check = other.check_trial_is_updatable

    def tell():
        with suppress(UpdateFinishedTrialError, ValueError):
            told.append(study.tell(trial, 0.5))

    telling = Thread(target=tell)

    def check_slowly(*arguments):
        check(*arguments)
        telling.start()
        telling.join(1.0)

    other.check_trial_is_updatable = check_slowly
    other.set_trial_state_values(trial._trial_id, TrialState.FAIL)
    telling.join()
    assert other.get_trial(trial._trial_id).value == (0.5 if told else None)
    assert study.trials[0].state == (TrialState.COMPLETE if told else TrialState.FAIL)


@quiet
def test_names_that_mariadb_takes_for_the_same(mariadb, begin):
    """Its comparison of texts, unless it is told otherwise, sees neither capitals nor accents."""
    fresh(mariadb.url)
    begin(mariadb.url)
    with pytest.raises(StorageError, match=r"takes the names 'objective:F' and 'objective:f' for the same"):
        begin(mariadb.url, name="objective:F")


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ("a = {0}\nA = {0}".format("{ type = 'float', low = 0.0, high = 1.0 }"), "rename parameters"),
        (f"a = {{ type = 'choice', options = {[str(k) for k in range(10_000)]} }}", "cannot hold"),
    ],
    ids=["names", "options"],
)
def test_points_that_mariadb_does_not_hold(tmp_path, mariadb, monkeypatch, capsys, space, message):
    """The run ends with one line and evaluates nothing; no patience is lost on it."""
    fresh(mariadb.url)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "space.toml").write_text(space)
    (tmp_path / "unusual.py").write_text("def f(point):\n    open('evaluated', 'w')\n    return 0.0")
    command = ["run", "unusual:f", "--space", "space.toml", "--trials", "3", "--storage", mariadb.url]
    began = time.monotonic()
    assert main(command) == 1
    assert time.monotonic() - began < 40.0  # --patience is 60 seconds
    assert message in capsys.readouterr().err
    assert not (tmp_path / "evaluated").exists()


def test_every_session_begins_with_the_clock_set(tmp_path, monkeypatch):
    """SQLite has no time zones; something else that lasts, and that a rollback would undo, stands for it."""
    monkeypatch.setitem(UTC, "sqlite", "INSERT INTO begun VALUES (1)")
    engine = create_engine(f"sqlite:///{tmp_path / 'clock.db'}", poolclass=NullPool)
    with engine.begin() as session:
        session.execute(text("CREATE TABLE begun (x)"))
    _prepare(engine)
    for sessions in (1, 2):
        with engine.connect() as session:
            session.rollback()
            assert session.execute(text("SELECT count(*) FROM begun")).scalar() == sessions


def test_a_server_that_stays_down(tmp_path, server):
    """The run waits as long as it was told to, and says in one line what is wrong; what it reported is there."""
    fresh(server.url)
    out = tmp_path / "log0"
    with crew(tmp_path, server.url, 1, 500, "--patience", "2") as workers:
        begin = time.monotonic()
        while out.read_text().count("trial") < 3:
            assert time.monotonic() - begin < 60.0
            time.sleep(0.05)
        server.stop()
        code = workers.workers[0][0].wait(60.0)
        server.start()
    assert code == 1
    message = out.read_text().splitlines()[-1]
    assert message.startswith(f"infgp: The storage {server.scheme}://ann:***@127.0.0.1")
    assert "has not answered for 2 seconds" in message
    assert "S3cret" not in out.read_text()
    stored = {t.number: t.value for t in trials_of(server.url)}
    assert len(workers.reported()) >= 3
    assert all(f"{stored[number]:.6g}" == value for number, value in workers.reported())
