"""`steer demo`: the whole loop, with no key, no network, no git and no preparation."""

import os
import re
import shutil
import sys

import pytest

from tests.cli.kit import decoded, without_privilege


@pytest.fixture
def bare(steer, tmp_path):
    """A machine that has bash and little else, and keeps the sample where the test finds it."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bash", "env"):
        (programs / name).symlink_to(shutil.which(name))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environ = {"PATH": str(programs), "HOME": steer.environ["HOME"], "TMPDIR": str(temporary)}
    bare = steer.having()
    bare.environ = environ
    return bare


def test_the_demo_fixes_a_bug_and_shows_the_diff_and_the_passing_tests(bare, tmp_path):
    done = bare("demo")

    assert (done.returncode, done.stderr) == (0, "")
    assert "The model is scripted: it plays a file." in done.stdout
    assert "FAILED (failures=" in done.stdout
    assert "  -    return (departure - arrival).days + 1\n" in done.stdout
    assert "  +    return (departure - arrival).days\n" in done.stdout
    before, after = done.stdout.split("run once more by the demo itself:")
    assert "\n    OK\n" in before
    assert "\n  OK\n" in after
    folder = os.path.dirname(sys.executable)
    assert (
        f'`steer` is in {folder}. Let your shell find it there:\n  export PATH="{folder}:$PATH"'
        in after
    )
    assert "\nThen go to a project of yours and type:\n  steer  " in after


def test_what_the_demo_suggests_works(bare):
    suggested = re.findall(r" (ledger \w+ \w+)", bare("demo").stdout)

    assert [words.split()[1] for words in suggested] == ["show", "verify"]
    for words in suggested:
        assert bare(*words.split()).returncode == 0


def test_the_demo_works_where_nothing_may_be_written(bare, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)

    done = bare.having(folder=closed, before=without_privilege)("demo")

    assert done.returncode == 0
    assert os.listdir(closed) == []


def test_the_demo_keeps_the_sample_where_it_is_told_to(bare, tmp_path):
    kept = tmp_path / "kept"

    assert bare("demo", "--keep", str(kept)).returncode == 0
    assert "+ 1" not in (kept / "fees.py").read_text().split("def nights")[1].split("def ")[0]
    assert sorted(p.name for p in kept.iterdir() if p.suffix == ".py") == [
        "fees.py",
        "test_fees.py",
    ]


def test_the_demo_overwrites_no_file_of_yours(bare, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "fees.py").write_text("# mine\n")

    done = bare("demo", "--keep", str(mine))

    assert done.returncode == 2
    assert str(mine) in done.stderr
    assert (mine / "fees.py").read_text() == "# mine\n"


def test_the_demo_is_a_thread_like_any_other(bare):
    bare("demo")

    (thread,) = decoded(bare("threads", "list", "--json").stdout)
    messages = decoded(bare("replay", thread["id"]).stdout)
    results = [m["body"] for m in messages if m["kind"] == "tool_result"]
    assert thread["origin"] == "demo"
    assert {body["status"] for body in results} == {"ok"}
    assert messages[-1]["body"] == {"status": "done", "exit": 0}
    assert sys.executable not in str(results)
