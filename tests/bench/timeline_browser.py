"""One side of the bench of the timeline: what a person sees of it in headless Chromium, printed as JSON.

usage: PYTHONPATH=. CHROMIUM=/usr/bin/chromium python tests/bench/timeline_browser.py FILE

The page has the module a notebook has, and a model whose messages go to this process over loopback, which answers them
as a kernel does. The profile is open already, as it is when a person asks for its timeline.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.browser.lab import chromium
from tests.browser.live_page import served
from tests.browser.timeline import COLOURED

WINDOW = {"width": 1600, "height": 1000}
LONGEST_MS = 60_000
# Milliseconds from the beginning of the navigation to the frame that shows boxes.
FIRST_PAINT = f"""() => new Promise(resolve => {{
  const look = () => {{
    const canvas = document.querySelector('.jp-Timeline-tracksCanvas');
    if (canvas?.width && ({COLOURED})(canvas) > 50) resolve(performance.now());
    else requestAnimationFrame(look);
  }};
  look();
}})"""
# How long the frames of a pan, a zoom in and out again, and a pan deep inside take.
FRAMES = """async () => {
  const area = document.querySelector('.jp-Timeline [role=application]');
  const { left, top, width } = area.getBoundingClientRect();
  const pointer = (type, x, buttons) => area.dispatchEvent(new PointerEvent(type, {
    clientX: left + x, clientY: top + 60, button: 0, buttons, bubbles: true, pointerId: 1
  }));
  const wheel = deltaY => area.dispatchEvent(new WheelEvent('wheel', {
    deltaY, clientX: left + width / 3, clientY: top + 60, bubbles: true, cancelable: true
  }));
  area.setPointerCapture = () => {};
  const frames = [];
  const during = async (count, step) => {
    await new Promise(requestAnimationFrame);
    for (let i = 0, last = performance.now(); i < count; i++) {
      step(i);
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      frames.push(now - last);
      last = now;
    }
  };
  const pan = async () => {
    pointer('pointerdown', width / 2, 1);
    await during(120, i => pointer('pointermove', width / 2 + 150 * Math.sin(i / 10), 1));
    pointer('pointerup', width / 2, 0);
  };
  await during(60, () => wheel(-60));
  await pan();
  await during(60, () => wheel(-60));
  await pan();
  await during(120, () => wheel(60));
  return frames;
}"""


def measure(file: Path) -> dict[str, float]:
    """Return times in ms, and the memory of the page in MB, once everything has been moved about."""
    import numpy as np
    from playwright.sync_api import sync_playwright

    import xprof_nb as xp
    from xprof_nb.analysis.timeline import drawing, trace  # noqa: F401 - imports are not timed
    from xprof_nb.formats.warm import warm

    warm().join()
    with served("trace", run=xp.open(file).data) as address, sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"]
        browser = playwright.chromium.launch(executable_path=chromium(), args=options)
        page = browser.new_page(viewport=WINDOW)
        page.set_default_timeout(LONGEST_MS)
        page.goto("about:blank")
        page.goto(address + "run", wait_until="commit")
        first_paint_ms = page.evaluate(FIRST_PAINT)
        page.wait_for_timeout(1000)
        frames = page.evaluate(FRAMES)
        heap = page.evaluate("performance.memory.usedJSHeapSize")
        browser.close()
    return {
        "first_paint_ms": first_paint_ms,
        "frames": float(len(frames)),
        "frame_p50_ms": float(np.percentile(frames, 50)),
        "frame_p95_ms": float(np.percentile(frames, 95)),
        "heap_mb": heap / 1e6,
    }


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
