"""Another process with jax's profiler server, as somebody's training job has one: ``profiled_process.py PORT WORK``."""

import sys
import threading
import time

import jax
import jax.numpy as jnp


def step(x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ x)


def main(port: int, work: str) -> None:
    jax.profiler.start_server(port)
    square = jax.jit(step)
    operand = jnp.ones((200, 200))
    square(operand).block_until_ready()
    print("ready", flush=True)
    threading.Thread(target=lambda: (sys.stdin.read(), sys.exit()), daemon=True).start()
    while True:
        if work == "busy":
            square(operand).block_until_ready()
        elif work == "host":
            with jax.profiler.TraceAnnotation("thinking"):
                time.sleep(0.01)
        else:
            time.sleep(0.05)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
