"""The views know nothing of JupyterLab, and JupyterLab's side sees only what they publish."""

import re

from tests.house.tree import REPO, files

IMPORT = re.compile(
    r"""(?:^|\s)(?:import|export)\b[^'"`;]*?from\s*['"]([^'"]+)['"]|import\s*\(?\s*['"]([^'"]+)['"]""", re.MULTILINE
)
VIEWS = REPO / "xprof_nb" / "frontend" / "src"
EXTENSION = REPO / "labextension" / "src"
BUNDLED = {"@dagrejs/dagre", "d3-hierarchy"}
"""Small libraries that are built into the views: nothing is fetched when they run."""


def imports(folder):
    for path in files(".ts", ".tsx"):
        if folder in path.parents:
            for match in IMPORT.finditer(path.read_text("utf-8")):
                yield path, match.group(1) or match.group(2)


def test_views_import_no_jupyter():
    foreign = [
        f"{path.relative_to(REPO)}: {name}" for path, name in imports(VIEWS) if re.match("@(jupyter|lumino)", name)
    ]
    assert foreign == []


def test_views_need_nothing_but_themselves_to_run():
    outside = {
        name
        for path, name in imports(VIEWS)
        if not name.startswith(".") and not path.name.endswith(".test.ts") and "testing" not in path.parts
    }
    assert outside <= {"@anywidget/types", *BUNDLED}


def test_what_is_bundled_comes_with_its_licence():
    notices = (REPO / "THIRD_PARTY_LICENSES").read_text("utf-8")
    assert all(f"\n{name}\n" in notices for name in BUNDLED)


def test_no_file_reaches_out_of_its_package():
    out = [
        f"{path.relative_to(REPO)}: {name}"
        for folder in (VIEWS, EXTENSION)
        for path, name in imports(folder)
        if name.startswith(".") and not name.endswith(".json") and folder not in (path.parent / name).resolve().parents
    ]
    assert out == []


def test_the_extension_sees_what_the_views_publish():
    names = {name for _, name in imports(EXTENSION) if name.startswith("@xprof-nb/views/")}
    assert names == set()
