"""Work that an interrupt must not tear: starting, stopping and saving a capture."""

from __future__ import annotations

import _thread
import threading
import time
from concurrent.futures import Future
from contextvars import Context
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

TICK_S = 0.5
T = TypeVar("T")


def in_background(work: Callable[[], T], name: str) -> Future[T]:
    """Start ``work`` in a thread of its own.

    The thread begins with an empty context: what it displays then belongs to the cell that runs at that time,
    not for ever to the one that started it. It is no daemon: a profile being saved is not dropped at exit.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    _start(run, name)
    return future


def shielded(work: Callable[[], T], name: str, meanwhile: Callable[[float], None] | None = None) -> T:
    """Do ``work`` to its end; a KeyboardInterrupt meanwhile is raised after it.

    Python raises the interrupt in the main thread only, so the work is done in another one. A second interrupt
    stops waiting: the work still goes on to its end.

    Parameters
    ----------
    meanwhile
        Called every half second with the seconds passed.
    """
    task = _Task(work)
    began = time.perf_counter()
    interrupt: KeyboardInterrupt | None = None
    begun = False
    while not task.ended:
        try:
            if not begun:
                # An interrupt may come when the thread is started but we do not know it yet: then it is started
                # once more, and finds its work taken. Only bare locks are used in this thread: the waiting of
                # `threading` is itself Python code, which an interrupt leaves in pieces.
                _thread.start_new_thread(_start, (task.run, name))
                begun = True
            if not task.bell.acquire(timeout=TICK_S) and meanwhile is not None:
                meanwhile(time.perf_counter() - began)
        except KeyboardInterrupt as error:
            if interrupt is not None:
                raise
            interrupt = error
    if interrupt is None:
        return task.result()
    if task.error is not None:
        interrupt.add_note(str(task.error))
    raise interrupt


def _start(run: Callable[[], None], name: str) -> None:
    # Said, not inherited: whoever starts it may be a thread without an object, and those count as daemons.
    threading.Thread(target=Context().run, args=(run,), name=name, daemon=False).start()


class _Task(Generic[T]):
    """Work that is done once, however often it is started; rings `bell` when it has ended."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._taken = _thread.allocate_lock()
        self._value: list[T] = []
        self.error: BaseException | None = None
        self.ended = False
        self.bell = _thread.allocate_lock()
        self.bell.acquire()

    def run(self) -> None:
        if not self._taken.acquire(blocking=False):
            return
        try:
            self._value.append(self._work())
        except BaseException as error:
            self.error = error
        finally:
            self.ended = True
            self.bell.release()

    def result(self) -> T:
        if self.error is not None:
            raise self.error
        return self._value[0]
