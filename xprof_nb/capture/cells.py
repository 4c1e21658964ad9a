"""Notebook cells, as HLO metadata knows them: by the file name they were compiled under."""

from __future__ import annotations

import itertools
import linecache
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_SOURCE_BYTES = 2**20


def current_cell() -> str | None:
    """Return the source of the cell that is running, or ran last; None outside a notebook."""
    shell = running_shell()
    if shell is None or shell.history_manager is None:
        return None
    return shell.history_manager.input_hist_raw[-1] or None


def cells_in(data: bytes) -> dict[str, dict[str, Any]]:
    """Return the cells whose code a profile mentions: ``{file name: {"count": 5, "source": "…"}}``.

    The newest are kept if they are more than a mebibyte of text together.
    """
    shell = running_shell()
    if shell is None:
        return {}
    counts: Mapping[str, int] = getattr(shell.compile, "_filename_map", {})
    cells: dict[str, dict[str, Any]] = {}
    room = MAX_SOURCE_BYTES
    for name in sorted(mentioned(data, counts), key=counts.__getitem__, reverse=True):
        source = _source(shell, name, counts[name])
        room -= len(source)
        if room < 0:
            break
        cells[name] = {"count": counts[name], "source": source}
    return cells


def mentioned(data: bytes, names: Mapping[str, int]) -> set[str]:
    """Return which of ``names`` occur in ``data``, in one pass: they share a beginning, which is rare in it."""
    prefix = _shared_beginning(names).encode()
    if not prefix:
        return {name for name in names if name.encode() in data}
    lengths = {len(name.encode()) for name in names}
    wanted = {name.encode(): name for name in names}
    found: set[str] = set()
    at = data.find(prefix)
    while at >= 0 and len(found) < len(wanted):
        found.update(name for length in lengths if (name := wanted.get(data[at : at + length])))
        at = data.find(prefix, at + 1)
    return found


def _shared_beginning(names: Iterable[str]) -> str:
    lowest, highest = min(names, default=""), max(names, default="")
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(lowest, highest, strict=False))
    return "".join(letter for letter, _ in same)


def running_shell() -> Any:
    """Return the IPython shell of this process, None where there is none."""
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def _source(shell: Any, name: str, count: int) -> str:
    """Return a cell as it was typed; as it was compiled if its number has been given to other code since."""
    compiled = "".join(linecache.getlines(name)).rstrip("\n")
    history = shell.history_manager
    if history is not None and history.input_hist_parsed[count : count + 1] == [compiled]:
        return str(history.input_hist_raw[count])
    return compiled
