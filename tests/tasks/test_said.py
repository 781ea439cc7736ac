import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import ExpressionError
from envace_sdk.tasks.said import says


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ("Your total is $1,249.50.", 1249.5),
        ("Your total is 1249.5", "1,249.50"),
        ("Your total is 1’249.50", 1249.5),
        ("Your total is 1\u202f249.50 €", 1249.5),
        ("1,234,567 rows", 1234567),
        ("exactly 12.00", 12),
        ("exactly 12", 12.0),
        ("$.50 off", 0.5),
        ("it took 0.50 s", ".5"),
        ("costs USD12.50", 12.5),
        ("12.50€ back", 12.5),
        ("items 1,2,3", 2),
        ("at 4%", 4),
        ("\uff11\uff12 left", 12),
        ("\u0661\u0662 left", 12),
        ("0 left", -0.0),
        ("minus −5 degrees", -5),
        ("It is  now\nIN TRANSIT", "in transit"),
        ("It is **in transit**.", "in_transit"),
        ("It is `in_transit`", "In transit"),
        ("your check-in", "check in"),
        ("ORDER tt-26-04102 is done", "TT-26-04102"),
        ("order TT\u201126\u201104102", "TT-26-04102"),
        ("delivered 2026-10-14.", "2026-10-14"),
        ("I cancelled it", "cancel"),
        ("It’s fine", "it's fine"),
        ("STRASSE", "straße"),
        ("已退款", "退款"),
        ("version 1.2.0", "1.2.0"),
        ("at 08:30", "08:30"),
        ("$ 12", "$12"),
        ("café", "cafe\u0301"),
    ],
)
def test_said_however_it_is_written(answer, wanted):
    assert says(answer, wanted)


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ("Your total is 11249.50", 1249.5),
        ("Your total is 1249.55", 1249.5),
        ("Your total is 1249.5", 1249),
        ("Your total is 1,249", 249),
        ("312 left", 12),
        ("312 left", 31),
        ("it is unpaid", "paid"),
        ("it is inactive", "active"),
        ("delivered 2026-10-14", "2026-10-1"),
        ("version 1.2.0", "1.2"),
        ("version 1.2.0", 1.2),
        ("order GRP12", "GRP1"),
        ("order 0042", 42),
        ("on the way", "in transit"),
        ("", "x"),
        ("", 0),
        ("12 345", 12345),
    ],
)
def test_not_said(answer, wanted):
    assert not says(answer, wanted)


@pytest.mark.parametrize("wanted", ["", "  ", "**", None, True, [], {}, float("inf")])
def test_what_cannot_be_said_is_an_error(wanted):
    with pytest.raises(ExpressionError, match=r"said\(\)"):
        says("anything", wanted)


@given(st.integers(-(10**30), 10**30))
def test_a_whole_number_is_said_plain_and_grouped(number):
    assert says(f"it is {number}!", number)
    assert says(f"({number:,}.00)", number)


@given(st.integers(0, 10**13))
def test_an_amount_is_said_plain_and_grouped(cents):
    amount = cents / 100
    assert says(f"it is {amount:.2f}.", amount)
    assert says(f"${amount:,.2f}", amount)
    assert not says(f"${amount:,.2f}", (cents + 1) / 100)


@given(st.text(), st.text(), st.text())
def test_any_text_can_be_asked_for_and_is_found_on_its_own(before, wanted, after):
    try:
        alone = says(wanted, wanted)
    except ExpressionError:
        return
    assert alone
    assert isinstance(says(f"{before} {wanted} {after}", wanted), bool)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_two_whole_numbers_are_told_apart(one, other):
    assert says(f"there are {one:,} of them", other) == (one == other)
