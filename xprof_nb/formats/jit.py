"""One decorator for every compiled kernel of the package, and the register by which they are warmed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar, cast

import numba
from numba.core import types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from xprof_nb.errors import UsageError
from xprof_nb.model.cache import cache_dir

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
WarmUp = TypeVar("WarmUp", bound=Callable[[], object])

WARM_UPS: list[Callable[[], object]] = []


def _kernel_folder() -> str | None:
    """Return where compiled code is kept; a machine that cannot keep it compiles once a process."""
    try:
        return str(cache_dir() / "kernels")
    except UsageError:
        return None


_FOLDER = _kernel_folder()

# Half of what numba needs to start it does at the first call of any kernel; done here, no answer waits for it.
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()


def njit(kernel: Kernel) -> Kernel:
    """Compile ``kernel`` at its first call, without the GIL, and keep the machine code in the package's cache folder.

    A kernel calls only kernels of its own file: the cached code is thrown away when that file changes, no other.
    """
    # The folder is read when the dispatcher is made; the setting is put back so that other users of numba in this
    # process, and its children, keep theirs.
    kept, numba.config.CACHE_DIR = numba.config.CACHE_DIR, _FOLDER or ""
    try:
        dispatcher = numba.njit(kernel, cache=_FOLDER is not None, nogil=True, error_model="numpy")
    finally:
        numba.config.CACHE_DIR = kept
    dispatcher._compile_for_args = partial(_where_no_interrupt_comes, dispatcher._compile_for_args)
    return cast("Kernel", dispatcher)


def _where_no_interrupt_comes(compile_: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Compile or load outside the main thread: an interrupt amid it makes LLVM's binding free a text twice.

    Python raises KeyboardInterrupt in the main thread only; one that comes meanwhile is raised when this has ended.
    """
    if threading.current_thread() is not threading.main_thread():
        return compile_(*arguments, **keywords)
    with ThreadPoolExecutor(1, "xprof_nb compile") as other:
        return other.submit(compile_, *arguments, **keywords).result()


def warm_up(call: WarmUp) -> WarmUp:
    """Register ``call``, which calls the kernels of its module once with arguments of the types used in earnest."""
    WARM_UPS.append(call)
    return call


# A helper that takes an array makes numba count references, atomically, at every call: ten times slower than the
# work, and worse with threads. Helpers on hot paths take the array's address and load through it.


@intrinsic  # type: ignore[untyped-decorator]
def byte_at(_context: Any, _address: Any) -> Any:
    """Load the byte at an address, which the caller has checked."""
    return types.int64(types.int64), lambda *call: _load(8, *call)


@intrinsic  # type: ignore[untyped-decorator]
def int64_at(_context: Any, _address: Any) -> Any:
    """Load the little-endian int64 at an address, which the caller has checked and which need not be aligned."""
    return types.int64(types.int64), lambda *call: _load(64, *call)


def _load(bits: int, _context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    from llvmlite import ir  # type: ignore[import-untyped]  # noqa: PLC0415

    item = ir.IntType(bits)
    value = builder.load(builder.inttoptr(arguments[0], item.as_pointer()), align=1)
    return value if bits == 64 else builder.zext(value, ir.IntType(64))


@intrinsic  # type: ignore[untyped-decorator]
def bit_length(_context: Any, _number: Any) -> Any:
    """Return how many bits an int64 takes: 0 for 0, 64 for a negative one."""
    return types.int64(types.int64), _bit_length


def _bit_length(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    from llvmlite import ir  # noqa: PLC0415

    zeros = builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))
    return builder.sub(ir.Constant(ir.IntType(64), 64), zeros)
