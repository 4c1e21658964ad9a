"""Open a large profile and ask for its op profile, against xprof's own converter: wall time and peak memory.

usage: python tests/bench/decode.py [FILE | --steps N] [--rounds N]

Without FILE a profile of many tiny XLA ops is captured first (900 steps: about 100 MB, 2 million events). Each side
runs in fresh processes, xprof on a private copy because it caches beside its input. Imports are not timed on either
side. Of each side the best round counts. Ours is timed with compiled kernels in its cache; the first run ever, which
compiles them, is reported apart. Exit status 1 when ours takes more than 1/10 of xprof's wall time or 1/3 of its
peak memory.
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

LARGEST_WALL_RATIO, LARGEST_MEMORY_RATIO = 1 / 10, 1 / 3


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="xprof-nb-bench-") as folder:
        file = options.file or capture(Path(folder) / "logs", options.steps)
        cache = Path(folder) / "cache"
        print(f"{file}: {file.stat().st_size / 1e6:,.1f} MB")
        first = _run("ours", file, cache)
        ours = _best([_run("ours", file, cache) for _ in range(options.rounds)])
        warmed = _best([_run("warmed", file, cache) for _ in range(options.rounds)])
        xprof = _best([_run_xprof(file, Path(folder)) for _ in range(options.rounds)])
    _report("xprof op_profile", xprof)
    _report("ours, open + op_profile", ours)
    _report("ours, kernels warmed before", warmed)
    _report("ours, first run ever (compiles)", first)
    wall, memory = ours["wall_s"] / xprof["wall_s"], ours["peak_bytes"] / xprof["peak_bytes"]
    passed = wall <= LARGEST_WALL_RATIO and memory <= LARGEST_MEMORY_RATIO
    print(f"wall ratio   1/{1 / wall:.1f}  (bar 1/{1 / LARGEST_WALL_RATIO:.0f})")
    print(f"memory ratio 1/{1 / memory:.1f}  (bar 1/{1 / LARGEST_MEMORY_RATIO:.0f})")
    print("passed" if passed else "FAILED")
    return 0 if passed else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", help="an xplane.pb; captured when not given")
    parser.add_argument("--steps", type=int, default=900, help="steps of the capture")
    parser.add_argument("--rounds", type=int, default=2, help="runs of each side, the best counts")
    return parser.parse_args()


def _run(side: str, file: Path, cache: Path) -> dict[str, float]:
    """Run one side in a process of its own; what it prints last are its numbers."""
    environment = {"XPROF_NB_CACHE_DIR": str(cache), "PYTHONPATH": str(REPO)}
    command = [sys.executable, "-c", _SIDES[side] + _NUMBERS, str(file)]
    began = time.perf_counter()
    output = output_of(command, environment)
    numbers: dict[str, float] = json.loads(output.splitlines()[-1])
    return {**numbers, "process_s": time.perf_counter() - began}


def _run_xprof(file: Path, folder: Path) -> dict[str, float]:
    with tempfile.TemporaryDirectory(dir=folder) as private:
        return _run("xprof", Path(shutil.copy(file, private)), folder)


_OURS = "answer = xprof_nb.open(sys.argv[1]).op_profile(); rows = len(answer.frame)\n"
_IMPORTS = """
import sys, time
import pandas, xprof_nb
from xprof_nb import api
from xprof_nb.analysis import op_profile
from xprof_nb.formats import xspace
from xprof_nb.runs import opening
"""
_SIDES = {
    "ours": _IMPORTS + "began = time.perf_counter()\n" + _OURS,
    "warmed": _IMPORTS + "from xprof_nb.formats.warm import warm; warm().join()\nbegan = time.perf_counter()\n" + _OURS,
    "xprof": """
import sys, time
from xprof.convert import raw_to_tool_data
began = time.perf_counter()
rows = len(raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], 'op_profile', {'use_saved_result': False})[0] or '')
""",
}
_NUMBERS = """
wall_s = time.perf_counter() - began
import json, re, resource
try:
    peak = int(re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read())[1]) * 1024
except FileNotFoundError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == 'darwin' else 1024)
print(json.dumps({'wall_s': wall_s, 'peak_bytes': peak, 'rows': rows}))
"""


def _best(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {key: min(numbers[key] for numbers in rounds) for key in rounds[0]}


def _report(what: str, numbers: dict[str, float]) -> None:
    print(
        f"{what:32} {numbers['wall_s']:7.2f} s  {numbers['peak_bytes'] / 1e6:8,.0f} MB peak"
        f"  (whole process {numbers['process_s']:.2f} s)"
    )


if __name__ == "__main__":
    sys.exit(main())
