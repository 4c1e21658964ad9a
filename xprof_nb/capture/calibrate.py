"""Measure what this machine's CPU can do through XLA: matrix products and memory streams.

``python -m xprof_nb.capture.calibrate`` takes a few seconds and keeps the result for the host, see
`xprof_nb.model.measured`. It runs in a process of its own so that neither the notebook's XLA flags nor its device
decide what is measured.
"""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xprof_nb.errors import ProfileError
from xprof_nb.model.measured import Machine, Measurement, read, this_machine, write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from xprof_nb.model.device import Peaks

GEMM_SIZES = (512, 1024, 2048)
GEMM_SECONDS = {"f32": 1.2, "bf16": 0.5, "f64": 0.5}
STREAM_SECONDS = 1.0
QUIET_FRACTION = 0.2
SECONDS_BETWEEN_TRIES = 600.0
_MIB = 2**20
_STREAM_BYTES = (64 * _MIB, 256 * _MIB)
_SAMPLE_SECONDS = 0.2
_DTYPES = {"f32": "float32", "bf16": "bfloat16", "f64": "float64"}

_log = logging.getLogger(__name__)
_measuring = threading.Lock()


def ensure(timeout_s: float = 30.0) -> Peaks | None:
    """Return this machine's measured peaks, measuring now if that was never done.

    It is done again when the last time others were using the machine and now they are not. Not to be called while
    something is timed: it uses every core for a few seconds.

    Parameters
    ----------
    timeout_s
        How long to wait for a measurement; after that, or when it fails, what is known already is returned.
    """
    machine = this_machine()
    with _measuring:  # one that came meanwhile waits for the answer: two at once would slow each other
        known = read(machine)
        if known is None or _worth_repeating(known):
            _run_in_fresh_process(timeout_s)
            known = read(machine)
    return None if known is None else known.peaks


def ensure_where_jax_runs() -> None:
    """Measure this machine, see `ensure`, if its CPU is what jax computes on: the roofs of others are known."""
    import jax  # noqa: PLC0415

    if jax.default_backend() == "cpu":
        ensure()


