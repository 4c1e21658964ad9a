"""Whether what a sweep advises holds on this machine.

usage: python tests/bench/sweep.py [--steps N]

advice      a small transformer swept over eight batch sizes: the recommended one is within one step of the grid from
            the size that is measured best on a finer grid
all-reduce  four virtual devices that compute on their share of a batch and all-reduce a gradient of a fixed size: the
            share of collectives falls as the batch grows, and the sweep says that their time does not grow with it

Both depend on what else the machine does. Exit status 1 when one does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path.insert(0, str(Path(__file__).parents[2]))

import xprof_nb as xp
from tests.tuning import models

SIZES = [1, 2, 4, 8, 16, 32, 64, 128]
FINER = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128]
_SHARED = """
import json, sys
import xprof_nb as xp
from tests.tuning import models
found = xp.sweep(models.data_parallel(), [1, 2, 4, 8, 16, 32], steps=10, logdir=sys.argv[1], name="shared")
print(json.dumps({"kinds": [point.kind_time_s for point in found.points], "fixed": found.summary["fixed_kinds"]}))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=15, help="steps that are timed of each size")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="xprof-nb-bench-") as name:
        passed = [_advice(Path(name), options.steps), _all_reduce(Path(name))]
    print("passed" if all(passed) else "FAILED")
    return 0 if all(passed) else 1


def _advice(folder: Path, steps: int) -> bool:
    make_step = models.transformer(width=16, heads=2, layers=2, sequence=4)

    def rates(sizes: list[int], name: str) -> xp.Sweep:
        return xp.sweep(make_step, sizes, steps=steps, profile=False, logdir=folder, name=name)

    advised = rates(SIZES, "coarse").recommended
    finer = rates(FINER, "finer").frame.set_index("batch_size").items_per_s
    best = finer.idxmax()
    print(
        f"advice      {advised} advised, {best} best of the finer grid ({finer[advised] / finer[best]:.0%} of its rate)"
    )
    return bool(advised / 2 <= best <= advised * 2)


def _all_reduce(folder: Path) -> bool:
    flags = {
        **os.environ,
        "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    done = subprocess.run(
        [sys.executable, "-c", _SHARED, str(folder)], env=flags, capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout.splitlines()[-1])
    shares = [kinds["collective"] / sum(kinds.values()) for kinds in told["kinds"]]
    print(f"all-reduce  {', '.join(f'{share:.0%}' for share in shares)} of a step; fixed: {', '.join(told['fixed'])}")
    return shares[-1] < 0.75 * shares[0] and "collective" in told["fixed"]


if __name__ == "__main__":
    sys.exit(main())
