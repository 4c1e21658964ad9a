"""Small real models whose batch is turned."""

from __future__ import annotations

import functools


def transformer(width=64, heads=4, layers=2, sequence=32):
    """Return ``make_step(batch_size)`` of training steps of a small transformer."""
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(jax.random.key(0), 4 * layers)
    params = [
        {
            "qkv": jax.random.normal(keys[4 * i], (width, 3 * width)) * width**-0.5,
            "out": jax.random.normal(keys[4 * i + 1], (width, width)) * width**-0.5,
            "up": jax.random.normal(keys[4 * i + 2], (width, 4 * width)) * width**-0.5,
            "down": jax.random.normal(keys[4 * i + 3], (4 * width, width)) * (4 * width) ** -0.5,
        }
        for i in range(layers)
    ]

    def layer(x, p):
        q, k, v = jnp.split((x @ p["qkv"]).reshape(*x.shape[:2], heads, -1), 3, axis=-1)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape)
        x = x + mixed @ p["out"]
        return x + jax.nn.gelu(x @ p["up"]) @ p["down"]

    @jax.jit
    def train(params, x):
        def loss(params):
            return (functools.reduce(layer, params, x) ** 2).mean()

        grads = jax.grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads)

    def make_step(batch_size):
        x = jax.random.normal(jax.random.key(1), (batch_size, sequence, width))
        return functools.partial(train, params, x)

    return make_step


def data_parallel(width=256, rows=64):
    """Return ``make_step(batch_size)`` that computes on its share of a batch, then all-reduces a gradient."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import Mesh, PartitionSpec

    mesh = Mesh(jax.devices(), ("data",))
    weights = jnp.ones((width, width))
    gradient = jnp.ones((1024, 512))

    @jax.jit
    @functools.partial(
        jax.shard_map,
        mesh=mesh,
        in_specs=(PartitionSpec(), PartitionSpec("data"), PartitionSpec()),
        out_specs=PartitionSpec(),
    )
    def train(weights, batch, gradient):
        for _ in range(4):
            batch = jnp.tanh(batch @ weights)
        return jax.lax.psum(gradient * batch.mean(), "data")

    def make_step(batch_size):
        batch = jnp.ones((batch_size * len(jax.devices()) * rows, width))
        return functools.partial(train, weights, batch, gradient)

    return make_step