def measure() -> Measurement:
    """Measure this machine in this process, about five seconds; see `clean_environment`.

    The FLOP/s roof of a type is the fastest square matrix product, ``2 n³`` operations; the memory roof is the
    fastest update ``a = b + a/2`` of arrays larger than the caches: two reads and a write, in place, so that no
    line is fetched only to be overwritten.
    """
    busy = busy_fraction()
    import jax  # noqa: PLC0415

    jax.config.update("jax_enable_x64", True)
    machine = this_machine()
    flops = {dtype: _gemm_flops_per_s(dtype, seconds) for dtype, seconds in GEMM_SECONDS.items()}
    stream, stream_bytes = _stream_bytes_per_s(STREAM_SECONDS)
    after = busy_fraction()
    busy = max((share for share in (busy, after) if share is not None), default=None)
    when = _circumstances(machine, busy)
    sizes = f"{GEMM_SIZES[0]} to {GEMM_SIZES[-1]} squared"
    return Measurement(
        machine=machine,
        measured_s=time.time(),
        busy_fraction=busy,
        flops_per_s={
            dtype: (value, f"fastest {dtype} matrix product of {sizes} through XLA, {when}")
            for dtype, value in flops.items()
        },
        bytes_per_s={"hbm": (stream, f"fastest update a = b + a/2 of {stream_bytes // _MIB} MiB arrays, {when}")},
    )


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what steers XLA and JAX, and with JAX on the CPU."""
    steering = re.compile(r"JAX_|XLA_|TF_XLA_|LIBTPU")
    cleaned = {name: value for name, value in environment.items() if not steering.match(name)}
    return {**cleaned, "JAX_PLATFORMS": "cpu"}


def busy_fraction() -> float | None:
    """Return how much of the machine's cores is in use just now, 0..1; None when that cannot be told."""
    try:
        import psutil  # noqa: PLC0415
    except ImportError:
        if not hasattr(os, "getloadavg"):
            return None
        return min(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    return float(psutil.cpu_percent(interval=_SAMPLE_SECONDS)) / 100


def _worth_repeating(known: Measurement) -> bool:
    if known.busy_fraction is None or known.busy_fraction <= QUIET_FRACTION:
        return False
    if time.time() - known.measured_s < SECONDS_BETWEEN_TRIES:
        return False
    now = busy_fraction()
    return now is not None and now <= QUIET_FRACTION


def _run_in_fresh_process(timeout_s: float) -> None:
    environment = clean_environment(os.environ)
    package = str(Path(__file__).parents[2])
    paths = [package, *filter(None, [environment.get("PYTHONPATH")])]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    try:
        subprocess.run(
            [sys.executable, "-m", "xprof_nb.capture.calibrate"],
            env=environment,
            timeout=timeout_s,
            check=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
    except subprocess.TimeoutExpired:
        _log.warning("measuring this machine's peaks took longer than %g s and was given up", timeout_s)
    except subprocess.CalledProcessError as error:
        _log.warning("this machine's peaks could not be measured: %s", error.stderr.decode(errors="replace")[-500:])
    except OSError as error:
        _log.warning("this machine's peaks could not be measured: %s", error)


def _gemm_flops_per_s(dtype: str, seconds: float) -> float:
    """Return the fastest product's operations a second; a size that would take too long is left out."""
    import jax  # noqa: PLC0415
    import jax.numpy as jnp  # noqa: PLC0415

    product = jax.jit(lambda a: a @ a)
    share = seconds / len(GEMM_SIZES)
    best = 0.0
    for size in GEMM_SIZES:
        operations = 2 * size**3
        if best and operations / best > share:
            break
        operand = jnp.full((size, size), 1 / size, _DTYPES[dtype])
        best = max(best, operations / _fastest(partial(_finish, product, operand), share))
    return best


def _stream_bytes_per_s(seconds: float) -> tuple[float, int]:
    """Return the fastest update's bytes a second, and the bytes of one array."""
    import jax  # noqa: PLC0415
    import jax.numpy as jnp  # noqa: PLC0415

    array_bytes = _stream_array_bytes()
    arrays = [jnp.full(array_bytes // 4, value, jnp.float32) for value in (1.0, 2.0)]
    update = jax.jit(lambda a, b: b + 0.5 * a, donate_argnums=0)

    def step() -> None:
        arrays[0] = update(*arrays).block_until_ready()

    return 3 * array_bytes / _fastest(step, seconds), array_bytes


def _stream_array_bytes() -> int:
    """Return four times the largest cache, within what is sensible and what memory there is."""
    smallest, largest = _STREAM_BYTES
    wanted = min(max(4 * _largest_cache_bytes(), smallest), largest)
    return max(min(wanted, _free_memory_bytes() // 8), 8 * _MIB) // _MIB * _MIB


def _largest_cache_bytes() -> int:
    sizes = (path.read_text() for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"))
    return max((int(size.strip().removesuffix("K")) * 1024 for size in sizes), default=32 * _MIB)


def _free_memory_bytes() -> int:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 4 * 1024 * _MIB


def _finish(function: Callable[..., Any], *operands: object) -> None:
    function(*operands).block_until_ready()


def _fastest(step: Callable[[], object], seconds: float) -> float:
    """Return the shortest of the runs that fit, at least two; the first, which compiles, is not counted."""
    step()
    fastest = float("inf")
    deadline = time.perf_counter() + seconds
    runs = 0
    while runs < 2 or time.perf_counter() < deadline:
        start = time.perf_counter()
        step()
        fastest = min(fastest, time.perf_counter() - start)
        runs += 1
    return fastest


def _circumstances(machine: Machine, busy: float | None) -> str:
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    text = f"measured {when} on {machine.hostname} ({machine.cpu}, {machine.core_count} cores)"
    if busy is None or busy <= QUIET_FRACTION:
        return text
    return f"{text} while other work used {busy:.0%} of the machine, so it may be too low"


def main() -> int:
    """Measure, keep and report."""
    os.environ.update(steered := clean_environment(os.environ))
    for name in set(os.environ) - set(steered):
        del os.environ[name]
    try:
        kept = write(measure())
    except (ProfileError, OSError) as error:
        sys.stderr.write(f"xprof_nb: {error}\n")
        return 1
    for dtype, (value, source) in kept.flops_per_s.items():
        sys.stdout.write(f"{dtype:5} {value / 1e9:8.1f} GFLOP/s  {source}\n")
    for memory, (value, source) in kept.bytes_per_s.items():
        sys.stdout.write(f"{memory:5} {value / 1e9:8.1f} GB/s     {source}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
