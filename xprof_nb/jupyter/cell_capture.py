"""``%%xprof``: profile one cell, then show its op profile below what it printed."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from IPython.display import display

from xprof_nb.args import SWEEP
from xprof_nb.capture import activity, jobs
from xprof_nb.capture.cells import current_cell
from xprof_nb.errors import ProfileError
from xprof_nb.jupyter.captured import show_runs
from xprof_nb.jupyter.cell_watch import CellWatch
from xprof_nb.jupyter.output_area import OutputArea
from xprof_nb.memory import MemoryOfCell

CELL_MAGIC = "%%xprof"
BEGIN = "xprof_begin_cell"


def begin_in_place(lines: list[str]) -> list[str]:
    r"""Turn the first line of a ``%%xprof`` cell into a call; an input transformer of IPython.

    The body stays the cell's own code, at its own line numbers: ``await``, ``Out``, tracebacks, "run all" stopping
    at an error and HLO source lines behave as without the magic. A cell in a cell (``%%time`` below), and one that is
    run many times (``%%xprof sweep``), is left to the cell magic.

    >>> begin_in_place(["%%xprof --name a\n", "f(x)\n"])
    ["get_ipython().run_line_magic('xprof_begin_cell', '--name a')\n", 'f(x)\n']
    """
    first, *body = lines or [""]
    magic, _, options = first.strip().partition(" ")
    code = [line for line in body if line.strip()]
    if magic != CELL_MAGIC or not code or code[0].startswith("%%") or options.split()[:1] == [SWEEP]:
        return lines
    return [f"get_ipython().run_line_magic({BEGIN!r}, {options.strip()!r})\n", *body]


class CellCapture:
    """A capture that lasts as long as the cell it was started in."""

    def __init__(self, shell: Any, request: jobs.Request) -> None:
        self._shell = shell
        activity.prepare_to_wait()
        self._job = jobs.start(replace(request, what="this cell", cell=current_cell()))
        try:
            self._watch = CellWatch(shell, on_end=self.finish, inside=True)
        except BaseException:
            self._job.cancel()
            raise

    def finish(self, result: Any) -> None:
        """Stop, save and show; of a cell that failed, what was recorded so far."""
        self._watch.close()
        area = OutputArea(self._shell)
        try:
            if result is None or result.success:
                area.during(activity.wait_for_dispatched, "Waiting for the devices to finish")
        except Exception as error:  # of the cell's own computation, dispatched and not looked at yet
            print(f"The computation of this cell failed: {error}", file=sys.stderr)  # noqa: T201
        except KeyboardInterrupt:
            print("Interrupted while waiting for the devices", file=sys.stderr)  # noqa: T201
        try:
            self._show(area)
        finally:
            if self._job.memory_report is not None:
                display(MemoryOfCell(self._job.memory_report))

    def _show(self, area: OutputArea) -> None:
        job = self._job
        job.cancel()
        try:
            area.during(lambda: job.ended(None), "Collecting the profile")
            show_runs(area, job)
        except Exception as error:
            area.fail(error, saved=job.folders[-1] if job.folders else None)
            if not isinstance(error, ProfileError):
                raise
        except KeyboardInterrupt:
            job.ended(None)
            area.say(f"Interrupted. The profile is saved as {job.folders[-1]}" if job.folders else "Interrupted.")
