from html.parser import HTMLParser

from examined import episode, report_on

from envace_sdk.evaluate import page

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"


class Tags(HTMLParser):
    """Collects the tags of a page, and the attributes that could reach out."""

    def __init__(self, text):
        super().__init__()
        self.tags = set()
        self.reaching = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.reaching += [name for name, _ in attrs if name in ("src", "href", "style") or name.startswith("on")]

    def handle_data(self, data):
        self.text += data


def hostile_page():
    held_out = [
        episode(HOSTILE, ("get" + HOSTILE, {HOSTILE: HOSTILE}, {"x": HOSTILE, HOSTILE: 1}), ("get", {}, HOSTILE, True))
    ]
    return page(HOSTILE, [[report_on(held_out, lambda fixture, call: {"y": HOSTILE})]])


def test_nothing_that_was_recorded_or_answered_becomes_part_of_the_page():
    found = Tags(hostile_page())
    assert not found.tags & {"script", "img", "iframe", "link", "object"}
    assert found.reaching == []
    assert found.text.count("alert(1)") > 5


def test_both_answers_stand_side_by_side_with_what_differs_marked():
    held_out = [episode("a", ("get", {"id": "N-100"}, {"id": "N-100", "title": "Oat milk"}))]
    text = page("notes", [[report_on(held_out, lambda fixture, call: {"id": "other", "title": "Oat milk"})]])
    assert "<del>  &quot;id&quot;: &quot;N-100&quot;,</del>" in text
    assert "<ins>  &quot;id&quot;: &quot;other&quot;,</ins>" in text
    assert text.count("  &quot;title&quot;: &quot;Oat milk&quot;\n") == 2


def test_half_a_surrogate_pair_can_be_written():
    held_out = [episode("a", ("get", {"id": "\ud800"}, {"id": "\ud800"}))]
    page("x", [[report_on(held_out, lambda fixture, call: "y")]]).encode("utf-8", "backslashreplace")
