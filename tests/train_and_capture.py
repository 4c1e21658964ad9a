"""Train a small MLP for ten steps under jax.profiler, into the log dir named on the command line.

A process of its own, so that the profile holds this loop alone and the tests stay free of jax.
"""

from __future__ import annotations

import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
STEPS = 10

try:
    import jax
except ImportError:
    sys.exit(3)
import jax.numpy as jnp  # noqa: E402 - the platform is chosen first


def loss(weights: list[jax.Array], inputs: jax.Array, targets: jax.Array) -> jax.Array:
    """Mean squared error of a two-layer perceptron."""
    hidden = jnp.tanh(inputs @ weights[0])
    return jnp.mean((hidden @ weights[1] - targets) ** 2)


@jax.jit
def train_step(weights: list[jax.Array], inputs: jax.Array, targets: jax.Array) -> tuple[list[jax.Array], jax.Array]:
    """One step of gradient descent."""
    value, gradients = jax.value_and_grad(loss)(weights, inputs, targets)
    return [weight - 1e-3 * gradient for weight, gradient in zip(weights, gradients, strict=True)], value


def main(logdir: str) -> None:
    """Capture ten steps after the first, which compiles."""
    keys = jax.random.split(jax.random.key(0), 4)
    weights = [jax.random.normal(keys[0], (128, 256)), jax.random.normal(keys[1], (256, 64))]
    inputs, targets = jax.random.normal(keys[2], (512, 128)), jax.random.normal(keys[3], (512, 64))
    weights, _ = jax.block_until_ready(train_step(weights, inputs, targets))
    with jax.profiler.trace(logdir):
        for step in range(STEPS):
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                weights, value = train_step(weights, inputs, targets)
                value.block_until_ready()


if __name__ == "__main__":
    main(sys.argv[1])
