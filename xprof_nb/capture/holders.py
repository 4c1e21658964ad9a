"""Who in a notebook holds an array: variables and what is in them, ``Out``, the last traceback, the user's modules.

Nothing of the program's own is called on the way: no property, no ``__iter__``, no ``__repr__``.
"""

from __future__ import annotations

import functools
import re
import sys
import sysconfig
import time
import types
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xprof_nb.capture.cells import running_shell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

DEEPEST = 5
MOST_LOOKS = 200_000
LONGEST_S = 0.5
"""Of this thread's own work: a busy machine finds no less."""
MOST_HOLDERS = 8
MOST_FRAMES = 100
LONGEST_NAME = 120
BY_TRACEBACK = "held by the last traceback"
_LISTS = (list, tuple, set, frozenset, deque)
_LEAVES = (str, bytes, bytearray, int, float, complex, type, types.ModuleType, types.CodeType, type(None))
# What IPython keeps under names of its own: `_5` is Out[5], which is looked at as such.
_SHELLS_OWN = re.compile(r"In|Out|_i\w*|_oh|_dh|_\d+|__(?!_?$)\w+|get_ipython|exit|quit|open")
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def notebook_names() -> Mapping[str, Any]:
    """Return the variables of the notebook; of the script where there is none."""
    shell = running_shell()
    return vars(sys.modules["__main__"]) if shell is None else shell.user_ns


def holders(arrays: Iterable[Any], names: Mapping[str, Any]) -> dict[int, tuple[str, ...]]:
    """Return the holders of each array by its ``id``, variables first.

    Parameters
    ----------
    arrays
        What to look for, by identity.
    names
        Variables, as `notebook_names` returns them.
    """
    search = _Search({id(array): [] for array in arrays})
    for roots in (_variables(names), _outputs(names), _of_traceback(last_error(), names), _modules(names)):
        search.look(roots)
    return {key: tuple(found) for key, found in search.found.items()}


@dataclass
class _Search:
    found: dict[int, list[str]]

    def look(self, roots: Iterable[tuple[str, Any]]) -> None:
        """Note every wanted array that can be reached from a root, once for each root.

        All roots are gone through before what is in them: no large one keeps others from being looked at.
        """
        looks, deadline = 0, time.thread_time() + LONGEST_S
        seen: set[tuple[int, int]] = set()
        waiting = deque((root, name, value, 0) for root, (name, value) in enumerate(roots))
        while waiting and looks < MOST_LOOKS and time.thread_time() < deadline:
            root, path, value, depth = waiting.popleft()
            looks += 1
            if (root, id(value)) in seen or isinstance(value, _LEAVES):
                continue
            seen.add((root, id(value)))
            known = self.found.get(id(value))
            if known is not None:
                if len(known) < MOST_HOLDERS:
                    known.append(path[:LONGEST_NAME])
            elif depth < DEEPEST:
                waiting.extend((root, inner, child, depth + 1) for inner, child in _inside(path, value))


def _variables(names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    plain = [(name, value) for name, value in [*names.items()] if not _SHELLS_OWN.fullmatch(name)]
    yield from sorted(plain, key=lambda item: item[0].startswith("_"))


def _outputs(names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    outputs = names.get("Out")
    if isinstance(outputs, dict):
        yield from ((f"Out[{_key(number)}]", value) for number, value in [*outputs.items()])


def _modules(names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for module in [*sys.modules.values()]:
        own = type(module) is types.ModuleType and _is_users(vars(module).get("__file__"))
        if own and vars(module) is not names:
            yield from ((f"{module.__name__}.{name}", value) for name, value in [*vars(module).items()])


def last_error() -> BaseException | None:
    """Return the error that was shown last: what keeps its frames, and all they hold, alive."""
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    return error if isinstance(error, BaseException) else None


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and those that led to it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _of_traceback(error: BaseException | None, names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    frames: dict[int, types.FrameType] = {}
    for link in chain(error):
        traceback = link.__traceback__
        while traceback is not None and len(frames) < MOST_FRAMES:
            frames[id(traceback.tb_frame)] = traceback.tb_frame
            traceback = traceback.tb_next
    for frame in sorted(frames.values(), key=lambda frame: not _is_users(frame.f_code.co_filename)):
        if frame.f_globals is not frame.f_locals and frame.f_locals is not names:
            place = f"{frame.f_code.co_name}, {BY_TRACEBACK}"
            yield from ((f"{name} in {place}", value) for name, value in [*frame.f_locals.items()])


def _is_users(file: object) -> bool:
    """Tell a file of the person's own from a library's; cells count as files."""
    return isinstance(file, str) and not file.startswith(_LIBRARIES) and "site-packages" not in file


def _inside(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a value holds, with how Python would write it."""
    if isinstance(value, dict):
        yield from ((f"{path}[{_key(key)}]", inner) for key, inner in [*dict.items(value)])
    elif isinstance(value, _LISTS):
        fields = getattr(type(value), "_fields", ())
        for at, inner in enumerate(_elements(value)):
            yield (f"{path}.{fields[at]}" if at < len(fields) else f"{path}[{at}]"), inner
    elif isinstance(value, types.FunctionType):
        cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=False)
        yield from ((f"{name} in the closure of {path}", _content(cell)) for name, cell in cells)
        yield from ((f"a default of {path}", inner) for inner in value.__defaults__ or ())
    elif isinstance(value, types.MethodType):
        yield f"{path}.__self__", value.__self__
    elif isinstance(value, functools.partial):
        yield f"{path}.args", value.args
        yield f"{path}.keywords", value.keywords
    yield from _attributes(path, value)


def _elements(value: Any) -> list[Any]:
    kind = next(kind for kind in _LISTS if isinstance(value, kind))
    return [*kind.__iter__(value)]


def _attributes(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        own = None
    if isinstance(own, dict):
        yield from ((f"{path}.{name}", inner) for name, inner in [*own.items()] if isinstance(name, str))
    for kind in type(value).__mro__:
        for name, slot in [*vars(kind).items()]:
            if isinstance(slot, types.MemberDescriptorType) and "__slots__" in vars(kind):
                yield f"{path}.{name}", _slot(slot, value)


def _slot(slot: types.MemberDescriptorType, value: Any) -> Any:
    try:
        return slot.__get__(value)
    except AttributeError:
        return None


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None


def _key(key: object) -> str:
    return repr(key)[:40] if type(key) in (str, int, bool) else f"a {type(key).__name__}"
