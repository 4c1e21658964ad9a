"""The list of views is written twice, for Python and for TypeScript: both say the same."""

from __future__ import annotations

import re

from tests.house.tree import PACKAGE
from xprof_nb.snapshot import VIEWS

ENTRY = re.compile(
    r"\[\s*'(\w+)',\s*\{ label: '([^']+)', isExplored: (true|false), "
    r"load: (?:\(\) => import\('\./(\w+)/view'\)|(table)) \}\s*\]"
)
FOLDERS = {"trace": "timeline"}
"""Where a module is not built from the folder of its name."""


def test_python_and_typescript_list_the_same_views():
    listed = (PACKAGE / "frontend" / "src" / "views.ts").read_text()
    theirs = [
        (name, label, explored == "true", folder or table)
        for name, label, explored, folder, table in ENTRY.findall(listed)
    ]
    ours = [(name, view.label, view.explored, FOLDERS.get(view.module, view.module)) for name, view in VIEWS.items()]
    assert theirs == ours
