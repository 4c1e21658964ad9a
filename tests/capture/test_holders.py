"""Who holds an array."""

from __future__ import annotations

import functools
import sys
from collections import namedtuple
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from xprof_nb.capture import holders as module
from xprof_nb.capture.holders import holders


@pytest.fixture(autouse=True)
def no_error_shown(monkeypatch):
    for name in ("last_exc", "last_value"):
        monkeypatch.delattr(sys, name, raising=False)


@dataclass
class State:
    step: int
    params: dict[str, Any]


class Slotted:
    __slots__ = ("w",)

    def __init__(self, w: Any) -> None:
        self.w = w


Adam = namedtuple("Adam", "mu nu")


def held(value: Any, array: Any) -> tuple[str, ...]:
    return holders([array], {"x": value})[id(array)]


@pytest.mark.parametrize(
    ("around", "name"),
    [
        (lambda a: a, "x"),
        (lambda a: {"w": [0, a]}, "x['w'][1]"),
        (lambda a: State(1, {"layer": {"w": a}}), "x.params['layer']['w']"),
        (lambda a: (Adam(None, {"w": a}),), "x[0].nu['w']"),
        (Slotted, "x.w"),
        (lambda a: SimpleNamespace(model=Slotted(a)), "x.model.w"),
        (lambda a: functools.partial(max, a), "x.args[0]"),
        (lambda a: lambda: a, "a in the closure of x"),
    ],
)
def test_an_array_is_named_as_python_would_write_it(around, name) -> None:
    array = jnp.ones(3)
    assert held(around(array), array) == (name,)


def test_variables_come_first_then_what_the_notebook_remembers() -> None:
    array = jnp.ones(3)
    names = {"_": array, "_5": array, "__": 1, "Out": {5: array}, "In": [], "weights": array, "_oh": {5: array}}
    assert holders([array], names)[id(array)] == ("weights", "_", "Out[5]")


def test_what_a_failed_cell_left_is_held_by_the_last_traceback(monkeypatch) -> None:
    def train(scale: float) -> None:
        activations = jnp.ones((1000, 1000)) * scale
        raise ValueError(activations.shape)

    try:
        train(2.0)
    except ValueError as error:
        monkeypatch.setattr(sys, "last_value", error, raising=False)
    (found,) = (
        holder
        for array in jax.live_arrays()
        for holder in holders([array], {})[id(array)]
        if array.shape == (1000, 1000) and " in train" in holder
    )
    assert found == "activations in train, held by the last traceback"


def test_a_module_of_the_user_is_looked_at_and_a_library_is_not(monkeypatch, tmp_path) -> None:
    array = jnp.ones(3)
    for name, file in (("my_model", tmp_path / "my_model.py"), ("lib", "/x/site-packages/lib.py")):
        made = ModuleType(name)
        made.__file__, made.weights = str(file), array
        monkeypatch.setitem(sys.modules, name, made)
    assert holders([array], {})[id(array)] == ("my_model.weights",)


def test_nothing_of_the_program_is_called_and_circles_end() -> None:
    class Trap:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

        @property
        def weights(self) -> Any:
            raise AssertionError

        def __iter__(self) -> Any:
            raise AssertionError

    class Lazy(dict):
        def items(self) -> Any:
            raise AssertionError

    array, circle = jnp.ones(3), []
    circle.append(circle)
    trap = Trap()
    trap.__dict__["kept"] = Lazy(w=array)
    assert held([circle, trap], array) == ("x[1].kept['w']",)


def test_a_search_through_too_much_ends(monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST_LOOKS", 1000)
    array = jnp.ones(3)
    assert held([[*range(10_000)], array], array) == ("x[1]",)
    big = [object() for _ in range(10_000)]
    assert holders([array], {"big": big, "x": array})[id(array)] == ("x",)
    assert holders([array], {"big": big, "x": [array]})[id(array)] == ()
