"""Open the timeline of large profiles and move about in it, each number beside its budget.

usage: python tests/bench/timeline.py [FILE | --steps N] [--moves N] [--events N] [--skip-browser] [--xprof]

captured  a profile of many tiny XLA ops, captured unless FILE names one (2,500 steps: about 285 MB, 5 million events)
made up   a run of four TPU cores of 20 million events, written by our own writer in a quarter of a minute
browser   the captured one in headless Chromium: first paint after open, frames of a scripted zoom and pan, JS heap

The moves are random zooms and pans, the same at every run, over the tracks that are open at first and over all tracks.
Times are wall time, so other work on the machine counts; processor time stands beside it. ``--xprof`` asks xprof for
``trace_viewer@`` of the captured file, all of it as JSON, which takes a minute, and prints the ratio. Exit status 1
when a budget is missed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

from processes import REPO, capture, output_of

QUERY_BUDGETS = {
    "open_tracks_p95_ms": 20.0,
    "all_tracks_p95_ms": 20.0,
    "open_tracks_largest_bytes": 300_000.0,
    "all_tracks_largest_bytes": 300_000.0,
}
CAPTURED_BUDGETS = {"first_picture_ms": 1000.0, **QUERY_BUDGETS}
BROWSER_BUDGETS = {"first_paint_ms": 1000.0, "frame_p95_ms": 33.0, "heap_mb": 100.0}
_XPROF = """
import json, sys, time
from xprof.convert import raw_to_tool_data
began = time.perf_counter()
data, _ = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], "trace_viewer@", {"trace_viewer_options": {}})
print(json.dumps({"wall_ms": 1e3 * (time.perf_counter() - began), "bytes": len(data or b"")}))
"""


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="xprof-nb-bench-") as name:
        folder = Path(name)
        environment = {"PYTHONPATH": str(REPO), "XPROF_NB_CACHE_DIR": str(folder / "cache")}
        _side(
            "timeline_queries", [_made_up(folder / "small.xplane.pb", 20_000), 1], environment
        )  # compiles the kernels
        captured = options.file or capture(folder / "logs", options.steps)
        queries = [captured, options.moves]
        ours = _side("timeline_queries", queries, environment)
        passed = [_printed(f"captured, {_size(captured)}", ours, CAPTURED_BUDGETS)]
        if not options.skip_browser:
            seen = _side("timeline_browser", [captured], environment)
            passed.append(_printed("the same in headless Chromium", seen, BROWSER_BUDGETS))
        if options.xprof:
            _print_xprof(captured, folder / "xprof", ours)
        if options.events:
            made_up = _made_up(folder / "many.xplane.pb", options.events)
            many = _side("timeline_queries", [made_up, options.moves], environment)
            passed.append(_printed(f"made up, {_size(made_up)}", many, QUERY_BUDGETS))
    print("passed" if all(passed) else "FAILED")
    return 0 if all(passed) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", help="an xplane.pb; captured when not given")
    parser.add_argument("--steps", type=int, default=2500, help="steps of the capture")
    parser.add_argument("--moves", type=int, default=200, help="random zooms and pans")
    parser.add_argument("--events", type=int, default=20_000_000, help="events of the made-up run, 0 for none")
    parser.add_argument("--skip-browser", action="store_true", help="do not start Chromium")
    parser.add_argument("--xprof", action="store_true", help="ask xprof for its trace of the same file as well")
    return parser.parse_args()


def _made_up(path: Path, events: int) -> Path:
    began = time.perf_counter()
    script = Path(__file__).with_name("many_ops.py")
    output_of([sys.executable, str(script), str(path), str(events)], {"PYTHONPATH": str(REPO)})
    print(f"{path.name}: {events:,} events written in {time.perf_counter() - began:.1f} s")
    return path


def _side(name: str, arguments: list[object], environment: dict[str, str]) -> dict[str, float]:
    script = Path(__file__).with_name(f"{name}.py")
    printed = output_of([sys.executable, str(script), *map(str, arguments)], environment)
    numbers: dict[str, float] = json.loads(printed.splitlines()[-1])
    return numbers


def _printed(title: str, numbers: dict[str, float], budgets: dict[str, float]) -> bool:
    """Print numbers beside their budgets; return whether all are kept."""
    print(f"\n{title}")
    for name, value in numbers.items():
        budget = budgets.get(name)
        said = "" if budget is None else f"  budget {budget:10,.0f}  {'kept' if value <= budget else 'MISSED'}"
        print(f"  {name:28} {value:14,.1f}{said}")
    return all(numbers[name] <= budget for name, budget in budgets.items())


def _print_xprof(file: Path, folder: Path, ours: dict[str, float]) -> None:
    folder.mkdir()
    copied = shutil.copy(file, folder)  # xprof writes beside its input
    theirs = json.loads(output_of([sys.executable, "-c", _XPROF, str(copied)], {}).splitlines()[-1])
    until = ours["open_ms"] + ours["first_picture_ms"]
    print(f"\nxprof trace_viewer@: {theirs['wall_ms'] / 1e3:,.1f} s, {theirs['bytes'] / 1e6:,.1f} MB")
    print(f"ours, from the file to the first picture: 1/{theirs['wall_ms'] / until:,.1f} of that")


def _size(file: Path) -> str:
    return f"{file.stat().st_size / 1e6:,.1f} MB"


if __name__ == "__main__":
    sys.exit(main())
