"""A plain table has room on a page: numbers whole, names broken, the rest named."""

from xprof_nb.views import fallback, paper
from xprof_nb.views.fallback import Table
from xprof_nb.views.layouts import Column

NAME = Column("op", ("broadcast_multiply_fusion.1", "dot"), is_text=True)


def test_a_table_that_fits_keeps_all_and_its_names_get_the_room_left():
    columns = (
        NAME,
        Column("self time", ("1.25 ms", "750 µs")),
        Column("kind", ("loop fusion", "matrix"), is_text=True),
    )
    page = paper.page(columns)
    assert page.columns == columns
    assert page.left_out == ()
    assert page.digits == (27, 7, 6), "names on one line, a number whole, words side by side only if there is room"


def test_a_rate_may_break_after_its_comma_but_not_before_its_unit():
    assert paper.page((NAME, Column("FLOP/s", ("312 TFLOP/s, 34.0 %",)))).digits[1] == len("312 TFLOP/s")


def test_what_has_no_room_is_left_out_and_a_later_narrow_column_is_not():
    wide = tuple(Column(f"head{number}", ("9" * 20,)) for number in range(3))
    narrow = Column("count", ("12",))
    page = paper.page((NAME, *wide, narrow))
    # A name of 16 and two columns of 20 with their gaps make 60.8 of 74: too much for another 20, not for a head of 5.
    assert page.columns == (NAME, *wide[:2], narrow)
    assert page.left_out == ("head2",)
    assert page.digits == (22, 20, 20, 5)


def test_what_is_left_out_is_named_below_the_table():
    wide = tuple(Column(f"head{number}", ("9" * 20, "1")) for number in range(5))
    html = fallback.html(Table("ops", "", (NAME, *wide), (0, 1), ("no peak",)))
    assert html.endswith("<ul><li>no peak</li><li>Left out to fit a page: head2, head3, head4.</li></ul>")
    assert '<th scope="row" align="left" style="text-align:left;overflow-wrap:anywhere">&nbsp;&nbsp;dot</th>' in html
