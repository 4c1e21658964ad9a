"""Memory over time in a page from disk: the curve of the frame, its exact peak, and who held it at each point."""

from __future__ import annotations

import base64
import subprocess
import sys

import pytest
from playwright.sync_api import expect

import xprof_nb as xp
from tests.browser import charts, every_view
from xprof_nb import snapshot
from xprof_nb.model import columns

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

GPU, TPU, LARGE = "mi300x-jax-gemm", "tpu-v6e-psum", "v100-tf"
LIVE_ARRAYS = """
import sys, time
import jax.numpy as jnp, numpy as np
import xprof_nb as xp
with xp.capture("arrays", sys.argv[1]):
    held = [jnp.asarray(np.ones((4, 1024, 1024), np.float32)).block_until_ready()]
    time.sleep(0.2)
    held.append(jnp.ones((2, 1024, 1024)).block_until_ready())
    time.sleep(0.2)
"""


@pytest.fixture(scope="module")
def sampled(tmp_path_factory):
    """A CPU run whose capture sampled live arrays: 16 MiB, then 24 MiB."""
    logdir = tmp_path_factory.mktemp("sampled")
    subprocess.run([sys.executable, "-c", LIVE_ARRAYS, str(logdir)], check=True, timeout=240)
    return xp.open(logdir)


def opened(open_page, profile, tmp_path, **options):
    result = profile.memory()
    page = open_page(result.to_html(tmp_path / "memory.html").as_uri(), **options)
    charts.wait_for_chart(page)
    return result, page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("run", [TPU, GPU, LARGE])
def test_the_peak_and_the_capacity_are_exact(open_page, corpus, tmp_path, screenshot, run, scheme):
    result, page = opened(open_page, xp.open(corpus / run), tmp_path, color_scheme=scheme)
    fullest = max(result.summary["allocators"], key=lambda peak: peak["peak_bytes"])
    assert charts.data(page, "peak")["y"] == [fullest["peak_bytes"]]
    curve = charts.data(page, "total")
    assert max(curve["total"]) == fullest["peak_bytes"]
    origin = result.frame["start_ps"].min()
    assert charts.data(page, "peak")["x"] == [fullest["peak_ps"] - origin]
    top = charts.axis(page, "y")[1]
    assert top > fullest["peak_bytes"]
    if fullest["capacity_fraction"] > 0.25:
        assert top > fullest["capacity_bytes"]
        assert any(text.startswith("capacity") for text in charts.labels(page))
    else:
        page.get_by_role("button", name="up to capacity").click()
        page.wait_for_function(f"({charts.RANGE})('y')[1] > {fullest['capacity_bytes']}")
    for width in (480, 900, 2000):
        every_view.resize(page, width, 900)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"cut at {width}"
        screenshot(page, f"memory-{run}-{width}-{scheme}")


def test_a_small_curve_is_whole_whatever_is_filtered(open_page, corpus, tmp_path):
    result, page = opened(open_page, xp.open(corpus / GPU), tmp_path)
    mine = result.frame[result.frame["allocator"] == "GPU_0_bfc"]
    for words in ("", "kind:free"):
        page.get_by_label("Filter rows").fill(words)
        curve = charts.data(page, "total")
        assert curve["heap"][:-1] == mine["heap_bytes"].tolist()
        assert curve["fragmentation"][:-1] == mine["fragmentation_fraction"].tolist()
        assert curve["x"][:-1] == (mine["start_ps"] - result.frame["start_ps"].min()).tolist()
    rows = int((result.frame["kind"] == "free").sum())
    expect(page.locator(".jp-XprofAnswer-counted")).to_have_text(f"{rows} of {len(result.frame)} rows shown")


