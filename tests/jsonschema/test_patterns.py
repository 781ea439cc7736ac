"""Texts that match patterns, and tests whether they do."""

from __future__ import annotations

import re
import time
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.jsonschema.regex import PatternError, language, matcher, portable


@pytest.mark.parametrize(
    ("patterns", "avoided", "low", "high"),
    [
        ((r"^[\w-\.]+@([\w-]+\.)+[\w-]{2,4}$",), (), 0, 60),
        ((r"^[A-Z]{3}-\d{4}$",), (), 0, 60),
        ((r"^(?=.*[A-Z])(?=.*\d)[A-Za-z\d]{8,12}$",), (), 0, 60),
        ((r"^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[@$!%*?&])[A-Za-z\d@$!%*?&]{8,}$",), (), 0, 60),
        ((r"^(?!.*--)(?!-)[a-z0-9-]+(?<!-)$",), (), 3, 20),
        ((r"^(?:(?!ab)[a-c]){5,9}$",), (), 0, 60),
        ((r"^(?!foo$).*$",), (), 1, 3),
        (("^a", "z$", "^.{5}$"), ("b",), 0, 60),
        (("a", "b", "c", "d", "e"), (), 0, 6),
        (("foo",), (), 10, 12),
        ((r"\bfoo\b",), (), 6, 10),
        ((r"(?<=a)b",), (), 2, 6),
        ((r"(?<!a)b",), (), 3, 5),
        ((r"^(\d)(\d)\2\1$",), (), 0, 60),
        ((r"(?P<a>x|y)-(?P=a)\Z",), (), 0, 60),
        ((r"^(?!.*(.)\1)[ab]+$",), (), 2, 4),
        ((r"^\p{Lu}\p{Ll}+$",), (), 0, 60),
        ((r"^\p{Script=Greek}{3}$",), (), 0, 60),
        ((r"^[\u4e00-\u9fa5]+$",), (), 2, 4),
        ((r"^[^\s\w]{4}$",), (), 0, 60),
        (("(?i)^abc$",), (), 0, 60),
        (("^$",), (), 0, 60),
        (("^a$|^b$",), ("^a$",), 0, 60),
        (("^.*$",), ("^[a-z]",), 3, 8),
        (("^x{0,100000}$",), (), 0, 60),
        ((".*a.{20}$", ".*b.{19}$", "^[ab]*$"), (), 0, 50),
        (("^(a?){50}a{50}$",), (), 0, 100),
        (("^a{3000}$",), (), 0, 4000),
    ],
)
def test_samples_match_all_patterns_none_of_the_avoided_and_the_lengths(
    patterns: tuple[str, ...], avoided: tuple[str, ...], low: int, high: int
) -> None:
    texts = language(patterns, avoided)
    for seed in range(20):
        text = texts.sample(Random(seed), low, high)
        assert text is not None
        assert low <= len(text) <= high
        assert all(matcher(pattern)(text) for pattern in patterns), text
        assert not any(matcher(pattern)(text) for pattern in avoided), text
        assert texts.sample(Random(seed), low, high) == text


@pytest.mark.parametrize(
    ("patterns", "avoided", "low", "high"),
    [
        (("^a", "^b"), (), 0, 60),
        (("^abc$",), (), 0, 2),
        (("^a+$",), ("aa",), 2, 60),
        (("^.{3,}$",), (".",), 0, 60),
        (("^(?=a)b",), (), 0, 60),
        (("^a{5}$",), (), 6, 60),
    ],
)
def test_where_nothing_matches_that_is_known_quickly(
    patterns: tuple[str, ...], avoided: tuple[str, ...], low: int, high: int
) -> None:
    start = time.perf_counter()
    assert language(patterns, avoided).sample(Random(1), low, high) is None
    assert time.perf_counter() - start < 1


def test_a_sample_does_not_depend_on_what_was_sampled_before() -> None:
    fresh = language((r"^[a-f]+-\d+(x|yz)*$",))
    first = [fresh.sample(Random(seed)) for seed in range(30)]
    language.cache_clear()
    again = language((r"^[a-f]+-\d+(x|yz)*$",))
    assert [again.sample(Random(seed)) for seed in reversed(range(30))] == first[::-1]


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "a)", "[z-a]", "\\", r"\p{Nothing}", "x{2,1}", "(?P=a)"])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        language((pattern,))
    with pytest.raises(PatternError):
        matcher(pattern)


@pytest.mark.parametrize(
    ("pattern", "rewritten"),
    [
        (r"^a\Z", "^a$"),
        (r"[\w-.]", r"[\w\-.]"),
        ("a{,3}", "a{0,3}"),
        ("[^]", r"[\s\S]"),
        ("(?P<n>a)(?P=n)", r"(a)\1(?:)"),
        ("(?#why)a", "a"),
    ],
)
def test_python_syntax_is_rewritten_for_every_engine(pattern: str, rewritten: str) -> None:
    assert portable(pattern) == rewritten


def test_what_cannot_be_run_in_bounded_time_is_refused() -> None:
    with pytest.raises(PatternError, match="exponential"):
        matcher(r"(?:a{1000}){1000}(b+)+$")


atoms = st.sampled_from(["a", "b", "[a-c]", "[^a]", ".", r"\d", r"\w", "(?:ab|c)", "(a)", r"\."])
quantified = st.builds(lambda atom, sign: atom + sign, atoms, st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,3}"]))
patterns = st.builds(
    lambda parts, start, end, look: ("^" if start else "") + look + "".join(parts) + ("$" if end else ""),
    st.lists(quantified, min_size=1, max_size=5),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", "", "(?=.*a)", "(?!b)", "(?=.{2})"]),
)


@settings(max_examples=200, deadline=None)
@given(patterns, st.integers(0, 1000))
def test_a_sample_of_any_pattern_is_matched_by_python_too(pattern: str, seed: int) -> None:
    text = language((pattern,)).sample(Random(seed), 0, 40)
    assert text is None or re.search(pattern, text)
    if text is None:
        candidates = ("", "a", "b", "ab", "abc", "aab", "c", "1", "a1", "cab", "aaaa", "ba", ".")
        assert not any(re.search(pattern, candidate) for candidate in candidates)
