"""Secrets do not reach the file, and calls that hold them are found again."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import FixtureError
from envace_sdk.recordings import REDACTED, Matching, SecretRedactor, Writer

SECRETS = [
    "sk-" + "ant-api03-" + "aB3_" * 8,
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2_" * 8,
    "xoxb-1234567890-abcdef",
    "AKIAABCDEFGHIJKLMNOP",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    "hf_" + "aB3" * 12,
    "glpat-abcdefghij0123456789",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_what_looks_like_a_token_is_taken_out_wherever_it_stands(secret):
    redact = SecretRedactor()
    assert redact({"note": [f"use {secret} here"]}) == {"note": [f"use {REDACTED} here"]}


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "API_KEY",
        "x-api-key",
        "clientSecret",
        "access_token",
        "Authorization",
        "GITHUB_TOKEN",
        "db.password",
    ],
)
def test_a_field_named_like_a_secret_loses_its_text(name):
    redact = SecretRedactor()
    assert redact({name: "hunter2!"}) == {name: REDACTED}
    assert redact({"text": json.dumps({name: "hunter2!", "n": 1})}) == {"text": json.dumps({name: REDACTED, "n": 1})}
    nested = json.dumps({"body": json.dumps({name: "hunter2!"})})
    assert "hunter2" not in redact(nested)
    assert "hunter" not in redact({"text": json.dumps({name: 'hunter"2'})})["text"]


@pytest.mark.parametrize(
    "value",
    [
        {"nextPageToken": "abc", "page_token": "p2", "progressToken": "1", "continuation_token": "c"},
        {"properties": {"password": {"type": "string"}}, "required": ["password"]},
        {"max_tokens": "100", "tokens": "many", "secretary": "Ann", "keyboard": "us"},
        {"password": "", "token": None, "secret": 5, "has_password": True},
        {"url": "https://example.com/a:b@c", "text": "task-abcdefghijklmnopqrstuvwxyz0123"},
    ],
)
def test_what_is_no_secret_stays_and_is_not_copied(value):
    assert SecretRedactor()(value) is value


def test_further_names_and_shapes_can_be_told():
    redact = SecretRedactor(["pin code"], [r"\bCUST-\d+\b"])
    assert redact({"pin_code": "1234", "who": "CUST-77 called"}) == {"pin_code": REDACTED, "who": f"{REDACTED} called"}


def test_a_pattern_that_is_none_is_refused():
    with pytest.raises(FixtureError, match="no regular expression"):
        SecretRedactor(patterns=["("])


def test_userinfo_of_a_url_is_taken_out():
    assert SecretRedactor()("postgres://ann:s3cret@db/x") == f"postgres://{REDACTED}@db/x"


def test_secrets_are_taken_out_before_anything_is_written(tmp_path):
    path = tmp_path / "r.jsonl"
    with Writer(path) as writer:
        writer.write({"kind": "notice", "session": "a", "method": "m", "params": {"token": "hunter2!"}})
    assert "hunter2" not in path.read_text()


def test_a_call_with_another_secret_is_the_same_call():
    matching = Matching()
    recorded = {"name": "login", "arguments": {"user": "ann", "password": REDACTED}}
    called = {"name": "login", "arguments": {"user": "ann", "password": "other"}}
    assert matching.key("tools/call", called) == matching.key("tools/call", recorded)


@given(st.recursive(st.none() | st.text() | st.integers(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_redacting_twice_changes_nothing_more(value):
    redact = SecretRedactor()
    assert redact(redact(value)) == redact(value)
