"""One output carries what every front end can show, and stays small."""

import io
import json
from html.parser import HTMLParser

import nbformat
from nbconvert import HTMLExporter

from tests.views.handmade import HOSTILE
from xprof_nb import views
from xprof_nb.model.units import THIN_SPACE
from xprof_nb.snapshot import MIMETYPE
from xprof_nb.views import fallback


class Cells(HTMLParser):
    """Collects the tags of a page and the texts of its table cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.cells: list[str] = []
        self.attributes: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        if tag in {"td", "th"}:
            self.cells.append("")

    def handle_data(self, data):
        if self.cells:
            self.cells[-1] += data


def notebook_with(data):
    output = nbformat.v4.new_output("execute_result", data=data, execution_count=1)
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("profile.op_profile()", outputs=[output])])


def test_without_a_kernel_there_is_no_widget(answering):
    data, metadata = views.mimebundle(answering(["fusion.1"]).result())
    assert set(data) == {MIMETYPE, "text/html", "text/plain"}
    assert metadata == {}


def test_a_query_without_a_view_is_a_table(answering):
    data, _ = views.mimebundle(answering(["fusion.1"]).result("trace_marks"))
    assert set(data) == {"text/html", "text/plain"}


def test_the_bundle_stays_under_300_kb(answering):
    asked = answering([f"{i}" + "é" * 1000 for i in range(5_000)], hlo_text="é" * 100_000)
    data, _ = views.mimebundle(asked.result())
    notebook = nbformat.writes(notebook_with(data))
    assert len(notebook.encode()) < 300_000


def test_plain_text_is_an_aligned_table(answering):
    text = fallback.plain(fallback.table(answering(["dot.1", "tanh.2"]).result()))
    assert text.replace(THIN_SPACE, " ").splitlines() == [
        "op profile of train-1, 5 rows",
        "Memory-bound: dot.1 takes most",
        "name          share  self time               FLOP/s               memory  bound by  wasted     time   count",
        "host        100.0 %    3.75 ms                    –                    –  –              –  3.75 ms       1",
        "  jit_step   80.0 %    3.00 ms                    –                    –  –              –  3.00 ms       1",
        "    dot.1    53.3 %    2.00 ms  312 TFLOP/s, 34.0 %  980 GB/s, 120.0 % ⚠  memory    61.0 %  2.00 ms  12 000",
        "    tanh.2   26.7 %    1.00 ms  312 TFLOP/s, 34.0 %  980 GB/s, 120.0 % ⚠  memory    61.0 %  1.00 ms  12 000",
        "  idle       20.0 %     750 µs                    –                    –  –              –   750 µs       1",
        "note: no peak for this processor",
    ]


def test_the_largest_rows_are_kept_and_their_ancestors_with_them(answering):
    table = fallback.table(answering([f"op.{i}" for i in range(50)]).result())
    assert list(table.columns[0].cells) == ["host", "jit_step", *(f"op.{i}" for i in range(21)), "idle"]
    assert table.caption == "op profile of train-1, 24 of 53 rows"


def test_html_is_a_semantic_table_without_a_script(answering):
    html = fallback.html(fallback.table(answering([HOSTILE]).result()))
    seen = Cells(html)
    assert set(seen.tags) == {"p", "strong", "table", "caption", "thead", "tbody", "tr", "th", "td", "ul", "li"}
    assert set(seen.attributes) == {"scope", "align", "style"}
    shown = next(cell for cell in seen.cells if "alert(1)" in cell)
    assert shown.strip().startswith("</script><script>alert(1)")
    assert not {"\u202e", "\x1b", "\ud800"} & set(html)


def test_a_saved_notebook_is_the_same_after_sorting_its_keys(answering):
    data, _ = views.mimebundle(answering(["fusion.1"], hlo_text="ROOT").result())
    saved = nbformat.writes(notebook_with(data))
    again = nbformat.writes(nbformat.reads(saved, as_version=4))
    assert again == saved
    sorted_keys = json.loads(json.dumps(json.loads(saved), sort_keys=True))
    assert nbformat.from_dict(sorted_keys).cells[0].outputs[0].data[MIMETYPE] == data[MIMETYPE]
    nbformat.validate(nbformat.read(io.StringIO(saved), as_version=4))


def test_nbconvert_shows_the_table(answering):
    data, _ = views.mimebundle(answering(["fusion.1", HOSTILE]).result())
    data[views.WIDGET_MIMETYPE] = {"version_major": 2, "version_minor": 0, "model_id": "gone"}
    html, _ = HTMLExporter().from_notebook_node(notebook_with(data))
    cells = [cell.strip() for cell in Cells(html).cells]
    assert "fusion.1" in cells
    assert "312\u00a0TFLOP/s, 34.0\u00a0%" in cells
    assert "model not found" not in html
    assert "<img src=x" not in html
