"""What an HLO value is: element type, dimensions, layout; or a tuple of such."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

POINTER_BYTES = 8
HOST_MEMORY_SPACE = 5
_MOST_ELEMENTS = 2**62
_NOT_ARRAYS = frozenset({"tuple", "token", "opaque", "buffer", "invalid"})
_BITS = {
    **dict.fromkeys(("pred", "s1", "u1", "s2", "u2", "s4", "u4", "s8", "u8"), 8),
    **dict.fromkeys(("s16", "u16", "f16", "bf16"), 16),
    **dict.fromkeys(("s32", "u32", "f32"), 32),
    **dict.fromkeys(("s64", "u64", "f64", "c64"), 64),
    "c128": 128,
}


@dataclass(frozen=True)
class Shape:
    """An array, a tuple of shapes, a token or an opaque value.

    Attributes
    ----------
    dtype
        XLA's name: ``"f32"``, ``"bf16"``, ``"pred"``, ``"s32"``, ``"tuple"``, ``"token"`` …
    dimensions
        Sizes; the upper bound where a dimension is dynamic. Empty for a scalar.
    minor_to_major
        Dimension numbers, fastest varying first; None when the program states no layout.
    tiles
        Tile sizes of the layout, outermost tiling first, as ``T(8,128)`` in XLA's text.
    element_bits
        Bits one element takes when the layout packs elements, else 0.
    memory_space
        0 is the device's main memory; `HOST_MEMORY_SPACE` the host's.
    dynamic
        Which dimensions are dynamic; empty when none is.
    """

    dtype: str
    dimensions: tuple[int, ...] = ()
    minor_to_major: tuple[int, ...] | None = None
    tuple_shapes: tuple[Shape, ...] = ()
    tiles: tuple[tuple[int, ...], ...] = ()
    element_bits: int = 0
    memory_space: int = 0
    dynamic: tuple[bool, ...] = ()

    @property
    def is_tuple(self) -> bool:
        """Whether it is a tuple."""
        return self.dtype == "tuple"

    @property
    def is_array(self) -> bool:
        """Whether it holds elements of its own."""
        return self.dtype not in _NOT_ARRAYS

    @cached_property
    def elements(self) -> int:
        """Number of elements, of a damaged shape at most 2^62; 0 for a tuple, a token or an opaque value."""
        return min(math.prod(self.dimensions), _MOST_ELEMENTS) if self.is_array else 0

    @cached_property
    def bytes(self) -> int:
        """Size of the elements, padding of tiles not counted; of a tuple, the sum over its leaves.

        A dynamic array is stored with its true sizes, one int32 each. For the tuple itself XLA keeps a table of
        pointers, see `top_level_bytes`.
        """
        if self.is_tuple:
            return sum(shape.bytes for shape in self.tuple_shapes)
        sizes = 4 * len(self.dimensions) if self.dynamic else 0
        if self.element_bits:
            return sizes + (self.elements * self.element_bits + 7) // 8
        return sizes + self.elements * _BITS.get(self.dtype, 8) // 8

    @cached_property
    def top_level_bytes(self) -> int:
        """Size without following a tuple's pointers, `POINTER_BYTES` for each member."""
        return POINTER_BYTES * len(self.tuple_shapes) if self.is_tuple else self.bytes

    def leaves(self) -> Iterator[Shape]:
        """Yield the shapes that are not tuples, in order."""
        if self.is_tuple:
            for shape in self.tuple_shapes:
                yield from shape.leaves()
        else:
            yield self

    def __str__(self) -> str:
        """Return XLA's text, ``f32[128,64]{1,0}``."""
        return self._text

    @cached_property
    def _text(self) -> str:
        if self.is_tuple:
            return "(" + numbered([str(shape) for shape in self.tuple_shapes]) + ")"
        if not self.is_array:
            return f"{self.dtype}[]"
        dynamic = self.dynamic or (False,) * len(self.dimensions)
        sizes = ",".join(
            f"<={size}" if bound else str(size) for size, bound in zip(self.dimensions, dynamic, strict=False)
        )
        return f"{self.dtype}[{sizes}]{self._layout_text()}"

    def _layout_text(self) -> str:
        if self.minor_to_major is None:
            return ""
        attributes = "".join(f"({','.join(_tile_size(size) for size in tile)})" for tile in self.tiles)
        attributes = f"T{attributes}" if attributes else ""
        if self.element_bits:
            attributes += f"E({self.element_bits})"
        if self.memory_space:
            attributes += f"S({self.memory_space})"
        order = ",".join(map(str, self.minor_to_major))
        if not order and not attributes:
            return ""
        return f"{{{order}:{attributes}}}" if attributes else f"{{{order}}}"


def numbered(texts: list[str]) -> str:
    """Join with commas; every fifth of a long list carries its index, as XLA prints it."""
    return ", ".join(f"/*index={i}*/{text}" if i and i % 5 == 0 else text for i, text in enumerate(texts))


def _tile_size(size: int) -> str:
    # XLA writes a dimension that is merged into the next as *, stored as the smallest 64-bit integer.
    return "*" if size == -(2**63) else str(size)
