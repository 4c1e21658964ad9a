"""Run the quickstart notebook as a person would, keep what it made, and say where the time went.

usage: python notebooks/run_demo.py [OUTPUT_FOLDER]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

import xprof_nb as xp
from xprof_nb.model import units

if TYPE_CHECKING:
    import pandas as pd

NOTEBOOK = Path(__file__).parent / "quickstart.ipynb"
CELL_TIMEOUT_S = 300
TOP = 10


def main(output: Path) -> None:
    """Execute the notebook in ``output`` and report."""
    output.mkdir(parents=True, exist_ok=True)
    executed, report, logdir = output / NOTEBOOK.name, output / "report.html", output / "xprof-logs"
    print(f"Running {NOTEBOOK.name} in a real kernel:")
    try:
        execute(NOTEBOOK, executed)
    except CellExecutionError as error:
        sys.exit(f"\n\nThe cell failed with {error.ename}: {error.evalue}\n{executed} has its output.")
    profile = xp.open(logdir)
    result = profile.op_profile()
    result.to_html(report)
    print(f"\nWhat ran in the 3 s of {profile.name}: {result.summary['sentence']}")
    print(f"\nThe {TOP} most expensive ops:\n\n{top_ops(profile.ops().frame)}\n")
    print(f"Executed notebook  {executed}")
    print(f"HTML report        {report} (one file; opens in any browser, asks no server)")
    print(f"Captured runs      {logdir}")
    print("\nNext: `make lab` opens JupyterLab on the notebooks; what you capture there, the XProf tab lists.")


def execute(notebook: Path, executed: Path) -> None:
    """Run ``notebook`` in the folder of ``executed``, and save it there with its outputs, failed or not."""
    book = nbformat.read(notebook, as_version=4)
    progress = Progress(book)
    client = NotebookClient(
        book,
        timeout=CELL_TIMEOUT_S,
        resources={"metadata": {"path": str(executed.parent)}},
        store_widget_state=False,
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        on_cell_execute=progress.begins,
        on_cell_executed=progress.ends,
    )
    try:
        client.execute()
    finally:
        nbformat.write(book, executed)


class Progress:
    """Prints a line for every code cell: which one runs, and how long it took."""

    def __init__(self, book: Any) -> None:
        self._places = {cell.id: at for at, cell in enumerate(c for c in book.cells if c.cell_type == "code")}
        self._began = 0.0

    def begins(self, cell: Any, cell_index: int) -> None:
        """Print which cell begins."""
        self._began = time.monotonic()
        place = f"[{self._places[cell.id] + 1}/{len(self._places)}]"
        print(f"  {place:>7} {_telling_line(cell.source):<60}", end="", flush=True)

    def ends(self, cell: Any, cell_index: int, execute_reply: Any) -> None:
        """Print how long it took."""
        print(f"{time.monotonic() - self._began:6.1f} s", flush=True)


def _telling_line(source: str) -> str:
    """Return the line of a cell that says most about it: its magic, or else its last one."""
    lines = source.strip().splitlines()
    line = next((line for line in lines if line.startswith("%")), lines[-1])
    return line if len(line) <= 58 else f"{line[:57]}…"


def top_ops(ops: pd.DataFrame) -> str:
    """Return the most expensive ops as an aligned table: time, share, rate, bound."""
    rows = [("op", "program", "time", "share", "FLOP/s", "bound by")]
    rows += [
        (
            op.op,
            op.program,
            units.duration(op.self_time_ps),
            units.percent(op.time_fraction),
            units.flops_per_s(op.flops_per_s),
            units.text(op.bound_by),
        )
        for op in ops.nlargest(TOP, "self_time_ps").itertuples()
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(_padded(row, widths)) for row in rows)


def _padded(row: tuple[str, ...], widths: list[int]) -> list[str]:
    names, numbers = row[:2], row[2:]
    return ["", *map(str.ljust, names, widths[:2]), *map(str.rjust, numbers, widths[2:])]


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output").resolve())
