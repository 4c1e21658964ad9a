"""One table of key figures, whatever they come from: a profile, a measurement, another tool's report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from xprof_nb.model.figures import Figure, as_table, reasons

_FIRST = ("ttft_p50", "tpot_p50", "e2e_p50", "output_tokens_per_s", "prefill_mfu", "decode_hbm_utilization")


class KeyFigures:
    """Key figures that belong to no profile.

    Attributes
    ----------
    name
        What they are of.
    frame
        ``name, value, unit, definition, source``.
    samples
        What was measured, one row a sample: ``metric, request, value_ps``; empty if only sums are known.
    notes
        What is missing or implausible, and why.
    """

    def __init__(
        self, name: str, figures: Iterable[Figure], notes: Iterable[str] = (), samples: pd.DataFrame | None = None
    ) -> None:
        rows = tuple(figures)
        self.name = name
        self.frame = as_table(rows)
        self.samples = pd.DataFrame(columns=["metric", "request", "value_ps"]) if samples is None else samples
        self.notes = (*notes, *reasons(rows))
        said = [f"{row.name} {row}" for row in rows if row.name in _FIRST and row.known is not None]
        self._sentence = f"{', '.join(said)}." if said else "None of the usual figures is known."
        self._rows = rows

    @property
    def summary(self) -> dict[str, Any]:
        """The values by name, and the answer in one sentence."""
        return {**{row.name: row.known for row in self._rows}, "sentence": self._sentence}

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:  # noqa: ARG002
        from xprof_nb.views import fallback, layouts  # noqa: PLC0415

        shown = fallback.Table(
            layouts.one_line(f"key figures of {self.name}"),
            layouts.one_line(self._sentence, layouts.LONGEST_NOTE),
            layouts.columns("kpis", self.frame),
            (0,) * len(self.frame),
            tuple(layouts.one_line(note, layouts.LONGEST_NOTE) for note in self.notes),
        )
        return {"text/html": fallback.html(shown), "text/plain": fallback.plain(shown)}

    def __repr__(self) -> str:
        return f"<key figures of {self.name!r}: {len(self.frame)} rows>"


def kpis(source: Any, **told: Any) -> Any:
    """Return the key figures of whatever has some, as a table ``name, value, unit, definition, source``.

    Parameters
    ----------
    source
        A profile or the path of one; a report of NxD Inference, ``vllm bench serve`` or SGLang as a ``.json`` or
        ``.jsonl`` file or a mapping; or what `benchmark_generation` returned.
    **told
        Of a profile as for `Profile.kpis`; of a report ``batch=``, against which its throughput is checked.

    Raises
    ------
    ProfileError
        It is nothing of these, or damaged.
    """
    from xprof_nb import api  # noqa: PLC0415
    from xprof_nb.tuning import reports  # noqa: PLC0415

    if isinstance(source, KeyFigures):
        return source
    if isinstance(source, Mapping):
        return reports.of_mapping(source, "a mapping", **told)
    if isinstance(source, api.Profile):
        return source.kpis(**told)
    if isinstance(source, str | os.PathLike) and reports.may_be(source):
        return reports.read(Path(source), **told)
    return api.open(source).kpis(**told)