def test_the_stack_is_stacked_and_devices_can_be_picked(open_page, corpus, tmp_path):
    result, page = opened(open_page, xp.open(corpus / TPU), tmp_path)
    curve = charts.data(page, "stack")
    assert max(total - heap for total, heap in zip(curve["total"], curve["heap"], strict=True)) == 21_491_712_000
    picker = page.get_by_label("Device")
    expect(picker.locator("option")).to_have_count(4)
    picker.select_option(index=3)
    page.wait_for_timeout(500)
    assert charts.data(page, "peak")["y"] == [result.summary["allocators"][3]["peak_bytes"]]
    expect(page.locator(".jp-Memory-thinned")).to_contain_text(f"of {len(result.frame)} events")


def test_holders_are_kept_of_the_peak_and_of_the_points_saved(open_page, corpus, tmp_path):
    profile = xp.open(corpus / GPU)
    result, page = opened(open_page, profile, tmp_path)
    held = result.summary["allocators"][0]["held"]
    grid = page.get_by_role("grid", name="Who held the memory")
    shown = [float("".join(c for c in text if c.isdigit())) for text in charts.rows_of(grid, "bytes")]
    assert shown == [row["bytes"] for row in held]
    begin, end = charts.axis(page, "x")
    charts.click(page, begin + (end - begin) * 0.7, charts.axis(page, "y")[1] / 2)
    expect(page.locator(".jp-Memory-heading")).to_contain_text("At the saved point")
    shown = [float("".join(c for c in text if c.isdigit())) for text in charts.rows_of(grid, "bytes")]
    packed = snapshot.build(profile.data, "memory")["extra"]["holders"]
    saved, _ = columns.decode(base64.b64decode(packed))
    mine = saved[saved["device"] == result.summary["allocators"][0]["device"]]
    assert shown in [list(group) for _, group in mine.groupby("at_ps")["bytes"]]
    page.get_by_role("button", name="at the peak").click()
    expect(page.locator(".jp-Memory-heading")).to_contain_text("At the peak")


def test_a_dragged_window_is_offered_to_all_views(open_page, corpus, tmp_path):
    _, page = opened(open_page, xp.open(corpus / GPU), tmp_path)
    begin, end = charts.axis(page, "x")
    height = charts.axis(page, "y")[1] / 2
    charts.drag(page, (begin + (end - begin) * 0.3, height), (begin + (end - begin) * 0.6, height))
    expect(page.get_by_role("button", name="Narrow all views to this window")).to_be_visible()
    expect(page.locator(".jp-Memory-range")).to_contain_text("ms from")
    page.get_by_role("button", name="Forget it").click()
    expect(page.locator(".jp-Memory-range")).to_be_hidden()


def test_hovering_tells_the_state(open_page, corpus, tmp_path):
    result, page = opened(open_page, xp.open(corpus / GPU), tmp_path)
    peak = result.summary["allocators"][0]
    charts.point_at(page, peak["peak_ps"] - result.frame["start_ps"].min() + 1e7, peak["peak_bytes"] / 2)
    expect(page.locator(".bk-Tooltip")).to_contain_text("460 MiB of 144 GiB")


def test_sampled_live_arrays_are_a_curve(open_page, sampled, tmp_path, screenshot):
    result, page = opened(open_page, sampled, tmp_path)
    curve = charts.data(page, "total")
    assert max(curve["total"]) == result.frame["total_bytes"].max() >= 24 * 2**20
    assert 24 * 2**20 < charts.axis(page, "y")[1] < 30 * 2**20
    expect(page.locator(".jp-Memory-heading")).to_contain_text("24.0 MiB")
    expect(page.locator("body")).to_contain_text("live arrays (sampled)")
    expect(page.get_by_role("button", name="up to capacity")).to_be_hidden()
    grid = page.get_by_role("grid", name="Who held the memory")
    expect(grid).to_contain_text("[4,1024,1024]")
    screenshot(page, "memory-cpu-sampled")


def test_a_cpu_without_samples_says_why(open_page, corpus, tmp_path, cpu_profile):
    result = xp.open(cpu_profile).memory()
    page = open_page(result.to_html(tmp_path / "memory.html").as_uri())
    expect(page.locator(".jp-XprofEmpty")).to_contain_text("XLA on a CPU reports no allocator events")
