"""What to free or change after memory ran out, each with how much it would give."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xprof_nb.capture.holders import BY_TRACEBACK
from xprof_nb.model.units import listed, percent, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xprof_nb.capture.memory_report import LiveArray, MemoryReport, ProgramMemory
    from xprof_nb.capture.oom import Failure

_WORTH = 0.01
"""Advice that gives less than this part of what is missing is not worth reading."""
_SHOWN = re.compile(r"Out\[|_{1,3}(?:[.\[]|$)")
_TEMPORARY = ("HLO temp", "preallocated temp")


def missing_bytes(failure: Failure) -> int | None:
    """Return how much more memory it would have taken, None where the message does not say."""
    if failure.used_bytes is not None and failure.limit_bytes is not None:
        return max(failure.used_bytes - failure.limit_bytes, 0)
    if failure.asked_bytes is not None and failure.free_bytes is not None:
        return max(failure.asked_bytes - failure.free_bytes, 0)
    return failure.asked_bytes


def advice(failure: Failure, report: MemoryReport) -> list[str]:
    """Return what to free and what to change, the nearest at hand first."""
    return [*_free(report.arrays), *_program(failure), *_donate(report, missing_bytes(failure) or 0), *_room(failure)]


def _free(arrays: tuple[LiveArray, ...]) -> Iterator[str]:
    """Name what is held by the notebook's memory alone: nobody needs that."""
    forgotten = [array for array in arrays if array.held_by and all(map(_is_memory_of_notebook, array.held_by))]
    failed = [array for array in forgotten if all(BY_TRACEBACK in holder for holder in array.held_by)]
    shown = [array for array in forgotten if array not in failed]
    if failed:
        yield (
            f"Free {_sum(failed)} that only the last traceback holds ({_names(failed)}): run a cell that fails "
            "otherwise, such as 1/0, or `import sys; sys.last_exc = sys.last_value = sys.last_traceback = None`."
        )
    if shown:
        yield f"Free {_sum(shown)} that shown results hold and no variable does ({_names(shown)}): `%reset -f out`."
    named = [array for array in arrays if array.held_by and array not in forgotten]
    if named:
        yield (
            f"Free what is needed no more of {_sum(named)} held by variables: "
            f"`del {', '.join(dict.fromkeys(array.held_by[0] for array in named[:4]))}`; other holders are listed."
        )


def _is_memory_of_notebook(holder: str) -> bool:
    return BY_TRACEBACK in holder or _SHOWN.match(holder) is not None


def _program(failure: Failure) -> Iterator[str]:
    temporary = max((failure.parts.get(name, 0) for name in _TEMPORARY), default=0)
    used, limit = failure.used_bytes or failure.parts.get("total"), failure.limit_bytes
    if temporary and used and temporary >= _WORTH * used:
        yield (
            f"Keep fewer intermediate results: temporaries are {size(temporary)}, {percent(temporary / used)} of "
            f"{size(used)}. jax.checkpoint (rematerialisation) around layers computes activations again instead."
        )
        rest = used - temporary
        if limit is not None and rest < limit < used:
            share = percent((limit - rest) / temporary)
            yield (
                f"Make the batch smaller: if all temporaries are in proportion to it, {share} of it would fit; or "
                "take that share at a time and accumulate gradients."
            )
    padding = sum(item.size_bytes - item.unpadded_bytes for item in failure.largest if item.unpadded_bytes is not None)
    if padding > _WORTH * sum(item.size_bytes for item in failure.largest):
        yield (
            f"Choose shapes that fill the device's tiles: padding is {size(padding)} of the largest allocations; "
            "a last dimension that is a multiple of 128 has none."
        )


def _donate(report: MemoryReport, missing: int) -> Iterator[str]:
    for program in report.programs[:1]:
        gain = _donatable(program)
        if gain > _WORTH * max(missing, program.needed_bytes):
            yield (
                f"Donate arguments that are not used again (jax.jit(…, donate_argnums=…)): {program.program} takes "
                f"{size(program.argument_bytes)} of arguments beside {size(program.output_bytes)} of outputs, which "
                f"could share up to {size(gain)}."
            )


def _donatable(program: ProgramMemory) -> int:
    return max(min(program.argument_bytes, program.output_bytes) - program.alias_bytes, 0)


def _room(failure: Failure) -> Iterator[str]:
    contiguous, asked, free = failure.contiguous_bytes, failure.asked_bytes, failure.free_bytes
    if contiguous is not None and asked is not None and contiguous < asked and (free is None or free >= asked):
        yield (
            f"Memory is in pieces: the largest is {size(contiguous)} for {size(asked)} asked. Free large arrays before "
            "smaller ones are made, or begin in a fresh kernel."
        )
    if failure.space.startswith("GPU") or failure.space.startswith("device ordinal"):
        yield (
            "On a GPU jax takes 75 % of the memory when it starts: XLA_PYTHON_CLIENT_MEM_FRACTION=.95, set before jax "
            "starts, gives it more, if nobody else is on that GPU."
        )


def _sum(arrays: list[LiveArray]) -> str:
    return size(sum(array.size_bytes for array in arrays))


def _names(arrays: list[LiveArray]) -> str:
    return listed(dict.fromkeys(array.held_by[0].partition(",")[0] for array in arrays), 4)
