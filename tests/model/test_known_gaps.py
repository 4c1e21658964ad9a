"""What releases are known not to record."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from xprof_nb.doctor import packages
from xprof_nb.model.known_gaps import known_gaps


def test_a_gap_belongs_to_a_release_and_a_backend() -> None:
    (gap,) = known_gaps({"jax_version": "0.4.30"}, "gpu")
    assert gap.question == "memory"
    assert known_gaps({"jax": "0.4.30"}, "gpu") == (gap,)
    assert not known_gaps({"jax_version": "0.4.30"}, "tpu")
    assert not known_gaps({"jax_version": "0.4.31"}, "gpu")


def test_the_doctor_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def installed(**versions: str) -> None:
        found = [
            SimpleNamespace(metadata={"Name": name.replace("_", "-")}, version=number)
            for name, number in versions.items()
        ]
        monkeypatch.setattr(packages, "distributions", lambda: found)

    installed(jax="0.4.30", jax_cuda12_plugin="0.4.30")
    (finding,) = packages.gaps()
    assert finding.state == "warning"
    assert "upgrade jax" in finding.cure
    installed(jax="0.4.30")
    assert not list(packages.gaps())
