"""`workspace_read_file` as a model meets it, with its limits and refusals."""

import os
import re
import socket
import stat
import subprocess
import sys

import pytest

from steersman.operations.tools.read_file import ReadFile
from tests.operations.finding.kit import use


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "work"
    made.mkdir()
    return made


@pytest.fixture
def read(folder):
    """Read a file: the answer, or the words of the refusal."""

    def call(path, **arguments):
        return use(ReadFile(), folder, path=path, **arguments)

    return call


def test_a_small_file_is_read_whole(folder, read):
    (folder / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    assert read("calc.py") == {
        "success": True,
        "file_size": 32,
        "total_lines": 2,
        "lines_read": 2,
        "content": "1\tdef add(a, b):\n2\t    return a - b",
    }


def test_a_range_says_where_to_go_on(folder, read):
    (folder / "many.txt").write_text("".join(f"line {n}\n" for n in range(1, 5001)))
    assert read("many.txt", offset=10, limit=2) == {
        "success": True,
        "file_size": 48893,
        "total_lines": 5000,
        "lines_read": 2,
        "content": "10\tline 10\n11\tline 11",
        "note": "lines 10–11 of 5,000; next: offset 12",
    }
    assert "note" not in read("many.txt", offset=4999)


def test_more_than_an_answer_holds_is_an_error_with_the_next_call(folder, read):
    (folder / "many.txt").write_text("".join(f"line {n}\n" for n in range(1, 5001)))
    assert read("many.txt") == (
        "many.txt has 5,000 lines and 48,893 bytes. One answer holds 2,000 lines and 32 KB.\n"
        "Read offset 1, limit 2000, then go on at offset 2001; "
        "or find the place with workspace_search_files."
    )
    assert read("many.txt", offset=1, limit=2000)["note"].endswith("next: offset 2001")
    assert "Read offset 2001, limit 2000, then go on at offset 4001" in read(
        "many.txt", offset=2001
    )
    assert read("many.txt", offset=4001)["lines_read"] == 1000
    (folder / "exact.txt").write_text("a\n" * 2000)
    assert read("exact.txt")["lines_read"] == 2000


@pytest.mark.parametrize(
    ("content", "lines", "note"),
    [(b"", 0, "the file is empty"), (b"a", 1, None), (b"\n\n", 2, None),
     (b"\xef\xbb\xbfa\n", 1, None)],
    ids=["empty", "no final newline", "only newlines", "a byte order mark"],
)  # fmt: skip
def test_small_shapes(folder, read, content, lines, note):
    (folder / "f").write_bytes(content)
    found = read("f")
    assert (found["total_lines"], found["lines_read"], found.get("note")) == (lines, lines, note)
    assert "\ufeff" not in found["content"]


def test_32_kb_are_paged_by_following_the_errors(folder, read):
    (folder / "wide.txt").write_text("".join(f"{n} {'x' * 90}\n" for n in range(1, 1001)))
    asked, seen = {}, []
    while asked is not None:
        found = read("wide.txt", **asked)
        if isinstance(found, str):
            fits = re.search(r"Read offset (\d+), limit (\d+)", found)
            asked = {"offset": int(fits[1]), "limit": int(fits[2])}
            continue
        assert len(found["content"].encode()) <= 32 * 1024
        seen += found["content"].split("\n")
        after = re.search(r"next: offset (\d+)", found.get("note", ""))
        asked = {"offset": int(after[1])} if after else None
    assert seen == [f"{n}\t{n} {'x' * 90}" for n in range(1, 1001)]


def test_a_limit_whose_lines_are_too_many_bytes_is_an_error_too(folder, read):
    (folder / "wide.txt").write_text(f"{'x' * 90}\n" * 1000)
    said = read("wide.txt", offset=101, limit=500)
    assert said == (
        "Lines 101–600 of wide.txt are more than the 32 KB one answer holds.\n"
        "Read offset 101, limit 344, then go on at offset 445; "
        "or find the place with workspace_search_files."
    )
    assert read("wide.txt", offset=101, limit=344)["lines_read"] == 344


def test_a_long_line_is_cut_with_a_marker(folder, read):
    (folder / "min.js").write_text("é" * 3000 + "\nshort\n")
    found = read("min.js")
    assert found["content"] == f"1\t{'é' * 512}... [truncated]\n2\tshort"
    assert found["note"] == "1 long line was cut"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("größe\r\nzwei\r\n".encode("utf-16"), {"encoding": "utf-16-le", "line_endings": "crlf"}),
        ("größe\nzwei\r\n".encode("latin-1"), {"encoding": "latin-1", "line_endings": "mixed"}),
        ("größe\nzwei\n".encode(), {}),
    ],
)
def test_encoding_and_endings_are_named(folder, read, content, told):
    (folder / "f.txt").write_bytes(content)
    found = read("f.txt")
    assert found.pop("content") == "1\tgröße\n2\tzwei"
    assert found == {
        "success": True, "file_size": len(content), "total_lines": 2, "lines_read": 2, **told
    }  # fmt: skip


def test_more_than_1_mb_needs_a_range(folder, read):
    (folder / "big.txt").write_bytes(b"0123456789abcde\n" * 62_501)
    assert read("big.txt") == (
        "big.txt has 62,501 lines and 1,000,016 bytes. One answer holds 2,000 lines and 32 KB.\n"
        "Read offset 1, limit 1613, then go on at offset 1614; "
        "or find the place with workspace_search_files."
    )
    (folder / "line.json").write_bytes(b"x" * 1_000_001)
    assert "Read offset 1, limit 1;" in read("line.json")
    assert read("line.json", offset=1, limit=1)["note"] == "1 long line was cut"
    assert read("big.txt", limit=1)["total_lines"] == 62_501
    assert read("big.txt", offset=62_501)["content"] == "62501\t0123456789abcde"


