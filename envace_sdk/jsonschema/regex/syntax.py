"""Reads regular expressions: the union of what ECMA-262 and Python accept."""

from __future__ import annotations

import re
from typing import Final

from . import charset
from .charset import Charset
from .nodes import Alternatives, Anchor, Backreference, Chars, Group, Look, Node, Repeat, Sequence

__all__ = ["PatternError", "parse"]


class PatternError(ValueError):
    """The pattern is not one, or uses what this parser does not know."""


_ESCAPED_SETS: Final = {"d": charset.DIGITS, "w": charset.WORD, "s": charset.SPACES}
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "0": "\0"}
_SYNTAX: Final = frozenset("^$\\.*+?()[]{}|/")
_FLAGS: Final = re.compile(r"([imsxuaL]*)(?:-([imsx]+))?([:)])")
_MAX_DEPTH: Final = 60
_MAX_REPEAT: Final = 100_000


def parse(pattern: str) -> Node:
    """The tree of a pattern.

    Raises:
        PatternError: it is not a pattern, is nested too deeply, or uses a construct outside the two languages.
    """
    parser = _Parser(pattern)
    tree = parser.alternatives(0)
    if parser.at < len(pattern):
        raise PatternError(f"unbalanced ')' at {parser.at}")
    return tree


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.groups = 0
        self.names: dict[str, int] = {}
        self.flags: frozenset[str] = frozenset()

    def peek(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def take(self, text: str) -> bool:
        if not self.peek(text):
            return False
        self.at += len(text)
        return True

    def next(self) -> str:
        if self.at >= len(self.pattern):
            raise PatternError("the pattern ends too early")
        self.at += 1
        return self.pattern[self.at - 1]

    def until(self, end: str) -> str:
        stop = self.pattern.find(end, self.at)
        if stop < 0:
            raise PatternError(f"missing {end!r}")
        text, self.at = self.pattern[self.at : stop], stop + len(end)
        return text

    def alternatives(self, depth: int) -> Node:
        if depth > _MAX_DEPTH:
            raise PatternError(f"groups are nested deeper than {_MAX_DEPTH}")
        flags, options = self.flags, [self.sequence(depth)]
        while self.take("|"):
            options.append(self.sequence(depth))
        self.flags = flags
        return options[0] if len(options) == 1 else Alternatives(tuple(options))

    def sequence(self, depth: int) -> Node:
        parts: list[Node] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            atom = self.atom(depth)
            if atom is not None:
                parts.append(self.repeated(atom))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def repeated(self, atom: Node) -> Node:
        while self.at < len(self.pattern):
            bounds = self.bounds()
            if bounds is None:
                break
            low, high = bounds
            if (high is not None and high < low) or low > _MAX_REPEAT:
                raise PatternError(f"a repeat of {low} to {high} times")
            style = "?" if self.take("?") else "+" if self.take("+") else ""
            atom = Repeat(atom, low, high, style)
        return atom

    def bounds(self) -> tuple[int, int | None] | None:
        for sign, low, high in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self.take(sign):
                return low, high
        if not self.peek("{"):
            return None
        stop = self.pattern.find("}", self.at)
        first, comma, last = self.pattern[self.at + 1 : stop].partition(",") if stop > 0 else ("", "", "")
        if not (first or last) or not all(part == "" or part.isdecimal() for part in (first, last)):
            return None  # a brace that stands for itself
        self.at = stop + 1
        low = int(first or 0)
        return low, int(last) if last else None if comma else low

    def atom(self, depth: int) -> Node | None:
        if "x" in self.flags and (self.peek("#") or self.pattern[self.at].isspace()):
            if self.next() == "#":
                self.at = (self.pattern + "\n").find("\n", self.at)
            return None
        char = self.next()
        match char:
            case "(":
                return self.group(depth)
            case "[":
                return self.bracket()
            case "\\":
                return self.escape()
            case ".":
                return Chars(charset.ANY, r"[\s\S]") if "s" in self.flags else Chars(charset.DOT, ".")
            case "^" | "$":
                return Anchor("start" if char == "^" else "end")
            case "*" | "+" | "?":
                raise PatternError(f"nothing to repeat at {self.at - 1}")
        return self.literal(char)

    def literal(self, char: str) -> Chars:
        members = charset.chars(char)
        text = ("\\" + char) if char in _SYNTAX else char
        if "i" in self.flags and len(folded := charset.case_folded(members)) > 1:
            return Chars(folded, "[" + "".join(charset.nth(folded, i) for i in range(charset.size(folded))) + "]")
        return Chars(members, text)

    def group(self, depth: int) -> Node | None:
        if not self.take("?"):
            return self.capture(depth)
        for sign, ahead, negative in (("=", True, False), ("!", True, True), ("<=", False, False), ("<!", False, True)):
            if self.take(sign):
                return Look(self.closed(depth), ahead, negative)
        if self.take("#"):
            self.until(")")
            return None
        if self.take("P="):
            return self.named(self.until(")"))
        if self.take("P<") or self.take("<"):
            name = self.until(">")
            self.names[name] = self.groups + 1
            return self.capture(depth)
        if self.take(":") or self.take(">"):
            return self.closed(depth)
        return self.flagged(depth)

    def flagged(self, depth: int) -> Node | None:
        found = _FLAGS.match(self.pattern, self.at)
        if found is None:
            raise PatternError(f"unknown group '(?{self.pattern[self.at : self.at + 1]}'")
        self.at = found.end()
        before, self.flags = self.flags, (self.flags | set(found[1])) - set(found[2] or "")
        if found[3] == ")":
            return None  # holds to the end of the enclosing group
        inner = self.closed(depth)
        self.flags = before
        return inner

    def capture(self, depth: int) -> Group:
        self.groups += 1
        index = self.groups
        return Group(self.closed(depth), index)

    def closed(self, depth: int) -> Node:
        inner = self.alternatives(depth + 1)
        if not self.take(")"):
            raise PatternError("missing ')'")
        return inner

    def named(self, name: str) -> Backreference:
        if name not in self.names:
            raise PatternError(f"no group is named {name!r}")
        return Backreference(self.names[name])

    def escape(self) -> Node:
        char = self.next()
        if char in "bB":
            return Anchor("edge" if char == "b" else "no edge")
        if char in "AZz":
            return Anchor("start" if char == "A" else "end")
        if char == "k" and self.take("<"):
            return self.named(self.until(">"))
        if char in "123456789":
            while self.at < len(self.pattern) and self.pattern[self.at].isdecimal() and int(char) < 10:
                char += self.next()
            return Backreference(int(char))
        found = self.escaped(char)
        return self.literal(found) if isinstance(found, str) else found

    def escaped(self, char: str) -> Chars | str:
        """What an escape stands for, inside or outside of brackets: a set, or one character."""
        if char.lower() in _ESCAPED_SETS:
            members = _ESCAPED_SETS[char.lower()]
            return Chars(members if char.islower() else _all_but(members), "\\" + char)
        if char in "pP":
            name = self.until("}") if self.take("{") else self.next()
            found = charset.property_set(name.removeprefix("^"))
            if found is None:
                raise PatternError(f"unknown property {name!r}")
            negative = (char == "P") != name.startswith("^")
            return Chars(_all_but(found) if negative else found, f"\\{'P' if negative else 'p'}{{{name.lstrip('^')}}}")
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char == "c":
            return chr(ord(self.next()) % 32)
        if char in "xuU":
            return self.code_point({"x": 2, "u": 4, "U": 8}[char])
        if char.isalnum():
            raise PatternError(f"unknown escape '\\{char}'")
        return char

    def code_point(self, digits: int) -> str:
        if self.take("{"):
            text = self.until("}")
        else:
            text = self.pattern[self.at : self.at + digits]
            self.at += digits
        try:
            point = int(text, 16)
            if 0xD800 <= point < 0xDC00 and self.take("\\u"):  # a surrogate pair, as ECMA-262 writes one
                point = 0x10000 + ((point - 0xD800) << 10) + int(self.pattern[self.at : self.at + 4], 16) - 0xDC00
                self.at += 4
            return chr(point)
        except (ValueError, OverflowError):
            raise PatternError(f"bad code point {text!r}") from None

    def bracket(self) -> Chars:
        negative = self.take("^")
        members: list[tuple[int, int]] = []
        text = ""
        if self.take("]"):  # ECMA-262: `[^]` is any character and `[]` none; Python: the bracket is a member
            if negative:
                return Chars(charset.ANY, r"[\s\S]")
            if "]" not in self.pattern[self.at :]:
                return Chars(charset.NONE, r"[^\s\S]")
            members, text = [(0x5D, 0x5D)], r"\]"
        while not self.take("]"):
            low = self.bracket_item()
            if isinstance(low, Chars):
                members += low.members
                text += low.text
                continue
            high = self.range_end() or low
            if high < low:
                raise PatternError(f"bad range {low}-{high}")
            members.append((ord(low), ord(high)))
            text += _in_bracket(low) + (f"-{_in_bracket(high)}" if high != low else "")
        found = charset.of(members)
        if "i" in self.flags:
            found = charset.case_folded(found)
            text = "".join(f"{_in_bracket(chr(low))}-{_in_bracket(chr(high))}" for low, high in found)
        return Chars(_all_but(found), f"[^{text}]") if negative else Chars(found, f"[{text}]")

    def range_end(self) -> str | None:
        """The last character of a range whose first was just read, if this is one: in `a-\\d` and `a-]` it is not."""
        if not self.peek("-") or self.peek("-]"):
            return None
        at = self.at
        self.at += 1
        item = self.bracket_item()
        if isinstance(item, str):
            return item
        self.at = at
        return None

    def bracket_item(self) -> Chars | str:
        char = self.next()
        if char != "\\":
            return char
        char = self.next()
        return "\b" if char == "b" else self.escaped(char)


def _all_but(members: Charset) -> Charset:
    return charset.intersect(charset.ANY, charset.complement(members))


def _in_bracket(char: str) -> str:
    return "\\" + char if char in "\\]^-[&~/" else char
