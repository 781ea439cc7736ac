"""What came of an action in doubt, said at a terminal."""

import pytest
from click.testing import CliRunner
from guarded_desk import REFUND, action, desk

from envace_sdk.cli.main import cli
from envace_sdk.errors import GuardError, TimedOutError
from envace_sdk.guard.settling import settle

FREE = {
    "name": "free",
    "tools": "refund_order",
    "arguments": {
        "order_id": {"type": "string", "maxLength": 9},
        "amount": {"type": "number", "minimum": 0, "maximum": 99},
    },
    "then": "commit",
}


@pytest.fixture
def doubtful(tmp_path):
    """A desk where a refund was sent, and its answer lost; with the action."""
    made = desk(tmp_path, FREE)
    made.fails = TimedOutError("lost")
    sent = action(thread="chat")
    with pytest.raises(TimedOutError):
        made.run(sent)
    made.fails = None
    return made, sent


def run(made, *words):
    url = str(made.ledger.database.engine.url)
    return CliRunner().invoke(cli, ["guard", "settle", *words, "--ledger", url, "--by", "ann"])


def test_what_happened_is_given_as_a_claim_and_never_run_again(doubtful):
    made, sent = doubtful
    result = run(made, sent.identity, "--happened", "--result", '{"refunded": 20}')
    assert result.exit_code == 0, result.output
    outcome = made.run(sent)
    assert (outcome.evidence.kind, outcome.replayed) == ("claimed", True)
    assert outcome.result.structured == {"refunded": 20}
    assert len(made.executed) == 1


def test_what_did_not_happen_is_judged_and_run_anew(doubtful):
    made, sent = doubtful
    assert run(made, sent.identity, "--did-not-happen").exit_code == 0
    assert made.run(sent).evidence.kind == "observed"
    assert len(made.executed) == 2


def test_each_attempt_can_be_settled_by_the_id_of_the_action(doubtful):
    made, sent = doubtful
    settle(made.ledger, sent.identity, by="ann", happened=False)
    made.fails = TimedOutError("lost again")
    with pytest.raises(TimedOutError):
        made.run(sent)
    settle(made.ledger, f"{sent.identity}#1", by="ann", happened=True)
    assert made.run(sent).evidence.kind == "claimed"
    assert len(made.executed) == 2


def test_only_what_is_in_doubt_can_be_settled_by_id_and_somebody_must_say_so(doubtful):
    made, sent = doubtful
    with pytest.raises(GuardError, match="unknown"):
        settle(made.ledger, "nothing", by="ann", happened=True)
    with pytest.raises(GuardError, match="nobody"):
        settle(made.ledger, sent.identity, by="", happened=True)
    settle(made.ledger, sent.identity, by="ann", happened=True)
    with pytest.raises(GuardError, match="observed"):
        settle(made.ledger, sent.identity, by="ann", happened=True)


@pytest.mark.parametrize("words", [[], ["--did-not-happen", "--result", "{}"], ["--happened", "--result", "{"]])
def test_what_was_found_must_be_said(doubtful, words):
    made, sent = doubtful
    assert run(made, sent.identity, *words).exit_code in {1, 2}
    assert made.ledger.status(sent.identity) == "in_doubt"


def test_the_claim_goes_with_the_arguments_that_were_sent(doubtful):
    made, sent = doubtful
    settle(made.ledger, sent.identity, by="ann", happened=True)
    [entry] = made.ledger.entries(kind="observed")
    assert made.ledger.payload(entry)["arguments"] == REFUND
    assert entry.body["digest"] == sent.digest