def test_past_a_limit_it_is_said_how_to_page(folder, read):
    (folder / "f").write_text("a\nb\n")
    assert read("f", limit=2001, offset=3) == (
        "A limit of 2,001 lines is too much: an answer has at most 2,000.\n"
        "Read offset 3, limit 2000, then offset 2003."
    )
    assert read("f", offset=3) == (
        "f has 2 lines; offset 3 is past its end.\nIts last lines begin at offset 1."
    )


def test_images_and_documents_are_said_to_be_so(folder, read):
    (folder / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(1000))
    (folder / "b.txt").write_bytes(b"%PDF-1.7\n")
    (folder / "c").write_bytes(b"\x7fELF\x02\x01\x01\0")
    hint = "\nA command that knows the format can show more."
    assert read("a.png") == "a.png is an image (PNG, 1,008 bytes), not text." + hint
    assert read("b.txt") == "b.txt is a PDF document (9 bytes), not text." + hint
    assert read("c") == "c is not a text file: binary data, 8 bytes." + hint


def test_a_missing_file_is_answered_with_names_like_it(folder, read):
    (folder / "src").mkdir()
    (folder / "src" / "settings.py").write_text("")
    (folder / "README.md").write_text("")
    assert read("readme.MD") == "readme.MD does not exist.\nThere is: README.md."
    assert read("settings.py") == "settings.py does not exist.\nThere is: src/settings.py."
    assert read("lib/settings.py") == (
        "lib/settings.py does not exist.\nThere is: src/settings.py."
    )
    assert read("zzz") == "zzz does not exist.\nList the folder with workspace_list_files."


def test_what_is_no_plain_file_is_refused_at_once(folder, read):
    os.mkfifo(folder / "pipe")
    (folder / "deep").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(folder / "sock"))
        refused = "is not a regular file.\nIt is a pipe, socket or device."
        assert read("sock") == f"sock {refused}"
        assert read("pipe") == f"pipe {refused}"
    assert read("deep") == "deep is a folder.\nList it with workspace_list_files."


@pytest.mark.parametrize(
    "path", ["../outside.txt", "/etc/hostname", "out", "loop/../../outside.txt"]
)
def test_outside_is_denied(folder, read, path):
    (folder.parent / "outside.txt").write_text("secret")
    (folder / "out").symlink_to(folder.parent / "outside.txt")
    assert read(path).startswith("Denied: ")
    assert "secret" not in read(path)


def test_a_link_inside_is_followed_and_a_bad_name_is_refused(folder, read):
    (folder / "real.txt").write_text("here\n")
    (folder / "link").symlink_to("real.txt")
    (folder / "broken").symlink_to("nothing")
    assert read("link")["content"] == "1\there"
    assert read("broken").startswith("broken does not exist.")
    assert read("a\0b") == "A path must not be empty or contain a NUL character."
    assert read("") == "A path must not be empty or contain a NUL character."


def test_without_permission_it_is_said(folder):
    (folder / "closed.txt").write_text("secret")
    (folder / "closed.txt").chmod(0)
    for above in (folder, *folder.parents):
        if above.stat().st_mode & stat.S_ISVTX or above == above.parent:
            break  # the temporary folder of all
        above.chmod(above.stat().st_mode | 0o055)
    code = (
        "import os, sys\n"
        "from steersman.records.action import Read\n"
        "from steersman.operations.tools.read_file import ReadFileArgs, _read\n"
        "from steersman.operations.workspace import Workspace\n"
        "import encodings.idna\n"
        "root = sys.argv[1]\n"
        "if os.geteuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "path = root + '/closed.txt'\n"
        "try: _read(ReadFileArgs('closed.txt'), path, Workspace(root, [Read(path)]))\n"
        "except Exception as problem: print(problem)\n"
    )
    command = [sys.executable, "-c", code, os.path.realpath(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "closed.txt cannot be read.\nPermission denied\n"


def test_a_file_that_vanishes_is_said_to_be_gone(folder):
    (folder / "soon.txt").write_text("a\n")

    class Vanishing(ReadFile):
        """Loses the file between the gate's word and the reading."""

        async def plan(self, args, workspace):
            found = await super().plan(args, workspace)
            (folder / "soon.txt").unlink()
            return found

    assert use(Vanishing(), folder, path="soon.txt") == (
        "soon.txt does not exist.\nList the folder with workspace_list_files."
    )


def test_2_gb_are_paged_in_little_memory(folder):
    path = folder / "huge.log"
    with path.open("wb") as file:
        file.writelines(b"entry %d\n" % number for number in range(1, 200_001))
        file.truncate(2 << 30)
        file.seek(0, os.SEEK_END)
        file.write(b"\nthe end\n")
    code = (
        "import sys\n"
        "from steersman.records.action import Read\n"
        "from steersman.operations.tools.read_file import ReadFileArgs, _read\n"
        "from steersman.operations.workspace import Workspace\n"
        "path, root = sys.argv[1:]\n"
        "args = ReadFileArgs('huge.log', offset=200000)\n"
        "found = _read(args, path, Workspace(root, [Read(path)]))\n"
        "print(found.total_lines, found.content.split('\\n')[2], found.note, sep='|')\n"
        "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "assert int(peak.split()[1]) < 100_000, peak\n"
    )
    command = [sys.executable, "-c", code, os.path.realpath(path), os.path.realpath(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    path.unlink()
    assert done.stdout == (
        "200002|200002\tthe end|1 long line was cut; NUL characters are shown as ␀\n"
    )
