"""Whether xprof takes a run for training: some instruction, or framework op, lies in a scope of gradients."""

from __future__ import annotations

import re
from collections.abc import Iterable

from xprof_nb.analysis.op_identity import readable_program
from xprof_nb.model.profile import ProfileData

_TF_TYPE = re.compile(r"[A-Z_][a-zA-Z0-9_]*")
_TF_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_./>-]*")


def is_training(profile: ProfileData) -> bool:
    """Return whether a program of the profile computes gradients, by the names in its HLO."""
    programs = (readable_program(profile, number) for number in profile.programs)
    return any(
        has_gradients((instruction.op_name, instruction.op_type) for instruction in program.instructions.values())
        for program in programs
        if program is not None
    )


def has_gradients(ops: Iterable[tuple[str, str]]) -> bool:
    """Return whether any op, by name and type, lies in ``gradient_tape``, ``gradients…`` or, of jax, ``transpose(``."""
    return any(
        _of_tensorflow(name) if _TF_TYPE.fullmatch(kind) and _TF_NAME.fullmatch(name) else _of_jax(name)
        for name, kind in ops
        if "gradient" in name or "transpose(" in name
    )


def _of_tensorflow(name: str) -> bool:
    return any(scope == "gradient_tape" or scope.startswith("gradients") for scope in name.split("/")[:-1])


def _of_jax(name: str) -> bool:
    return any(scope.startswith("transpose(") for scope in name.split("/"))
