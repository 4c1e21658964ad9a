"""``doctor``: what is installed, whether it works together, and the cure where it does not."""

from __future__ import annotations

import html
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from xprof_nb.doctor import machine, notebook, packages, page, storage
from xprof_nb.doctor.finding import Finding, State

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Finding", "Report", "examine", "findings"]

_MARKS: dict[State, str] = {"ok": "ok", "warning": "! ", "fault": "x "}
_COLOURS: dict[State, str] = {
    "ok": "var(--jp-success-color1, #2e7d32)",
    "warning": "var(--jp-warn-color1, #b45309)",
    "fault": "var(--jp-error-color1, #b91c1c)",
}
_HEADS = ("state", "what", "found", "cure")


@dataclass(frozen=True)
class Report:
    """All findings; shows itself as a table in a notebook and as lines elsewhere."""

    findings: tuple[Finding, ...]

    @property
    def has_fault(self) -> bool:
        """Whether something does not work."""
        return any(finding.state == "fault" for finding in self.findings)

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        counts = {state: sum(finding.state == state for finding in self.findings) for state in _MARKS}
        if not counts["fault"] and not counts["warning"]:
            return f"All {counts['ok']} checks are well"
        faults, warnings = (f"{counts[state]} {state}{'s' * (counts[state] != 1)}" for state in ("fault", "warning"))
        return f"{faults}, {warnings}, {counts['ok']} checks are well"

    def to_text(self, chosen: str) -> str:
        """Return the findings as lines, or as ``"json"``."""
        if chosen != "json":
            return repr(self)
        return json.dumps({"sentence": self.sentence, "findings": [asdict(one) for one in self.findings]}, indent=1)

    def __repr__(self) -> str:
        lines = (
            f"{_MARKS[one.state]} {one.what:16} {one.found}" + (f" -> {one.cure}" if one.cure else "")
            for one in self.findings
        )
        return "\n".join([*lines, self.sentence])

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col" align="left" style="text-align:left">{head}</th>' for head in _HEADS)
        rows = "\n".join(map(_row, self.findings))
        return (
            f"<p><strong>{html.escape(self.sentence)}</strong></p>\n<table>\n<caption>doctor</caption>\n"
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"
        )


def examine() -> Report:
    """Look at everything a capture and its view need."""
    return Report(tuple(findings()))


def findings() -> Iterator[Finding]:
    """Look at one thing after the other; each finding stands for itself."""
    for room in (packages, machine, notebook, page, storage):
        yield from room.look()


def _row(finding: Finding) -> str:
    style = f"text-align:left;font-weight:600;color:{_COLOURS[finding.state]}"
    state = f'<td align="left" style="{style}">{finding.state}</td>'
    what = f'<th scope="row" align="left" style="text-align:left">{html.escape(finding.what)}</th>'
    words = "".join(
        f'<td align="left" style="text-align:left;white-space:normal">{html.escape(text)}</td>'
        for text in (finding.found, finding.cure)
    )
    return f"<tr>{state}{what}{words}</tr>"
