"""Whether JupyterLab, its server and the kernel fit together, read from files as Jupyter keeps them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from xprof_nb import __version__
from xprof_nb.doctor import notebook


@pytest.fixture
def lab(tmp_path, monkeypatch) -> Path:
    """An environment with our extensions, and none elsewhere."""
    monkeypatch.setattr("jupyter_core.paths.jupyter_config_path", list)
    prefix = tmp_path / "env"
    write(prefix / "share/jupyter/labextensions/xprof-nb/package.json", {"version": __version__})
    write(
        prefix / "etc/jupyter/jupyter_server_config.d/xprof_nb.json",
        {"ServerApp": {"jpserver_extensions": {"xprof_nb": True}}},
    )
    return prefix


def write(file: Path, values: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(values))


def extension(lab: Path) -> notebook.Finding:
    return notebook.lab_extension([lab / "share/jupyter/labextensions"])


def test_an_environment_that_has_everything(lab) -> None:
    assert (extension(lab).state, extension(lab).found) == ("ok", f"{__version__}, enabled")
    assert notebook.server_extension([lab / "etc/jupyter"]).state == "ok"


def test_another_version_in_the_page_is_a_fault_with_its_cure(lab) -> None:
    write(lab / "share/jupyter/labextensions/xprof-nb/package.json", {"version": "0.0.7"})
    found = extension(lab)
    assert found.state == "fault"
    assert f"0.0.7 in {lab}" in found.found
    assert f"xprof-nb=={__version__}" in found.cure


@pytest.mark.parametrize("disabled", [{"xprof-nb": True}, {"xprof-nb:plugin": True}, ["xprof-nb"]])
def test_an_extension_that_was_switched_off_is_named(lab, disabled) -> None:
    write(lab / "etc/jupyter/labconfig/page_config.json", {"disabledExtensions": disabled})
    assert extension(lab).cure == "jupyter labextension enable xprof-nb"
    write(lab / "etc/jupyter/labconfig/page_config.json", {"disabledExtensions": {"other": True, "xprof-nb": False}})
    assert extension(lab).state == "ok"


def test_a_server_extension_switched_off_or_absent(lab, tmp_path) -> None:
    write(
        lab / "etc/jupyter/jupyter_server_config.json",
        {"ServerApp": {"jpserver_extensions": {"xprof_nb": False}}},
    )
    assert notebook.server_extension([lab / "etc/jupyter"]).cure == "jupyter server extension enable xprof_nb"
    assert notebook.server_extension([tmp_path / "none"]).state == "warning"
    assert extension(tmp_path / "none").state == "warning"


def test_damaged_settings_are_passed_over(lab) -> None:
    (lab / "etc/jupyter/labconfig").mkdir()
    (lab / "etc/jupyter/labconfig/page_config.json").write_text("{")
    (lab / "etc/jupyter/jupyter_server_config.d/a.json").write_text("[1]")
    assert extension(lab).state == "ok"
    assert notebook.server_extension([lab / "etc/jupyter"]).state == "ok"


def test_the_environment_of_the_server_is_that_of_its_process(monkeypatch) -> None:
    asleep = "import time; print('up', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", asleep, "jupyter-lab"], stdout=subprocess.PIPE) as server:
        assert server.stdout.readline()
        monkeypatch.setenv("JPY_PARENT_PID", str(server.pid))
        found = notebook.server_prefix()
        server.kill()
    assert found == Path(sys.executable).parent.parent
    monkeypatch.setenv("JPY_PARENT_PID", str(os.getpid()) + "0" * 9)
    assert notebook.server_prefix() is None
    monkeypatch.setenv("JPY_PARENT_PID", "nobody")
    assert notebook.server_prefix() is None


def test_a_server_with_another_version_is_a_fault(tmp_path) -> None:
    assert notebook._server_package(Path(sys.prefix)).state == "ok"
    assert notebook._server_package(tmp_path).state == "warning"
    (tmp_path / "lib/python3.12/site-packages/xprof_nb-0.0.7.dist-info").mkdir(parents=True)
    found = notebook._server_package(tmp_path)
    assert (found.state, found.found[:5]) == ("fault", "0.0.7")


def test_a_kernel_without_subshells_is_told_to_upgrade(monkeypatch) -> None:
    monkeypatch.setattr(notebook, "version", lambda _: "6.29.5")
    assert notebook.kernel().state == "warning"
    monkeypatch.setattr(notebook, "version", lambda _: "7.0.0")
    assert notebook.kernel().state == "ok"
