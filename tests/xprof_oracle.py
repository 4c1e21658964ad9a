"""What xprof itself says about a file, as plain Python, to hold our numbers against."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest


def ask_xprof(files: Path | list[Path], tool: str, **options: Any) -> Any:
    """Return a tool's JSON for the files of one run; skips the test where xprof is not installed.

    xprof writes caches beside its input and believes them later, so it gets a copy of its own.
    """
    converter = pytest.importorskip("xprof.convert.raw_to_tool_data")
    with tempfile.TemporaryDirectory(prefix="xprof-oracle-") as folder:
        paths = [files] if isinstance(files, Path) else files
        copies = [str(shutil.copy(path, folder)) for path in paths]
        if tool in {"memory_viewer", "graph_viewer"}:
            converter.xspace_to_tool_names(copies)  # writes the HLO files these two read
        data, _ = converter.xspace_to_tool_data(copies, tool, {"use_saved_result": False, **options})
    return json.loads(data) if isinstance(data, str | bytes) and data[:1] in ("{", "[", b"{", b"[") else data


def rows_of(table: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a DataTable as dicts by column id."""
    ids = [column["id"] for column in table["cols"]]
    return [dict(zip(ids, (cell.get("v") for cell in row["c"]), strict=True)) for row in table["rows"]]
