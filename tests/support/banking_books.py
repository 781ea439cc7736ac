"""What must be true of the guild bank at any time: references hold, and every cent is somewhere."""

from collections import defaultdict
from datetime import timedelta

from envace_sdk.world.clock import parse_time
from envace_sdk.world.state import State

OUT_OF_HOUSE = "L-CLEARING"


def check_bank(state: State) -> None:
    """All that must be true of the bank at any time."""
    check_balances(state)
    for payment in state.collection("payments").values():
        check_payment(payment, state)
    for order in state.collection("standing_orders").values():
        check_standing_order(order, state)
    for card in state.collection("cards").values():
        check_card(card, state)
    for hold in state.collection("holds").values():
        check_hold(hold, state)
    for dispute in state.collection("disputes").values():
        check_dispute(dispute, state)


def check_balances(state: State) -> None:
    """Double entry: each transaction adds up to 0, and each balance is the sum of its entries."""
    accounts, ledgers = state.collection("accounts"), state.collection("ledgers")
    balances: dict[str, int] = defaultdict(int)
    transactions: dict[str, int] = defaultdict(int)
    for entry in state.collection("entries").values():
        name = entry["account_id"]
        assert type(entry["amount"]) is int, entry
        assert entry["amount"] != 0, entry
        assert name in accounts or name in ledgers, entry
        balances[name] += entry["amount"]
        transactions[entry["transaction_id"]] += entry["amount"]
        assert entry["balance_after"] == balances[name], entry
        back = entry["refund_id"] and state.get("entries", entry["refund_id"])
        assert back is None or (back["account_id"], back["amount"]) == (name, -entry["amount"]), entry
        assert entry["payment_id"] is None or state.get("payments", entry["payment_id"]), entry
        assert entry["card_id"] is None or state.get("cards", entry["card_id"])["account_id"] == name, entry
    assert {name for name, total in transactions.items() if total} == set()
    for name, account in accounts.items():
        assert account["balance"] == balances[name], name
        assert account["balance"] >= -account["overdraft_limit"], name
        assert account["status"] != "closed" or account["balance"] == 0, name
        assert (account["block_reason"] is None) is (account["status"] == "open"), name
    assert {name: ledger["balance"] for name, ledger in ledgers.items()} == {name: balances[name] for name in ledgers}
    assert sum(balances.values()) == 0


def check_payment(payment, state: State) -> None:
    name, status = payment["payment_id"], payment["status"]
    account = state.get("accounts", payment["account_id"])
    own = [e for e in state.collection("entries").find("payment_id", name) if e["account_id"] == payment["account_id"]]
    inside = state.get("accounts", payment["payee_number"]) is not None
    signers = payment["signed_by"]
    assert len(set(signers)) == len(signers), name
    for member in (payment["prepared_by"], *signers):
        assert state.get("powers", f'["{payment["account_id"]}", "{member}"]'), (name, member)
    assert payment["signatures_needed"] == (
        2 if account["signatures"] == 2 and payment["amount"] >= account["second_from"] else 1
    ), name
    if status in {"booked", "scheduled"}:
        assert len(signers) >= payment["signatures_needed"], name
        assert not payment["flags"] or payment["callback"], name
        assert payment["value_date"] >= payment["created_at"][:10], name
        assert "watched_bank" not in payment["flags"], name
    if status == "awaiting_release":
        assert len(signers) < payment["signatures_needed"] or payment["flags"], name
    if payment["callback"]:
        assert payment["callback"]["member_id"] in signers, name
    assert (payment["booked_at"] is not None) or status != "booked", name
    assert payment["booked_at"] is None or status in {"booked", "cancelled"}, name
    leaves_later = status == "booked" and not inside and payment["speed"] == "batch"
    assert (payment["leaves_at"] is not None) is leaves_later, name
    for field in ("cancelled_at", "cancelled_by", "cancel_reason"):
        assert (payment[field] is not None) is (status == "cancelled"), name
    cost = payment["amount"] + payment["fee"]
    refunds = sum(e["amount"] for e in own if e["kind"] == "refund")
    moved = sum(e["amount"] for e in own)
    if payment["booked_at"] is None:
        assert own == [], name
    elif status == "cancelled":
        assert moved == 0, name
    else:
        assert moved == refunds - cost, name
        assert 0 <= refunds <= payment["fee"], name


