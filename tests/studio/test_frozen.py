from html import unescape

import pytest

pytest.importorskip("jinja2", reason="the extra `studio` is not installed: jinja2 is missing")

from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from envace_sdk.studio.frozen import freeze, links, title_of

PAGE = """<!doctype html><html><head><title>A &amp; B · envace studio</title></head><body><a href="/out">out</a>
<main id="main"><h1 id="top">One</h1><p aria-labelledby="top other"><a class="c" href="/x?a=1&amp;b=2">x</a>
<a href="/y">y</a></p><svg viewBox="0 0 1 1"><path d="M0 0"/></svg><input required></main><footer>out</footer></body>"""


def test_the_title_is_told_without_the_brand():
    assert title_of(PAGE) == "A & B"


def test_links_of_the_main_part_are_found_as_addresses():
    assert links(PAGE) == ["/x?a=1&b=2", "/y"]


def test_links_lead_within_the_file_or_nowhere():
    text = freeze(PAGE, "p1-", {"/x?a=1&b=2": "#p2"}.get)
    assert '<a class="c" href="#p2">x</a>' in text
    assert "<a>y</a>" in text
    assert "out" not in text


def test_ids_are_those_of_the_section_and_headings_one_below():
    text = freeze(PAGE, "p1-", lambda _: None)
    assert '<h2 id="p1-top">One</h2><p aria-labelledby="p1-top p1-other">' in text
    assert '<svg viewbox="0 0 1 1"><path d="M0 0"/></svg><input required>' in text


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r")))
def test_whatever_is_escaped_stays_the_text_that_it_was(text):
    page = f'<main><p title="{escape(text)}">{escape(text)}</p></main>'
    frozen = freeze(page, "p1-", lambda _: None)
    before, _, after = frozen.removeprefix('<p title="').removesuffix("</p>").partition('">')
    assert unescape(before) == unescape(str(escape(text)))
    assert unescape(after) == unescape(str(escape(text)))
    assert "<" not in before + after
