"""What a capture costs: from its stop to the op profile, and how much slower the loop runs meanwhile.

usage: python tests/bench/capture.py [--steps N] [--rounds N] [--overhead-steps N]

answer    stop -> op profile of the same steps of tiny XLA ops on this CPU: ours against ``jax.profiler.stop_trace``
          followed by xprof's ``op_profile``; both warm; no more than half the time
overhead  how much longer the same loop takes under ``xp.capture`` than under nothing, against ``jax.profiler.trace``
          with the same options and with its own; no more than 1.05 times the loop under ``jax.profiler.trace``

Both sides take turns in one process; the best of each side counts. Exit status 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path.insert(0, str(Path(__file__).parents[2]))

import jax
import jax.numpy as jnp
from tiny_ops import settle

import xprof_nb as xp
from xprof_nb.capture.options import CaptureOptions

LARGEST_ANSWER_RATIO, LARGEST_LOOP_RATIO = 0.5, 1.05


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200, help="steps of a capture to answer from: 115 kB each")
    parser.add_argument("--overhead-steps", type=int, default=60, help="steps of a loop to time")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each side")
    options = parser.parse_args()
    work()
    with tempfile.TemporaryDirectory(prefix="xprof-nb-bench-") as name:
        passed = [_answers(Path(name), options), _overhead(Path(name), options)]
    print("passed" if all(passed) else "FAILED")
    return 0 if all(passed) else 1


def work(steps: int = 1) -> None:
    """Take some steps of 2,000 events each."""
    state = jnp.ones((16, 16))
    for _ in range(steps):
        state = settle(state).block_until_ready()


def _answers(folder: Path, options: argparse.Namespace) -> bool:
    sides: dict[str, Callable[[Path, int], float]] = {"ours": _ours, "jax and xprof": _theirs}
    for name, side in sides.items():
        side(folder / f"warm {name}", 2)
    times: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(options.rounds):
        for name, side in sides.items():
            times[name].append(side(folder / f"{name} {number}", options.steps))
    best = {name: min(found) for name, found in times.items()}
    for name, found in times.items():
        print(f"stop -> op profile, {name:14} {min(found):7.2f} s   (median {statistics.median(found):.2f} s)")
    return _judged("stop -> op profile", best["ours"] / best["jax and xprof"], LARGEST_ANSWER_RATIO)


def _ours(logdir: Path, steps: int) -> float:
    captured = xp.capture("bench", logdir)
    captured.start()
    work(steps)
    began = time.perf_counter()
    captured.stop()
    assert len(captured.profile.op_profile().frame) > 1
    return time.perf_counter() - began


def _theirs(logdir: Path, steps: int) -> float:
    from xprof.convert import raw_to_tool_data

    jax.profiler.start_trace(str(logdir), profiler_options=CaptureOptions().for_jax())
    work(steps)
    began = time.perf_counter()
    jax.profiler.stop_trace()
    (file,) = logdir.glob("plugins/profile/*/*.xplane.pb")
    assert raw_to_tool_data.xspace_to_tool_data([str(file)], "op_profile", {"use_saved_result": False})[0]
    return time.perf_counter() - began


def _overhead(folder: Path, options: argparse.Namespace) -> bool:
    own = jax.profiler.ProfileOptions()
    ways: dict[str, Callable[[Path], AbstractContextManager[object]]] = {
        "no profiler": lambda logdir: nullcontext(),
        "xp.capture": lambda logdir: xp.capture("bench", logdir),
        "jax.profiler.trace, same options": lambda logdir: jax.profiler.trace(
            str(logdir), profiler_options=CaptureOptions().for_jax()
        ),
        "jax.profiler.trace, its own": lambda logdir: jax.profiler.trace(str(logdir), profiler_options=own),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(options.rounds + 2):
        for name, way in ways.items():
            with way(folder / f"loop {name} {number}"):
                began = time.perf_counter()
                work(options.overhead_steps)
                times[name].append(time.perf_counter() - began)
    best = {name: min(found) for name, found in times.items()}
    for name, seconds in best.items():
        print(f"loop under {name:34} {seconds:7.3f} s   ×{seconds / best['no profiler']:.2f}")
    ratio = best["xp.capture"] / best["jax.profiler.trace, same options"]
    return _judged("loop under xp.capture against jax.profiler.trace", ratio, LARGEST_LOOP_RATIO)


def _judged(what: str, ratio: float, bar: float) -> bool:
    print(f"{what}: {ratio:.2f} of theirs, at most {bar:g}: {'ok' if ratio <= bar else 'MISSED'}")
    return ratio <= bar


if __name__ == "__main__":
    sys.exit(main())
