import asyncio

import pytest
from model_endpoint import failure, garbage, model_endpoint

from envace_sdk.errors import ModelError
from envace_sdk.models import Completion, Message, NativeCall, Request, Sampling, load_model

ASKED = Request(messages=(Message("user", "Say hello."),))


@pytest.fixture
def server():
    with model_endpoint() as (endpoint, url):
        yield endpoint, url


def complete(url, *requests, **options):
    async def run():
        model = load_model(f"openai:tiny@{url}", **{"backoff": 0.001, **options})
        try:
            return await model.complete(requests)
        finally:
            await model.close()

    return asyncio.run(run())


def test_messages_go_to_the_chat_endpoint_with_all_that_is_asked(server):
    endpoint, url = server
    sampling = Sampling(max_tokens=9, temperature=0.5, top_p=0.9, seed=3, stop=("END",))
    tool = {"type": "function", "function": {"name": "f"}}
    request = Request(messages=(Message("user", "Hi"),), tools=(tool,), schema={"type": "object"}, sampling=sampling)
    complete(url, request, api_key="k", headers={"x-team": "blue"}, extra_body={"top_k": 5})
    assert endpoint.bodies == [
        {
            "model": "tiny",
            "messages": [{"role": "user", "content": "Hi"}],
            "max_tokens": 9,
            "temperature": 0.5,
            "top_p": 0.9,
            "seed": 3,
            "stop": ["END"],
            "tools": [tool],
            "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}},
            "logprobs": True,
            "return_token_ids": True,
            "top_k": 5,
        }
    ]
    assert endpoint.headers[0]["authorization"] == "Bearer k"
    assert endpoint.headers[0]["x-team"] == "blue"


def test_tokens_and_logprobs_are_there_where_the_server_gives_both(server):
    endpoint, url = server
    whole = Completion("Hello.", (7, 8, 2), (-0.5, -0.25, -0.125), "stop", (1, 5))
    assert complete(url, ASKED) == [whole]
    endpoint.logprobs = [-0.5]
    assert complete(url, ASKED)[0].logprobs is None, "of another number of tokens"
    endpoint.token_ids = None
    assert complete(url, ASKED)[0] == Completion("Hello.")


def test_prompt_tokens_go_to_the_completion_endpoint_as_they_are(server):
    endpoint, url = server
    request = Request(prompt_ids=(1, 5, 9))
    assert complete(url, request) == [Completion("Hello.", (7, 8, 2), (-0.5, -0.25, -0.125), "stop", (1, 5, 9))]
    assert endpoint.bodies[0]["prompt"] == [1, 5, 9]
    assert "messages" not in endpoint.bodies[0]


def test_logprobs_at_another_temperature_than_asked_are_left_out(server):
    _, url = server
    warm = Request(messages=ASKED.messages, sampling=Sampling(temperature=0.7))
    assert complete(url, warm)[0].logprobs is None
    assert complete(url, warm, tempered=True)[0].logprobs is not None


def test_calls_that_the_server_parsed_are_given(server):
    endpoint, url = server
    function = {"name": "f", "arguments": '{"x": 1}'}
    endpoint.message = {"content": None, "tool_calls": [{"id": "c1", "type": "function", "function": function}]}
    endpoint.finish = "tool_calls"
    completion = complete(url, ASKED)[0]
    assert (completion.text, completion.finish_reason) == ("", "stop")
    assert completion.tool_calls == (NativeCall("f", '{"x": 1}', "c1"),)


@pytest.mark.parametrize(
    ("said", "finish"), [("stop", "stop"), ("length", "length"), ("content_filter", "error"), (None, "stop")]
)
def test_the_finish_reason_is_told(server, said, finish):
    endpoint, url = server
    endpoint.finish = said
    assert complete(url, ASKED)[0].finish_reason == finish


def test_what_passes_is_tried_again(server):
    endpoint, url = server
    endpoint.failures.extend([failure(429, **{"retry-after": "0"}), failure(503)])
    assert complete(url, ASKED)[0].text == "Hello."
    assert len(endpoint.bodies) == 3


def test_what_does_not_pass_ends_in_an_error_that_says_so(server):
    endpoint, url = server
    endpoint.failures.extend([failure(503, "overloaded")] * 3)
    with pytest.raises(ModelError, match=r"503 overloaded \(tried 3 times\)"):
        complete(url, ASKED, retries=2)


