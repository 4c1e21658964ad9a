"""How the files look: short, of one version, speaking of the project alone."""

import json
import re
import tomllib
from urllib.parse import urlsplit

import pytest

import xprof_nb
from tests.house.tree import REPO, files

LONGEST = 420
SOURCES = (".py", ".ts", ".tsx", ".css", ".mjs")
# What the text of a project does not hold: promises, and the paths of one machine.
UNFIT = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b|/(?:root|work)/")


def test_no_file_is_longer_than_it_should_be():
    lengths = {str(path.relative_to(REPO)): len(path.read_text("utf-8").splitlines()) for path in files(*SOURCES)}
    assert {path: length for path, length in lengths.items() if length > LONGEST} == {}


def test_no_file_holds_promises_or_paths_of_one_machine():
    found = [
        f"{path.relative_to(REPO)}:{number}: {line.strip()[:80]}"
        for path in files(*SOURCES, ".md", ".toml", ".sh", ".json", ".ipynb")
        if path.name not in ("package-lock.json", "test_files.py")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if UNFIT.search(line)
    ]
    assert found == []


def test_python_and_typescript_are_in_ascii_names():
    odd = [str(path.relative_to(REPO)) for path in files(*SOURCES) if not path.name.isascii() or " " in path.name]
    assert odd == []


def test_versions_agree():
    project = tomllib.loads((REPO / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    packages = ["package.json", "xprof_nb/frontend/package.json", "labextension/package.json"]
    versions = {path: json.loads((REPO / path).read_text("utf-8"))["version"] for path in packages}
    assert {"xprof_nb": xprof_nb.__version__, **versions} == dict.fromkeys(["xprof_nb", *packages], project)


def test_the_changelog_has_the_version():
    text = (REPO / "CHANGELOG.md").read_text("utf-8")
    assert re.search(rf"^## .*\b{re.escape(xprof_nb.__version__)}\b", text, re.MULTILINE)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"])
def test_what_a_newcomer_looks_for_is_there(name):
    assert (REPO / name).stat().st_size > 300


def test_the_lock_file_names_the_public_registry_alone():
    packages = json.loads((REPO / "package-lock.json").read_text("utf-8"))["packages"].values()
    hosts = {
        urlsplit(package["resolved"]).hostname for package in packages if package.get("resolved", "").startswith("http")
    }
    assert hosts <= {"registry.npmjs.org"}


def test_no_test_file_has_the_name_of_another():
    names = [path.name for path in files(".py") if path.name.startswith("test_")]
    assert sorted({name for name in names if names.count(name) > 1}) == []
