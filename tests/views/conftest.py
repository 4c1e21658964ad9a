"""A profile that answers as told, and a front end that stands in for a built one."""

from typing import Any

import pytest

from tests.views.handmade import BUILT, Asked
from xprof_nb import queries


@pytest.fixture
def answering(monkeypatch):
    """Make every query be answered by an `Asked` of these op names."""

    def start(names: list[str], **details: Any) -> Asked:
        asked = Asked(names, details)
        monkeypatch.setattr(queries, "ask", asked.ask)
        return asked

    return start


@pytest.fixture
def built(monkeypatch, tmp_path):
    """Stand in for a built front end."""
    (tmp_path / "op_profile.js").write_text(BUILT)
    monkeypatch.setattr("xprof_nb.assets.STATIC", tmp_path)
    return tmp_path
