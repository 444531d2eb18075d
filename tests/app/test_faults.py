"""Workers killed with SIGKILL every few seconds and replaced, servers restarted: nothing that was reported is lost."""

import random
import time
from itertools import combinations

import pytest
from optuna.trial import TrialState
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from infgp.app.launch import INSTEAD_OF
from infgp.app.storage import UTC, Plan, _set_clock, distributions, open_study
from infgp.space import Float, Space
from tests.app.crew import crew, fresh, trials_of
from tests.servers import SERVERS, Missing


@pytest.fixture(scope="module", params=SERVERS)
def server(request):
    try:
        made = SERVERS[request.param]()
    except Missing as missing:
        pytest.skip(str(missing))
    yield made
    made.remove()


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


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning", "ignore:Heartbeat of storage")
def test_runs_in_several_time_zones(server, monkeypatch):
    """A trial that one run has just shown to be alive is so for a run whose session is in another time zone."""
    fresh(server.url)
    space = Space.of({"a": Float(0.0, 1.0)})
    opened = []
    for zone in ("-08:00", "+00:00", "+09:00"):
        monkeypatch.setenv("PGTZ", zone)
        server.set_zone(zone)
        opened.append(open_study(Plan("objective:f", "", 1, storage=server.url), space))
        study, there = opened[-1]
        there.record_heartbeat(study.ask(distributions(space))._trial_id)  # the server's clock
        twice = study.ask(distributions(space))._trial_id
        there.record_heartbeat(twice)
        there.record_heartbeat(twice)  # the session's clock
    for study, there in opened:
        assert len(study.trials) == 6
        assert there._get_stale_trial_ids(study._study_id) == []
        there.engine.dispose()
    server.set_zone("+00:00")


def test_every_session_begins_with_the_clock_set(tmp_path, monkeypatch):
    """SQLite has no time zones; something else that lasts, and that a rollback would undo, stands for it."""
    monkeypatch.setitem(UTC, "sqlite", "INSERT INTO begun VALUES (1)")
    engine = create_engine(f"sqlite:///{tmp_path / 'clock.db'}", poolclass=NullPool)
    with engine.begin() as session:
        session.execute(text("CREATE TABLE begun (x)"))
    _set_clock(engine)
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
