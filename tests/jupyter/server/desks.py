"""What workers of the tests do with a question: what it says."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from xprof_nb.errors import DamagedFileError
from xprof_nb.jupyter.server.questions import Answered, Question, Terms


class Obedient:
    """Does what a question is named after."""

    def __init__(self, terms: Terms) -> None:
        self.count = 0

    def answer(self, question: Question) -> Answered:
        self.count += 1
        return Answered(str(os.getpid()), getattr(self, question.name)(question))

    def count_up(self, _question: Question) -> bytes:
        return str(self.count).encode()

    def die(self, _question: Question) -> bytes:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    def wait(self, question: Question) -> bytes:
        Path(question.params["begun"]).touch()
        while not Path(question.params["until"]).exists():
            time.sleep(0.01)
        return b"waited"

    def fill_memory(self, _question: Question) -> bytes:
        return bytes(64 * 2**30)

    def refuse(self, _question: Question) -> bytes:
        raise DamagedFileError("cut short", file="a.xplane.pb", position=3, hint="Copy it again.")

    def fail(self, _question: Question) -> bytes:
        raise KeyError("secret")

    def standing(self, _question: Question) -> bytes:
        return Path("/proc/self/oom_score_adj").read_bytes()

    def large(self, _question: Question) -> bytes:
        return bytes(30_000_000)
