"""The guild bank's books balance at the start, and whatever is done after it."""

import asyncio
import json

import pytest
from banking_books import available, check_bank
from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.jsonschema import compile_schema
from envace_sdk.rehearse import Environment
from envace_sdk.tasks import load_tasks
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.shipped import shipped
from envace_sdk.world.seed_data import read_start
from envace_sdk.world.state import State

FOLDER = shipped()["banking"]
LOADED = Environment.load(FOLDER)
CLOCK, COLLECTIONS = read_start(json.loads((FOLDER / "world.json").read_text(encoding="utf-8")), "world.json")
# Without the recordings, so that every answer here comes from the rules.
START = State.start(clock=CLOCK, collections=COLLECTIONS, dynamics=LOADED.dynamics)
BANK = Environment(LOADED.toolset, dynamics=LOADED.dynamics, start=START)
NOW, TODAY = START.clock.strftime("%Y-%m-%dT%H:%M:%SZ"), START.clock.strftime("%Y-%m-%d")
REFERENCES = {  # field: collection; null, and numbers of other banks, refer to nothing here
    "powers": {"account_id": "accounts", "member_id": "members"},
    "accounts": {"linked_account": "accounts", "plan": "plans"},
    "payees": {"account_id": "accounts", "added_by": "members"},
    "payments": {"account_id": "accounts", "payee_id": "payees", "prepared_by": "members", "cancelled_by": "members"},
    "standing_orders": {
        "account_id": "accounts",
        "payee_id": "payees",
        "created_by": "members",
        "countersigned_by": "members",
    },
    "cards": {"account_id": "accounts", "member_id": "members", "replaced_by": "cards"},
    "holds": {"account_id": "accounts", "card_id": "cards", "placed_by": "members"},
    "entries": {"card_id": "cards", "payment_id": "payments", "dispute_id": "disputes", "refund_id": "entries"},
    "disputes": {"account_id": "accounts", "entry_id": "entries", "card_id": "cards", "opened_by": "members"},
}
SHOWN = {  # where an output schema describes a whole entity
    "members": ("get_member", "Member"),
    "accounts": ("get_account", "Account"),
    "payees": ("add_payee", "Payee"),
    "payments": ("create_payment", "Payment"),
    "standing_orders": ("create_standing_order", "StandingOrder"),
    "cards": ("update_card", "Card"),
    "holds": ("place_hold", "Hold"),
    "disputes": ("open_dispute", "Dispute"),
}


def documents(collection):
    return list(START.collection(collection).values())


def test_the_books_balance_at_the_start():
    check_bank(START)


def test_there_is_enough_of_everything():
    least = {
        "members": 30,
        "accounts": 30,
        "payees": 50,
        "payments": 45,
        "standing_orders": 20,
        "cards": 30,
        "holds": 15,
    }
    assert {name: len(START.collection(name)) for name in least if len(START.collection(name)) < least[name]} == {}


def test_recordings_leave_the_start_data_as_they_are():
    assert LOADED.fixtures
    assert LOADED.start.collections == START.collections


@pytest.mark.parametrize("collection", REFERENCES)
def test_references_name_something(collection):
    for document in documents(collection):
        for field, target in REFERENCES[collection].items():
            assert document[field] is None or START.get(target, document[field]), (document, field)


@pytest.mark.parametrize("collection", SHOWN)
def test_entities_fit_the_schema_under_which_tools_show_them(collection):
    tool, name = SHOWN[collection]
    definitions = BANK.toolset[tool].output_schema["$defs"]
    validator = compile_schema({"$ref": f"#/$defs/{name}", "$defs": definitions})
    for document in documents(collection):
        assert validator.violations(document) == [], document


def test_numbers_rise_with_time_and_new_ones_begin_after_them():
    since = {
        "payees": "added_at",
        "payments": "created_at",
        "standing_orders": "created_at",
        "holds": "placed_at",
        "entries": "booked_at",
        "disputes": "opened_at",
    }
    for name, rule in BANK.dynamics.collections.items():
        if rule.mint and documents(name):
            prefix = rule.mint[: rule.mint.index("{")]
            numbers = [int(document[rule.key].removeprefix(prefix)) for document in documents(name)]
            assert numbers == sorted(numbers), name
            assert numbers[-1] == rule.start_at - 1, name
    for name, field in since.items():
        times = [document[field] for document in documents(name)]
        assert times == sorted(times), name
    transactions = [int(entry["transaction_id"].removeprefix("TX-")) for entry in documents("entries")]
    assert transactions == sorted(transactions)
    assert transactions[-1] < BANK.dynamics.collections["transactions"].start_at


