"""The processes that open profiles and answer: a bounded number, each with limits, replaced when one is lost.

A profile is somebody else's file. What it makes the decoder do, hang, take all memory, crash, it does to a process that
is not the Jupyter server.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe
from threading import Event, Lock
from typing import TYPE_CHECKING
from uuid import uuid4

from xprof_nb.jupyter.server.questions import Answered, CancelledError, Question, Terms, WorkerError

if TYPE_CHECKING:
    from collections.abc import Iterator

GRACE_S = 2.0
"""A cancelled question may take so long to end by itself: a worker that goes takes the profiles it has opened along."""
_LOOK_S = 0.05
_MOST_REMEMBERED = 32
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from xprof_nb.jupyter.server.worker import serve; serve(int(sys.argv[2]), sys.argv[3])"
)
_DESK = "xprof_nb.jupyter.server.desk:Desk"


@dataclass(eq=False)
class Job:
    """A question somebody waits for."""

    question: Question
    id: str = field(default_factory=lambda: uuid4().hex)
    state: str = "queued"
    started: float = field(default_factory=time.time)
    cancelled: Event = field(default_factory=Event)

    @property
    def elapsed_s(self) -> float:
        """How long it has been waited for."""
        return max(time.time() - self.started, 0.0)


class Worker:
    """One process, started when it is first asked, which works on one question at a time."""

    def __init__(self, terms: Terms, desk: str) -> None:
        self._terms = terms
        self._desk = desk
        self._process: subprocess.Popen[bytes] | None = None
        self._line: Connection | None = None
        self.opened: OrderedDict[str, None] = OrderedDict()

    @property
    def pid(self) -> int | None:
        """Number of the process; None while there is none."""
        return None if self._process is None else self._process.pid

    def start(self) -> Connection:
        """Start the process if it does not run; return the line to it."""
        if self._line is None:
            ours, theirs = Pipe()
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-c", _START, json.dumps(sys.path), str(theirs.fileno()), self._desk],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl+C in the server's terminal is the server's to handle
            )
            theirs.close()
            ours.send(self._terms)
            self._line = ours
        return self._line

    def ask(self, job: Job, limit_s: float) -> Answered:
        """Return the answer to a question.

        Raises
        ------
        ProfileError
            What the question failed with.
        CancelledError
            It was cancelled.
        WorkerError
            It took too long, or too much memory, or the process was lost.
        """
        try:
            line = self.start()
            line.send(job.question)
            self._wait(line, job, time.monotonic() + limit_s, limit_s)
            answer: Answered | Exception = line.recv()
        except (EOFError, OSError) as lost:
            raise WorkerError(
                f"the process that worked on {job.question.run} was lost ({self.end()})",
                hint="The next question starts a new one. If it is lost again, the profile is damaged or too large.",
            ) from lost
        if isinstance(answer, WorkerError):
            self.end()
        if isinstance(answer, Exception):
            raise answer
        self.opened[job.question.run] = None
        self.opened.move_to_end(job.question.run)
        if len(self.opened) > _MOST_REMEMBERED:
            self.opened.popitem(last=False)
        return answer

    def _wait(self, line: Connection, job: Job, deadline: float, limit_s: float) -> None:
        given_up = float("inf")
        while not line.poll(_LOOK_S):
            now = time.monotonic()
            if job.cancelled.is_set():
                given_up = min(given_up, now + GRACE_S)
            if now > given_up:
                self.end()
                raise CancelledError("the question was cancelled")
            if now > deadline:
                self.end()
                raise WorkerError(
                    f"no answer about {job.question.run} within {limit_s:g} s",
                    hint="Ask about a shorter window, or raise c.XprofNb.question_seconds.",
                )

    def end(self) -> str:
        """End the process; return how it ended."""
        process, line = self._process, self._line
        self._process = self._line = None
        self.opened.clear()
        if line is not None:
            line.close()
        if process is None:
            return "it never started"
        try:
            process.wait(0.2 if line is not None else 0)
        except subprocess.TimeoutExpired:
            process.kill()
        code = process.wait()
        return f"killed by signal {-code}" if code < 0 else f"exit code {code}"


class Pool:
    """So many workers; a question goes to one that has its run open, if it is free.

    Parameters
    ----------
    limit_s
        How long a question may take.
    desk
        Who answers in the worker: ``module:class``.
    """

    def __init__(self, count: int, terms: Terms, limit_s: float, desk: str = _DESK) -> None:
        self._free = [Worker(terms, desk) for _ in range(count)]
        self._workers = tuple(self._free)
        self._limit_s = limit_s
        self._lock = Lock()
        self._jobs: dict[str, Job] = {}

    def answer(self, job: Job) -> Answered:
        """Answer a question, called on one of as many threads as there are workers. Raises what `Worker.ask` does."""
        if job.cancelled.is_set():
            raise CancelledError("the question was cancelled")
        job.state = "running"
        with self._lock:
            worker = self._free.pop(self._best(job.question.run))
        try:
            answer = worker.ask(job, self._limit_s)
        finally:
            with self._lock:
                self._free.append(worker)
        if job.cancelled.is_set():
            raise CancelledError("the question was cancelled")
        return answer

    def _best(self, run: str) -> int:
        """Return which free worker to ask: one that has the run open, else one that runs, the longest idle first."""
        places = range(len(self._free))
        return max(places, key=lambda row: (run in self._free[row].opened, self._free[row].pid is not None, -row))

    def enter(self, job: Job) -> None:
        """List a job until `leave`; an id that is taken is replaced by another."""
        with self._lock:
            if job.id in self._jobs:
                job.id = uuid4().hex
            self._jobs[job.id] = job

    def leave(self, job: Job) -> None:
        """No longer list a job."""
        with self._lock:
            self._jobs.pop(job.id, None)

    def jobs(self) -> list[Job]:
        """Return what is asked now, the oldest first."""
        with self._lock:
            return sorted(self._jobs.values(), key=lambda job: job.started)

    def cancel(self, job_id: str) -> bool:
        """Cancel a job; whether there is one."""
        with self._lock:
            job = self._jobs.get(job_id)
        if job is not None:
            job.cancelled.set()
        return job is not None

    def pids(self) -> Iterator[int]:
        """Give the numbers of the processes."""
        return (pid for worker in self._workers if (pid := worker.pid) is not None)

    def start(self) -> None:
        """Start one process, so that the first question need not wait for it."""
        with self._lock:
            if self._free:
                self._free[-1].start()

    def close(self) -> None:
        """End every process."""
        for worker in self._workers:
            worker.end()
