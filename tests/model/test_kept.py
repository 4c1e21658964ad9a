"""What is computed once for an object, and goes with it."""

from __future__ import annotations

import gc
import weakref

from xprof_nb.model.kept import kept_with_first


class Thing:
    """Something that can be referred to weakly."""


def test_it_is_computed_once_for_each_first_argument() -> None:
    asked: list[str] = []

    @kept_with_first
    def label(thing: Thing, text: str) -> str:
        asked.append(text)
        return text

    one, two = Thing(), Thing()
    assert [label(one, "a"), label(one, "a"), label(two, "b")] == ["a", "a", "b"]
    assert asked == ["a", "b"]


def test_it_goes_with_its_object() -> None:
    @kept_with_first
    def beside(thing: Thing) -> Thing:
        return Thing()

    thing = Thing()
    result = weakref.ref(beside(thing))
    assert result() is not None
    del thing
    gc.collect()
    assert result() is None
