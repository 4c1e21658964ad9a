"""A text file that is there whole or not at all."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from uuid import uuid4


def write_text(target: Path, text: str) -> None:
    """Write or replace a file in one step; raises OSError and leaves what was there."""
    staged = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        with staged.open("x", encoding="utf-8") as stream:
            stream.write(text)
        staged.replace(target)
    except BaseException:
        with suppress(OSError):
            staged.unlink(missing_ok=True)
        raise
