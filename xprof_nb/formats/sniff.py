"""What kind of file is this, when it is not the profile somebody hoped for."""

from __future__ import annotations

from dataclasses import dataclass

_HEAD_BYTES = 4096
_SEARCHED_BYTES = 1 << 20
_REPLACEMENT = "\ufffd".encode()
_ENOUGH_REPLACEMENTS = 3
PROFILE_HINT = "A profile is the *.xplane.pb file of a run."


@dataclass(frozen=True)
class FileKind:
    """A kind of file, and what to do about it."""

    name: str
    hint: str


_MAGIC = (
    (b"\x1f\x8b", FileKind("gzip data", "Decompress it first (gunzip), if the profile is inside.")),
    (b"PK\x03\x04", FileKind("a zip archive", "Unpack it first, if the profile is inside.")),
    (b"PK\x05\x06", FileKind("an empty zip archive", PROFILE_HINT)),
    (b"\x28\xb5\x2f\xfd", FileKind("zstd data", "Decompress it first (unzstd), if the profile is inside.")),
    (b"\xfd7zXZ\0", FileKind("xz data", "Decompress it first (unxz), if the profile is inside.")),
    (b"BZh", FileKind("bzip2 data", "Decompress it first (bunzip2), if the profile is inside.")),
    (b"SQLite format 3\0", FileKind("an SQLite database", PROFILE_HINT)),
    (b"\x7fELF", FileKind("a program (ELF)", PROFILE_HINT)),
    (b"%PDF", FileKind("a PDF document", PROFILE_HINT)),
    (b"\x89PNG", FileKind("a PNG image", PROFILE_HINT)),
)


def sniff(data: memoryview) -> FileKind | None:
    """Return the kind of file these bytes are, or None for bytes that look like no kind known here."""
    head = bytes(data[:_HEAD_BYTES])
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if len(data) > 512 and bytes(data[257:262]) == b"ustar":
        return FileKind("a tar archive", "Unpack it first, if the profile is inside.")
    if head and not any(head):
        return FileKind("a run of zero bytes", "The copy reserved the space and was never filled: copy it again.")
    return _text_kind(head) if _is_text(head) else None


def replaced_at(data: memoryview) -> int | None:
    """Return where bytes were first replaced by U+FFFD, if the file went through a text decoder as a whole."""
    searched = bytes(data[:_SEARCHED_BYTES])
    if searched.count(_REPLACEMENT) < _ENOUGH_REPLACEMENTS:
        return None
    return searched.index(_REPLACEMENT)


def _is_text(head: bytes) -> bool:
    """Binary formats have control bytes early on, text has none but white space."""
    if any(byte < 0x20 and byte not in b"\t\n\f\r\x1b" for byte in head):
        return False
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.start >= _HEAD_BYTES - 3  # a character cut by the end of the head
    return bool(head.strip())


def _text_kind(head: bytes) -> FileKind:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith(b"version https://git-lfs"):
        return FileKind("a Git LFS pointer, not the file itself", "Fetch the file with `git lfs pull`.")
    if start.startswith((b"<!doctype html", b"<html")):
        return FileKind("an HTML page", "A download may have saved a log-in or error page in its place.")
    if start.startswith((b"{", b"[")):
        return FileKind("JSON text", PROFILE_HINT)
    if start.startswith(b"<"):
        return FileKind("XML text", PROFILE_HINT)
    return FileKind("text", PROFILE_HINT)
