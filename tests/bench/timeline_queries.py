"""One side of the bench of the timeline: what its questions cost in this process, printed as JSON.

usage: PYTHONPATH=. python tests/bench/timeline_queries.py FILE MOVES
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

PIXELS = 1500
MOST_TRACKS = 1000
ROUNDS = 2


def measure(file: Path, moves: int) -> dict[str, float]:
    """Return times in ms and sizes in bytes; answers count as they go to a browser, encoded.

    Every move is made in two rounds and its better time counts: other work on the machine rarely meets both.
    """
    import xprof_nb as xp
    from xprof_nb import queries
    from xprof_nb.analysis.timeline import drawing, trace  # noqa: F401 - imports are not timed
    from xprof_nb.formats.warm import warm
    from xprof_nb.model.columns import encode

    warm().join()

    def ask(query: str, **params: Any) -> tuple[float, float, int, Any]:
        began, worked = time.perf_counter(), time.process_time()
        answer = queries.ask(data, query, params)
        size = len(encode(answer.frame, answer.summary))
        return 1e3 * (time.perf_counter() - began), 1e3 * (time.process_time() - worked), size, answer

    began = time.perf_counter()
    data = xp.open(file).data
    numbers = {"open_ms": 1e3 * (time.perf_counter() - began), "open_peak_mb": peak_mb()}
    listed, window = ask("trace"), ask("trace_window", pixels=PIXELS)
    tracks, whole = listed[3], window[3]
    numbers |= {
        "events": float(tracks.summary["event_count"]),
        "first_picture_ms": listed[0] + window[0],
        "first_picture_cpu_ms": listed[1] + window[1],
    }
    end, places = tracks.summary["end_ps"], whole.frame["start_ps"].to_numpy()
    every = tracks.frame["track"].tolist()[:MOST_TRACKS]
    for name, chosen in (("open_tracks", None), ("all_tracks", every)):
        numbers[f"{name}_first_ms"] = ask("trace_window", pixels=PIXELS, tracks=chosen)[0]
        spans = list(_moves(places, end, moves))
        rounds = [
            [ask("trace_window", start_ps=a, end_ps=b, pixels=PIXELS, tracks=chosen)[:3] for a, b in spans]
            for _ in range(ROUNDS)
        ]
        wall_ms, cpu_ms, size = np.array(rounds).min(axis=0).T
        numbers |= {
            f"{name}_p50_ms": float(np.percentile(wall_ms, 50)),
            f"{name}_p95_ms": float(np.percentile(wall_ms, 95)),
            f"{name}_p95_cpu_ms": float(np.percentile(cpu_ms, 95)),
            f"{name}_mean_bytes": float(size.mean()),
            f"{name}_largest_bytes": float(size.max()),
        }
    numbers["search_ms"] = ask("trace_search", text="fusion")[0]
    numbers["selection_ms"] = ask("trace_selection", start_ps=0.1 * end, end_ps=0.9 * end)[0]
    return {**numbers, **_flows(ask, tracks), "peak_mb": peak_mb()}


def peak_mb() -> float:
    """Return the most memory this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _flows(ask: Any, tracks: Any) -> dict[str, float]:
    """Return what the first and another event with flows cost, on the fullest thread."""
    threads = tracks.frame[tracks.frame["kind"].isin(["thread", "python"])]
    if not len(threads):
        return {}
    track = int(threads.loc[threads["event_count"].idxmax(), "track"])
    drawn = ask("trace_window", pixels=PIXELS, tracks=[track])[3].frame
    begin = float(drawn["start_ps"].iloc[len(drawn) // 2])
    events = ask("trace_window", start_ps=begin, end_ps=begin + 10**9, pixels=8192, tracks=[track])[3].frame["event"]
    times = []
    for event in events.dropna()[:50]:
        took, _, _, details = ask("trace_event", track=track, event=event)
        times += [took] if details.summary["flows"] else []
    names = ("first_flows_ms", "next_flows_ms")
    return dict(zip(names, times, strict=False))


def _moves(places: np.ndarray[Any, Any], end_ps: float, count: int) -> Iterator[tuple[float, float]]:
    """Yield windows as a person makes them: zooms to where something is, from all of it to a millionth, and pans."""
    random = np.random.default_rng(7)
    begin, length = 0.0, end_ps
    for _ in range(count):
        if random.random() < 0.6:
            length = end_ps * 10 ** random.uniform(-6, 0)
            begin = random.choice(places) - length * random.random()
        else:
            begin += random.uniform(-1, 1) * length
        begin = min(max(begin, 0.0), end_ps - length)
        yield begin, begin + length


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), int(sys.argv[2]))))