def test_a_late_answer_counts_as_none(server):
    endpoint, url = server
    endpoint.delay = 5
    with pytest.raises(ModelError, match=r"no answer within 0\.05 seconds"):
        complete(url, ASKED, timeout=0.05, retries=0)


def test_an_endpoint_that_is_not_there_is_an_error():
    with pytest.raises(ModelError, match=r"http://127\.0\.0\.1:1/v1"):
        complete("http://127.0.0.1:1/v1", ASKED, retries=1)


@pytest.mark.parametrize(("status", "message"), [(401, "no such key"), (404, "no such model")])
def test_a_wrong_key_or_model_is_an_error_at_once(server, status, message):
    endpoint, url = server
    endpoint.failures.append(failure(status, message))
    with pytest.raises(ModelError, match=f"{status}: {message}"):
        complete(url, ASKED)
    assert len(endpoint.bodies) == 1


def test_one_request_that_is_refused_does_not_take_the_others_with_it(server):
    endpoint, url = server
    endpoint.failures.append(failure(400, "too long"))
    refused, answered = complete(url, ASKED, ASKED, concurrency=1)
    assert (refused.finish_reason, refused.error) == ("error", "the server refuses it: 400 too long")
    assert answered.text == "Hello."


@pytest.mark.parametrize("field", ["return_token_ids", "logprobs", "seed"])
def test_a_field_that_the_server_does_not_know_is_left_out_from_then_on(server, field):
    endpoint, url = server
    endpoint.refused.add(field)
    request = Request(messages=ASKED.messages, sampling=Sampling(seed=1))
    assert [each.text for each in complete(url, *[request] * 4, concurrency=2)] == ["Hello."] * 4
    assert sum(field in body for body in endpoint.bodies) <= 2
    assert field not in endpoint.bodies[-1]


def test_a_server_that_calls_the_limit_otherwise_gets_it_so(server):
    endpoint, url = server
    endpoint.refused.add("max_tokens")
    assert complete(url, ASKED)[0].text == "Hello."
    assert endpoint.bodies[-1]["max_completion_tokens"] == 512


def test_a_field_that_is_needed_is_never_left_out(server):
    endpoint, url = server
    endpoint.refused.add("response_format")
    request = Request(messages=ASKED.messages, schema={"type": "object"})
    assert complete(url, request)[0].finish_reason == "error"


def test_no_more_requests_are_under_way_than_allowed(server):
    endpoint, url = server
    endpoint.delay = 0.02
    complete(url, *[ASKED] * 8, concurrency=2)
    assert endpoint.most_at_once == 2
    complete(url, *[ASKED] * 8, concurrency=8)
    assert endpoint.most_at_once > 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"choices": []}',
        '{"choices": [7]}',
        '{"choices": [{}]}',
        '{"choices": [{"message": {"content": 7}}]}',
        '{"choices": [{"message": {"tool_calls": [{}]}}]}',
        '{"choices": [{"message": {"tool_calls": 7}}]}',
        "[" * 100_000,
    ],
)
def test_an_answer_that_is_no_completion_is_an_error(server, text):
    endpoint, url = server
    endpoint.failures.append(garbage(text))
    with pytest.raises(ModelError, match="answers no completion"):
        complete(url, ASKED)


def test_a_key_for_openai_is_sent_to_nobody_else(server, monkeypatch):
    endpoint, url = server
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.delenv("ENVACE_MODEL_KEY", raising=False)
    complete(url, ASKED)
    assert "authorization" not in endpoint.headers[0]
    monkeypatch.setenv("ENVACE_MODEL_KEY", "mine")
    complete(url, ASKED)
    assert endpoint.headers[1]["authorization"] == "Bearer mine"


def test_one_model_serves_one_event_loop_after_another(server):
    _, url = server
    model = load_model(f"openai:tiny@{url}")

    async def run():
        async with model:
            return await model.complete([ASKED])

    for _ in range(2):
        assert asyncio.run(run())[0].text == "Hello."


@pytest.mark.parametrize(
    "address",
    [
        "openai:tiny",
        "openai:@http://x/v1",
        "openai:tiny@ftp://x",
        "openai:tiny@http://",
        "openai:tiny@http://[::1",
        "openai:tiny@http://x:port/v1",
    ],
)
def test_an_address_without_an_endpoint_is_an_error(address):
    with pytest.raises(ModelError, match="http://"):
        load_model(address)
