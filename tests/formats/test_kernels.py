"""Compiled code: kept where it can be, loaded again, warmed without a sound."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

from xprof_nb.formats import warm
from xprof_nb.formats.jit import njit

_ROOT = Path(__file__).parents[2]


def _python(code: str, **environment: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(_ROOT), "PYTHONDONTWRITEBYTECODE": "1", **environment},
        check=True,
        capture_output=True,
        text=True,
        timeout=240,
    ).stdout


_READ = "from xprof_nb.formats import xspace, wire; xspace.read(b'\\x0a\\x03\\x12\\x01p'); "


def test_kernels_are_kept_and_loaded_again(tmp_path):
    code = _READ + "s = wire.survey_lines.stats; print(len(s.cache_hits), len(s.cache_misses))"
    environment = {"XPROF_NB_CACHE_DIR": str(tmp_path)}
    assert _python(code, **environment).split() == ["0", "1"]
    assert _python(code, **environment).split() == ["1", "0"]
    assert not list(_ROOT.glob("xprof_nb/**/*.nb[ic]"))


def test_numba_of_the_same_process_keeps_its_own_folder(tmp_path):
    code = "import xprof_nb.formats.jit, numba; print(numba.config.CACHE_DIR)"
    own = tmp_path / "own"
    assert _python(code, XPROF_NB_CACHE_DIR=str(tmp_path), NUMBA_CACHE_DIR=str(own)).strip() == str(own)


def test_without_any_writable_folder_kernels_still_compile(tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()
    assert _python(_READ + "print('read')", XPROF_NB_CACHE_DIR=str(blocked)).strip() == "read"


def test_warming_is_one_thread_that_makes_every_kernel_ready():
    code = (
        "from xprof_nb.formats.warm import warm; import sys; assert 'numba' not in sys.modules; t = warm();"
        "assert warm() is t; t.join(); from xprof_nb.formats import wire;"
        "print([n for n, k in vars(wire).items() if hasattr(k, 'signatures') and not n.startswith('_')"
        " and len(k.signatures) != 1])"
    )
    assert _python(code).strip() == "[]"


def test_a_failure_while_warming_stays_silent(monkeypatch, capfd):
    monkeypatch.setattr(warm, "DECODER", ["xprof_nb.no_such_module"])
    monkeypatch.setattr(warm, "_threads", {})
    warm.warm().join()
    assert capfd.readouterr() == ("", "")


def test_opening_a_file_loads_no_kernel_of_the_timeline():
    code = (
        "from xprof_nb.formats.warm import warm, warm_decoder; import sys; warm_decoder().join();"
        "print('xprof_nb.analysis.timeline.lod' in sys.modules, 'xprof_nb.formats.wire' in sys.modules);"
        "every = warm(); assert warm_decoder() is every; every.join();"
        "print('xprof_nb.analysis.timeline.lod' in sys.modules)"
    )
    assert _python(code).split() == ["False", "True", "True"]


@pytest.mark.parametrize("module", ["xprof_nb.formats.warm", "xprof_nb.formats.sniff"])
def test_what_every_start_imports_does_not_import_numba(module):
    assert _python(f"import sys, {module}; print('numba' in sys.modules)").strip() == "False"


def test_no_kernel_is_compiled_where_an_interrupt_can_come(monkeypatch) -> None:
    threads, compiled = [], Dispatcher.compile

    def watched(self, signature):
        threads.append(threading.current_thread())
        return compiled(self, signature)

    @njit
    def double(number):
        return 2 * number

    monkeypatch.setattr(Dispatcher, "compile", watched)
    assert double(21) == 42
    assert threads
    assert threading.main_thread() not in threads
