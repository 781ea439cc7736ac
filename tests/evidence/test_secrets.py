import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from envace_sdk.errors import EvidenceError
from envace_sdk.evidence import install_key, keyed_redactor
from envace_sdk.redaction import REDACTED, SecretRedactor

SECRET = "ghp_" + "a" * 36


@pytest.fixture(autouse=True)
def no_key_in_the_environment(monkeypatch):
    monkeypatch.delenv("ENVACE_REDACTION_KEY", raising=False)


def test_the_same_secret_leaves_the_same_mark_and_another_one_another():
    redact = keyed_redactor(b"k")
    marks = redact({"password": "1234", "again": {"password": "1234"}, "other": {"password": "1235"}})
    assert marks["password"] == marks["again"]["password"] != marks["other"]["password"]
    assert "1234" not in str(marks)


def test_without_the_key_a_mark_cannot_be_guessed():
    assert keyed_redactor(b"k")({"pin": "1", "password": "1234"}) != keyed_redactor(b"l")(
        {"pin": "1", "password": "1234"}
    )


@pytest.mark.parametrize("value", [1234, 12.5, ["a", "b"], {"user": "ann", "code": 7}])
def test_whatever_is_in_a_field_named_like_a_secret_is_taken_out(value):
    redacted = keyed_redactor(b"k")({"passcode": value, "n": 1})
    assert redacted["passcode"].startswith("[redacted:")
    assert redacted["n"] == 1


@pytest.mark.parametrize("value", [None, True, "", "plain"])
def test_what_is_no_secret_stays(value):
    assert keyed_redactor(b"k")({"token": None, "n": value}) == {"token": None, "n": value}


def test_tokens_are_taken_out_of_texts_and_of_json_in_texts():
    redact = keyed_redactor(b"k")
    assert SECRET not in redact(f"use {SECRET} now")
    assert "hunter2" not in redact('{"password": "hunter2"}')
    assert "hunter2" not in redact('{"a": "{\\"password\\": \\"hunter2\\"}"}')


def test_redacting_twice_is_redacting_once():
    redact = keyed_redactor(b"k")
    once = redact({"password": "hunter2", "text": f"use {SECRET}", "json": '{"token": "abc"}'})
    assert redact(once) == once
    assert keyed_redactor(b"other")(once) == once


def test_what_is_too_deep_to_look_through_is_taken_out_whole():
    value = SECRET
    for _ in range(300):
        value = [value]
    assert SECRET not in str(keyed_redactor(b"k")(value))
    assert REDACTED in str(keyed_redactor(b"k")(value))


def test_a_recording_keeps_numbers_so_that_its_answers_stay_valid():
    assert SecretRedactor()({"passcode": 1234, "password": "x"}) == {"passcode": 1234, "password": REDACTED}


def test_further_names_and_patterns_can_be_given():
    redact = keyed_redactor(b"k", keys=["customer no"], patterns=[r"CUST-\d+"])
    assert "17" not in str(redact({"customer_no": 17, "text": "CUST-17"}))


def test_the_key_is_made_once_and_only_its_user_can_read_it(tmp_path):
    file = tmp_path / "deep" / "redaction.key"
    with ThreadPoolExecutor(8) as pool:
        keys = {*pool.map(lambda _: install_key(file), range(32))}
    assert keys == {file.read_bytes()}
    assert len(file.read_bytes()) == 32
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["redaction.key"]


def test_the_key_may_come_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("ENVACE_REDACTION_KEY", "shared")
    assert install_key(tmp_path / "none") == install_key(tmp_path / "other")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_key_is_refused(tmp_path):
    file = tmp_path / "redaction.key"
    file.write_bytes(b"short")
    with pytest.raises(EvidenceError, match=r"redaction\.key.*not a key"):
        install_key(file)
    with pytest.raises(EvidenceError, match="cannot be kept"):
        install_key(file / "below" / "a file")
