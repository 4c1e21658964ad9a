"""Whether the page that is open has the front end of this package: it keeps the one it was loaded with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xprof_nb import __version__
from xprof_nb.doctor.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Heard:
    """What pages that talk to this kernel have said of themselves, the latest last."""

    version: str | None = None


def hear(version: object) -> None:
    """Take note of the version a page says it has; of anything else, of nothing."""
    if isinstance(version, str) and re.fullmatch(r"[0-9A-Za-z.+-]{1,40}", version):
        _Heard.version = version


def look() -> Iterator[Finding]:
    """Compare it with this package's, if a page has spoken."""
    found = _Heard.version
    if found == __version__:
        yield Finding("open page", "ok", f"{found}, the kernel's own version")
    elif found is not None:
        cure = "reload the page; if that does not help, install one version in both environments"
        yield Finding("open page", "fault", f"has the front end of {found}, but the kernel has {__version__}", cure)
