"""Measures token generation: prefill and decode in a loop, one request at a time, waiting for every token."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from xprof_nb.capture import calibrate
from xprof_nb.errors import UsageError
from xprof_nb.model import roofs
from xprof_nb.model.device import Peak, Peaks
from xprof_nb.model.figures import Figure
from xprof_nb.model.units import PS_PER_S
from xprof_nb.tuning.key_figures import KeyFigures

Floats = NDArray[np.float64]
PERCENTILES = (50, 90, 95, 99)
_MEANINGS = {
    "ttft": "from giving the prompt to its first token: prefill alone",
    "tpot": "(end to end - time to first token) / (output tokens - 1), per request",
    "itl": "from one token to the next, over all tokens but the first of each request",
    "e2e": "from giving the prompt to the last token",
}


@dataclass(frozen=True)
class Costs:
    """What one call does on one device; None is not told, and is then asked of XLA where that is possible.

    Attributes
    ----------
    prefill_flops
        Of one prefill.
    decode_bytes
        To and from main memory, of one decode.
    """

    prefill_flops: float | None = None
    decode_bytes: float | None = None


@dataclass(frozen=True)
class Shape:
    """How much each request is.

    Attributes
    ----------
    prompt_tokens, output_tokens
        Of one sequence; prefill gives the first of the output.
    batch
        Sequences that run together; each counts as a request.
    """

    prompt_tokens: int
    output_tokens: int
    batch: int = 1

    def __post_init__(self) -> None:
        """Refuse shapes that cannot be timed."""
        for name, least in (("prompt_tokens", 1), ("output_tokens", 2), ("batch", 1)):
            _check_count(name, getattr(self, name), least)


@dataclass(frozen=True)
class Bench:
    """What a measurement needs of the machine.

    Attributes
    ----------
    clock
        Seconds.
    wait
        Returns when everything in a state was computed.
    """

    clock: Callable[[], float]
    wait: Callable[[Any], Any]


def benchmark_generation(
    prefill: Callable[[Any], Any],
    decode: Callable[[Any], Any],
    prompt: Any,
    *,
    prompt_tokens: int,
    output_tokens: int,
    batch: int = 1,
    requests: int = 20,
    warm_up: int = 2,
    costs: Costs = Costs(),
    peaks: Peaks | str | None = None,
    bench: Bench | None = None,
) -> KeyFigures:
    """Measure token generation, one batch of requests at a time.

    Parameters
    ----------
    prefill
        ``prefill(prompt)`` encodes the prompt, gives the first token and returns a state.
    decode
        ``decode(state)`` gives the next token and returns the next state.
    prompt_tokens, output_tokens, batch
        See `Shape`.
    requests, warm_up
        How often the whole is timed, and how often it runs untimed before, so that nothing compiles meanwhile.
    costs
        FLOPs and bytes, where XLA's own count is not wanted.
    peaks
        Roofs of one device, or the name of its model as for `xprof_nb.hardware`; those of jax's first device if None.

    Returns
    -------
    KeyFigures
        TTFT, TPOT, ITL and E2E as average, percentiles (linear interpolation) and maximum, rates, MFU of prefill and
        memory bandwidth utilisation of decode; every sample in ``samples``.

    Raises
    ------
    UsageError
        A count is out of bounds, or nobody knows such a device.
    """
    shape = Shape(prompt_tokens, output_tokens, batch)
    _check_count("requests", requests, 1)
    _check_count("warm_up", warm_up, 0)
    bench = bench or _this_machine()
    for _ in range(warm_up):
        state = _request(prefill, decode, prompt, shape, bench)[0]
    timed = [_request(prefill, decode, prompt, shape, bench)[1:] for _ in range(requests)]
    first_s = np.array([first for first, _ in timed])
    gaps_s = np.array([gaps for _, gaps in timed])
    if warm_up == 0:
        state = None
    figures = [
        *_latencies(first_s, gaps_s),
        *_rates(first_s, gaps_s, shape),
        *_utilization(first_s, gaps_s, _with_xla(costs, prefill, decode, prompt, state), _peaks_of(peaks)),
    ]
    notes = () if warm_up else ("Nothing ran before the first request was timed: compilation is in it.",)
    return KeyFigures("token generation", figures, notes, _samples(first_s, gaps_s))


def _check_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(f"{name} cannot be {value!r}", hint=f"It takes a whole number from {least} on.")


def _request(
    prefill: Callable[[Any], Any], decode: Callable[[Any], Any], prompt: Any, shape: Shape, bench: Bench
) -> tuple[Any, float, list[float]]:
    """Return the state before the last token, the time to the first token and those between tokens, in seconds."""
    times = [bench.clock()]
    state = bench.wait(prefill(prompt))
    times.append(bench.clock())
    before = state
    for _ in range(shape.output_tokens - 1):
        before, state = state, bench.wait(decode(state))
        times.append(bench.clock())
    gaps = np.diff(times).tolist()
    return before, gaps[0], gaps[1:]


def _latencies(first_s: Floats, gaps_s: Floats) -> list[Figure]:
    whole_s = first_s + gaps_s.sum(1)
    values = {"ttft": first_s, "tpot": gaps_s.mean(1), "itl": gaps_s.ravel(), "e2e": whole_s}
    rows = []
    for name, seconds in values.items():
        statistics = {"avg": seconds.mean()}
        statistics |= {f"p{rank}": np.percentile(seconds, rank, method="linear") for rank in PERCENTILES}
        for statistic, value in {**statistics, "max": seconds.max()}.items():
            how = f"{_MEANINGS[name]}; {statistic} of {len(seconds)} samples, percentiles by linear interpolation"
            rows.append(Figure(f"{name}_{statistic}", float(value) * PS_PER_S, "ps", how, "measured"))
    return rows


def _rates(first_s: Floats, gaps_s: Floats, shape: Shape) -> list[Figure]:
    prefill_s, decode_s = float(first_s.sum()), float(gaps_s.sum())
    sequences = len(first_s) * shape.batch
    rows = (
        ("output_tokens_per_s", shape.output_tokens, prefill_s + decode_s, "output tokens / time of all requests"),
        ("prefill_tokens_per_s", shape.prompt_tokens, prefill_s, "prompt tokens / time of all prefills"),
        ("decode_tokens_per_s", shape.output_tokens - 1, decode_s, "tokens but the first / time of all decodes"),
        ("requests_per_s", 1, prefill_s + decode_s, "sequences / time of all requests, one batch after the other"),
    )
    return [
        Figure(
            name,
            sequences * each / seconds if seconds > 0 else None,
            "requests/s" if name.startswith("requests") else "tokens/s",
            how,
            f"measured, batch {shape.batch}",
            "The clock did not advance.",
        )
        for name, each, seconds, how in rows
    ]


def _utilization(first_s: Floats, gaps_s: Floats, costs: dict[str, tuple[float | None, str]], peaks: Peaks) -> Any:
    rows = (
        ("prefill_mfu", "prefill_flops", peaks.reference, "FLOPs of a prefill", float(np.median(first_s)), "FLOP/s"),
        ("decode_hbm_utilization", "decode_bytes", peaks.hbm, "bytes of a decode", float(np.median(gaps_s)), "B/s"),
    )
    for name, cost, roof, what, seconds, unit in rows:
        value, source = costs[cost]
        known = value is not None and roof is not None and seconds > 0
        yield Figure(
            name,
            value / seconds / roof.value if known and value is not None and roof is not None else None,
            "fraction",
            f"{what} ({'unknown' if value is None else f'{value:.4g}'}) / median time / {_stated(roof, unit)}",
            source,
            f"Tell costs=Costs({cost}=…)" if value is None else "Tell peaks=, or state them: xp.hardware(name, …)",
        )


def _stated(roof: Peak | None, unit: str) -> str:
    return "an unknown peak" if roof is None else f"{roof.value:.4g} {unit} ({roof.label})"


def _with_xla(costs: Costs, prefill: Any, decode: Any, prompt: Any, state: Any) -> dict[str, tuple[float | None, str]]:
    """Return each cost and who says so: the caller, or XLA for a jitted function."""
    found: dict[str, tuple[float | None, str]] = {}
    asked = (
        ("prefill_flops", costs.prefill_flops, prefill, prompt, "flops"),
        ("decode_bytes", costs.decode_bytes, decode, state, "bytes accessed"),
    )
    for name, told, function, argument, key in asked:
        if told is not None:
            found[name] = (told, "told")
        else:
            found[name] = (
                xla_cost(function, argument, key),
                f"XLA's cost analysis, {key!r}, a loop's body counted once",
            )
    return found


def xla_cost(function: Any, argument: Any, key: str) -> float | None:
    """Return what XLA counts for a jitted function on one device; None for others, and where XLA does not count."""
    if not hasattr(function, "lower") or argument is None:
        return None
    try:
        counted = function.lower(argument).compile().cost_analysis()
    except Exception:
        return None
    value = (counted[0] if isinstance(counted, list) and counted else counted or {}).get(key)
    return float(value) if value is not None and value > 0 else None


def _samples(first_s: Floats, gaps_s: Floats) -> pd.DataFrame:
    count, gaps = gaps_s.shape
    return pd.DataFrame(
        {
            "metric": ["ttft"] * count + ["itl"] * (count * gaps),
            "request": np.concatenate([np.arange(count), np.repeat(np.arange(count), gaps)]),
            "value_ps": np.concatenate([first_s, gaps_s.ravel()]) * PS_PER_S,
        }
    )


def _peaks_of(peaks: Peaks | str | None) -> Peaks:
    if isinstance(peaks, Peaks):
        return peaks
    if peaks is None:
        calibrate.ensure_where_jax_runs()
    name = _this_device() if peaks is None else peaks
    found = roofs.find(name)
    if found is None and peaks is not None:
        raise UsageError(f"the peaks of {name!r} are not known", hint="xp.hardware() lists the models.")
    return found.peaks if found is not None else Peaks()


def _this_device() -> str:
    import jax  # noqa: PLC0415

    device = jax.devices()[0]
    return roofs.CPU if device.platform == "cpu" else str(device.device_kind)


def _this_machine() -> Bench:
    import jax  # noqa: PLC0415

    return Bench(time.perf_counter, jax.block_until_ready)
