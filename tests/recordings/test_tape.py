"""Frames of either era become the same lines."""

from envace_sdk.recordings import Dialogues, Episode, Exchange, Tape

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    "io.modelcontextprotocol/logLevel": "info",
}


def request(number, method, params=None):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


def result(number, **members):
    return {"jsonrpc": "2.0", "id": number, "result": members}


def lines(tape, *frames):
    """What is written, given frames with the side they come from."""
    written = []
    for side, frame in frames:
        if side == ">":
            tape.from_client(frame)
        else:
            written += tape.from_server(frame)
    return written


def test_a_call_of_either_era_becomes_the_same_exchange():
    call = {"name": "get", "arguments": {"id": 7}}
    envelope = {**call, "_meta": {**MODERN, "progressToken": 4, "x": 1}}
    content = {"content": [{"type": "text", "text": "seven"}]}
    stamped = {**content, "resultType": "complete", "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s"}}}
    [_, old] = lines(Tape(Episode("stdio")), (">", request(1, "tools/call", call)), ("<", result(1, **content)))
    [session, new] = lines(
        Tape(Episode("http")), (">", request("a", "tools/call", envelope)), ("<", result("a", **stamped))
    )
    assert session["server"] == {"name": "s"}
    assert session["era"] == "2026-07-28"
    assert old["result"] == new["result"] == content
    assert old["params"] == call
    assert new["params"] == {**call, "_meta": {"x": 1}}
    assert new["client"] == {"capabilities": {"elicitation": {}}, "log_level": "info", "progress": True}


def test_progress_and_messages_belong_to_their_request():
    tape = Tape(Episode("stdio"))
    progress = {"method": "notifications/progress", "params": {"progressToken": 9, "progress": 1}}
    message = {"method": "notifications/message", "params": {"level": "info", "data": "x"}}
    *_, second, first = lines(
        tape,
        (">", request(1, "tools/call", {"name": "a", "_meta": {"progressToken": 9}})),
        (">", request(2, "tools/call", {"name": "b"})),
        ("<", progress),
        ("<", message),
        ("<", result(2)),
        ("<", result(1)),
    )
    assert [event["params"] for event in first["events"]] == [{"progress": 1}]
    assert [event["method"] for event in second["events"]] == ["notifications/message"]


def test_ids_of_other_types_are_other_ids_and_strays_are_left_out():
    tape = Tape(Episode("stdio"))
    frames = [(">", request(1, "tools/call", {"name": "a"})), ("<", result("1")), ("<", result(2)), ("<", {"id": True})]
    assert lines(tape, *frames) == []
    assert lines(tape, (">", 5), ("<", None), (">", [None]), ("<", {"method": 5})) == []
    [_, exchange] = lines(tape, ("<", result(1)))
    assert exchange["params"] == {"name": "a"}


def test_batches_cancelled_requests_and_probes_for_the_other_era():
    tape = Tape(Episode("stdio"))
    refused = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}
    assert lines(tape, (">", request(1, "server/discover", {"_meta": MODERN})), ("<", refused)) == []
    batch = [request(2, "tools/call", {"name": "a"}), request(3, "tools/call", {"name": "b"})]
    cancelled = {"method": "notifications/cancelled", "params": {"requestId": 3}}
    written = lines(tape, (">", batch), (">", cancelled), ("<", [result(2), result(3)]))
    assert [line["params"]["name"] for line in written if line["kind"] == "exchange"] == ["a"]


def asks_of_both_eras():
    """The same conversation: a question, its answer, and what came of it."""
    question = {"method": "elicitation/create", "params": {"message": "Name?"}}
    answer = {"action": "accept", "content": {"name": "Ann"}}
    call = {"name": "greet", "arguments": {}}
    old, new = Tape(Episode("stdio")), Tape(Episode("stdio"))
    [_, legacy] = lines(
        old,
        (">", request(1, "tools/call", call)),
        ("<", {"id": "q", **question}),
        (">", result("q", **answer)),
        ("<", result(1, content=[])),
    )
    _, first, last = lines(
        new,
        (">", request(1, "tools/call", {**call, "_meta": MODERN})),
        ("<", result(1, resultType="input_required", inputRequests={"who": question}, requestState="S")),
        (
            ">",
            request(2, "tools/call", {**call, "_meta": MODERN, "inputResponses": {"who": answer}, "requestState": "S"}),
        ),
        ("<", result(2, content=[], resultType="complete")),
    )
    return legacy, first, last, answer


def test_questions_of_either_era_become_turns():
    legacy, first, last, answer = asks_of_both_eras()
    for recorded in ([legacy], [first, last]):
        dialogues = Dialogues()
        [final] = dialogues.learn([Exchange.from_json(line) for line in recorded])
        key = dialogues.key("tools/call", {"name": "greet"})
        turn = dialogues.first(key, final.exchange.client)
        [(name, question)] = turn.asks.items()
        assert question == {"method": "elicitation/create", "params": {"message": "Name?"}}
        assert turn.exactly({name: answer}) == ({name: answer}, None)
        other = {"action": "accept", "content": {"name": "Bob"}}
        assert turn.exactly({name: other, "more": 1}) is None
        assert turn.nearly({name: other}) == ({name: answer}, None)
        assert turn.nearly({name: {"action": "decline"}}) is None
        assert final.inputs == ({name: answer},)
        assert dialogues.find(key, turn.state, {}, final.exchange.client) is turn
        assert dialogues.find(key, "forged", {}, final.exchange.client) is None
