"""The charts of printed views: what is drawn is what the frame says, small, named, and nothing in it is live."""

from __future__ import annotations

import base64
import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pandas as pd
import pytest

import xprof_nb as xp
from tests.house.tree import PACKAGE
from tests.views.handmade import HOSTILE
from xprof_nb import views
from xprof_nb.model import units
from xprof_nb.views import pictures
from xprof_nb.views.pictures import svg

DRAWN = ("overview", "roofline", "memory", "buffers", "steps", "input_pipeline", "collectives")
SVG = "{http://www.w3.org/2000/svg}"


def drawn(profile: xp.Profile, query: str) -> ET.Element:
    result = profile.ask(query)
    found = pictures.picture(result.query, result.frame, result.summary)
    assert found is not None, query
    return ET.fromstring(found.svg)


def words(picture: ET.Element) -> list[str]:
    return [one.text or "" for one in picture.iter(f"{SVG}text")]


@pytest.mark.parametrize("run", ["cpu", "tpu-v6e-psum", "mi300x-jax-gemm"])
def test_charts_are_in_the_html_of_an_output_and_the_output_stays_small(
    run: str, cpu_profile: Path, request: pytest.FixtureRequest
) -> None:
    profile = xp.open(cpu_profile if run == "cpu" else request.getfixturevalue("corpus") / run)
    for query in ("overview", "roofline", "buffers", "steps", "input_pipeline"):
        data, _ = views.mimebundle(profile.ask(query))
        [(name, encoded)] = re.findall(
            r'<img alt="([^"]+)" src="data:image/svg\+xml;base64,([^"]+)">', data["text/html"]
        )
        root = ET.fromstring(base64.b64decode(encoded))
        assert root.attrib["role"] == "img"
        assert root.find(f"{SVG}title").text in name.replace("&amp;", "&")
        assert len(str(data).encode()) < 300_000
        assert {one.tag.removeprefix(SVG) for one in root.iter()} <= {
            *("svg", "title", "text", "rect", "path", "polyline", "polygon", "circle")
        }


def test_a_roofline_has_the_points_of_its_frame(corpus: Path) -> None:
    result = xp.open(corpus / "mi300x-jax-gemm").roofline()
    picture = drawn(xp.open(corpus / "mi300x-jax-gemm"), "roofline")
    frame = result.frame
    ops = frame[(frame["level"] == "op") & (frame["flops_per_s"] > 0) & (frame["hbm_arithmetic_intensity"] > 0)]
    circles = [one.attrib for one in picture.iter(f"{SVG}circle")]
    assert len(circles) == len(ops)
    # On logarithmic axes places are a linear function of the logarithms.
    ordered = ops.sort_values("time_ps", ascending=False)
    for column, place in (("hbm_arithmetic_intensity", "cx"), ("flops_per_s", "cy")):
        logs = [math.log10(value) for value in ordered[column]]
        places = [float(circle[place]) for circle in circles]
        slope = (places[-1] - places[0]) / (logs[-1] - logs[0])
        assert places == pytest.approx([places[0] + slope * (log - logs[0]) for log in logs], abs=0.3)
    colours = {
        bound: {
            circle["fill"] for circle, row in zip(circles, ordered.itertuples(), strict=True) if row.bound_by == bound
        }
        for bound in ordered["bound_by"].dropna().unique()
    }
    assert all(len(found) == 1 for found in colours.values())
    said = " ".join(words(picture))
    assert "bf16" in said or "f8" in said
    assert "datasheet" in said
    assert "ridge" in said


def test_memory_has_its_capacity_and_peak(corpus: Path) -> None:
    result = xp.open(corpus / "tpu-v6e-psum").memory()
    said = words(drawn(xp.open(corpus / "tpu-v6e-psum"), "memory"))
    assert f"peak {units.size(result.summary['peak_bytes'])}" in said
    assert f"capacity {units.size(result.summary['capacity_bytes'])}" in said


def test_steps_are_as_high_as_they_are_long() -> None:
    frame = pd.DataFrame(
        {
            "step": [0, 0, 1],
            "step_time_ps": [4e9, 2e9, float("nan")],
            "duration_ps": [4e9, 2e9, 6e9],
            "busy_time_ps": [1e9, 1e9, 6e9],
        }
    )
    picture = ET.fromstring(pictures.picture("steps", frame, {}).svg)
    plotted = [one.attrib for one in picture.iter(f"{SVG}rect") if float(one.attrib["width"]) > 10]
    heights = [float(one["height"]) for one in plotted]
    # The first step: 1 ms busy, 2 ms idle, a mean of its two devices; the second has no length but its own.
    assert heights[1] / heights[0] == pytest.approx(2, rel=0.02)
    assert heights[2] / heights[0] == pytest.approx(6, rel=0.02)
    assert heights[3] == 0


def test_many_steps_stay_small_and_say_what_is_left_out() -> None:
    many = pd.DataFrame({"step": range(5000), "step_time_ps": 1e9, "duration_ps": 1e9, "busy_time_ps": 5e8})
    many.loc[1234, "step_time_ps"] = 9e9
    picture = pictures.picture("steps", many, {})
    assert "the longest of each stretch of 5000" in picture.title
    assert len(picture.html) < pictures.LARGEST_BYTES
    heights = [float(one.attrib["height"]) for one in ET.fromstring(picture.svg).iter(f"{SVG}rect")]
    assert max(heights) > 8 * sorted(heights)[len(heights) // 4]


def test_names_are_text() -> None:
    top = [{"op": HOSTILE, "busy_fraction": 0.5, "self_time_ps": 1e9, "work_kind": HOSTILE}]
    summary = {"top_ops": top, "device_busy_fraction": 1.3, "flops_utilization": None}
    picture = pictures.picture("overview", pd.DataFrame(), summary)
    root = ET.fromstring(picture.svg)
    assert {one.tag.removeprefix(SVG) for one in root.iter()} == {"svg", "title", "text", "rect"}
    assert not {"\u202e", "\x1b", "\ud800"} & set(picture.svg)
    assert "130.0 % ⚠" in words(root)


@pytest.mark.parametrize("query", DRAWN)
def test_an_empty_answer_has_no_picture(query: str) -> None:
    assert pictures.html(query, pd.DataFrame(), {}) == ""


def test_colours_are_those_of_the_views() -> None:
    sheet = (PACKAGE / "frontend" / "src" / "style" / "shell.css").read_text()
    light = dict(reversed(re.findall(r"--xprof-kind-(\w+): (#\w+);", sheet)))
    light.pop("idle")
    assert light == {name: colour for name, colour in svg.KINDS.items() if name != "idle"}


def test_the_colour_of_words_can_be_read_on_white_and_on_black() -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    ink = luminance(svg.INK)
    assert 1.05 / (ink + 0.05) > 3.9
    assert (ink + 0.05) / (luminance("#111418") + 0.05) > 3.9
