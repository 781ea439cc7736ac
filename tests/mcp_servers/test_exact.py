import anyio
import pytest
from envace_sdk.mcp_servers.exact import Splice, SplicingApp

pytestmark = pytest.mark.anyio


def test_a_marker_is_replaced_by_the_bytes_it_stands_for():
    splice = Splice()
    (marker,) = splice.mark([b'{"n":1.0}', b'{"n":1e3}'])
    assert splice.apply(b'{"tools":["' + marker.encode() + b'"]}') == b'{"tools":[{"n":1.0},{"n":1e3}]}'


def test_no_items_need_no_marker():
    assert Splice().mark([]) == []


def test_bytes_with_backslashes_and_group_references_come_through():
    splice = Splice()
    (marker,) = splice.mark([rb'{"p":"\\1\g<0>\u00e9"}'])
    assert splice.apply(b'["' + marker.encode() + b'"]') == rb'[{"p":"\\1\g<0>\u00e9"}]'


def test_markers_of_another_splice_are_just_text():
    (marker,) = Splice().mark([b"1"])
    frame = b'["' + marker.encode() + b'"]'
    assert Splice().apply(frame) == frame


async def _through(splice, *messages):
    async def app(scope, receive, send):
        for message in messages:
            await send(message)

    sent = []

    async def send(message):
        await anyio.lowlevel.checkpoint()
        sent.append(message)

    await SplicingApp(app, splice)({"type": "http"}, None, send)
    return sent


async def test_the_length_of_a_plain_response_is_corrected():
    splice = Splice()
    (marker,) = splice.mark([b"1,2,3"])
    body = b'["' + marker.encode() + b'"]'
    start = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(len(body)).encode())]}
    sent = await _through(splice, start, {"type": "http.response.body", "body": body})
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert sent[0]["headers"] == [(b"content-length", b"7")]
    assert sent[1]["body"] == b"[1,2,3]"


async def test_each_event_of_a_stream_is_spliced():
    splice = Splice()
    (marker,) = splice.mark([b"7"])
    event = b'data: ["' + marker.encode() + b'"]\r\n\r\n'
    start = {"type": "http.response.start", "status": 200, "headers": []}
    parts = [{"type": "http.response.body", "body": event, "more_body": more} for more in (True, True, False)]
    sent = await _through(splice, start, *parts)
    assert [message["body"] for message in sent[1:]] == [b"data: [7]\r\n\r\n"] * 3
