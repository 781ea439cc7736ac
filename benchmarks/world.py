"""What a world costs: state, queries, forks and interpreted calls, on a world of 100,000 entities.

    python benchmarks/world.py [--entities 100000] [--forks 1000]

Times are the median of repeated runs in this process; memory is what Python's allocator holds.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import statistics
import time
import tracemalloc
from collections.abc import Callable
from itertools import count, islice
from random import Random
from typing import Any

from envace_sdk.tools.model import Tool
from envace_sdk.world.diff import diff
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.state import State

RULES = """
collections:
  orders: {key: order_id, mint: "ORD-{n:06}"}
  tickets: {key: id, mint: "T-{n}"}
tools:
  get_order: {effect: read, collection: orders, key: args.order_id}
  create_order:
    effect: create
    collection: orders
    requires: [{that: args.quantity > 0, error: "Quantity must be positive, not {args.quantity}"}]
    take: "*"
    set: {status: "'open'", created_at: now, total: args.quantity * 9.5}
  update_order:
    effect: update
    collection: orders
    key: args.order_id
    requires: [{that: "entity.status != 'closed'", error: "Order {args.order_id} is closed", status: conflict}]
    take: [note]
    set: {updated_at: now, changes: "default(entity.changes, 0) + 1"}
  delete_order:
    effect: delete
    collection: orders
    key: args.order_id
    returns: {object: {order_id: args.order_id, deleted: "true"}}
  orders_of:
    effect: search
    collection: orders
    filters: {customer: {field: customer.id}}
    limit: default(args.limit, 20)
    returns: {wrap: orders, count: total, next: cursor}
  list_orders:
    effect: search
    collection: orders
    limit: default(args.limit, 20)
    cursor: args.cursor
    returns: {wrap: orders, count: total, next: cursor}
  newest_orders:
    effect: search
    collection: orders
    order_by: [-placed_at]
    limit: "20"
    returns: {wrap: orders, count: total}
  scan_orders:
    effect: search
    collection: orders
    where: entity.quantity * 2 == 7
    returns: {wrap: orders, count: total}
