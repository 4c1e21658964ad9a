"""The report is one file that asks nobody."""

import base64
import json
import re
from html.parser import HTMLParser

import pytest

from tests.views.handmade import BUILT, HOSTILE
from xprof_nb.errors import NotFoundError, ProfileError
from xprof_nb.views import page


class Scripts(HTMLParser):
    """Collects the script elements of a page by id, and every address it names."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: dict[str | None, str] = {}
        self.addresses: list[str] = []
        self._open: str | None = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.addresses += [value for name, value in attrs if name in {"src", "href", "action", "data"}]
        if tag == "script":
            self._open = attributes.get("id")
            self.scripts[self._open] = ""

    def handle_endtag(self, tag):
        if tag == "script":
            self._open = ""

    def handle_data(self, data):
        if self._open != "":
            self.scripts[self._open] += data


def test_the_page_holds_payload_module_and_table(answering, built, tmp_path):
    path = page.write(answering([HOSTILE, "fusion.2"], hlo_text=HOSTILE).result(), tmp_path / "report.html")
    text = path.read_text()
    scripts = Scripts(text).scripts
    assert set(scripts) == {"xprof-nb-payload", None}
    payload = json.loads(scripts["xprof-nb-payload"])
    assert payload["title"] == "op profile of train-1"
    assert payload["details"]["17/fusion.2"]["hlo_text"].startswith("</script><script>alert(1)")
    module = re.search(r'from "data:text/javascript;base64,([^"]*)"', scripts[None])
    assert base64.b64decode(module[1]) == BUILT.encode()
    assert "<table " in text
    assert "fusion.2" in text
    assert "alert(1)</script>" not in text


def test_the_page_names_no_address(answering, built):
    text = page.page(answering(["fusion.1"]).result())
    seen = Scripts(text)
    assert seen.addresses == []
    assert not re.findall(r"(?:https?:)?//[\w.]+\.\w+|url\(|@import", text)


def test_a_query_without_a_view_is_a_page_with_a_table(answering):
    text = page.page(answering(["fusion.1"]).result("trace_marks"))
    assert "<script" not in text
    assert "fusion.1" in text


def test_a_folder_that_is_not_there_is_named(answering, built, tmp_path):
    with pytest.raises(NotFoundError, match=f"no folder {re.escape(str(tmp_path / 'none'))}\\."):
        page.write(answering(["fusion.1"]).result(), tmp_path / "none" / "report.html")


def test_a_failed_write_leaves_what_was_there(answering, built, tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    target.write_text("older")
    (built / "op_profile.js").unlink()
    with pytest.raises(ProfileError, match="not built"):
        page.write(answering(["fusion.1"]).result(), target)
    assert target.read_text() == "older"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