def check_standing_order(order, state: State) -> None:
    name, account = order["standing_order_id"], state.get("accounts", order["account_id"])
    payee = state.get("payees", order["payee_id"])
    assert (order["next_on"] is None) is (order["status"] == "ended"), name
    assert order["status"] == "ended" or payee, name
    if payee:
        assert (payee["account_id"], payee["name"]) == (order["account_id"], order["payee_name"]), name
    if order["status"] != "ended" and order["last_on"]:
        assert order["last_on"] >= order["next_on"], name
    if account["signatures"] == 2 and order["amount"] >= account["second_from"]:
        assert order["countersigned_by"] not in {None, order["created_by"]} or order["countersigned_by"], name


def check_card(card, state: State) -> None:
    name, account = card["card_id"], state.get("accounts", card["account_id"])
    plan = state.get("plans", account["plan"])
    assert state.get("members", card["member_id"])["kind"] == "person", name
    assert card["cash_limit"] <= card["purchase_limit"] <= plan["purchase_cap"], name
    assert card["cash_limit"] <= plan["cash_cap"], name
    blocked = card["status"] == "blocked"
    assert (card["block_reason"] is not None) is blocked, name
    assert (card["blocked_at"] is not None) is blocked, name
    assert (card["last_four"] is None) is (card["status"] == "ordered") or blocked, name
    if card["replaced_by"]:
        after = state.get("cards", card["replaced_by"])
        assert blocked, name
        assert (after["account_id"], after["member_id"]) == (card["account_id"], card["member_id"]), name


def check_hold(hold, state: State) -> None:
    name = hold["hold_id"]
    assert hold["amount"] > 0, name
    assert state.get("accounts", hold["account_id"]), name
    assert (hold["released_at"] is not None) is (hold["status"] == "released"), name
    assert (hold["card_id"] is not None) is (hold["kind"] == "card_authorisation"), name
    assert (hold["placed_by"] is not None) is (hold["kind"] in {"rental_deposit", "guarantee"}), name
    assert hold["until"] is not None or hold["kind"] == "court_order", name
    assert hold["until"] is None or hold["until"] > hold["placed_at"][:10], name


def check_dispute(dispute, state: State) -> None:
    name, entry = dispute["dispute_id"], state.get("entries", dispute["entry_id"])
    assert entry["dispute_id"] == name, name
    assert entry["kind"] in {"card", "direct_debit"}, name
    assert (entry["account_id"], entry["card_id"]) == (dispute["account_id"], dispute["card_id"]), name
    assert 0 <= dispute["credited"] <= dispute["amount"] <= -entry["amount"], name
    booked = [e for e in state.collection("entries").find("dispute_id", name) if e["kind"] == "dispute_credit"]
    ours = [e["amount"] for e in booked if e["account_id"] == dispute["account_id"]]
    assert sum(ours) == dispute["credited"], name
    assert state.get("members", dispute["opened_by"]), name
    assert parse_time(dispute["answer_by"]).date() - parse_time(dispute["opened_at"]).date() == timedelta(21), name


def available(state: State, account_id: str) -> int:
    """What can be used of an account now."""
    account, today = state.get("accounts", account_id), state.clock.strftime("%Y-%m-%d")
    held = sum(
        hold["amount"]
        for hold in state.collection("holds").find("account_id", account_id)
        if hold["status"] == "active" and (hold["until"] is None or hold["until"] >= today)
    )
    return account["balance"] + account["overdraft_limit"] - held
