"""Sessions on the memory server: an agent that builds a small graph of what it has heard, and asks it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from .play import Call, Script
from .servers import PublicServer

__all__ = ["MEMORY"]

NAMES = {
    "person": ("Anna", "Ben Carter", "Chen", "Dora", "Emil"),
    "project": ("Atlas", "Borealis", "Comet"),
    "company": ("Acme", "Globex", "Initech"),
    "city": ("Lisbon", "Oslo"),
}
FACTS = (
    "likes tea",
    "speaks Spanish",
    "started in 2021",
    "prefers email",
    "works remotely",
    "has 40 employees",
    "is behind schedule",
    "uses Python",
    "was mentioned on Monday",
)
RELATIONS = ("works_at", "leads", "knows", "located_in", "depends_on")
QUERIES = ("a", "person", "Atlas", "python", "TEA", "works", "2021", "nothing like this", "Acme", "chen")


def prepare(_: Path, __: int) -> None:
    """Nothing: the graph begins empty."""


def script(random: Random, _: Path) -> Script:
    """Note some things, then note, link, change, forget and ask."""
    agent = _Agent(random)
    if random.random() < 0.3:
        yield from agent.ask()
    yield from agent.create()
    while True:
        yield from agent.step()


class _Agent:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.facts: dict[str, list[str]] = {}
        self.links: list[dict[str, str]] = []

    def step(self) -> Script:
        tries: list[tuple[Callable[[], Script], int]] = [
            (self.create, 4),
            (self.relate, 4),
            (self.add, 4),
            (self.ask, 6),
            (self.forget_facts, 2),
            (self.forget_links, 1),
            (self.forget, 2),
            (self.fail, 3),
        ]
        yield from self.random.choices([one for one, _ in tries], [weight for _, weight in tries])[0]()

    def create(self) -> Script:
        entities = []
        for _ in range(self.random.choice([1, 1, 2, 3])):
            kind = self.random.choice(sorted(NAMES))
            name = self.random.choice(NAMES[kind])
            facts = self.random.sample(FACTS, self.random.randint(0, 3))
            entities.append({"name": name, "entityType": kind, "observations": facts})
            self.facts.setdefault(name, list(facts))
        entities = list({str(entity["name"]): entity for entity in entities}.values())
        yield Call("create_entities", {"entities": entities})
        yield from self.look([str(entity["name"]) for entity in entities])

    def relate(self) -> Script:
        if len(self.facts) < 2:
            return
        links = []
        for _ in range(self.random.choice([1, 1, 2])):
            one, other = self.random.sample(sorted(self.facts), 2)
            links.append({"from": one, "to": other, "relationType": self.random.choice(RELATIONS)})
        if self.links and self.random.random() < 0.2:
            links[-1] = self.random.choice(self.links)
        yield Call("create_relations", {"relations": links})
        self.links += [link for link in links if link not in self.links]
        yield from self.look([links[0]["from"]])

    def add(self) -> Script:
        if not self.facts:
            return
        names = self.random.sample(sorted(self.facts), min(len(self.facts), self.random.choice([1, 1, 2])))
        added = []
        for name in names:
            facts = self.random.sample(FACTS, self.random.randint(1, 2))
            added.append({"entityName": name, "contents": facts})
            self.facts[name] += [fact for fact in facts if fact not in self.facts[name]]
        yield Call("add_observations", {"observations": added})
        yield from self.look(names)

    def ask(self) -> Script:
        names = self.random.sample(sorted(self.facts), min(len(self.facts), self.random.randint(1, 2)))
        yield self.random.choice(
            [
                Call("read_graph"),
                Call("open_nodes", {"names": names or ["Anna"]}),
                Call("search_nodes", {"query": self.random.choice([*QUERIES, *names])}),
                Call("search_nodes", {"query": self.random.choice(FACTS).split()[-1]}),
            ]
        )

    def look(self, names: list[str]) -> Script:
        if self.random.random() < 0.55:
            ways: list[Call] = [
                Call("open_nodes", {"names": names}),
                Call("read_graph"),
                Call("search_nodes", {"query": names[0]}),
            ]
            yield self.random.choice(ways)

    def forget_facts(self) -> Script:
        known = [name for name, facts in sorted(self.facts.items()) if facts]
        if not known:
            return
        name = self.random.choice(known)
        gone = self.random.sample(self.facts[name], 1)
        if self.random.random() < 0.2:
            gone.append("never noted")
        yield Call("delete_observations", {"deletions": [{"entityName": name, "observations": gone}]})
        self.facts[name] = [fact for fact in self.facts[name] if fact not in gone]
        yield from self.look([name])

    def forget_links(self) -> Script:
        if not self.links:
            return
        link = self.random.choice(self.links)
        yield Call("delete_relations", {"relations": [link]})
        self.links.remove(link)
        yield from self.look([link["from"]])

    def forget(self) -> Script:
        if not self.facts:
            return
        name = self.random.choice(sorted(self.facts))
        yield Call("delete_entities", {"entityNames": [name]})
        del self.facts[name]
        self.links = [link for link in self.links if name not in (link["from"], link["to"])]
        yield from self.look([name])

    def fail(self) -> Script:
        """What is not there, or is there already."""
        name = self.random.choice(sorted(self.facts) or ["Anna"])
        missing = self.random.choice(["Nobody", "Zed", "Hooli"])
        unknown = {"entityName": missing, "contents": [self.random.choice(FACTS)]}
        known: dict[str, Any] = {"entityName": name, "contents": [self.random.choice(FACTS)]}
        link = {"from": name, "to": missing, "relationType": "knows"}
        again = {"name": name, "entityType": "person", "observations": []}
        gone = {"entityName": missing, "observations": ["x"]}
        ways = [
            Call("add_observations", {"observations": [unknown]}),
            Call("add_observations", {"observations": [unknown]}),
            Call("open_nodes", {"names": [missing]}),
            Call("delete_entities", {"entityNames": [missing]}),
            Call("delete_relations", {"relations": [link]}),
            Call("delete_observations", {"deletions": [gone]}),
        ]
        if self.facts:
            ways += [
                Call("add_observations", {"observations": [known, unknown]}),
                Call("create_entities", {"entities": [again]}),
            ]
        yield self.random.choice(ways)


READS = frozenset({"read_graph", "open_nodes", "search_nodes"})
MEMORY = PublicServer("memory", "@modelcontextprotocol/server-memory", 60, READS, prepare, script)
