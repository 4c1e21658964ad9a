from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from xprof_nb.capture.shield import in_background, shielded


def test_it_returns_what_the_work_gives_and_raises_what_it_raises() -> None:
    assert shielded(lambda: 42, "test") == 42
    with pytest.raises(ZeroDivisionError):
        shielded(lambda: 1 / 0, "test")


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_waits_for_the_end_of_the_work() -> None:
    ended = []

    def work() -> None:
        interrupt()
        time.sleep(0.3)
        ended.append(True)

    with pytest.raises(KeyboardInterrupt):
        shielded(work, "test")
    assert ended


def test_an_interrupt_carries_the_failure_of_the_work() -> None:
    def work() -> None:
        interrupt()
        time.sleep(0.2)
        raise ValueError("kept in /tmp/x")

    with pytest.raises(KeyboardInterrupt) as raised:
        shielded(work, "test")
    assert raised.value.__notes__ == ["kept in /tmp/x"]


def test_a_second_interrupt_stops_waiting_and_the_work_goes_on() -> None:
    go_on, ended = threading.Event(), threading.Event()

    def work() -> None:
        interrupt()
        go_on.wait(30)
        ended.set()

    def again(seconds: float) -> None:
        interrupt()

    with pytest.raises(KeyboardInterrupt):
        shielded(work, "test", again)
    assert not ended.is_set()
    go_on.set()
    assert ended.wait(30)


def test_meanwhile_is_told_how_long_it_has_taken() -> None:
    seconds: list[float] = []
    shielded(lambda: time.sleep(1.2), "test", seconds.append)
    assert len(seconds) >= 2
    assert seconds == sorted(seconds)


def test_the_thread_starts_with_no_context_of_its_own() -> None:
    from contextvars import ContextVar

    variable = ContextVar("variable", default="empty")
    variable.set("of the cell")
    assert in_background(variable.get, "test").result(30) == "empty"


def test_what_is_begun_under_the_shield_is_not_dropped_when_the_interpreter_ends() -> None:
    begun = shielded(lambda: in_background(threading.current_thread, "test"), "test")
    assert not begun.result(30).daemon
    assert not shielded(threading.current_thread, "test").daemon
