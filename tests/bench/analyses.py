"""Growth, small files and memory of every analysis, as ratios measured in one run.

usage: python tests/bench/analyses.py [--cpu-steps N] [--steps N] [--corpus FOLDER] [--rounds N] [--only PART]

growth  open + each analysis of two captures, one about ten times as long: of tiny XLA ops on this CPU, and made up of
        GPU kernels and of TPU ops with collectives, allocations and input; time grows by no more than 1.1 times what
        the events grow by. One clock measures both: time, if neither was kept waiting, which is when the best round
        took no longer than its threads worked; else the processor time. The short one has five times the rounds, and
        is long enough not to be kept in memory as small files are
small   open + each analysis of every recorded profile below 1 MB, and of a fresh capture: no longer than xprof's own
        tool takes, both warm, where both have rows to show. Each side reads the file as the profiler left it: what
        xprof keeps from an earlier request is removed, and to its memory viewer, which reads HLO files that xprof
        writes when a run is first opened, that writing counts. Its graph viewer is left out: it took
        the xprof process down with it.
memory  open + op profile of a million events with many stats that nobody asks for: the process's own memory no more
        than 1.15 times that with the same events without (pages of the mapped file are the system's to take back)

Each measurement is the best of some rounds, in a process of its own; imports are not timed. What counts is the better
of two clocks, the time of a round and the processor time of all its threads: on a busy machine, the more a call needs,
the more often others interrupt it. Exit status 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from processes import REPO, capture, output_of

LARGEST_GROWTH, LARGEST_MEMORY_RATIO, LARGEST_SMALL_RATIO = 1.1, 1.15, 1.0
SMALL_BYTES = 1_000_000
TOOLS = {
    "overview": "overview_page",
    "ops": "hlo_stats",
    "op_profile": "op_profile",
    "framework_ops": "framework_op_stats",
    "kernels": "kernel_stats",
    "input_pipeline": "input_pipeline_analyzer",
    "memory": "memory_profile",
    "buffers": "memory_viewer",
    "roofline": "roofline_model",
    "events": "trace_viewer",
}
"""Our analyses and the tool of xprof that answers the same question."""
OURS_ALONE = ("steps", "collectives", "graph", "sql", "trace")
TURNS, ROUNDS = 4, 6
"""Of small files: the two sides take turns, so that both meet the machine as busy as it is."""


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="xprof-nb-bench-") as name:
        folder = Path(name)
        parts = {"growth": _growth, "small": _small, "memory": _memory}
        passed = [part(folder, options) for name, part in parts.items() if options.only in (None, name)]
    print("passed" if all(passed) else "FAILED")
    return 0 if all(passed) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cpu-steps", type=int, default=1500, help="steps of the long capture")
    parser.add_argument("--steps", type=int, default=90_000, help="steps of the long made-up captures")
    parser.add_argument("--corpus", type=Path, default=REPO.parent / "shared" / "corpus", help="recorded profiles")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of each measurement, the best counts")
    parser.add_argument("--events", type=int, default=1_000_000, help="events of the memory measurement")
    parser.add_argument("--only", choices=("growth", "small", "memory"))
    return parser.parse_args()


def _growth(folder: Path, options: argparse.Namespace) -> bool:
    sys.path.insert(0, str(REPO))
    from made_up import write_gpu, write_tpu

    passed = True
    for kind, files in (
        ("CPU", [capture(folder / f"cpu {each}", each) for each in (options.cpu_steps // 10, options.cpu_steps)]),
        ("GPU", [write_gpu(folder / f"gpu {each}", each) for each in (options.steps // 10, options.steps)]),
        ("TPU", [write_tpu(folder / f"tpu {each}", each) for each in (options.steps // 10, options.steps)]),
    ):
        short = _measure("ours", files[0], 5 * options.rounds)
        long = _measure("ours", files[1], options.rounds)
        events = long.pop("event_count")[0] / short.pop("event_count")[0]
        print(f"growth: {kind}, {events:.1f} times the events")
        for name, clocks in long.items():
            waited = any(taken > worked for taken, worked in (short[name], clocks))
            before, after = short[name][waited], clocks[waited]
            growth = after / before / events
            line = f"{before:6.2f} s {after:7.2f} s  growth {growth:5.2f}"
            passed &= _report(name, line, growth <= LARGEST_GROWTH)
    return passed


def _small(folder: Path, options: argparse.Namespace) -> bool:
    files = [file for file in sorted(options.corpus.rglob("*.xplane.pb")) if 0 < file.stat().st_size < SMALL_BYTES]
    files = [file for file in files if "broken" not in str(file)]
    passed = True
    for file in [*files, capture(folder / "small", 6)]:
        print(f"small: {file.parent.name}, {file.stat().st_size / 1e6:.2f} MB")
        copy = folder / "xprof" / file.parent.name
        copy.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
        turns = [(_measure("ours", file, ROUNDS), _measure("xprof", copy / file.name, ROUNDS)) for _ in range(TURNS)]
        ours, theirs = (
            {name: min(min(each[name]) for each in side) for name in side[0]} for side in zip(*turns, strict=True)
        )
        for name, tool in TOOLS.items():
            if name in ours and tool in theirs:
                ratio = ours[name] / theirs[tool]
                line = f"{ours[name] * 1e3:7.1f} ms  {tool} {theirs[tool] * 1e3:7.1f} ms  ratio {ratio:5.2f}"
                passed &= _report(name, line, ratio <= LARGEST_SMALL_RATIO)
        alone = [name for name, tool in TOOLS.items() if (name in ours) != (tool in theirs)]
        print(f"  not compared, one side has nothing to show: {', '.join(alone) or 'none'}")
    return passed


def _memory(folder: Path, options: argparse.Namespace) -> bool:
    sys.path.insert(0, str(REPO))
    from tests.many_events import write_many

    bare = write_many(folder / "bare.xplane.pb", options.events)
    full = write_many(folder / "full.xplane.pb", options.events, stats=20)
    peaks = [_measure("peak", file, 1)["peak_bytes"][0] for file in (bare, full)]
    ratio = peaks[1] / peaks[0]
    print(f"memory: files of {bare.stat().st_size / 1e6:,.0f} and {full.stat().st_size / 1e6:,.0f} MB")
    line = f"{peaks[0] / 1e6:,.0f} MB, with 20 unknown stats {peaks[1] / 1e6:,.0f} MB  ratio {ratio:.2f}"
    return _report("op_profile", line, ratio <= LARGEST_MEMORY_RATIO)


def _report(name: str, line: str, passed: bool) -> bool:
    print(f"  {name:16} {line}{'' if passed else '  MISSED'}")
    return passed


def _measure(side: str, file: Path, rounds: int) -> dict[str, list[float]]:
    """Run one side in a process of its own; what it prints last are its numbers: of a time, that of each clock."""
    command = [
        sys.executable,
        "-c",
        _SIDES[side],
        str(file),
        str(rounds),
        json.dumps([*TOOLS, *OURS_ALONE]),
        json.dumps([*TOOLS.values()]),
    ]
    numbers: dict[str, list[float]] = json.loads(output_of(command, {"PYTHONPATH": str(REPO)}).splitlines()[-1])
    return numbers


_TIMED = """
import json, sys, time
file, rounds, names, tools = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]), json.loads(sys.argv[4])

