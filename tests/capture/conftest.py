"""Real work for real captures."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest


@pytest.fixture(scope="session")
def matmul() -> Callable[[], jax.Array]:
    """One product of two matrices, compiled; some ten milliseconds of work."""
    square = jax.jit(lambda x: x @ x)
    operand = jnp.ones((600, 600))
    square(operand).block_until_ready()
    return lambda: square(operand)


@pytest.fixture
def at_work(matmul: Callable[[], jax.Array]) -> Iterator[None]:
    """Work in another thread, for as long as the test runs."""
    enough = threading.Event()

    def work() -> None:
        while not enough.is_set():
            matmul().block_until_ready()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    enough.set()
    thread.join()


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    return tmp_path / "logs"


@pytest.fixture(autouse=True)
def profiler_is_free_afterwards():
    """Whatever a test did, the next capture in this process must be able to start."""
    yield
    from jax._src import profiler

    from xprof_nb.capture import jobs, session

    if (job := jobs.current()) is not None:  # a test that failed left it
        job.cancel()
        job.ended(60)
    assert session._place.session is None
    assert profiler._profile_state.profile_session is None
    assert not jax.profiler.TraceAnnotation.is_enabled()
