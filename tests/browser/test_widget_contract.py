"""The modules of the views keep anywidget's contract and need nothing else: so they draw in VS Code and Colab too."""

from __future__ import annotations

import pytest

import xprof_nb as xp
from tests.browser.conftest import watched
from xprof_nb import assets, snapshot
from xprof_nb.snapshot import VIEWS

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

# A model as anywidget gives it to a module: whoever takes anything else of it, or of a notebook's page, is caught.
DRAW = """async ([module, payload, library, isShadowed]) => {
  const url = URL.createObjectURL(new Blob([module], { type: 'text/javascript' }));
  const widget = (await import(url)).default;
  URL.revokeObjectURL(url);
  const listeners = new Map();
  const asked = [];
  const answer = ({ id, query }) => {
    const found = { snapshot: { payload }, library: { text: library } }[query];
    const message = found === undefined
      ? { id, ok: false, error: { kind: 'ProfileError', message: 'not here', hint: '' } } : { id, ok: true, ...found };
    for (const [heard, event] of listeners) if (event === 'msg:custom') heard(message, []);
  };
  const contract = {
    get: () => undefined,
    set: () => {},
    save_changes: () => {},
    on: (event, heard) => listeners.set(heard, event),
    off: (event, heard) => listeners.delete(heard),
    send: (message) => { asked.push(message.query); setTimeout(() => answer(structuredClone(message)), 0); }
  };
  const foreign = [];
  const model = new Proxy(contract, {
    get: (target, name) => { if (!(name in target)) foreign.push(String(name)); return target[name]; }
  });
  const place = document.createElement('div');
  document.body.append(place);
  const home = isShadowed ? place.attachShadow({ mode: 'open' }) : place;
  const el = document.createElement('div');
  home.append(el);
  const hooks = Object.keys(widget).filter(name => !['initialize', 'render'].includes(name));
  widget.initialize?.({ model });
  const cleanup = await widget.render({ model, el, experimental: {} });
  const rows = '.jp-XprofGrid-row, .jp-XprofTree-row, .jp-Timeline-header, .jp-XprofGraph-op';
  const drawn = `${rows}, .jp-XprofEmpty, [role=alert]`;
  while (el.querySelector(drawn) === null) await new Promise(done => setTimeout(done, 10));
  const view = el.querySelector('.jp-XprofView');
  const seen = {
    hooks, foreign, first: asked[0], events: [...new Set(listeners.values())],
    failures: [...el.querySelectorAll('[role=alert]')].map(alert => alert.textContent),
    isStyled: getComputedStyle(view).fontSize === '13px'
  };
  cleanup();
  place.remove();
  return { ...seen, left: listeners.size, isEmpty: el.childElementCount === 0 };
}"""


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """A page that is nobody's notebook."""
    empty = tmp_path_factory.mktemp("widget") / "empty.html"
    empty.write_text("<!doctype html><html lang=en><title>empty</title><body></body>")
    with watched(browser) as (start, _):
        yield start(empty.as_uri())


@pytest.fixture(scope="module")
def profile(cpu_profile):
    return xp.open(cpu_profile)


@pytest.mark.parametrize("view", [name for name, view in VIEWS.items() if view.explored or name == "explore"])
def test_a_module_needs_a_model_and_an_element_alone(page, profile, view):
    payload = snapshot.build(profile.data, view)
    module, library = assets.module(VIEWS[view].module), assets.library("bokeh")
    for is_shadowed in (False, True):
        seen = page.evaluate(DRAW, [module, payload, library, is_shadowed])
        assert seen == {
            "hooks": [],
            "foreign": [],
            "first": "snapshot",
            "events": ["msg:custom", "comm_live_update"],
            "failures": [],
            "isStyled": True,
            "left": 0,
            "isEmpty": True,
        }
    assert page.evaluate("[typeof globalThis.require, typeof globalThis.jupyterapp]") == ["undefined", "undefined"]
