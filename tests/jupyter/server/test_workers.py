"""Whatever a question does to its worker, the next one is answered."""

from __future__ import annotations

import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from xprof_nb.errors import DamagedFileError
from xprof_nb.jupyter.server import workers
from xprof_nb.jupyter.server.questions import CancelledError, Question, Terms, WorkerError
from xprof_nb.jupyter.server.workers import Job, Pool

TERMS = Terms("/", ("/",), 0, 2**31)
DESK = "tests.jupyter.server.desks:Obedient"


@pytest.fixture
def make():
    """Return a function that makes a pool, which is closed in the end."""
    made = []

    def pool(count=1, limit_s=600.0):
        made.append(Pool(count, TERMS, limit_s, DESK))
        return made[-1]

    yield pool
    for each in made:
        each.close()


def ask(pool, name, run="r", **params):
    return pool.answer(Job(Question("query", run, name, params)))


def test_one_process_answers_one_question_after_the_other(make):
    pool = make()
    first, second = ask(pool, "count_up"), ask(pool, "count_up")
    assert (first.body, second.body) == (b"1", b"2")
    assert first.tag == second.tag != str(os.getpid())
    assert len(ask(pool, "large").body) == 30_000_000


def test_errors_keep_what_they_say(make):
    pool = make()
    with pytest.raises(DamagedFileError, match=r"cut short in a\.xplane\.pb at byte 3") as damaged:
        ask(pool, "refuse")
    assert damaged.value.hint == "Copy it again."
    with pytest.raises(RuntimeError, match="KeyError"):
        ask(pool, "fail")
    assert ask(pool, "count_up").body == b"3"


def test_a_worker_that_dies_ends_one_question(make):
    pool = make()
    with pytest.raises(WorkerError, match="killed by signal 9"):
        ask(pool, "die")
    assert ask(pool, "count_up").body == b"1"


def test_a_worker_that_is_killed_from_outside_ends_one_question(make, tmp_path):
    pool = make()
    paths = {"begun": str(tmp_path / "begun"), "until": str(tmp_path / "never")}
    with ThreadPoolExecutor(1) as thread:
        waits = thread.submit(ask, pool, "wait", **paths)
        wait_for(tmp_path / "begun")
        os.kill(next(pool.pids()), signal.SIGKILL)
        with pytest.raises(WorkerError, match="lost"):
            waits.result()
    assert ask(pool, "count_up").body == b"1"


def test_a_question_that_takes_too_long_is_ended(make, tmp_path):
    pool = make(limit_s=1e-3)
    with pytest.raises(WorkerError, match=r"no answer about r within 0\.001 s"):
        ask(pool, "wait", begun=str(tmp_path / "begun"), until=str(tmp_path / "never"))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to a size of memory")
def test_a_question_that_takes_too_much_memory_is_refused(make):
    pool = make()
    with pytest.raises(WorkerError, match=r"more memory than a worker may take \(2.00 GiB\)"):
        ask(pool, "fill_memory")
    assert ask(pool, "count_up").body == b"1", "in a new process"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can be told")
def test_where_a_container_has_no_memory_left_a_worker_goes_first(make):
    assert ask(make(), "standing").body == b"1000\n"


def test_a_cancelled_question_may_end_by_itself(make, tmp_path):
    pool = make()
    job = Job(Question("query", "r", "wait", {"begun": str(tmp_path / "begun"), "until": str(tmp_path / "end")}))
    pool.enter(job)
    with ThreadPoolExecutor(1) as thread:
        waits = thread.submit(pool.answer, job)
        wait_for(tmp_path / "begun")
        assert [(each.id, each.state) for each in pool.jobs()] == [(job.id, "running")]
        assert pool.cancel(job.id)
        (tmp_path / "end").touch()
        with pytest.raises(CancelledError):
            waits.result()
    pool.leave(job)
    assert not pool.cancel(job.id)
    assert ask(pool, "count_up").body == b"2", "in the same process"


def test_a_cancelled_question_that_goes_on_is_ended(make, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "GRACE_S", 0.0)
    pool = make()
    job = Job(Question("query", "r", "wait", {"begun": str(tmp_path / "begun"), "until": str(tmp_path / "never")}))
    pool.enter(job)
    with ThreadPoolExecutor(1) as thread:
        waits = thread.submit(pool.answer, job)
        wait_for(tmp_path / "begun")
        pool.cancel(job.id)
        with pytest.raises(CancelledError):
            waits.result()
    assert ask(pool, "count_up").body == b"1", "in a new process"


def test_what_is_cancelled_before_its_turn_is_not_asked(make):
    pool = make()
    job = Job(Question("query", "r", "count_up"))
    job.cancelled.set()
    with pytest.raises(CancelledError):
        pool.answer(job)
    assert list(pool.pids()) == []


def test_a_run_stays_with_the_worker_that_has_it_open(make):
    pool = make(count=2)
    with ThreadPoolExecutor(2) as threads:
        both = [threads.submit(ask, pool, "count_up", run) for run in ("a", "b")]
        tags = {run: answer.result().tag for run, answer in zip("ab", both, strict=True)}
    again = {run: ask(pool, "count_up", run).tag for run in "abab"}
    assert len(set(tags.values())) in {1, 2}
    assert again == tags


def test_an_id_that_is_taken_is_not_given_twice(make):
    pool = make()
    first, second = Job(Question("query", "r"), id="x"), Job(Question("query", "r"), id="x")
    pool.enter(first)
    pool.enter(second)
    assert first.id == "x" != second.id


def test_a_closed_pool_leaves_no_process(make):
    pool = make()
    pid = int(ask(pool, "count_up").tag)
    pool.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def wait_for(path):
    end = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.01)
