"""Profiles of the programs in `cpu_workloads`, captured when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

import xprof_nb as xp
from tests.analysis.captured import captured as capture


def captured(folders: pytest.TempPathFactory) -> Callable[[str], xp.Profile]:
    """Return a function that gives the profile of a workload; a capture is made once."""

    @cache
    def profile_of(workload: str) -> xp.Profile:
        return xp.open(capture(folders.mktemp(workload), workload))

    return profile_of
