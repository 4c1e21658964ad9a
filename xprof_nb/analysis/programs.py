"""Which program is a question about, and why the profile may not describe it."""

from __future__ import annotations

from xprof_nb.analysis.op_identity import readable_program
from xprof_nb.errors import UsageError
from xprof_nb.model.profile import ProfileData
from xprof_nb.model.program import Program
from xprof_nb.model.units import listed


def matching_programs(profile: ProfileData, wanted: str | int | None) -> list[Program]:
    """Return the programs of that name, number or ``name(number)``, all of them if None; not yet read.

    An empty list means that the program ran but the profile lacks its HLO, see `why_undescribed`.

    Raises
    ------
    UsageError
        The profile knows no such program.
    """
    found = [program for program in profile.programs.values() if wanted is None or str(wanted) in names_of(program)]
    if wanted is not None and not found and not _ran(profile, wanted):
        known = listed([label(program) for program in profile.programs.values()]) or "none"
        raise UsageError(f"no program {wanted!r} in this profile", hint=f"It describes: {known}.")
    return found


def names_of(program: Program) -> tuple[str, str, str]:
    """Return what a program can be asked for by."""
    return program.name, str(program.id), label(program)


def label(program: Program) -> str:
    """Return the program as XLA labels it, ``jit_step(7)``."""
    return f"{program.name}({program.id})"


def why_undescribed(profile: ProfileData, wanted: str | int | None) -> str:
    """Return why there is no HLO to answer from, and what would give it."""
    damaged = [program for program in profile.programs.values() if readable_program(profile, program.id) is None]
    if damaged and len(damaged) == len(profile.programs):
        return f"The HLO of {listed([label(program) for program in damaged])} is damaged: copy the file again."
    ran = sorted({str(name) for trace in profile.hosts for name in trace.keys.program if name})
    about = str(wanted) if wanted is not None else listed(ran)
    if ran:
        return (
            f"The profile lacks the HLO of {about}, which ran: a program compiled for the CPU during the capture takes "
            "the place of what describes the device's programs. Run everything once before the capture, so that "
            "nothing is compiled in it, and capture again."
        )
    return (
        "The profile describes no XLA program: none was loaded or ran during the capture, or the work is not XLA's "
        "(TensorFlow without jit_compile, PyTorch). Capture again while the program runs."
    )


def _ran(profile: ProfileData, wanted: str | int) -> bool:
    return any(
        str(wanted) in (str(name), str(number), f"{name}({number})")
        for trace in profile.hosts
        for name, number in zip(trace.keys.program, trace.keys.program_id.tolist(), strict=True)
    )