def test_nothing_in_the_start_data_happens_after_the_clock_or_before_a_member_had_joined():
    ahead = {"leaves_at"}
    for name in ("payees", "payments", "standing_orders", "cards", "holds", "entries", "disputes"):
        for document in documents(name):
            for field, value in document.items():
                assert not field.endswith("_at") or field in ahead or value is None or value <= NOW, (document, field)
    for account in documents("accounts"):
        joined = [START.get("members", holder)["joined_on"] for holder in account["holder_ids"]]
        assert max(joined) <= account["opened_on"] <= TODAY, account
    for order in documents("standing_orders"):
        assert order["status"] != "active" or order["next_on"] >= TODAY, order
    for payment in documents("payments"):
        assert payment["status"] != "scheduled" or payment["execute_on"] > TODAY, payment


def test_every_account_has_a_person_who_may_sign_and_holders_who_are_members():
    for account in documents("accounts"):
        name = account["account_id"]
        powers = list(START.collection("powers").find("account_id", name))
        for holder in account["holder_ids"]:
            kind = START.get("members", holder)["kind"]
            assert kind != "person" or START.get("powers", json.dumps([name, holder])), name
        assert all(START.get("members", power["member_id"])["kind"] == "person" for power in powers), name
        signers = [power for power in powers if power["level"] == "release"]
        assert len(signers) >= account["signatures"], name
        assert (account["linked_account"] is not None) is (account["plan"] == "strongbox"), name
        assert account["plan"] != "strongbox" or not list(START.collection("cards").find("account_id", name)), name


def test_payees_were_checked_by_name_as_the_desk_checks_them():
    for payee in documents("payees"):
        account = START.get("accounts", payee["number"])
        outside = START.get("outside_accounts", payee["number"])
        names = [START.get("members", holder)["name"] for holder in account["holder_ids"]] if account else []
        names += [outside["name"]] if outside else []
        expected = "match" if payee["name"] in names else "differs" if names else "unknown"
        assert payee["name_check"] == expected, payee
        assert payee["bank"] == START.get("banks", payee["number"][:2])["name"], payee


def test_members_can_be_told_apart():
    for field in ("email", "phone", "name"):
        values = [member[field] for member in documents("members")]
        assert len(set(values)) == len(values), field
    assert all(member["phone"].startswith("+44 1632 960 ") for member in documents("members"))  # kept free for fiction


def test_statements_follow_on_each_other():
    for account in documents("accounts"):
        months = []
        for month in ("2026-04", "2026-05", "2026-06"):
            call = ToolCall("get_statement", {"account_id": account["account_id"], "month": month})
            statement = asyncio.run(BANK.call(BANK.world(), call)).result.value()
            months.append(statement)
            moved = statement["money_in"] - statement["money_out"]
            assert statement["closing_balance"] == statement["opening_balance"] + moved, statement
        assert months[0]["opening_balance"] == 0
        assert [later["opening_balance"] for later in months[1:]] == [m["closing_balance"] for m in months[:-1]]
        assert months[-1]["closing_balance"] == account["balance"]
        assert [statement["provisional"] for statement in months] == [False, False, True]


@pytest.mark.parametrize("task", load_tasks(FOLDER), ids=lambda task: task.id)
def test_the_books_balance_after_every_witness(task):
    world = BANK.world()
    for call in task.witness:
        if "$cel" not in json.dumps(call.arguments):
            asyncio.run(BANK.call(world, ToolCall(call.tool, call.arguments)))
    check_bank(world.state)


def some(tool, **fields):
    return st.tuples(st.just(tool), st.fixed_dictionaries(fields))


def one_of(collection, make):
    """Calls that fit an entity of the start data: without them, almost every call would be refused."""
    return st.sampled_from(documents(collection)).flatmap(make)


def signer_of(account_id):
    """Mostly someone who may release on the account."""
    powers = list(START.collection("powers").find("account_id", account_id))
    release = [power["member_id"] for power in powers if power["level"] == "release"]
    others = [power["member_id"] for power in powers] + sorted(START.collection("members"))[::9]
    return st.sampled_from(release) | st.sampled_from(release) | st.sampled_from(others)


