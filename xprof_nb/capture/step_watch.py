"""Following the steps of a loop from outside, without a profiler: marked ones, else dispatches of its program.

A mark is a ``jax.profiler.StepTraceAnnotation``. Where there is none, a step is one dispatch of the jitted function
that handles most bytes, of those dispatched again and again: a training step takes and gives the whole state of the
model. jax calls a hook after each dispatch, the one behind ``jax_debug_nans``; it costs microseconds, and is there
only while somebody watches.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, NamedTuple

Kind = Literal["marked", "inferred"]
MOST_STARTS = 4096


class Step(NamedTuple):
    """One whole step, from its start to the next one's; moments are of ``time.perf_counter``."""

    start_s: float
    length_s: float


@dataclass
class _Steps:
    """Starts of the latest steps, and how many there were."""

    started_s: deque[float] = field(default_factory=lambda: deque(maxlen=MOST_STARTS))
    ended: int = 0

    def begun(self, started_s: float) -> None:
        self.started_s.append(started_s)
        self.ended += 1

    def since(self, moment_s: float) -> int:
        return sum(start >= moment_s for start in list(self.started_s))


@dataclass
class _Program(_Steps):
    """One jitted function; held so that its id is not given to another."""

    function: Any = None
    handled_bytes: int = 0


class StepWatch:
    """Sees every step that begins between its making and `close`."""

    def __init__(self) -> None:
        self._marked = _Steps()
        self._mark_began_s = 0.0
        self._programs: dict[int, _Program] = {}
        self._open_marks = threading.local()
        self._undo = [_hook_marks(self._mark_begins, self._mark_ends), _hook_dispatches(self._dispatched)]

    def close(self) -> None:
        """Stop watching; what was seen stays."""
        while self._undo:
            self._undo.pop()()

    @property
    def kind(self) -> Kind | None:
        """Where its steps come from, None while it has seen none."""
        if self._marked.ended:
            return "marked"
        return "inferred" if self._leading() else None

    def count(self, since_s: float = 0.0) -> int:
        """Return how many whole steps began after a moment of ``time.perf_counter`` and have ended."""
        if self._marked.ended:
            return self._marked.since(since_s)
        leading = self._leading()
        # Of the last dispatch nobody sees the end: it is the next one.
        return max(leading.since(since_s) - 1, 0) if leading else 0

    def lengths_s(self, since_s: float = 0.0) -> list[float]:
        """Return the lengths of the latest whole steps that began after a moment, each from its start to the next."""
        return [step.length_s for step in self.steps(since_s)]

    def steps(self, since_s: float = 0.0) -> list[Step]:
        """Return the latest whole steps that began after a moment."""
        steps = self._marked if self._marked.ended else self._leading()
        starts = {start for start in list(steps.started_s) if start >= since_s} if steps else set()
        if starts and steps is self._marked:  # a step is known when it ends, but its begin ends the one before it
            starts.add(max(self._mark_began_s, *starts))
        return [Step(earlier, later - earlier) for earlier, later in pairwise(sorted(starts))]

    def open_s(self) -> float:
        """Return since when the step under way has lasted, 0 while none has been seen."""
        if self._marked.ended:
            return self._mark_began_s
        leading = self._leading()
        return leading.started_s[-1] if leading else 0.0

    def _leading(self) -> _Program | None:
        repeated = [program for program in list(self._programs.values()) if program.ended > 1]
        return max(repeated, key=lambda program: program.handled_bytes, default=None)

    def _mark_begins(self) -> None:
        stack = self._open_marks.__dict__.setdefault("stack", [])
        self._mark_began_s = time.perf_counter()
        stack.append([self._mark_began_s, False])

    def _mark_ends(self) -> None:
        stack = self._open_marks.__dict__.get("stack")
        if not stack:
            return  # it began before the watch did
        began_s, has_inner = stack.pop()
        if stack:
            stack[-1][1] = True
        if not has_inner:  # a mark around others, of an epoch, is no step
            self._marked.begun(began_s)

    def _dispatched(self, function: Any, arguments: Any, results: Any) -> None:
        program = self._programs.get(id(function))
        if program is None:
            handled_bytes = _bytes_of(arguments) + _bytes_of(results)
            program = self._programs[id(function)] = _Program(function=function, handled_bytes=handled_bytes)
        program.begun(time.perf_counter())


def _bytes_of(tree: Any) -> int:
    import jax  # noqa: PLC0415 - jax only where it is used

    return sum(int(getattr(leaf, "nbytes", 0)) for leaf in jax.tree_util.tree_leaves(tree))


def _hook_marks(begins: Callable[[], None], ends: Callable[[], None]) -> Callable[[], None]:
    """Call back at both ends of every StepTraceAnnotation; return what undoes that."""
    import jax  # noqa: PLC0415 - jax only where it is used

    kind = jax.profiler.StepTraceAnnotation
    before = {name: kind.__dict__.get(name) for name in ("__enter__", "__exit__")}
    enter, leave = kind.__enter__, kind.__exit__

    def enter_watched(mark: Any) -> Any:
        begins()
        return enter(mark)

    def leave_watched(mark: Any, *error: Any) -> Any:
        ends()
        return leave(mark, *error)

    kind.__enter__, kind.__exit__ = enter_watched, leave_watched

    def undo() -> None:
        for name, ours in (("__enter__", enter_watched), ("__exit__", leave_watched)):
            if kind.__dict__.get(name) is not ours:
                continue  # somebody wrapped it meanwhile, and keeps what they wrapped
            if before[name] is None:
                delattr(kind, name)
            else:
                setattr(kind, name, before[name])

    return undo


def _hook_dispatches(dispatched: Callable[[Any, Any, Any], None]) -> Callable[[], None]:
    """Call back after every dispatch of a compiled function; return what undoes that. Some versions cannot."""
    from jax._src import api  # noqa: PLC0415 - jax only where it is used

    state = getattr(api, "_post_hook_state", None)
    if state is None or not all(hasattr(state, name) for name in ("get_global", "set_global", "set_local")):
        return lambda: None
    before = state.get_global()
    listens = api._post_hook_state = _Listening(state)
    if state.get_local() is None:
        listens.set_local(None)

    def hook(function: Any, arguments: Any, keywords: Any, results: Any) -> None:
        with suppress(Exception):  # who watches a loop must not end it
            dispatched(function, (arguments, keywords), results)
        if before is not None:
            before(function, arguments, keywords, results)

    state.set_global(hook)

    def undo() -> None:
        if state.get_global() is hook:
            state.set_global(before)
        if api._post_hook_state is listens:
            api._post_hook_state = state

    return undo


class _Listening:
    """jax's state of hooks, in which a thread without a hook of its own has that of all threads.

    Much of jax switches its check for NaN off for a moment. That leaves the thread with a hook of its own, None, and
    for good: dispatches of that thread would never be seen again.
    """

    def __init__(self, state: Any) -> None:
        self._state = state
        self._unset = _in_new_thread(state.get_local)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._state, name)

    def set_local(self, hook: Any) -> None:
        self._state.set_local(self._unset if hook is None else hook)


def _in_new_thread(ask: Callable[[], Any]) -> Any:
    with ThreadPoolExecutor(1) as one:
        return one.submit(ask).result()
