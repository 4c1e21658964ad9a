"""Shapes: XLA's text and the bytes they take."""

from __future__ import annotations

import pytest

from xprof_nb.model.shape import Shape


@pytest.mark.parametrize(
    ("shape", "text", "size"),
    [
        (Shape("f32", (128, 64), (1, 0)), "f32[128,64]{1,0}", 128 * 64 * 4),
        (Shape("bf16", (3,), (0,)), "bf16[3]{0}", 6),
        (Shape("pred", (), ()), "pred[]", 1),
        (Shape("c128", (2,), (0,)), "c128[2]{0}", 32),
        (Shape("s4", (5,), (0,)), "s4[5]{0}", 5),
        (Shape("s4", (5,), (0,), element_bits=4), "s4[5]{0:E(4)}", 3),
        (Shape("f8e4m3fn", (7,), (0,)), "f8e4m3fn[7]{0}", 7),
        (Shape("f32", (0, 4), (1, 0)), "f32[0,4]{1,0}", 0),
        (Shape("f32", (8, 128), (1, 0), tiles=((8, 128),), memory_space=5), "f32[8,128]{1,0:T(8,128)S(5)}", 4096),
        (Shape("bf16", (8, 128), (1, 0), tiles=((8, 128), (2, 1))), "bf16[8,128]{1,0:T(8,128)(2,1)}", 2048),
        (Shape("f32", (), (), tiles=((128,),)), "f32[]{:T(128)}", 4),
        # A dynamic array is stored with its sizes.
        (Shape("f32", (6, 5), (1, 0), dynamic=(True, False)), "f32[<=6,5]{1,0}", 6 * 5 * 4 + 2 * 4),
        (Shape("token"), "token[]", 0),
        (Shape("f32", (4,)), "f32[4]", 16),
    ],
)
def test_text_and_size(shape: Shape, text: str, size: int) -> None:
    assert (str(shape), shape.bytes) == (text, size)


def test_a_tuple_is_its_leaves_or_a_table_of_pointers() -> None:
    scalar, vector = Shape("s32", (), ()), Shape("f32", (10,), (0,))
    nested = Shape("tuple", tuple_shapes=(vector, Shape("tuple", tuple_shapes=(scalar, scalar))))
    assert str(nested) == "(f32[10]{0}, (s32[], s32[]))"
    assert (nested.bytes, nested.top_level_bytes) == (48, 16)
    assert list(nested.leaves()) == [vector, scalar, scalar]
    assert (nested.elements, nested.is_tuple, nested.is_array) == (0, True, False)


def test_every_fifth_member_of_a_long_tuple_is_numbered() -> None:
    scalar = Shape("s32", (), ())
    assert str(Shape("tuple", tuple_shapes=(scalar,) * 6)) == "(s32[], s32[], s32[], s32[], s32[], /*index=5*/s32[])"