AMOUNTS = st.integers(1, 30_000) | st.integers(30_000, 600_000)
DAYS = st.sampled_from(["2026-06-15", TODAY, "2026-06-17", "2026-06-20", "2026-06-24", "2026-07-01", "2027-12-01"])


def order_of(payee, **more):
    return st.fixed_dictionaries(
        {
            "account_id": st.just(payee["account_id"]),
            "payee_id": st.just(payee["payee_id"]),
            "amount": AMOUNTS,
            "instructed_by": signer_of(payee["account_id"]),
            **more,
        },
        optional={"speed": st.sampled_from(["batch", "instant"]), "execute_on": DAYS},
    )


def release_of(payment):
    def with_signer(member):
        phone = START.get("members", member)["phone"]
        called = {"callback_number": st.sampled_from([phone, phone, phone, "+44 1632 960 999"])}
        signed = {"payment_id": st.just(payment["payment_id"]), "signed_by": st.just(member)}
        return st.fixed_dictionaries(signed, optional=called)

    return st.tuples(st.just("release_payment"), signer_of(payment["account_id"]).flatmap(with_signer))


def of_card(card):
    who = {"card_id": st.just(card["card_id"]), "instructed_by": signer_of(card["account_id"])}
    return st.one_of(
        some("block_card", **who, reason=st.sampled_from(["lost", "stolen", "misused"])),
        st.tuples(
            st.just("update_card"),
            st.fixed_dictionaries(
                who,
                optional={
                    "purchase_limit": st.sampled_from([3_000, 50_000, 150_000, 600_000]),
                    "cash_limit": st.sampled_from([0, 1_000, 20_000, 120_000]),
                    "online": st.booleans(),
                    "abroad": st.booleans(),
                    "frozen": st.booleans(),
                },
            ),
        ),
        st.tuples(
            st.just("replace_card"),
            st.fixed_dictionaries(
                {**who, "deliver_to": st.sampled_from(["address", "branch"])},
                optional={"police_reference": st.just("AP204417")},
            ),
        ),
    )


def of_standing_order(order):
    fields = {
        "amount": AMOUNTS,
        "next_on": DAYS,
        "last_on": DAYS,
        "status": st.sampled_from(["active", "paused", "ended"]),
        "countersigned_by": signer_of(order["account_id"]),
    }
    who = {
        "standing_order_id": st.just(order["standing_order_id"]),
        "instructed_by": signer_of(order["account_id"]),
    }
    return st.tuples(st.just("update_standing_order"), st.fixed_dictionaries(who, optional=fields))


def of_payee(payee):
    account = payee["account_id"]
    return st.one_of(
        st.tuples(st.just("create_payment"), order_of(payee, purpose=st.sampled_from(["Rent", "Thanks"]))),
        st.tuples(st.just("create_payment"), order_of(payee, purpose=st.just("Again"))),
        some("remove_payee", payee_id=st.just(payee["payee_id"]), instructed_by=signer_of(account)),
        st.tuples(
            st.just("create_standing_order"),
            st.fixed_dictionaries(
                {
                    "account_id": st.just(account),
                    "payee_id": st.just(payee["payee_id"]),
                    "amount": AMOUNTS,
                    "rhythm": st.sampled_from(["weekly", "monthly"]),
                    "first_on": st.sampled_from(["2026-07-01", "2026-08-03"]) | DAYS,
                    "purpose": st.just("Dues"),
                    "instructed_by": signer_of(account),
                },
                optional={"last_on": DAYS, "countersigned_by": signer_of(account)},
            ),
        ),
    )


def of_account(account):
    name = account["account_id"]
    return st.one_of(
        some(
            "add_payee",
            account_id=st.just(name),
            name=st.sampled_from(["Halyard Sails", "Ottilie Brandreth", "Nobody"]),
            number=st.sampled_from(["CM-3188-0456", "AG-4410-2276", "TB-0000-0000", "ZZ-1111-2222"]),
            instructed_by=signer_of(name),
            accept_difference=st.booleans(),
        ),
        st.tuples(
            st.just("place_hold"),
            st.fixed_dictionaries(
                {
                    "account_id": st.just(name),
                    "amount": AMOUNTS,
                    "kind": st.sampled_from(["rental_deposit", "guarantee"]),
                    "beneficiary": st.just("Vale Lettings"),
                    "until": DAYS,
                    "instructed_by": signer_of(name),
                },
                optional={"countersigned_by": signer_of(name)},
            ),
        ),
    )


