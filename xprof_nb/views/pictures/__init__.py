"""Charts for whoever has no script: nbconvert, GitHub, print. Made by Python from the columns the views draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from xprof_nb.views.pictures import curves, roofline, shares
from xprof_nb.views.pictures.svg import Picture

LARGEST_BYTES = 40_000
"""Of a picture in an output, which all together has 300 kB."""

_PICTURES: Mapping[str, Callable[[pd.DataFrame, Mapping[str, Any]], Picture | None]] = {
    "overview": shares.overview,
    "roofline": roofline.picture,
    "memory": curves.memory,
    "buffers": curves.buffers,
    "steps": curves.steps,
    "kernels": shares.kernels,
    "input_pipeline": shares.input_pipeline,
    "collectives": shares.collectives,
}


def picture(query: str, frame: pd.DataFrame, summary: Mapping[str, Any]) -> Picture | None:
    """Return the picture of an answer; None where its table says all there is."""
    draw = _PICTURES.get(query)
    return None if draw is None else draw(frame, summary)


def html(query: str, frame: pd.DataFrame, summary: Mapping[str, Any]) -> str:
    """Return that picture as an image with a name; empty where there is none."""
    found = picture(query, frame, summary)
    text = "" if found is None else found.html
    return text if len(text) <= LARGEST_BYTES else ""
