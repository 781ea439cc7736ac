"""Random scopes of a made-up trade: what explanations are sought in."""

WORDS = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "heath",
    "inlet",
    "juniper",
    "knoll",
    "larch",
    "moss",
    "nettle",
    "oak",
    "pine",
]


def fresh_scopes(count, random):
    return [scope(random) for _ in range(count)]


def scope(random):
    def word():
        return random.choice(WORDS)

    made = {
        "args": {
            "id": f"{word()}-{random.randint(1, 999)}",
            "name": f"{word()} {word()}",
            "qty": random.randint(1, 20),
            "code": str(random.randint(0, 9999)),
            "path": f"/{word()}/{word()}.txt",
            "folder": random.choice([word(), f"../{word()}", ".", "..", f"/{word()}/{word()}"]),
            "flag": random.random() < 0.5,
            "mode": random.choice(["fast", "slow", "idle"]),
            "tag": word(),
            "tags": [word() for _ in range(random.randint(0, 4))],
            "count": random.randint(1, 3),
        },
        "entity": {
            "id": random.randint(1000, 9999),
            "price": random.randint(100, 9999) / 100,
            "stock": random.randint(20, 100),
            "rate": random.choice([5, 8, 19]),
            "status": random.choice(["open", "closed", "held"]),
            "created": f"2025-0{random.randint(1, 9)}-1{random.randint(0, 9)}T1{random.randint(0, 9)}:00:00Z",
            "due": f"2026-0{random.randint(1, 9)}-2{random.randint(0, 8)}",
            "tags": [word() for _ in range(random.randint(0, 4))],
            "lines": [
                {
                    "sku": word(),
                    "qty": random.randint(1, 9),
                    "price": random.randint(1, 99),
                    "kind": random.choice("ab"),
                }
                for _ in range(random.randint(1, 5))
            ],
            "stores": {name: random.randint(1, 50) for name in random.sample(["north", "south", "west"], 2)},
            "text": "\n".join(f"{word()} {word()} {random.randint(1, 9)}" for _ in range(random.randint(1, 8))),
        },
        "session": {"cwd": f"/{word()}", "user": word()},
        "now": f"2026-01-0{random.randint(1, 9)}T09:00:0{random.randint(0, 9)}Z",
    }
    if random.random() < 0.5:
        made["args"]["limit"] = random.randint(1, 5)
    return made
