"""Real profiles to hold the decoder against."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import REPO


def corpus_files() -> list[Path]:
    """Recorded profiles that are whole; none where they are absent."""
    files = sorted((REPO.parent / "shared" / "corpus").glob("*/plugins/profile/*/*.xplane.pb"))
    return [path for path in files if "broken" not in str(path)]


@pytest.fixture(scope="session")
def cpu_capture(cpu_profile) -> Path:
    """The file of a real capture on this machine's CPU."""
    (path,) = cpu_profile.glob("*.xplane.pb")
    return path


@pytest.fixture(scope="session")
def real_profiles(cpu_capture) -> list[bytes]:
    return [path.read_bytes() for path in (cpu_capture, *corpus_files())]
