"""Reports of other tools that measure inference: NxD Inference, ``vllm bench serve``, SGLang."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from xprof_nb.errors import DamagedFileError, NotAProfileError, NotFoundError, UsageError
from xprof_nb.model.figures import Figure
from xprof_nb.tuning.key_figures import KeyFigures

LARGEST_BYTES = 256 * 2**20
PS_PER_MS = 1e9
_SAME_FRACTION = 0.05
_LONGEST_SHOWN = 80

_NXDI = {
    "context_encoding_model": ("ttft", "latency of encoding the whole prompt, near the time to first token"),
    "token_generation_model": ("tpot", "latency of generating one token"),
    "e2e_model": ("e2e", "latency of a whole request, prompt and output"),
    "speculation_model": ("speculation", "latency of the speculation model"),
    "medusa_speculation_model": ("medusa_speculation", "latency of the Medusa speculation model"),
    "vision_encoder_model": ("vision_encoder", "latency of the vision encoder"),
}
_NXDI_RATES = {
    "context_encoding_model": ("prefill_tokens_per_s", "tokens of the longest prompt · batch / latency"),
    "token_generation_model": ("decode_tokens_per_s", "generated tokens · batch / latency"),
    "e2e_model": (
        "total_tokens_per_s",
        "prompt and output tokens · batch / latency: not the rate of output tokens alone",
    ),
}
_NXDI_STATISTICS = {"p100": "max"}
_LATENCY = re.compile(r"(mean|median|std|p\d{1,3}(?:\.\d{1,4})?)_(ttft|tpot|itl|e2el|e2e_latency)_ms")
_STATISTICS = {"mean": "avg", "median": "p50", "p100": "max"}
_METRICS = {
    "ttft": ("ttft", "from sending a request to its first token"),
    "tpot": ("tpot", "(end to end - time to first token) / (output tokens - 1), per request"),
    "itl": ("itl", "from one token of a request to the next"),
    "e2el": ("e2e", "from sending a request to its last token"),
    "e2e_latency": ("e2e", "from sending a request to its last token"),
}
_RATES = {
    "request_throughput": ("requests_per_s", "requests/s", "completed requests / duration"),
    "request_goodput": ("good_requests_per_s", "requests/s", "requests that met their objectives / duration"),
    "input_throughput": ("input_tokens_per_s", "tokens/s", "prompt tokens / duration"),
    "output_throughput": ("output_tokens_per_s", "tokens/s", "output tokens / duration"),
    "total_token_throughput": ("total_tokens_per_s", "tokens/s", "prompt and output tokens / duration"),
    "total_throughput": ("total_tokens_per_s", "tokens/s", "prompt and output tokens / duration"),
    "completed": ("requests", "requests", "completed requests"),
    "total_input_tokens": ("input_tokens", "tokens", "tokens of all prompts"),
    "total_output_tokens": ("output_tokens", "tokens", "tokens of all outputs"),
}


def may_be(path: str | os.PathLike[str]) -> bool:
    """Whether a path is called as a report is; a trace in JSON says so in its name."""
    name = os.fspath(path).lower()
    return name.endswith((".json", ".jsonl")) and not name.endswith(".trace.json")


def read(path: Path, batch: float | None = None) -> KeyFigures:
    """Return the key figures of a report in a file.

    Raises
    ------
    NotFoundError
        There is no such file.
    DamagedFileError
        It is no JSON.
    NotAProfileError
        It is no report that is known.
    """
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise NotAProfileError("the file is too large for a report", file=path, hint="Give the summary alone.")
        text = path.read_bytes().decode()
    except (FileNotFoundError, IsADirectoryError) as error:
        raise NotFoundError("there is no such report", file=path, hint="Give the JSON file of a benchmark.") from error
    except UnicodeDecodeError as error:
        raise DamagedFileError("the report is not text", file=path, hint="Have it written again.") from error
    found = _parsed(text, path)
    if not isinstance(found, Mapping):
        raise NotAProfileError("the report is not an object", file=path, hint=_KNOWN)
    return of_mapping(found, path.name, batch, path)


def of_mapping(
    report: Mapping[str, Any], name: str, batch: float | None = None, file: Path | None = None
) -> KeyFigures:
    """Return the key figures of a report that was read already; raises what `read` raises."""
    if batch is not None and not (_number(batch) or 0) > 0:
        raise UsageError(f"batch cannot be {batch!r}", hint="It takes a positive number.")
    notes: list[str] = []
    if any(key in report for key in _NXDI):
        figures = [figure for model in _NXDI for figure in _of_model(model, report.get(model), notes)]
        notes += _checked(report, batch)
    else:
        figures = list(_of_server(report, notes))
    if not figures:
        raise NotAProfileError("the report holds no figure that is known", file=file, hint=_KNOWN)
    return KeyFigures(name, figures, notes)


_KNOWN = "Known are benchmark_report.json of NxD Inference and the results of `vllm bench serve` and SGLang."


def _parsed(text: str, path: Path) -> Any:
    """Return the JSON of a file, of one object a line the last: that is how SGLang appends its runs."""
    try:
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            lines = text.strip().splitlines()
            if len(lines) < 2 or not lines[0].rstrip().endswith("}"):
                raise
            return json.loads(lines[-1])
    except (ValueError, RecursionError) as error:
        position = error.pos if isinstance(error, json.JSONDecodeError) else None
        raise DamagedFileError(
            "the report is not well-formed JSON", file=path, position=position, hint="Have it written again."
        ) from error


def _of_model(model: str, part: Any, notes: list[str]) -> Iterator[Figure]:
    """Yield the figures of one model of NxD Inference; a model that did not run is null."""
    if part is None:
        return
    if not isinstance(part, Mapping):
        notes.append(f"{model} is {_shown(part)} in the report, not an object: left out.")
        return
    name, meaning = _NXDI[model]
    source = f"NxD Inference, {model}"
    for key, value in part.items():
        statistic = key.removeprefix("latency_ms_")
        if key != statistic and re.fullmatch(r"avg|p\d{1,3}", statistic):
            latency = _told(value, f"{model}.{key}", notes)
            yield Figure(
                f"{name}_{_NXDI_STATISTICS.get(statistic, statistic)}", _ps(latency), "ps", meaning, f"{source}.{key}"
            )
    if "throughput" in part:
        rate, how = _NXDI_RATES.get(model, (f"{name}_tokens_per_s", "tokens · batch / latency"))
        value = _told(part["throughput"], f"{model}.throughput", notes)
        yield Figure(rate, value, "tokens/s", how, f"{source}.throughput")


def _checked(report: Mapping[str, Any], batch: float | None) -> list[str]:
    """Hold the rate of token generation against what its latency allows: tokens/s = 1000 · batch / latency in ms."""
    part = report.get("token_generation_model")
    if not isinstance(part, Mapping):
        return []
    latency, rate = _number(part.get("latency_ms_avg")), _number(part.get("throughput"))
    if not latency or rate is None:
        return []
    implied = rate * latency / 1000
    rule = f"{rate:.6g} tokens/s at {latency:.4g} ms a token"
    if batch is not None:
        fits = abs(implied - batch) <= _SAME_FRACTION * batch
        return [] if fits else [f"Token generation: {rule} would be a batch of {implied:.4g}, not {batch:g}."]
    whole = round(implied)
    if whole >= 1 and abs(implied - whole) <= _SAME_FRACTION * whole:
        return [f"Token generation: {rule} is a batch of {whole}; say batch= to have it checked."]
    return [f"Token generation: {rule} would be a batch of {implied:.4g}, which is no whole number: check the report."]


def _of_server(report: Mapping[str, Any], notes: list[str]) -> Iterator[Figure]:
    """Yield the figures of a benchmark of a server: vLLM's names, and SGLang's, which are nearly the same."""
    for key, value in report.items():
        if not isinstance(key, str) or value is None:
            continue
        source = f"benchmark report, {key[:_LONGEST_SHOWN]}"
        latency, name = _LATENCY.fullmatch(key), key.rstrip(":")  # older releases of vLLM wrote "request_goodput:"
        if latency is not None:
            metric, meaning = _METRICS[latency[2]]
            statistic = _STATISTICS.get(latency[1], latency[1])
            yield Figure(f"{metric}_{statistic}", _ps(_told(value, key, notes)), "ps", meaning, source)
        elif name in _RATES:
            figure, unit, meaning = _RATES[name]
            yield Figure(figure, _told(value, key, notes), unit, meaning, source)
        elif name == "duration":
            seconds = _told(value, key, notes)
            yield Figure("duration", _ps(seconds, 1000), "ps", "of the whole benchmark", source)


def _ps(value: float | None, ms: float = 1) -> float | None:
    return None if value is None else value * ms * PS_PER_MS


def _told(value: Any, name: str, notes: list[str]) -> float | None:
    found = _number(value)
    if found is None and value is not None:
        notes.append(f"{name} is {_shown(value)} in the report, which is no amount: left out.")
    return found


def _number(value: Any) -> float | None:
    """Return an amount; None for what is none, is negative or beyond all bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e300:
        return None
    return float(value) if math.isfinite(value) else None


def _shown(value: Any) -> str:
    return type(value).__name__ if isinstance(value, list | Mapping) else repr(str(value)[:_LONGEST_SHOWN])
