"""A worker process: answers one question after the other until its server goes."""

from __future__ import annotations

import contextlib
import os
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from xprof_nb.errors import ProfileError
from xprof_nb.jupyter.server.questions import Answered, Question, Terms, WorkerError
from xprof_nb.model.units import size

NICENESS = 3


def serve(line_number: int, desk: str) -> None:
    """Answer what comes over a line that was inherited."""
    line = Connection(line_number)
    terms: Terms = line.recv()
    limit_memory(terms.memory_bytes)
    give_way()
    module, _, name = desk.partition(":")
    at_work = getattr(import_module(module), name)(terms)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):  # the server has gone
        while True:
            question = line.recv()
            line.send(_answer(at_work, question, terms))


def _answer(desk: Any, question: Question, terms: Terms) -> Answered | Exception:
    try:
        answer: Answered = desk.answer(question)
    except MemoryError:
        return WorkerError(
            f"{question.run} needs more memory than a worker may take ({size(terms.memory_bytes)})",
            hint="Ask about a shorter window or one host, or raise c.XprofNb.worker_bytes.",
        )
    except ProfileError as refused:
        return refused
    except Exception as failed:
        import traceback  # noqa: PLC0415

        traceback.print_exc()
        return RuntimeError(f"{type(failed).__name__}: {failed}")
    return answer


def give_way() -> None:
    """Let the Jupyter server and its kernels go first, and be the one the system ends where memory runs out."""
    with contextlib.suppress(AttributeError, OSError):  # not every system can
        os.nice(NICENESS)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", "ascii")


def limit_memory(most_bytes: int) -> None:
    """Let allocations fail beyond a size; files that are mapped do not count."""
    with contextlib.suppress(ImportError, OSError, ValueError):  # not every system can
        import resource  # noqa: PLC0415

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = most_bytes if hard == resource.RLIM_INFINITY else min(most_bytes, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
