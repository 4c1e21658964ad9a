"""Views come and go all day: thirty shows and closes of each leave the memory of page and kernel where it was."""

from __future__ import annotations

import gc
import json
import tracemalloc

import pytest

import xprof_nb as xp
from xprof_nb import assets, snapshot
from xprof_nb.snapshot import VIEWS
from xprof_nb.views import widget

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

TIMES = 30
# Until then much of what grows is code that the browser compiles.
WARM_UP = 10
ANSWERED = 3
LARGEST_GROWTH_BYTES = 3_000_000
LARGEST_KERNEL_GROWTH_BYTES = 10_000_000

# What anywidget gives a module: a model that answers as the kernel does.
_SHOWN = """
async ([module, payload, library, times]) => {
  const url = URL.createObjectURL(new Blob([module], { type: 'text/javascript' }));
  const view = (await import(url)).default;
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const nextFrame = () => new Promise((done) => requestAnimationFrame(done));
  for (let shown = 0; shown < times; shown++) {
    const listeners = new Set();
    const tell = (message) => setTimeout(() => listeners.forEach((heard) => heard(message, [])), 0);
    const model = {
      on: (event, heard) => event === 'msg:custom' && listeners.add(heard),
      off: (_, heard) => listeners.delete(heard),
      send: ({ id, query }) => {
        if (query === 'snapshot') tell({ id, ok: true, payload });
        else if (query === 'library') tell({ id, ok: true, text: library });
        else tell({ id, ok: false, error: { kind: 'ProfileError', message: 'gone', hint: '' } });
      }
    };
    const el = document.createElement('div');
    document.body.append(el);
    const cleanup = view.render({ model, el });
    const drawn = '.jp-XprofGrid-row, .jp-XprofTree-row, .jp-Timeline-body, .jp-XprofEmpty, [role=alert]';
    const isWaiting = () => el.querySelector('.jp-XprofChart .jp-XprofStatus') !== null;
    while (el.querySelector(drawn) === null || isWaiting()) await pause(5);
    await nextFrame();
    await nextFrame();
    cleanup();
    el.remove();
    if (listeners.size > 0) throw new Error('it still listens to its model');
  }
}
"""


@pytest.fixture(scope="module")
def profile(cpu_profile):
    return xp.open(cpu_profile)


def heap_bytes(session) -> float:
    for _ in range(3):
        session.send("HeapProfiler.collectGarbage")
    return session.send("Runtime.getHeapUsage")["usedSize"]


@pytest.mark.parametrize("view", [name for name, view in VIEWS.items() if view.explored or name == "explore"])
def test_a_page_forgets_closed_views(open_page, profile, tmp_path, view):
    payload = snapshot.build(profile.data, view)
    module, library = assets.module(VIEWS[view].module), assets.library("bokeh")
    empty = tmp_path / "empty.html"
    empty.write_text("<!doctype html><title>empty</title><body></body>")
    page = open_page(empty.as_uri())
    session = page.context.new_cdp_session(page)
    page.evaluate(_SHOWN, [module, payload, library, WARM_UP])
    before = heap_bytes(session)
    page.evaluate(_SHOWN, [module, payload, library, TIMES])
    assert heap_bytes(session) - before < LARGEST_GROWTH_BYTES


def test_a_kernel_forgets_closed_views(profile, monkeypatch):
    from types import SimpleNamespace

    import IPython

    parent = {"metadata": {"cellId": "cell"}, "header": {"msg_id": "0"}}
    shell = SimpleNamespace(kernel=object(), get_parent=lambda: parent)
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    monkeypatch.setattr("anywidget.widget.in_colab", lambda: False)
    data = profile.data

    def show_all(times: int) -> None:
        for number in range(times):
            for view in VIEWS:
                parent["header"]["msg_id"] = f"{view}{number}"
                widget.show(data, view, {})
                if number < ANSWERED:
                    content, _ = widget.reply(data, view, {}, {"id": 1, "query": "snapshot"})
                    json.dumps(content, allow_nan=False)
        widget.close_all()
        gc.collect()

    show_all(2)
    tracemalloc.start()
    show_all(1)
    before = tracemalloc.get_traced_memory()[0]
    show_all(TIMES)
    growth = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert growth < LARGEST_KERNEL_GROWTH_BYTES
