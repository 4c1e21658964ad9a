"""``%%xprof sweep batch_size=1,2,4``: a cell whose last line is the step, and whose other lines prepare a setting."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xprof_nb.errors import UsageError

if TYPE_CHECKING:
    from xprof_nb.args import SweepCommand
    from xprof_nb.tuning.grid import Setting
    from xprof_nb.tuning.sweep import Sweep

_RESULT = "_xprof_nb_result"


def sweep_cell(shell: Any, command: SweepCommand, cell: str) -> Sweep:
    """Sweep a cell; what was measured of it before is not measured again.

    Raises
    ------
    UsageError
        The cell is not Python, or its last line is no step.
    """
    from xprof_nb.tuning.sweep import sweep  # noqa: PLC0415 - it loads what only a sweep needs

    made = CellStep(shell, cell)
    return sweep(
        made,
        None if command.parameters else "auto",
        parameters=command.parameters or None,
        steps=command.steps,
        profile=command.profile,
        items=None if command.items is None else made.counter(command.items),
        name=command.name or f"cell-{made.code_hash}",
        logdir=command.logdir,
        most_runs=command.most_runs,
        verify=command.verify,
        fresh=command.fresh,
    )


class CellStep:
    """Makes steps of a cell's code.

    Each setting runs in a copy of the notebook's variables, so none sees what another left behind, and what the cell
    defines stays in it.

    Attributes
    ----------
    source
        The code, by which one sweep is told from another.
    """

    __name__ = "cell"

    def __init__(self, shell: Any, cell: str) -> None:
        # An empty line stands for the magic: lines have the numbers they have in the notebook.
        self.source = "\n" + shell.transform_cell(cell)
        self.code_hash = hashlib.blake2b(self.source.encode(), digest_size=3).hexdigest()
        name = shell.compile.cache(self.source, shell.execution_count, raw_code=cell)
        prepares, step = _parts(self.source)
        self._prepares = compile(prepares, name, "exec")
        self._step = compile(step, name, "exec")
        self._variables = shell.user_ns

    def __call__(self, batch_size: Any = None, /, **setting: Any) -> Callable[[], Any]:
        """Prepare a setting; return what runs a step of it."""
        variables = self._with(batch_size, setting)
        exec(self._prepares, variables)  # noqa: S102 - the cell is what the person asks to run

        def step() -> Any:
            exec(self._step, variables)  # noqa: S102
            result = variables[_RESULT]
            return result() if callable(result) else result

        return step

    def counter(self, expression: str) -> Callable[..., float]:
        """Return what says, of a setting, what an expression of the variables is."""

        def count(batch_size: Any = None, /, **setting: Any) -> float:
            try:
                return float(eval(expression, self._with(batch_size, setting)))  # noqa: S307 - typed by the person
            except Exception as wrong:
                hint = "Write an expression of the variables, such as batch*sequence."
                raise UsageError(f"--items {expression!r}: {wrong}", hint=hint) from wrong

        return count

    def _with(self, batch_size: Any, setting: Setting) -> dict[str, Any]:
        found = setting if batch_size is None else {"batch_size": batch_size}
        return {**self._variables, **found}


def _parts(source: str) -> tuple[ast.Module, ast.Module]:
    """Return what prepares a setting, and the last statement, which leaves its value in a variable."""
    try:
        cell = ast.parse(source)
    except SyntaxError as wrong:
        raise UsageError(f"line {wrong.lineno} of the cell is not Python: {wrong.msg}") from None
    last = cell.body.pop() if cell.body else None
    result = ast.Name(_RESULT, ast.Store())
    if isinstance(last, ast.Expr):
        step = ast.Assign([result], last.value)
    elif isinstance(last, ast.Assign):
        step = ast.Assign([result, *last.targets], last.value)
    else:
        raise UsageError(
            "the last line of the cell is no step",
            hint="End it with what runs one step: `train_step(state, x)`, or `state, loss = train_step(state, x)`.",
        )
    whole = ast.Module([ast.fix_missing_locations(ast.copy_location(step, last))], [])
    return cell, whole
