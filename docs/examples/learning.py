"""Record a real system in code, learn its rules into a folder, and ask the twin what nobody has recorded."""

import asyncio
import json
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from envace_sdk import Environment, Recording, ToolCall
from envace_sdk.tools import Toolset
from envace_sdk.world.mine.folder import learn_into

TOOLS = [
    {"name": name, "inputSchema": {"type": "object", "properties": members, "required": list(members)}}
    for name, members in {
        "open_account": {"owner": {"type": "string"}},
        "deposit": {"account": {"type": "string"}, "amount": {"type": "integer"}},
        "get_account": {"account": {"type": "string"}},
    }.items()
]


class Bank:
    """The real system."""

    def __init__(self) -> None:
        self._accounts: dict[str, dict[str, object]] = {}

    def call(self, tool: str, arguments: dict[str, object]) -> dict[str, object]:
        if tool == "open_account":
            key = f"ACC-{len(self._accounts) + 1}"
            self._accounts[key] = {"account": key, "owner": arguments["owner"], "balance": 0}
        else:
            key = str(arguments["account"])
            if key not in self._accounts:
                raise LookupError(f"Unknown account {key}")
        account = self._accounts[key]
        if tool == "deposit":
            account["balance"] = int(str(account["balance"])) + int(str(arguments["amount"]))
        return dict(account)


def recorded(sessions: int, seed: int = 1) -> Recording:
    random = Random(seed)
    recording = Recording()
    for number in range(sessions):
        bank = Bank()
        for place in range(12):
            tool = "open_account" if place < 2 else random.choice(["deposit", "get_account", "open_account"])
            account = f"ACC-{random.randint(1, 4)}"
            arguments = {
                "open_account": {"owner": random.choice(["Ana", "Ben", "Cleo"])},
                "deposit": {"account": account, "amount": random.randint(1, 90)},
                "get_account": {"account": account},
            }[tool]
            try:
                recording.add(tool, arguments, bank.call(tool, arguments), episode=f"session {number}")
            except LookupError as error:
                recording.add(tool, arguments, error.args[0], is_error=True, episode=f"session {number}")
    return recording


async def ask(twin: Environment) -> None:
    world = twin.world()
    for tool, arguments in [
        ("open_account", {"owner": "Dora"}),
        ("deposit", {"account": "ACC-1", "amount": 250}),
        ("get_account", {"account": "ACC-1"}),
        ("get_account", {"account": "ACC-9"}),
    ]:
        answer = await twin.call(world, ToolCall(tool, arguments))
        print(tool, answer.result.value(), answer.layer, answer.confidence)


def main(folder: Path) -> None:
    (folder / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    lesson = learn_into(folder / "dynamics.yaml", Toolset.load(folder), recorded(12).files)
    lesson.write()
    print(lesson.explained("deposit"))
    asyncio.run(ask(Environment.load(folder)))


if __name__ == "__main__":
    with TemporaryDirectory() as name:
        main(Path(name))