def of_entry(entry):
    if entry["kind"] == "fee":
        return some(
            "refund_fee", entry_id=st.just(entry["entry_id"]), reason=st.sampled_from(["courtesy", "charged_twice"])
        )
    return st.tuples(
        st.just("open_dispute"),
        st.fixed_dictionaries(
            {
                "entry_id": st.just(entry["entry_id"]),
                "instructed_by": signer_of(entry["account_id"]),
                "reason": st.sampled_from(["unauthorised", "not_received", "charged_twice", "direct_debit_objection"]),
                "note": st.just("That was not me at all."),
            },
            optional={"amount": AMOUNTS},
        ),
    )


def fresh(payment_id):
    """Payments that earlier calls may have made."""
    return st.one_of(
        some("cancel_payment", payment_id=payment_id, instructed_by=members, reason=st.just("Not wanted")),
        some("release_payment", payment_id=payment_id, signed_by=members),
    )


members = st.sampled_from(sorted(START.collection("members")))
WAITING = [payment for payment in documents("payments") if payment["status"] == "awaiting_release"]
STOPPABLE = [payment for payment in documents("payments") if not payment["booked_at"] or payment["booked_at"] > TODAY]
DISPUTABLE = [
    e for e in documents("entries") if e["kind"] in {"fee", "card", "direct_debit"} and e["account_id"][:2] == "AG"
]
CALLS = st.one_of(
    one_of("payees", of_payee),
    one_of("payees", of_payee),
    st.sampled_from(WAITING).flatmap(release_of),
    st.sampled_from(WAITING).flatmap(release_of),
    st.sampled_from(STOPPABLE).flatmap(
        lambda payment: some(
            "cancel_payment",
            payment_id=st.just(payment["payment_id"]),
            instructed_by=signer_of(payment["account_id"]),
            reason=st.just("Not wanted"),
        ),
    ),
    fresh(st.sampled_from(["PO-88461", "PO-88462", "PO-88463"])),
    one_of("cards", of_card),
    one_of("standing_orders", of_standing_order),
    one_of("accounts", of_account),
    one_of(
        "holds",
        lambda hold: some(
            "release_hold", hold_id=st.just(hold["hold_id"]), instructed_by=signer_of(hold["account_id"])
        ),
    ),
    st.sampled_from(DISPUTABLE).flatmap(of_entry),
)


@settings(max_examples=120, deadline=None)
@given(st.lists(CALLS, min_size=1, max_size=14))
def test_the_books_balance_whatever_is_done(calls):
    world = BANK.world()
    for tool, arguments in calls:
        rehearsal = asyncio.run(BANK.call(world, ToolCall(tool, arguments)))
        assert rehearsal.layer == "dynamics", (rehearsal.layer, rehearsal.result.first_text)
        shown = None if rehearsal.result.is_error else rehearsal.result.structured.get("available")
        if shown is not None:
            about = next(v for v in rehearsal.result.structured.values() if isinstance(v, dict))["account_id"]
            assert shown == available(world.state, about), tool
    check_bank(world.state)


@settings(max_examples=150, deadline=None)
@given(one_of("payees", order_of))
def test_what_can_be_previewed_can_be_ordered_and_nothing_else(order):
    previewed = asyncio.run(BANK.call(BANK.world(), ToolCall("preview_payment", order)))
    world = BANK.world()
    ordered = asyncio.run(BANK.call(world, ToolCall("create_payment", {**order, "purpose": "As previewed"})))
    assert previewed.result.is_error is ordered.result.is_error, (
        previewed.result.first_text,
        ordered.result.first_text,
    )
    if previewed.result.is_error:
        assert previewed.result.first_text == ordered.result.first_text
        return
    quote, payment = previewed.result.structured, ordered.result.structured["payment"]
    assert {name: quote[name] for name in ("amount", "fee", "status", "flags", "signatures_needed")} == {
        name: payment[name] for name in ("amount", "fee", "status", "flags", "signatures_needed")
    }
    assert quote["signature_counts"] is (payment["signed_by"] == [order["instructed_by"]])
    assert payment["value_date"] in {None, quote["value_date"]}
    if payment["status"] == "booked":
        assert quote["available_after"] == ordered.result.structured["available"]
