"""Files that are not what they seem: deep, huge, doubled, torn, or what one reader takes and another does not."""

import json


def _aliased(first, wrap):
    lines = [f"a0: &a0 {first}"]
    lines += [f"a{n}: &a{n} {wrap(f'*a{n - 1}')}" for n in range(1, 14)]
    return "\n".join(lines)


_TEXTS = {
    "nothing": "",
    "null": "null",
    "a number": "1",
    "a text": '"a"',
    "a list": "[]",
    "an object": "{}",
    "a byte of zero": "\x00",
    "lists without end": "[" * 100_000,
    "objects without end": '{"a":' * 50_000 + "1" + "}" * 50_000,
    "lists, deep": "[" * 900 + "]" * 900,
    "objects, deep": '{"a":' * 900 + "1" + "}" * 900,
    "blocks, deep": "".join(" " * n + "a:\n" for n in range(1500)),
    "dashes, deep": "- " * 5_000 + "a",
    "flows, deep": "[{" * 3_000,
    "questions, deep": "? " * 3_000,
    "NaN": '{"a": NaN}',
    "beyond all floats": '{"a": 1e999}',
    "5000 digits": f'{{"a": {"9" * 5000}}}',
    "4000 digits": f'{{"a": {"9" * 4000}}}',
    "half a pair": '{"a": "\\ud800"}',
    "half a pair as key": '{"\\ud800": 1}',
    "a key twice": '{"a": 1, "a": 2}',
    "lists of aliases": _aliased("[x, x, x, x, x, x, x, x, x]", lambda it: f"[{', '.join([it] * 9)}]"),
    "maps of aliases": _aliased("{x: 1}", lambda it: f"{{{', '.join(f'k{n}: {it}' for n in range(9))}}}"),
    "merges of aliases": _aliased("{x: 1}", lambda it: f"{{<<: [{', '.join([it] * 4)}], y: 1}}"),
    "a list in itself": "&a [*a]",
    "a map in itself": "&a {x: *a}",
    "an alias of nothing": "*a",
    "a call by tag": "!!python/object/apply:os.getcwd []",
    "an unknown tag": "!foo a",
    "a day that is none": "a: 2026-99-99",
    "a time before all": "a: 0001-01-01T00:00:00+23:00",
    "bytes that are none": 'a: !!binary "@@@"',
    "bytes": "a: !!binary aGVsbG8=",
    "a set": "a: !!set {b, c}",
    "an ordered map": "a: !!omap [b: 1]",
    "no number": "a: .nan",
    "base sixty": "a: " + "59:" * 5_000 + "59",
    "base sixteen": "a: 0x" + "f" * 50_000,
    "a list as key": "? [a]\n: 1",
    "keys of all types": "1.5: 2\n.nan: 3\nnull: 4\ntrue: 5",
    "two documents": "a: 1\n---\nb: 2",
    "torn": "a: [1, 2",
    "control characters": "\x1b[31m\x07\u202e",
    "one long text": '"' + "a" * 1_000_000 + '"',
    "very many keys": json.dumps({str(n): n for n in range(20_000)}),
    "escapes without end": '"' + '\\"' * 200_000,
    "comments without end": "/* " * 200_000,
    "commas": "[" + "," * 200_000,
    "quotes": '"' * 200_001,
    "colons": ":" * 50_000,
    "another version": "%YAML 9.9\n---\na",
}
HAZARDS = {
    **{name: text.encode("utf-8", "surrogatepass") for name, text in _TEXTS.items()},
    "no UTF-8": b"\xff\xfe\x00",
    "half a pair in bytes": b'{"a": "\xed\xa0\x80"}',
    "a mark of byte order": b"\xef\xbb\xbf{}",
    "UTF-16": '{"a": 1}'.encode("utf-16"),
}