def best(call, before=lambda: None):
    taken, worked = [], []
    for _ in range(rounds):
        before()
        clocks = time.perf_counter(), time.process_time()
        call()
        taken.append(time.perf_counter() - clocks[0])
        worked.append(time.process_time() - clocks[1])
    return min(taken), min(worked)
"""
_SIDES = {
    "ours": _TIMED
    + """
import xprof_nb
from xprof_nb.formats.warm import warm
warm().join()
asked = {"sql": {"text": "SELECT op, sum(self_time_ps) FROM op_events GROUP BY op"}}
numbers = {}
for name in names:
    def call():
        profile = xprof_nb.open(file)
        return profile.ask(name, **asked.get(name, {}))
    try:
        if len(call().frame):
            numbers[name] = best(call)
    except (ImportError, xprof_nb.ProfileError) as error:
        print(name, error, file=sys.stderr)
numbers["event_count"] = [xprof_nb.open(file).data.hosts[0].event_count]
print(json.dumps(numbers))
""",
    "xprof": _TIMED
    + """
import contextlib
from pathlib import Path
import xprof_nb
from xprof.convert import raw_to_tool_data

ROWS = ("rows", "children", "traceEvents", "memoryProfilePerAllocator", "maxHeap")
planned = xprof_nb.open(file).buffers().summary
module = f"{planned.get('program')}({planned.get('program_id')})"
asked = {"memory_viewer": {"module_name": module, "memory_space": "0"}}

def forget():
    for kept in Path(file).parent.iterdir():
        if str(kept) != file:
            kept.unlink()

def has_rows(content):
    parts = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    return isinstance(content, dict) and any(content.get(name) for name in ROWS) or any(map(has_rows, parts))

numbers = {}
for tool in tools:
    def call():
        if tool == "memory_viewer":
            raw_to_tool_data.xspace_to_tool_names([file])
        return raw_to_tool_data.xspace_to_tool_data([file], tool, {"use_saved_result": False, **asked.get(tool, {})})[0]
    with contextlib.suppress(Exception):
        if has_rows(json.loads(call())):
            numbers[tool] = best(call, forget)
print(json.dumps(numbers))
""",
    "peak": """
import json, re, sys, threading, time
import xprof_nb

done, peak = threading.Event(), 0

def watch():
    global peak
    while not done.wait(0.001):
        with open("/proc/self/status") as status:
            peak = max(peak, int(re.search(r"RssAnon:\\s+(\\d+) kB", status.read())[1]) * 1024)

watcher = threading.Thread(target=watch)
watcher.start()
xprof_nb.open(sys.argv[1]).op_profile()
done.set()
watcher.join()
print(json.dumps({"peak_bytes": [peak]}))
""",
}


if __name__ == "__main__":
    sys.exit(main())
