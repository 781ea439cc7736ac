import json
from random import Random

import pytest

TOOLS = [
    ("add_note", {"text": "string"}),
    ("get_note", {"id": "string"}),
    ("drop_note", {"id": "string"}),
    ("unused", {"x": "string"}),
]


def session(name, texts, calls=12):
    """Calls of a store of notes that begins empty, as a caller makes them who knows no better."""
    random, held, lines = Random(name), {}, []
    words = [*texts, *random.choices(texts, k=calls)]
    for number in range(calls):
        made = [f"N{n + 1}" for n in range(len(lines))][:4]
        tool = "add_note" if not number else random.choice(["add_note", "get_note", "get_note", "drop_note"])
        key = random.choice([*held, *made, "N77"])
        arguments = {"text": f"{words[number]} {number}"} if tool == "add_note" else {"id": key}
        result, is_error = f"no note {key}", tool != "add_note" and key not in held
        if tool == "add_note":
            ids = sum(line["tool"] == "add_note" for line in lines) + 1
            result = held[f"N{ids}"] = {"id": f"N{ids}", "text": arguments["text"], "done": False}
        elif not is_error:
            result = held[key] if tool == "get_note" else {"dropped": held.pop(key)["id"]}
        line = {"episode": name, "tool": tool, "arguments": arguments, "result": result, "is_error": is_error}
        lines.append(line)
    return lines


@pytest.fixture
def notes(tmp_path):
    """A folder with a catalogue, and what writes recordings beside it."""
    folder = tmp_path / "notes"
    folder.mkdir()
    tools = [
        {
            "name": name,
            "inputSchema": {
                "type": "object",
                "properties": {key: {"type": kind} for key, kind in members.items()},
                "required": list(members),
            },
        }
        for name, members in TOOLS
    ]
    (folder / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    return folder


@pytest.fixture
def record(tmp_path):
    """Writes a recording of sessions, by name the texts of their notes; its path."""

    def record(file="rec.jsonl", **sessions):
        path = tmp_path / file
        lines = [line for name, texts in sessions.items() for line in session(name, texts)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return path

    return record
