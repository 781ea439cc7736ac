import pytest

from envace_sdk.files import absolute, write_whole


def test_what_is_there_is_found_from_anywhere_and_the_rest_is_left(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    (tmp_path / "mcp.json").touch()
    assert absolute("model") == f"{tmp_path}/model"
    assert absolute("mcp.json#a/b") == f"{tmp_path}/mcp.json#a/b"
    assert absolute("transformers:./model") == f"transformers:{tmp_path}/model"
    for name in (
        "retail",
        "https://a.example/model#x",
        "http://model",
        "openai:gpt",
        "none.json#shop",
        "~nobody/x#y",
        "",
        "#",
        ":",
    ):
        assert absolute(name) == name


@pytest.mark.parametrize(("content", "read"), [(b"\xff\n", b"\xff\n"), ("ü\ud800", b"\xc3\xbc\\ud800")])
def test_bytes_and_any_text_are_written_in_place_of_what_was_there(tmp_path, content, read):
    path = tmp_path / "a"
    path.write_bytes(b"before")
    write_whole(path, content)
    assert path.read_bytes() == read
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_leaves_what_was_there_and_nothing_beside(tmp_path):
    path = tmp_path / "folder"
    (path / "in it").mkdir(parents=True)
    with pytest.raises(OSError, match="folder"):
        write_whole(path, "text")
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]
    assert (path / "in it").is_dir()
