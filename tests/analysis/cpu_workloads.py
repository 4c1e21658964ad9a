"""Run one small JAX program under jax.profiler: ``python cpu_workloads.py LOGDIR WORKLOAD``.

Each in a process of its own: the number of virtual devices is fixed when jax starts.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path

logdir, workload = sys.argv[1:]
os.environ["JAX_PLATFORMS"] = "cpu"
if workload in {"four_devices", "collectives"}:
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

LOOP_LENGTH, SIZE, RUNS = 50, 64, 5


def scan() -> None:
    """A loop whose body multiplies matrices."""

    @jax.jit
    def loop(carry: jax.Array) -> jax.Array:
        def body(carry: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
            return jnp.tanh(carry @ carry.T) * 0.5, jnp.sum(carry)

        return jax.lax.scan(body, carry, None, length=LOOP_LENGTH)[0]

    run_captured(loop, jnp.ones((SIZE, SIZE)))


def four_devices() -> None:
    """An all-reduce over four virtual devices."""
    mesh = jax.make_mesh((4,), ("data",))

    @jax.jit
    def reduce(rows: jax.Array) -> jax.Array:
        def part(rows: jax.Array) -> jax.Array:
            return jax.lax.psum(jnp.tanh(rows @ rows.T), "data")

        specs = {"in_specs": jax.P("data"), "out_specs": jax.P()}
        return jax.shard_map(part, mesh=mesh, **specs)(rows)

    with jax.set_mesh(mesh):
        run_captured(reduce, jax.device_put(jnp.ones((4 * SIZE, SIZE)), jax.NamedSharding(mesh, jax.P("data"))))


def asynchronous() -> None:
    """Steps that return before their work is done: only the launch says which step it belongs to."""

    @jax.jit
    def multiply(matrix: jax.Array) -> jax.Array:
        return jnp.tanh(matrix @ matrix) * 1e-3

    matrix = multiply(jnp.ones((512, 512))).block_until_ready()
    with jax.profiler.trace(logdir):
        for step in range(6):
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                matrix = multiply(matrix)
        matrix.block_until_ready()


def scopes() -> None:
    """A gradient through two named scopes, one of them computed again in the backward pass."""

    def first(x: jax.Array) -> jax.Array:
        with jax.named_scope("encoder"):
            return jnp.tanh(x @ x)

    @jax.jit
    def step(x: jax.Array) -> jax.Array:
        def loss(x: jax.Array) -> jax.Array:
            hidden = jax.checkpoint(first)(x)
            with jax.named_scope("head"):
                return jnp.sum(jnp.sin(hidden @ x))

        return jax.grad(loss)(x)

    run_captured(step, jnp.ones((SIZE, SIZE)) * 1e-2)


def convolution() -> None:
    """A convolution over an image."""
    kernel = jnp.ones((3, 3, 8, 16))

    @jax.jit
    def convolve(images: jax.Array) -> jax.Array:
        return jax.lax.conv_general_dilated(images, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    run_captured(convolve, jnp.ones((2, 32, 32, 8)))


def while_loop() -> None:
    """A loop whose length the program does not know."""

    @jax.jit
    def halve(x: jax.Array) -> jax.Array:
        return jax.lax.while_loop(lambda x: jnp.max(x) > 1, lambda x: (x @ x) * 0.5 / jnp.max(x @ x) * jnp.max(x), x)

    run_captured(halve, jnp.ones((SIZE, SIZE)) * 100.0)


def pallas() -> None:
    """A Pallas kernel, interpreted."""
    from jax.experimental import pallas as pl

    def double(source: object, target: object) -> None:
        target[...] = source[...] * 2.0  # type: ignore[index]

    call = pl.pallas_call(double, out_shape=jax.ShapeDtypeStruct((SIZE, SIZE), jnp.float32), interpret=True)
    run_captured(jax.jit(call), jnp.ones((SIZE, SIZE)))


def compiling() -> None:
    """A program compiled while it is captured."""

    @jax.jit
    def multiply(matrix: jax.Array) -> jax.Array:
        return jnp.tanh(matrix @ matrix)

    matrix = jnp.ones((SIZE, SIZE))
    with jax.profiler.trace(logdir):
        for step in range(5):
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                multiply(matrix).block_until_ready()


def planned() -> None:
    """A training step, once with its weights donated and once without; XLA's own sums of each go beside."""

    def step(weights: jax.Array, inputs: jax.Array, scale: jax.Array) -> tuple[jax.Array, ...]:
        def loss(weights: jax.Array) -> jax.Array:
            return jnp.mean((jnp.tanh(inputs @ weights) @ weights.T - inputs) ** 2)

        value, gradient = jax.value_and_grad(loss)(weights)
        body = lambda carry, _: (jnp.tanh(carry) * scale + gradient, None)  # noqa: E731
        return jax.lax.scan(body, weights, None, length=3)[0], value, jnp.sort(inputs, 0)

    sums = {}
    with jax.profiler.trace(logdir):
        for name, donated in (("kept", ()), ("donated", (0,))):
            step.__name__ = name
            function = jax.jit(step, donate_argnums=donated)
            arguments = jnp.ones((256, 256)), jnp.ones((512, 256)), jnp.float32(0.5)
            analysis = function.lower(*arguments).compile().memory_analysis()
            names = [name for name in dir(analysis) if name.endswith("_in_bytes")]
            sums[name] = {each: getattr(analysis, each) for each in names}
            jax.block_until_ready(function(*arguments))
    Path(logdir, "memory_analysis.json").write_text(json.dumps(sums))


