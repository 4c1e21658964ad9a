"""What a user installs: complete, small, offline, and without Node."""

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.tree import PACKAGE, REPO, files

LARGEST_BYTES = 5 * 2**20
# Names, not addresses: nothing is ever asked for at an XML namespace or a schema's id.
NAMES = re.compile(r"^https?://(?:www\.w3\.org/|json-schema\.org/)")


@pytest.fixture(scope="module")
def wheel_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel of this tree; its front end must have been built."""
    if not (PACKAGE / "static" / "op_profile.js").is_file():
        pytest.fail("the front end is not built: `make build` does it", pytrace=False)
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    made = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    (file,) = folder.glob("*.whl")
    return file


@pytest.fixture
def wheel(wheel_file: Path) -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(wheel_file) as archive:
        yield archive


def shared_folder(wheel: zipfile.ZipFile) -> str:
    (folder,) = {name.partition("/labextensions/")[0] for name in wheel.namelist() if "/labextensions/" in name}
    return folder + "/labextensions/xprof-nb/"


def test_it_is_small(wheel_file):
    assert wheel_file.stat().st_size <= LARGEST_BYTES


def test_it_holds_the_package_the_views_and_the_extension(wheel):
    names = set(wheel.namelist())
    sources = [path for path in files(".py", ".toml", ".typed") if PACKAGE in path.parents]
    assert {path.relative_to(REPO).as_posix() for path in sources if "frontend" not in path.parts} <= names
    assert "xprof_nb/static/op_profile.js" in names
    shared = shared_folder(wheel)
    assert {shared + "package.json", shared + "install.json", shared + "static/style.js"} <= names
    assert any(name.startswith(shared + "static/remoteEntry.") for name in names)
    assert any(name.endswith("etc/jupyter/jupyter_server_config.d/xprof_nb.json") for name in names)
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_it_holds_the_python_of_this_tree(wheel):
    for path in files(".py"):
        if PACKAGE in path.parents and "frontend" not in path.parts:
            assert wheel.read(path.relative_to(REPO).as_posix()) == path.read_bytes()


def test_it_holds_nothing_else(wheel):
    names = wheel.namelist()
    assert len(names) == len(set(names))
    unwanted = re.compile(
        r"\.map$|build_log\.json$|\.tsx?$|tsbuildinfo$|/node_modules/|xprof_nb/(?:frontend|labextension)/"
    )
    assert [name for name in names if unwanted.search(name)] == []
    roots = {name.partition("/")[0] for name in names}
    assert sorted(root.rpartition(".")[2] for root in roots) == ["data", "dist-info", "xprof_nb"]


def test_no_asset_asks_another_host(wheel):
    found = []
    for name in wheel.namelist():
        if name.endswith((".js", ".css", ".html", ".svg")):
            text = _without_comments(wheel.read(name).decode())
            addresses = re.findall(r"https?://[^\s\"'`)<>\\]*", text)
            found += [f"{name}: {address}" for address in addresses if not NAMES.match(address)]
    assert found == []


def _without_comments(text: str) -> str:
    """Return the text without block comments, where licences stand."""
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def test_no_development_build_was_packed(wheel):
    """What lies in the tree is packed as it is, so a build with source maps would be too."""
    mapped = re.compile(r"//# sourceMappingURL=[\w.]+\.map")
    assert [
        name for name in wheel.namelist() if name.endswith(".js") and mapped.search(wheel.read(name).decode())
    ] == []


def test_it_installs_without_node(wheel_file, tmp_path):
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--prefix", str(tmp_path / "env")]
    environment = {**os.environ, "PATH": str(tmp_path), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        [*command, "--ignore-installed", str(wheel_file)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    installed = {path.name for path in (tmp_path / "env" / "share" / "jupyter" / "labextensions").iterdir()}
    assert installed == {"xprof-nb"}
    assert (tmp_path / "env" / "etc" / "jupyter" / "jupyter_server_config.d" / "xprof_nb.json").is_file()
