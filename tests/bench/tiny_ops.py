"""Capture a profile that is large for its length: loops of operations too small to keep a core busy.

usage: python tests/bench/tiny_ops.py LOGDIR STEPS    (a step: 2,000 events, 115 kB)

Steps, not seconds: a fast idle machine would record more than its memory holds.
"""

from __future__ import annotations

import sys

import jax
import jax.numpy as jnp

ITERATIONS = 256


@jax.jit
def settle(state: jax.Array) -> jax.Array:
    """A recurrence of matrix, elementwise, data and reduction ops on 16 x 16 values."""

    def again(_: int, x: jax.Array) -> jax.Array:
        mixed = jnp.tanh(x @ x.T)
        return jnp.cos(mixed) * 0.5 + jnp.roll(x, 1, axis=0) / (1 + jnp.sum(x * x, axis=1, keepdims=True))

    return jax.lax.fori_loop(0, ITERATIONS, again, state)


def main(logdir: str, steps: int) -> None:
    state = settle(jnp.ones((16, 16))).block_until_ready()
    with jax.profiler.trace(logdir):
        for step in range(steps):
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                state = settle(state).block_until_ready()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