def collectives() -> None:
    """Every kind of collective over four virtual devices, in marked steps."""
    mesh = jax.make_mesh((4,), ("data",))

    @jax.jit
    def exchange(rows: jax.Array) -> jax.Array:
        def part(rows: jax.Array) -> jax.Array:
            own = jnp.tanh(rows @ rows.T)
            summed, gathered = jax.lax.psum(own, "data"), jax.lax.all_gather(own, "data")
            sent = jax.lax.ppermute(own, "data", [(0, 1), (1, 0)])
            scattered = jax.lax.psum_scatter(own, "data", tiled=True)
            exchanged = jax.lax.all_to_all(own, "data", 0, 0, tiled=True)
            return summed.sum() + gathered.sum() + sent.sum() + scattered.sum() + exchanged.sum()

        specs = {"in_specs": jax.P("data"), "out_specs": jax.P(), "check_vma": False}
        return jax.shard_map(part, mesh=mesh, **specs)(rows)

    rows = jax.device_put(jnp.ones((4 * SIZE, SIZE)), jax.NamedSharding(mesh, jax.P("data")))
    run_annotated(exchange, rows, RUNS)


def nested_loops() -> None:
    """Nested loops."""

    @jax.jit
    def nested(matrix: jax.Array) -> jax.Array:
        def inner(state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            return state[0] + 1, jnp.tanh(state[1] @ state[1]) * 0.1

        def outer(state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            _, matrix = jax.lax.while_loop(lambda state: state[0] < 4, inner, (0, state[1]))
            return state[0] + 1, matrix

        return jax.lax.while_loop(lambda state: state[0] < 3, outer, (0, matrix))[1]

    run_captured(nested, jnp.ones((SIZE, SIZE)))


@jax.jit
def multiply(matrix: jax.Array) -> jax.Array:
    """Multiply a matrix by itself."""
    return jnp.tanh(matrix @ matrix) * 1e-3


@jax.jit
def total(matrix: jax.Array) -> jax.Array:
    """Sum up a matrix."""
    return jnp.sum(matrix * 2)


def plain_calls() -> None:
    """Ten calls nobody marked."""
    run_captured(multiply, jnp.ones((256, 256)), runs=10)


def annotated_calls() -> None:
    """Ten marked calls."""
    run_annotated(multiply, jnp.ones((256, 256)), 10)


def compiling_steps() -> None:
    """Marked calls, the first of which compiles."""
    matrix = jnp.ones((256, 256)).block_until_ready()
    with traced(python=True):
        for step in range(6):
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                multiply(matrix).block_until_ready()


def two_programs() -> None:
    """Two programs a step; which step comes first is plain from the pause before it."""
    matrix = jnp.ones((256, 256))
    jax.block_until_ready((multiply(matrix), total(matrix)))
    with traced(python=False):
        for _ in range(6):
            total(multiply(matrix).block_until_ready()).block_until_ready()
            time.sleep(0.002)


def traced(python: bool) -> contextlib.AbstractContextManager[object]:
    """Capture, with or without Python's calls."""
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = int(python)
    return jax.profiler.trace(logdir, profiler_options=options)  # type: ignore[no-any-return]


def run_annotated(function: object, argument: jax.Array, runs: int) -> None:
    """Compile first, then capture marked runs."""
    jax.block_until_ready(function(argument))  # type: ignore[operator]
    with traced(python=False):
        for step in range(runs):
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                jax.block_until_ready(function(argument))  # type: ignore[operator]


def run_captured(function: object, argument: jax.Array, runs: int = RUNS) -> None:
    """Compile first, then capture a few runs."""
    jax.block_until_ready(function(argument))  # type: ignore[operator]
    with jax.profiler.trace(logdir):
        for _ in range(runs):
            jax.block_until_ready(function(argument))  # type: ignore[operator]


WORKLOADS = (
    scan, four_devices, asynchronous, scopes, convolution, while_loop, pallas, compiling, planned,
    collectives, nested_loops, plain_calls, annotated_calls, compiling_steps, two_programs,
)  # fmt: skip
next(run for run in WORKLOADS if run.__name__ == workload)()
