"""Sentences that differ in one word only are the same sentence, with a value in it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

__all__ = ["same_sentences"]

_LEAST_WORDS = 3
_LEAST_VALUES = 3
_MOST = 2_000
_GAP = "…"


def same_sentences(sentences: Iterable[str]) -> Mapping[str, str]:
    """What each sentence is called whose like is said with at least three different words in one place."""
    counts = Counter(sentences)
    values: dict[tuple[str, ...], set[str]] = defaultdict(set)
    split = {sentence: sentence.split(" ") for sentence, _ in counts.most_common(_MOST)}
    for words in split.values():
        if len(words) >= _LEAST_WORDS:
            for at, word in enumerate(words):
                values[(*words[:at], _GAP, *words[at + 1 :])].add(word)
    found = {}
    for sentence, words in split.items():
        patterns = [(*words[:at], _GAP, *words[at + 1 :]) for at in range(len(words))]
        best = max(patterns, key=lambda pattern: (len(values.get(pattern, ())), pattern))
        if len(values.get(best, ())) >= _LEAST_VALUES:
            found[sentence] = " ".join(best)
    return found
