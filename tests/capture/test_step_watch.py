from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import pytest
from jax._src import api

from xprof_nb.capture import step_watch
from xprof_nb.capture.step_watch import StepWatch


@pytest.fixture
def watch(matmul) -> Iterator[StepWatch]:
    watch = StepWatch()
    yield watch
    watch.close()
    assert api._post_hook_state.get_global() is None
    assert not {"__enter__", "__exit__"} & set(vars(jax.profiler.StepTraceAnnotation))


def test_marks_are_steps_and_those_around_others_are_not(watch, matmul) -> None:
    for epoch in range(2):
        with jax.profiler.StepTraceAnnotation("epoch", step_num=epoch):
            for number in range(3):
                with jax.profiler.StepTraceAnnotation("train", step_num=number):
                    matmul()
    assert (watch.kind, watch.count(), len(watch.lengths_s())) == ("marked", 6, 5)


def test_without_marks_a_step_is_a_dispatch_of_the_largest_repeated_program(watch, matmul) -> None:
    small = jax.jit(lambda x: x + 1)
    once = jax.jit(lambda x: x * 2)
    little, much = jnp.ones(3), jnp.ones((2000, 2000))
    small(little)
    once(much)
    once(much)  # larger than the step, but dispatched once
    for _ in range(7):
        small(little)
        small(little)
        matmul()
    assert (watch.kind, watch.count()) == ("inferred", 6)  # the seventh has no end yet


def test_a_thread_that_jax_has_given_a_hook_of_its_own_is_seen(matmul) -> None:
    with jax.debug_nans(False):
        pass
    watch = StepWatch()
    try:
        for _ in range(3):
            with jax.debug_nans(False):
                pass
            matmul()
        assert (watch.kind, watch.count()) == ("inferred", 2)
    finally:
        watch.close()
    assert type(api._post_hook_state).__module__ != step_watch.__name__


def test_only_steps_since_a_moment_count(watch, matmul) -> None:
    for _ in range(4):
        matmul()
    moment = time.perf_counter()
    for _ in range(3):
        matmul()
    assert watch.count(moment) == 2
    assert len(watch.lengths_s(moment)) == 2


def test_lengths_are_from_start_to_start(watch) -> None:
    for pause in (0.05, 0.1, 0.0):
        with jax.profiler.StepTraceAnnotation("train"):
            pass
        time.sleep(pause)
    assert watch.lengths_s() == pytest.approx([0.05, 0.1], abs=0.04)


def test_work_of_other_threads_is_seen_and_marks_still_reach_the_profiler(watch, matmul, logdir) -> None:
    import xprof_nb as xp

    def loop() -> None:
        for number in range(5):
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                matmul().block_until_ready()

    with xp.capture("seen", logdir) as captured:
        thread = threading.Thread(target=loop)
        thread.start()
        thread.join()
    assert watch.count() == 5
    steps = captured.profile.steps()
    assert len(steps.frame["step"].unique()) == 5


def test_a_hook_that_was_there_is_called_and_comes_back(matmul) -> None:
    calls = []
    api._post_hook_state.set_global(lambda *arguments: calls.append(arguments))
    theirs = api._post_hook_state.get_global()
    try:
        watch = StepWatch()
        matmul()
        watch.close()
        assert len(calls) == 1
        assert api._post_hook_state.get_global() is theirs
    finally:
        api._post_hook_state.set_global(None)


def test_a_watch_that_fails_does_not_end_the_loop(watch, matmul, monkeypatch) -> None:
    monkeypatch.setattr(step_watch, "_bytes_of", lambda tree: 1 / 0)
    assert matmul().shape == (600, 600)
    assert watch.kind is None


def test_an_error_in_a_marked_step_is_the_loops_own(watch) -> None:
    with pytest.raises(ValueError, match="mine"), jax.profiler.StepTraceAnnotation("train"):
        raise ValueError("mine")
    assert watch.count() == 1
