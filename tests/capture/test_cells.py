from __future__ import annotations

import pytest

from xprof_nb.capture import cells

IN_KERNEL = {"/tmp/ipykernel_12/123.py": 1, "/tmp/ipykernel_12/1234.py": 2, "/tmp/ipykernel_12/9.py": 3}


def test_the_cells_a_profile_mentions_are_told_apart() -> None:
    data = b"\x0a\x19/tmp/ipykernel_12/1234.py\x12\x0a/tmp/ipykernel_12/other.py"
    assert cells.mentioned(data, IN_KERNEL) == {"/tmp/ipykernel_12/1234.py"}
    assert cells.mentioned(b"nothing", IN_KERNEL) == set()
    assert cells.mentioned(data, {}) == set()


def test_names_without_a_common_beginning_are_found_too() -> None:
    assert cells.mentioned(b"..b.py..", {"a.py": 1, "b.py": 2}) == {"b.py"}


def test_outside_a_notebook_there_are_no_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "running_shell", lambda: None)
    assert cells.cells_in(b"/tmp/ipykernel_12/9.py") == {}
    assert cells.current_cell() is None


def test_a_cell_is_kept_as_typed_and_the_newest_first_when_room_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = _shell(["", "a = 1", "%time b", "c = 3"])
    monkeypatch.setattr(cells, "running_shell", lambda: shell)
    names = list(shell.compile._filename_map)
    data = " ".join(names).encode()
    assert [cell["source"] for cell in cells.cells_in(data).values()] == ["c = 3", "%time b", "a = 1"]
    shell.history_manager.input_hist_parsed[1] = "other code has this number now"
    assert list(cells.cells_in(data).values())[-1] == {"count": 1, "source": "transformed('a = 1')"}
    monkeypatch.setattr(cells, "MAX_SOURCE_BYTES", len("c = 3%time b"))
    assert {cell["count"] for cell in cells.cells_in(data).values()} == {3, 2}


def _shell(typed: list[str]):
    from types import SimpleNamespace

    from ipykernel.compiler import XCachingCompiler

    compiler = XCachingCompiler()
    parsed = [f"transformed({source!r})" for source in typed]
    for count, source in enumerate(typed[1:], 1):
        compiler.cache(parsed[count] + "\n", count, raw_code=source + "\n")
    return SimpleNamespace(
        compile=compiler, history_manager=SimpleNamespace(input_hist_raw=typed, input_hist_parsed=parsed)
    )
