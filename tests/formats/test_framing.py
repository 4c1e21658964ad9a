from __future__ import annotations

import pytest

from xprof_nb.formats.framing import has_events, is_whole


def field(number: int, body: bytes) -> bytes:
    assert len(body) < 128
    return bytes([number << 3 | 2, len(body)]) + body


def test_only_an_event_counts_as_activity() -> None:
    empty_line = field(3, b"")
    with_event = field(3, field(2, b"python") + field(4, b"\x08\x01"))
    assert not has_events(field(1, field(2, b"/host:CPU") + empty_line))
    assert has_events(field(1, field(2, b"/host:CPU") + empty_line + with_event))


def test_a_space_is_whole_only_if_its_last_frame_ends_with_it() -> None:
    space = field(1, field(2, b"/host:CPU")) + field(4, b"vm")
    assert is_whole(space)
    assert not any(
        is_whole(space[:cut]) for cut in range(1, len(space)) if cut != len(field(1, field(2, b"/host:CPU")))
    )


@pytest.mark.parametrize(
    "data", [b"", b"not a profile", b"\x1f\x8b\x08\x00", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"]
)
def test_other_bytes_are_no_space(data: bytes) -> None:
    assert not is_whole(data)