"""


def order(number: int) -> dict[str, Any]:
    return {
        "order_id": f"ORD-{number:06}",
        "status": ("open", "packed", "shipped", "delivered")[number % 4],
        "customer": {"id": f"C-{number % 5000}", "name": f"Customer {number % 5000}"},
        "placed_at": f"2025-{number % 12 + 1:02}-{number % 28 + 1:02}T10:{number % 60:02}:00Z",
        "quantity": number % 7 + 1,
        "total": (number % 9000) / 10,
        "lines": [{"sku": f"S-{number % 300}", "quantity": 1}, {"sku": f"S-{number % 41}", "quantity": 2}],
        "note": None,
    }


def timed(call: Callable[[], Any], *, budget: float = 0.25) -> float:
    """Seconds a call takes: the median of 15 batches that together use about the budget."""
    begin = time.perf_counter()
    call()
    once = max(time.perf_counter() - begin, 1e-7)
    batch = max(1, int(budget / 15 / once))
    samples = []
    for _ in range(15 if once < 1 else 1):
        begin = time.perf_counter()
        for _ in range(batch):
            call()
        samples.append((time.perf_counter() - begin) / batch)
    return statistics.median(samples)


def shown(seconds: float) -> str:
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


def row(what: str, value: str) -> None:
    print(f"| {what:<58} | {value:>12} |")


def heading(what: str) -> None:
    print(f"| {'**' + what + '**':<58} | {'':>12} |")


def held() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def state_costs(state: State, entities: int) -> None:
    heading("State")
    key = f"ORD-{entities // 2:06}"
    document = {**order(entities // 2), "status": "closed"}
    numbers = count()
    row("get", shown(timed(lambda: state.get("orders", key))))
    row("put, an entity that is there", shown(timed(lambda: state.put("orders", key, document))))
    row("put, a new entity", shown(timed(lambda: state.put("orders", f"N-{next(numbers)}", document))))
    row("remove", shown(timed(lambda: state.remove("orders", key))))
    collection = state.collection("orders")
    begin = time.perf_counter()
    found = sum(1 for _ in collection.find("customer.id", "C-77"))
    row(f"find by a field, the first time (builds the index; {found} found)", shown(time.perf_counter() - begin))
    row(f"find by the same field, all {found}", shown(timed(lambda: list(collection.find("customer.id", "C-77")))))
    row("find, the first of a quarter of all", shown(timed(lambda: next(collection.find("status", "open")))))
    row("count by a field", shown(timed(lambda: collection.count("status", "open"))))
    row("the first 20", shown(timed(lambda: list(islice(collection.values(), 20)))))
    row("put, with two indexes kept", shown(timed(lambda: state.put("orders", key, document))))
    after = state
    for number in range(100):
        after = after.put("orders", f"ORD-{number:06}", {**order(number), "note": "x"})
    row("diff, 1 change", shown(timed(lambda: diff(state, state.put("orders", key, document)))))
    row("diff, 100 changes", shown(timed(lambda: diff(state, after))))
    text = json.dumps(state.to_json())
    row(f"snapshot to JSON ({len(text) / 1e6:.0f} MB)", shown(timed(lambda: json.dumps(state.to_json()))))
    row("snapshot from JSON", shown(timed(lambda: State.from_json(json.loads(text)))))


def call_costs(interpreter: Interpreter, state: State, entities: int, title: str) -> None:
    heading(f"Interpreted calls, {title}")
    random = Random(1)
    key = f"ORD-{entities - 5:06}"
    first = interpreter.run(Tool({"name": "create_order", "inputSchema": {}}), {"quantity": 1}, state, random)
    state = state if first is None else first.state.tick()  # the number to go on with is known from now on
    for name, arguments in (
        ("get_order", {"order_id": key}),
        ("create_order", {"customer": {"id": "C-1"}, "quantity": 2}),
        ("update_order", {"order_id": key, "note": "call first"}),
        ("delete_order", {"order_id": key}),
        ("orders_of", {"customer": "C-77"}),
        ("list_orders", {}),
        ("newest_orders", {}),
        ("scan_orders", {}),
    ):
        tool = Tool({"name": name, "inputSchema": {"type": "object"}})
        answer = interpreter.run(tool, arguments, state, random)
        if answer is None or answer.error is not None:
            raise SystemExit(f"{name} did not succeed")
        row(name, shown(timed(lambda t=tool, a=arguments: interpreter.run(t, a, state, random))))  # type: ignore[misc]


def memory(documents: list[dict[str, Any]], dynamics: Dynamics, forks: int) -> None:
    heading("Memory")
    tracemalloc.start()
    empty = held()
    documents = [order(number) for number in range(len(documents))]
    raw = held()
    state = State.start(collections={"orders": documents}, dynamics=dynamics)
    del documents
    one = held()
    list(state.collection("orders").find("customer.id", "C-1"))
    indexed = held()
    kept = []
    for fork in range(forks):
        branch = state
        for write in range(5):
            key = f"ORD-{(fork * 97 + write * 13) % len(state.collection('orders')):06}"
            branch = branch.put("orders", key, {**order(write), "order_id": key, "note": f"fork {fork}"})
        branch.collection("orders").count("customer.id", "C-1")
        kept.append(branch)
    total = held()
    tracemalloc.stop()
    row("the documents alone", f"{(raw - empty) / 1e6:.0f} MB")
    row("one world of them", f"{(one - empty) / 1e6:.0f} MB")
    row("with an index", f"{(indexed - empty) / 1e6:.0f} MB")
    row(f"with {forks} forks of 5 writes each, all searched", f"{(total - empty) / 1e6:.0f} MB")
    row("that is, of one world", f"{(total - empty) / (indexed - empty):.2f} ×")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=100_000)
    parser.add_argument("--forks", type=int, default=1_000)
    options = parser.parse_args()
    dynamics = Dynamics.parse(RULES)
    documents = [order(number) for number in range(options.entities)]
    print(f"{options.entities:,} entities, Python {platform.python_version()}, {platform.machine()}\n")
    row("What", "Cost")
    print(f"|{'-' * 60}|{'-' * 13}:|")
    begin = time.perf_counter()
    state = State.start(collections={"orders": documents}, dynamics=dynamics)
    row("start", shown(time.perf_counter() - begin))
    state_costs(state, options.entities)
    interpreter = Interpreter(dynamics)
    call_costs(interpreter, state, options.entities, "on the world as loaded")
    for number in range(1_000):
        key = f"ORD-{number:06}"
        state = state.put("orders", key, {**order(number), "note": "changed"}).put(
            "orders", f"N-{number}", order(number)
        )
    call_costs(interpreter, state, options.entities, "after 2,000 writes")
    del state
    memory(documents, dynamics, options.forks)


if __name__ == "__main__":
    main()
