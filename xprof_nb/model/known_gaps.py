"""What a release of a framework is known not to record: worth saying where a table stays empty because of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Gap:
    """A release, a backend, and what its profiles lack.

    Attributes
    ----------
    question
        The question that cannot be answered.
    """

    package: str
    version: str
    backend: str
    question: str
    text: str


GAPS = (
    Gap(
        "jax",
        "0.4.30",
        "gpu",
        "memory",
        "jax 0.4.30 on a GPU records no allocator events: upgrade jax, 0.4.31 has them again, and capture once more",
    ),
)


def known_gaps(versions: Mapping[str, str], backend: str) -> tuple[Gap, ...]:
    """Return the gaps of what is installed; keys of ``versions`` are ``jax`` or, as in a profile, ``jax_version``."""
    return tuple(
        gap
        for gap in GAPS
        if gap.backend == backend and gap.version in (versions.get(gap.package), versions.get(f"{gap.package}_version"))
    )
