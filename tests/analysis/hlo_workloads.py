"""JAX functions whose compiled programs hold every kind of instruction: name -> (function, arguments)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def mlp_step() -> Any:
    def step(weights, x, y):
        def loss(weights):
            hidden = x
            for w, b in weights:
                hidden = jax.nn.gelu(hidden @ w + b)
            return jnp.mean((hidden - y) ** 2)

        value, grads = jax.value_and_grad(loss)(weights)
        return value, jax.tree.map(lambda w, g: w - 0.1 * g / (jnp.sqrt(g * g) + 1e-8), weights, grads)

    weights = [(np.ones((128, 256), np.float32), np.ones(256, np.float32)),
               (np.ones((256, 128), np.float32), np.ones(128, np.float32))]  # fmt: skip
    return step, (weights, np.ones((32, 128), np.float32), np.ones((32, 128), np.float32))


def transformer(dtype: Any) -> Any:
    def loss(weights, x):
        def layer(x, w):
            q, k, v = (part.reshape(*x.shape[:2], 4, -1) for part in jnp.split(x @ w["qkv"], 3, -1))
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4.0
            scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:])) > 0, scores, -1e9)
            mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(x.dtype), v).reshape(x.shape)
            x = x + mixed @ w["out"]
            x = (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
            return x + jax.nn.gelu(x @ w["up"]) @ w["down"], None

        x, _ = lax.scan(jax.checkpoint(layer), x, weights)
        return (x.astype(jnp.float32) ** 2).mean()

    shapes = {"qkv": (3, 64, 192), "out": (3, 64, 64), "up": (3, 64, 256), "down": (3, 256, 64)}
    weights = {name: jnp.ones(shape, dtype) for name, shape in shapes.items()}
    return jax.value_and_grad(loss), (weights, jnp.ones((2, 16, 64), dtype))


def convolutions() -> Any:
    def loss(weights, x):
        numbers = ("NHWC", "HWIO", "NHWC")
        y = lax.conv_general_dilated(x, weights[0], (2, 1), "SAME", rhs_dilation=(1, 2), dimension_numbers=numbers)
        y = lax.conv_general_dilated(
            jax.nn.relu(y), weights[1], (1, 3), [(2, 1), (0, 4)], lhs_dilation=(2, 3), dimension_numbers=numbers,
            feature_group_count=4,
        )  # fmt: skip
        y = lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
        y = lax.conv_general_dilated(y, weights[2], (1, 1), "VALID", dimension_numbers=numbers)
        return (y**2).sum()

    weights = [np.ones(shape, np.float32) for shape in ((3, 3, 3, 8), (2, 4, 2, 12), (1, 1, 12, 5))]
    return jax.grad(loss, argnums=(0, 1)), (weights, np.ones((4, 17, 15, 3), np.float32))


def batch_groups() -> Any:
    def convolve(x, w):
        return lax.conv_general_dilated(
            x, w, (1,), "SAME", batch_group_count=2, dimension_numbers=("NWC", "WIO", "NWC")
        )

    return convolve, (np.ones((4, 9, 6), np.float32), np.ones((3, 6, 8), np.float32))


def indexing() -> Any:
    def index(x, i):
        return (
            x[i], x.at[i].add(1.0), x.at[i].mul(2.0), jnp.take_along_axis(x, i[:, None], 1), jnp.sort(x, 0),
            jnp.argsort(x), jnp.cumsum(x, 0), jnp.cumprod(x, 1), lax.cumlogsumexp(x, 1),
        )  # fmt: skip

    return index, (np.ones((40, 30), np.float32), np.arange(40) % 7)


def control_flow() -> Any:
    def flow(x, i):
        return (
            lax.dynamic_slice(x, (i, i), (3, 4)),
            lax.dynamic_update_slice(x, x[:2, :3] * 2, (i, 0)),
            lax.fori_loop(0, i, lambda j, carry: carry.at[j].set(carry[j - 1] * 2), x),
            lax.while_loop(lambda c: c[0].sum() < 10, lambda c: (c[0] + 1, c[1] * 2), (x, x)),
            lax.cond(i > 3, lambda x: x @ x.T, lambda x: jnp.tanh(x @ x.T), x),
            lax.switch(i, [jnp.sin, jnp.cos, lambda x: x], x),
        )

    return flow, (np.ones((40, 30), np.float32), 3)


def numbers() -> Any:
    def compute(c, b, x):
        product = lax.dot_general(b, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
        return (
            c @ c, jnp.exp(c), jnp.abs(c) * 2, jnp.angle(c), product, b // 3, x.astype(jnp.bfloat16) * 2,
            jnp.fft.fft2(c), jnp.fft.irfft(c), x.var(1), jnp.argmax(x, 0), jnp.median(x), jax.nn.logsumexp(x, 1),
        )  # fmt: skip

    return compute, (np.ones((8, 8), np.complex64), np.ones((8, 8), np.int8), np.ones((40, 30), np.float32))


def randomness() -> Any:
    def draw(key):
        return jax.random.normal(key, (30, 20)), jax.random.permutation(key, 100), jax.random.gamma(key, 2.0, (5,))

    return draw, (jax.random.key(0),)


def linear_algebra() -> Any:
    def solve(x):
        return jnp.linalg.cholesky(x), jax.scipy.linalg.solve_triangular(x, x), jnp.linalg.eigh(x), jnp.tanh(x)

    return solve, (np.eye(12, dtype=np.float32),)


WORKLOADS: dict[str, Callable[[], Any]] = {
    "mlp_step": mlp_step,
    "transformer_f32": lambda: transformer(jnp.float32),
    "transformer_bf16": lambda: transformer(jnp.bfloat16),
    "convolutions": convolutions,
    "batch_groups": batch_groups,
    "indexing": indexing,
    "control_flow": control_flow,
    "numbers": numbers,
    "randomness": randomness,
    "linear_algebra": linear_algebra,
}
