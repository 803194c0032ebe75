"""Pictures sent with a message: taken, refused with a sentence, and never the end of a thread."""

import struct
import zlib

import pytest

from tests.cli.kit import DONE, decoded


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
