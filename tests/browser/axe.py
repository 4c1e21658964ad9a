"""Accessibility as axe-core sees it: a part of a page has no violation, or the test says which, where and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Locator

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
MOST_PLACES = 5
# What is still fading in would be judged half transparent.
RUN = """async element => {
  const faded = element.getAnimations({ subtree: true }).map(animation => animation.finished.catch(() => {}));
  await Promise.race([Promise.all(faded), new Promise(resolve => setTimeout(resolve, 1000))]);
  const { violations } = await axe.run(element, { resultTypes: ['violations'] });
  // What is drawn in an op of a graph is cut to fit; the name of the op is whole.
  const isCut = (id, html) => id === 'label-content-name-mismatch' && html.includes('jp-XprofGraph-op');
  return violations.map(({ id, impact, help, nodes }) => ({
    id, impact, help, nodes: nodes.map(({ html, failureSummary }) => ({ html, failureSummary }))
      .filter(({ html }) => !isCut(id, html))
  })).filter(({ nodes }) => nodes.length > 0);
}"""


def expect_accessible(area: Locator, state: str) -> None:
    """Expect that axe-core has nothing against a part of a page; ``state`` says what it shows in a failure."""
    if not AXE.is_file():
        pytest.fail(f"axe-core is missing ({AXE}): `npm ci` brings it.", pytrace=False)
    if not area.page.evaluate("'axe' in window"):
        area.page.evaluate(AXE.read_text())
    found = area.evaluate(RUN)
    if found:
        pytest.fail(f"{state}: axe-core found\n" + "\n".join(map(_described, found)), pytrace=False)


def _described(violation: dict[str, Any]) -> str:
    nodes = violation["nodes"]
    more = [f"  … and {len(nodes) - MOST_PLACES} more"] if len(nodes) > MOST_PLACES else []
    places = [f"  {node['html'][:300]}\n    {node['failureSummary']}" for node in nodes[:MOST_PLACES]]
    return "\n".join([f"{violation['id']} ({violation['impact']}): {violation['help']}", *places, *more])
