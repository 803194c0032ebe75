"""Pictures sent with a message: taken, refused with a sentence, and never the end of a thread."""

import os
import sqlite3
import struct
import time
import zlib
from base64 import b64encode

import pytest

from tests.cli.kit import DONE, FIX, decoded
from tests.host.wires import RecordingStage, reaching


def png() -> bytes:
    """The smallest picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"\0\0")
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


def test_a_picture_is_in_the_message(steer, script, workspace):
    (workspace / "a.png").write_bytes(png())
    messages = steer.messages("run", "look", "--image", "a.png", "--model", script(DONE))
    (said,) = [m["body"] for m in messages if m["kind"] == "user"]
    assert said["images"][0]["media"] == "image/png"


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("none.png", None, "cannot be read"),
        ("text.png", b"hello", "is not an image that models take"),
        ("big.png", b"\x89PNG\r\n\x1a\n" + bytes(6_000_000), "is larger than 5 MB"),
    ],
)
def test_what_is_no_picture_is_told_so(steer, script, workspace, name, content, told):
    if content is not None:
        (workspace / name).write_bytes(content)
    done = steer("run", "look", "--image", name, "--model", script(DONE))
    assert done.returncode == 2
    assert told in done.stderr


def test_a_model_that_sees_nothing_says_so_and_the_thread_goes_on(steer, script, workspace):
    (workspace / "a.png").write_bytes(png())
    model = script({"text": "one"}, {"text": "two"})
    config = workspace.parent / "home" / ".config" / "steersman" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[models."{model}"]\nimages = false\n')
    done = steer("run", "look", "--image", "a.png", "--model", model)
    assert done.returncode == 2
    assert "cannot see images" in done.stderr
    thread = decoded(steer("threads", "list", "--json").stdout)[0]["id"]
    again = steer("resume", thread, "in words then", "--model", model)
    assert again.returncode == 0, again.stderr


def blobs(home):
    """What the store keeps besides messages."""
    with sqlite3.connect(home / "steersman.db") as connection:
        return [row[0] for row in connection.execute("SELECT data FROM blobs")]


def look(steer, script, *names):
    """A thread with some pictures."""
    asked = [word for name in names for word in ("--image", name)]
    return steer.work("run", "look", *asked, "--model", script(DONE)).thread


def test_a_picture_is_kept_once_however_often_it_is_sent(steer, script, workspace, home):
    (workspace / "a.png").write_bytes(png())
    (workspace / "same.png").write_bytes(png())
    threads = [look(steer, script, "a.png", "same.png"), look(steer, script, "a.png")]
    assert blobs(home) == [png()]

    steer("threads", "rm", "--yes", threads[0])
    assert blobs(home) == [png()]  # the other thread has it, too
    steer("threads", "rm", "--yes", threads[1])
    assert blobs(home) == []


def test_a_picture_that_is_pruned_before_the_log_names_it_is_kept(steer, script, workspace, home):
    """Another process removes what no thread names, at the very last moment."""
    (workspace / "a.png").write_bytes(png())
    steer.work("run", "first", "--model", script(DONE))
    with sqlite3.connect(home / "steersman.db") as connection:
        connection.execute(
            "CREATE TRIGGER prunes BEFORE INSERT ON messages WHEN NEW.kind = 'turn_start' "
            "BEGIN DELETE FROM blobs; END"
        )
    look(steer, script, "a.png")
    assert blobs(home) == [png()]


def test_a_resumed_thread_shows_the_model_its_pictures_again(steer, workspace):
    stage = RecordingStage()
    try:
        online = steer.having(**reaching({}, stage.url))
        (workspace / "a.png").write_bytes(png())
        stage.play({"text": "A dot."}, {"text": "Still a dot."})
        asked = ("--model", "anthropic:m-1")
        thread = online.work("run", "look", "--image", "a.png", *asked).thread
        assert online("resume", thread, "and now?").returncode == 0
        first, second = (request["body"]["messages"][0]["content"] for request in stage.log[-2:])
    finally:
        stage.close()
    seen = [part["source"]["data"] for part in (*first, *second) if part["type"] == "image"]
    assert seen == [b64encode(png()).decode()] * 2


def test_gc_removes_what_no_thread_refers_to_and_nothing_else(steer, script, workspace, home):
    (workspace / "a.png").write_bytes(png())
    look(steer, script, "a.png")
    with sqlite3.connect(home / "steersman.db") as connection:
        connection.execute("INSERT INTO blobs VALUES (?, ?)", ("0" * 64, b"orphan"))
    objects = home / "objects"
    old, young = objects / "ab" / ("c" * 62), objects / "ab" / ("d" * 62)
    old.parent.mkdir(parents=True, exist_ok=True)
    for path in (old, young):
        path.write_bytes(b"1234")
    os.utime(old, (0, time.time() - 100_000))

    said = decoded(steer("store", "gc", "--json").stdout)

    assert said == [{"contents": 2, "bytes": 10}]
    assert blobs(home) == [png()]
    assert (old.exists(), young.exists()) == (False, True)


def test_gc_keeps_what_an_undo_needs(steer, script, workspace, home):
    model = script({"tool_calls": [FIX]}, DONE)
    thread = steer.work("run", "--yes", "--model", model, "go").thread
    for path in (home / "objects").rglob("*"):
        os.utime(path, (0, 0))
    assert steer("store", "gc").stdout == "Removed 0 contents that no thread needs, 0.0 MB.\n"
    assert steer("undo", thread, "--yes").returncode == 0
    assert "a - b" in (workspace / "calc.py").read_text()


def test_an_exported_thread_takes_its_pictures_along(steer, script, workspace, home, tmp_path):
    (workspace / "a.png").write_bytes(png())
    thread = look(steer, script, "a.png")
    assert steer("threads", "export", thread, "-o", str(tmp_path / "t.jsonl")).returncode == 0
    steer("threads", "rm", "--yes", thread)
    assert blobs(home) == []
    assert steer("threads", "import", str(tmp_path / "t.jsonl")).returncode == 0
    assert blobs(home) == [png()]
    assert steer("ledger", "verify", thread).returncode == 0
