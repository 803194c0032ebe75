"""`steer undo`, `redo` and `rewind`: everything a turn did to files, taken back and shown first."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.kit import DONE
from tests.cli.terminal import Terminal
from tests.world import Steer, call


@pytest.fixture
def folder(tmp_path):
    """A folder without git: three notes, a program, a link and a script that may be run."""
    place = tmp_path / "plain"
    place.mkdir()
    for name in ("one.txt", "two.txt", "three.txt"):
        (place / name).write_text(f"{name}\n")
    (place / "main.py").write_text("print('old')\n")
    (place / "run.sh").write_text("echo hi\n")
    (place / "run.sh").chmod(0o755)
    (place / "link").symlink_to("main.py")
    return place


@pytest.fixture
def here(environ, folder):
    return Steer(environ, folder)


def picture(folder):
    """Every path with its kind, mode and content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        target = str(path.readlink()) if path.is_symlink() else ""
        found[str(path.relative_to(folder))] = (oct(about.st_mode), content, target)
    return found


COMMAND = (
    "rm one.txt two.txt three.txt; echo \"print('new')\" > main.py; "
    "mkdir -p deep/er; echo a > deep/er/a; echo b > b; chmod 600 run.sh; ln -sfn run.sh link"
)


def test_a_command_that_deletes_rewrites_and_creates_is_shown_and_undone(here, folder, script):
    before = picture(folder)
    model = script(
        {"tool_calls": [call("workspace_run_command", command=COMMAND)]}, {"text": "Done."}
    )

    messages = here.messages("run", "--model", model, "--yes", "go")

    after = picture(folder)
    result = next(m["body"] for m in messages if m["kind"] == "tool_result")
    assert result["output"]["exit_code"] == 0
    assert sorted(result["output"]["changes"]) == [
        "changed link", "changed main.py", "changed run.sh",
        "created b", "created deep", "created deep/er", "created deep/er/a",
        "deleted one.txt", "deleted three.txt", "deleted two.txt",
    ]  # fmt: skip
    assert "+print('new')" in next(
        m["body"]["diff"]
        for m in messages
        if m["kind"] == "diff_ready" and m["body"]["file"] == "main.py"
    )

    undone = here("undo", "--yes")
    assert undone.returncode == 0, undone.stderr
    assert "-print('new')" in undone.stdout
    assert picture(folder) == before

    assert here("redo", "--yes").returncode == 0
    assert picture(folder) == after


def test_nothing_is_undone_without_an_answer(here, folder, script):
    model = script(
        {"tool_calls": [call("workspace_write_file", path="n", content="x")]}, {"text": "-"}
    )
    here("run", "--model", model, "--approvals", "never", "go")

    done = here("undo")

    assert done.returncode == 4
    assert "+++ /dev/null" in done.stdout
    assert (folder / "n").read_text() == "x"


def test_an_undo_never_overwrites_what_someone_else_did_since(here, folder, script):
    edit = call("workspace_write_file", path="main.py", content="print('agent')\n")
    model = script({"tool_calls": [edit]}, {"text": "Done."})
    here("run", "--model", model, "--approvals", "never", "go")
    (folder / "main.py").write_text("print('me')\n")

    refused = here("undo", "--yes")
    assert refused.returncode == 1
    assert "Changed since then: main.py." in refused.stderr
    assert (folder / "main.py").read_text() == "print('me')\n"

    assert here("undo", "--yes", "--force").returncode == 0
    assert (folder / "main.py").read_text() == "print('old')\n"


def test_turns_are_undone_one_after_another_or_by_name(here, folder, script):
    turns = [
        turn
        for n in (1, 2, 3)
        for turn in (
            {"tool_calls": [call("workspace_write_file", path=f"f{n}", content=str(n))]},
            {"text": f"Made f{n}."},
        )
    ]
    model = script(*turns)
    thread = here.messages("run", "--model", model, "--approvals", "never", "one")[0]["thread"]
    for word in ("two", "three"):
        here("resume", thread, word, "--approvals", "never")

    def made():
        return sorted(path.name for path in folder.glob("f?"))

    assert made() == ["f1", "f2", "f3"]
    assert here("undo", thread, "--yes").returncode == 0
    assert made() == ["f1", "f2"]
    assert here("undo", thread, "--yes", "--turn", "1").returncode == 0
    assert made() == ["f2"]
    assert here("undo", thread, "--yes", "--to", "1").returncode == 0
    assert made() == []
    nothing = here("undo", thread, "--yes")
    assert nothing.returncode == 1
    assert "There is nothing to undo." in nothing.stderr


def test_rewind_takes_files_and_conversation_back_and_keeps_the_thread(here, folder, script):
    before = picture(folder)
    write = call("workspace_write_file", path="later", content="x")
    model = script({"text": "Looked."}, {"tool_calls": [write]}, {"text": "Wrote."})
    first = here.messages("run", "--model", model, "--approvals", "never", "look")
    thread = first[0]["thread"]
    here("resume", thread, "now write", "--approvals", "never")
    whole = here("replay", thread).stdout

    done = here("rewind", thread, str(len(first)), "--yes")

    assert done.returncode == 0, done.stderr
    assert picture(folder) == before
    fresh = done.stdout.split()[-1]
    copied = [json.loads(line)["kind"] for line in here("replay", fresh).stdout.splitlines()]
    assert copied == [*(m["kind"] for m in first), "session_start", "rewind", "session_end"]
    assert here("replay", thread).stdout.startswith(whole)
    assert here("ledger", "verify").returncode == 0

    again = here("redo", "--yes")

    assert again.stdout.endswith(f"Redone: 1 change in thread {thread}.\n"), again.stderr
    assert (folder / "later").read_text() == "x"
    twice = here("redo", fresh, "--yes")
    assert twice.returncode != 0
    assert f"Something else was done in thread {thread} since." in twice.stderr


def test_a_command_that_renames_a_folder_is_run_again_directly_and_can_be_undone(
    here, folder, script
):
    (folder / "old").mkdir()
    (folder / "old" / "x").write_text("x")
    before = picture(folder)
    rename = "python3 -c \"import os; os.rename('old', 'new')\""
    model = script(
        {"tool_calls": [call("workspace_run_command", command=rename)]}, {"text": "Done."}
    )

    messages = here.messages("run", "--model", model, "--approvals", "never", "go")

    output = next(m["body"]["output"] for m in messages if m["kind"] == "tool_result")
    assert output["exit_code"] == 0
    assert "ran a second time, on a copy" in output["note"]
    assert (folder / "new" / "x").exists()
    assert here("undo", "--yes").returncode == 0
    assert picture(folder) == before


def test_files_whose_names_are_no_text_are_judged_and_come_back(here, folder, script):
    """Eighty of them were deleted without a question, and undo said that nothing had changed."""
    data = os.fsencode(folder / "data")
    os.mkdir(data)
    for number in range(80):
        with open(os.path.join(data, b"caf\xe9 %d" % number), "w") as file:
            file.write(f"irreplaceable {number}\n")
    os.symlink(b"\xff\xfe", os.path.join(data, b"\xfelink"))
    before = picture(folder)
    model = script({"tool_calls": [call("workspace_run_command", command="rm -r data")]}, DONE)

    asked = here.messages("run", "--model", model, "go")
    assert "deleting 81 untracked files" in json.dumps(asked)  # a link is a file too
    assert picture(folder) == before

    here.messages("run", "--model", model, "--yes", "go")
    assert not os.path.exists(data)
    undone = here("undo", "--yes")
    assert "xe9 0" in undone.stdout
    assert picture(folder) == before


MADE = "cp /bin/true own; chmod 4755 own; cp /bin/true group; chmod 2755 group; chmod 6755 run.sh"
RENAME = """set -e; python3 -c 'import os; os.rename("old", "new")'; """


@pytest.mark.parametrize("first", ["", RENAME], ids=["over a view", "directly"])
def test_no_command_leaves_a_program_that_runs_as_its_owner(here, folder, script, first):
    """A folder cannot be renamed over a view, so that command runs a second time, directly."""
    (folder / "old").mkdir()
    model = script({"tool_calls": [call("workspace_run_command", command=first + MADE)]}, DONE)

    messages = here.messages("run", "--model", model, "--yes", "go")

    for name in ("own", "group", "run.sh"):
        assert oct((folder / name).stat().st_mode & 0o7777) == "0o755"
    told = next(m["body"]["output"]["note"] for m in messages if m["kind"] == "tool_result")
    assert ("ran a second time, on a copy" in told) == bool(first)
    assert "Not kept: that own runs as its owner." in told


def test_an_undo_that_was_refused_is_not_recorded_as_done(here, folder, script):
    write = call("workspace_run_command", command="echo new > one.txt")
    model = script({"tool_calls": [write]}, {"text": "-"})
    here("run", "--model", model, "--approvals", "never", "go")
    objects = Path(here.environ["STEERSMAN_HOME"], "objects")
    objects.rename(objects.with_name("elsewhere"))

    refused = here("undo", "--yes")

    assert refused.returncode not in (0, 4), refused.stdout
    assert "Undone" not in refused.stdout
    assert (folder / "one.txt").read_text() == "new\n"
    assert "nothing to redo" in here("redo", "--yes").stderr

    shutil.rmtree(objects, ignore_errors=True)
    objects.with_name("elsewhere").rename(objects)
    assert here("undo", "--yes").returncode == 0
    assert (folder / "one.txt").read_text() == "one.txt\n"


@pytest.fixture
def imported(here, folder, script):
    """A thread out of a file, which says that it made a file that was always there."""
    write = call("workspace_write_file", path="n", content="mine\n")
    model = script({"tool_calls": [write]}, {"text": "-"})
    id = here.messages("run", "--model", model, "--approvals", "never", "go")[0]["thread"]
    lines = here("threads", "export", id).stdout
    here("threads", "rm", id, "--yes")
    (folder.parent / "thread.jsonl").write_text(lines)
    done = here("threads", "import", str(folder.parent / "thread.jsonl"))
    assert done.returncode == 0, done.stderr
    return id


def test_an_imported_thread_is_marked_wherever_it_is_shown(here, imported):
    assert "[imported]" in here("threads", "list").stdout
    assert "Imported from a file" in here("threads", "show", imported).stdout
    fork = here("fork", imported).stdout.strip()
    assert "Imported from a file" in here("threads", "show", fork).stdout
    assert json.loads(here("threads", "show", "--json", fork).stdout)["origin"] == "import"


@pytest.mark.parametrize("forked", [False, True])
def test_the_undo_of_an_imported_thread_needs_a_person(here, folder, imported, forked):
    thread = here("fork", imported).stdout.strip() if forked else imported

    by_folder = here("undo", "--yes")
    refused = here("undo", thread, "--yes", "--force")

    assert by_folder.returncode != 0
    assert refused.returncode == 4
    assert "Imported from a file" in refused.stdout
    assert "-mine" in refused.stdout, "the plan is shown"
    assert "--imported" in refused.stderr
    assert here("rewind", thread, "1", "--yes").returncode == 4
    assert (folder / "n").read_text() == "mine\n"

    assert here("undo", thread, "--imported", "--yes").returncode == 0
    assert not (folder / "n").exists()
    assert here("redo", thread, "--yes").returncode == 4


def test_no_other_way_undoes_an_imported_thread(here, imported, folder):
    """The thread itself refuses, whoever asks for it."""
    asking = (
        "import asyncio, sys\n"
        "from steersman.host.storage import open_host\n"
        "from steersman.records.errors import NeedsAnswer\n"
        "from steersman.records.settings import Settings\n"
        "async def main():\n"
        "    import os\n"
        "    async with open_host(os.environ) as host:\n"
        "        plan = host.way_back.plan_undo(sys.argv[1])\n"
        "        handle = await host.attach(sys.argv[1], Settings(), thinks=False)\n"
        "        try:\n"
        "            await handle.undo(plan, force=True)\n"
        "        except NeedsAnswer:\n"
        "            print('asked')\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", asking, imported], capture_output=True, text=True, check=False,
        env=here.environ, cwd=folder,
    )  # fmt: skip
    assert done.stdout == "asked\n", done.stderr
    assert (folder / "n").exists()


@pytest.fixture
def committing(steer, script, workspace, git):
    """A repository in which a turn runs a command."""
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "first")

    def run(command):
        calls = [call("workspace_run_command", command=command)]
        model = script({"tool_calls": calls}, {"text": "-"})
        return steer.messages("run", "--model", model, "--approvals", "never", "go")

    return run


COMMIT = "echo new > new.txt; git add .; git -c user.name=n -c user.email=e commit -qm agent"


@pytest.mark.parametrize("quiet", [True, False], ids=["quiet", "loud"])
def test_an_undo_of_a_push_says_what_stands(
    steer, committing, workspace, script, git, tmp_path, quiet
):
    """The commit is gone here; the remote has it, and both the question and the result say so."""
    remote = tmp_path / "remote.git"
    git("init", "-q", "--bare", str(remote))
    committing("true")
    git("remote", "add", "origin", str(remote))
    push = f"{COMMIT} && git push {'-q ' * quiet}origin main"
    run = call("workspace_run_command", command=push, outside_sandbox=True)
    steer("run", "--model", script({"tool_calls": [run]}, DONE), "--yes", "go")
    pushed = git("--git-dir", str(remote), "rev-parse", "main")
    stands = f"`main` was pushed to `origin` ({pushed[:7]}); undo does not change the remote."

    asked = steer("undo")
    assert stands in asked.stdout
    with Terminal(steer, "undo") as terminal:
        terminal.until(stands)
        terminal.until("[y/N]: ")
        terminal.press("y\n")
        terminal.until("Undone: ")
        terminal.until(stands)
        assert terminal.end() == 0

    assert git("log", "--format=%s").split() == ["first"]
    assert git("--git-dir", str(remote), "rev-parse", "main") == pushed


def test_git_gc_is_undone_whole_and_leaves_no_pack(steer, committing, workspace):
    """What the pack holds is in files of its own again, so nothing needs it."""
    objects = workspace / ".git/objects"

    def files():
        return sorted(str(path) for path in objects.rglob("*") if path.is_file())

    before = files()
    committing("git gc -q")
    assert any(name.endswith(".pack") for name in files())
    steer("undo", "--yes")
    assert files() == before


def test_undo_keeps_the_commit_that_a_person_tagged_since(steer, committing, git):
    committing(COMMIT)
    git("tag", "v1")
    git("branch", "keep")
    done = steer("undo", "--yes")
    assert "objects stay, because a branch, a tag or a commit of yours uses them" in done.stdout
    assert git("log", "--format=%s", "-1") == "first\n"
    assert git("log", "--format=%s", "-1", "v1") == "agent\n"
    assert git("show", "keep:new.txt") == "new\n"
    git("fsck", "--full")


def test_git_status_changes_nothing_that_an_undo_could_lose(steer, committing, script, git):
    """It writes the index again, with other times of files; what is staged counts."""
    index = steer.folder / ".git/index"

    def look(time):
        before = index.read_bytes()
        os.utime(steer.folder / "calc.py", (time, time))
        git("status")
        assert index.read_bytes() != before

    thread = committing(COMMIT)[0]["thread"]
    look(1)
    again = {"tool_calls": [call("workspace_run_command", command=COMMIT.replace("new", "two"))]}
    steer("resume", thread, "on", "--model", script(again, DONE), "--approvals", "never")
    assert git("log", "--format=%s") == "agent\nagent\nfirst\n"
    look(2)
    (steer.folder / "mine.txt").write_text("mine\n")
    git("add", "mine.txt")
    refused = steer("undo", thread, "--yes", "--to", "1")
    assert "Changed since then: .git/index." in refused.stderr
    git("reset", "-q", "mine.txt")
    done = steer("undo", thread, "--yes", "--to", "1")
    assert done.returncode == 0, done.stderr
    assert git("log", "--format=%s") == "first\n"
    look(3)
    assert steer("redo", thread, "--yes").returncode == 0
    assert git("log", "--format=%s") == "agent\nagent\nfirst\n"
    git("fsck", "--full")


def test_undo_keeps_the_objects_of_a_commit_that_a_person_made_since(steer, committing, git):
    committing("echo 'important words' > n.txt; git hash-object -w n.txt")
    git("add", "n.txt")
    git("commit", "-qm", "person")
    steer("undo", "--yes", "--force")
    assert git("show", "HEAD:n.txt") == "important words\n"
    git("fsck", "--full")


def test_undo_leaves_no_object_behind_that_nobody_needs(steer, committing, workspace):
    before = picture(workspace)
    committing(COMMIT)
    done = steer("undo", "--yes")
    assert "stay" not in done.stdout
    assert picture(workspace) == before


def test_files_and_hunks_of_a_turn_are_undone_and_the_rest_stays(here, folder, script):
    """By file, by hunk, in another process, redone; what the person changed since is kept."""
    old = "".join(f"line {n}\n" for n in range(40))
    (folder / "long.py").write_text(old)
    (folder / "sub").mkdir()
    before = picture(folder)
    new = old.replace("line 2\n", "line two\n").replace("line 30\n", "")
    writes = [
        call("workspace_write_file", path="long.py", content=new),
        call("workspace_write_file", path="main.py", content="print('agent')\n"),
        call("workspace_write_file", path="new/deep/a.py", content="a\n"),
    ]
    model = script({"tool_calls": writes}, DONE)
    thread = here.messages("run", "--model", model, "--approvals", "never", "go")[0]["thread"]
    after = picture(folder)

    listed = here("undo", "--list")
    assert listed.returncode == 0, listed.stderr
    assert "3 files changed, +3 −3" in listed.stdout
    assert "long.py:2" in listed.stdout
    assert "-line 30" in listed.stdout
    wrong = here("undo", "--yes", "--hunk", "long.py:3")
    assert (wrong.returncode, "long.py has no hunk 3." in wrong.stderr) == (1, True)
    assert picture(folder) == after

    one = here("undo", "--yes", "--hunk", "long.py:2", "--file", "new/deep/a.py")
    assert one.returncode == 0, one.stderr
    assert "The rest of the turn stays." in one.stdout
    assert (folder / "long.py").read_text() == old.replace("line 2\n", "line two\n")
    assert not (folder / "new").exists()
    assert (folder / "main.py").read_text() == "print('agent')\n"
    assert here("redo", "--yes").returncode == 0
    assert picture(folder) == after

    (folder / "main.py").write_text("print('mine')\n")
    shutil.rmtree(folder / "new")  # which is chosen, too, and needs nothing more
    (folder / "long.py").write_text(new + "mine\n")  # all hunks are not the whole file
    below = Steer(here.environ, folder / "sub")
    args = ("-w", str(folder), "--file", "../new", "--hunk", "../long.py:1,2")
    partly = below("undo", "--yes", *args)
    assert partly.returncode == 0, partly.stderr
    assert (folder / "long.py").read_text() == old + "mine\n"
    (folder / "long.py").write_text(old)
    assert picture(folder) == {**before, "main.py": picture(folder)["main.py"]}
    refused = here("undo", "--yes", "--file", "main.py")
    assert (refused.returncode, "Changed since then" in refused.stderr) == (1, True)
    assert here("undo", "--yes", "--file", "main.py", "--force").returncode == 0
    assert picture(folder) == before
    nothing = here("undo", thread, "--yes")
    assert (nothing.returncode, "There is nothing to undo." in nothing.stderr) == (1, True)
    assert here("redo", "--yes").returncode == 0

    here("run", "--model", script(DONE), "--approvals", "never", "look around")
    harmless = here("undo", "--yes")
    assert harmless.returncode == 1
    assert f"steer undo {thread}" in harmless.stderr
    assert "1 file changed" in harmless.stderr


MANY = (
    "mkdir -p node_modules/a build; for n in $(seq 200); do echo $n > node_modules/a/$n.js; done; "
    "echo s > .env; echo k > build/server.key; echo o > build/out.o; echo new > src/cart.py; "
    "mkdir -p a/__pycache__; echo c > a/__pycache__/x.pyc; "
    "git add src; git -c user.name=n -c user.email=e commit -qm agent"
)


def test_source_is_not_buried_under_files_that_git_ignores(steer, workspace, git, committing):
    """Two hundred files in node_modules are a line after the source; what people miss is shown."""
    (workspace / ".gitignore").write_text("node_modules/\nbuild/\n.env\n")
    (workspace / "src").mkdir()
    (workspace / "src" / "cart.py").write_text("old\n")
    git("add", ".")
    git("commit", "-qm", "second")
    (summary,) = (one["body"] for one in committing(MANY) if one["kind"] == "summary")
    assert [one["path"] for one in summary["files"]] == [
        ".env", "build/out.o", "build/server.key", "src/cart.py"
    ]  # fmt: skip
    assert summary["commits"] == ["agent"]

    listed = steer("undo", "--list").stdout
    assert listed.lstrip().startswith("2 files changed, 203 ignored, +2 −1 · git: 1 commit “agent”")
    names = [
        "src/cart.py:1", ".env:1", "a/__pycache__: 1 file, made by tools",
        "build: 2 files, ignored by git",
        "node_modules: 200 files, made by tools", "git: 1 commit",
    ]  # fmt: skip
    places = [listed.index(f"\n  {name}") for name in names]
    assert places == sorted(places)
    asked = steer("undo").stdout
    assert asked.index("src/cart.py") < asked.index("node_modules: 200 files, made by tools")
    assert "node_modules/a" not in listed + asked
    assert "node_modules: folder" not in asked

    assert steer("undo", "--yes", "--file", "node_modules").returncode == 0
    assert not (workspace / "node_modules").exists()
    assert (workspace / "src" / "cart.py").read_text() == "new\n"


def test_undoing_one_hunk_keeps_my_own_edit_in_the_same_file(here, folder, script):
    """Two hunks in src/cart.py; in an editor I change a line in hunk 2; I undo hunk 1 only."""
    cart = folder / "src" / "cart.py"
    cart.parent.mkdir()
    old = "".join(f"line {n}\n" for n in range(40))
    cart.write_text(old)
    new = old.replace("line 2\n", "line two\n").replace("line 30\n", "line thirty\n")
    write = call("workspace_write_file", path="src/cart.py", content=new)
    here("run", "--model", script({"tool_calls": [write]}, DONE), "--approvals", "never", "go")
    mine = new.replace("line thirty\n", "line thirty, mine\n").replace("line 39\n", "")
    cart.write_text(mine)
    hunk = ("undo", "--yes", "--hunk", "src/cart.py:1")

    done = here(*hunk)
    assert done.returncode == 0, done.stderr
    assert "mine" not in done.stdout
    assert cart.read_text() == mine.replace("line two\n", "line 2\n")
    listed = here("undo", "--list").stdout
    assert ("+line thirty\n" in listed, "src/cart.py:2" in listed) == (True, False)
    assert here("redo", "--yes").returncode == 0
    assert cart.read_text() == mine

    over = mine.replace("line two\n", "line two, mine\n")
    cart.write_text(over)
    refused = here(*hunk)
    assert refused.returncode == 1
    assert "Changed since then: src/cart.py." in refused.stderr
    assert cart.read_text() == over
    for forced in (hunk, ("undo", "--yes", "--file", "src/cart.py"), ("undo", "--yes")):
        assert here(*forced, "--force").returncode == 0
        assert "mine" not in cart.read_text()
        assert here("redo", "--yes").returncode == 0
        assert cart.read_text() == over

    for undone in (("undo", "--yes", "--hunk", "src/cart.py:2", "--force"), ("undo", "--yes")):
        cart.write_text(new)
        assert here(*undone).returncode == 0
        before = cart.read_text()
        over = before.replace("line 30\n", "line 30, mine\n")
        cart.write_text(over)
        assert here("redo", "--yes").returncode == 1
        for _ in range(2):
            assert here("redo", "--yes", "--force").returncode == 0
            assert cart.read_text() == new
            assert here("undo", "--yes").returncode == 0  # restores what the redo overwrote
            assert cart.read_text() == over
        cart.write_text(before)
        assert here("redo", "--yes", "--force").returncode == 0
        assert cart.read_text() == new
    assert here("undo", "--yes").returncode == 0
    assert cart.read_text() == old


LINES = "".join(f"line {n}\n" for n in range(12))


def writing(here, script, *contents, path="cart.py"):
    """A turn of an agent that writes a file, several times."""
    steps = [{"tool_calls": [call("workspace_write_file", path=path, content=one)]}
             for one in contents]  # fmt: skip
    done = here("run", "--model", script(*steps, DONE), "--approvals", "never", "go")
    assert done.returncode == 0, done.stderr


def test_an_undo_keeps_my_own_lines_and_says_so_before_it_happens(here, folder, script):
    """The agent changed line 2; in an editor I changed line 9 and added one: both are mine."""
    cart = folder / "cart.py"
    cart.write_text(LINES)
    agents = LINES.replace("line 2\n", "line two\n")
    writing(here, script, agents)
    cart.write_text(agents.replace("line 9\n", "line nine, mine\n") + "mine\n")

    asked = here("undo")
    assert "Later changes that stay:\n  cart.py: +2 −1\n" in asked.stdout
    assert "-line two\n" in asked.stdout
    assert "nine, mine" not in asked.stdout

    assert here("undo", "--yes").returncode == 0
    assert cart.read_text() == LINES.replace("line 9\n", "line nine, mine\n") + "mine\n"
    assert here("redo", "--yes").returncode == 0
    assert cart.read_text() == agents.replace("line 9\n", "line nine, mine\n") + "mine\n"


def test_an_undo_keeps_what_i_changed_between_two_changes_of_the_agent(here, folder, script):
    cart = folder / "cart.py"
    cart.write_text(LINES)
    first = LINES.replace("line 2\n", "line two\n")
    mine = first.replace("line 11\n", "line eleven, mine\n")
    writing(here, script, first)
    thread = json.loads(here("threads", "list", "--json").stdout)["id"]
    cart.write_text(mine)
    edit = call("workspace_write_file", path="cart.py", content=mine.replace("line 6", "line six"))
    model = script({"tool_calls": [edit]}, DONE)
    here("resume", thread, "go on", "--model", model, "--approvals", "never")

    done = here("undo", "--to", "1", "--yes")

    assert done.returncode == 0, done.stderr
    assert "Later changes that stay:\n  cart.py: +1 −1\n" in done.stdout
    assert cart.read_text() == LINES.replace("line 11\n", "line eleven, mine\n")


def test_what_i_changed_in_the_same_lines_is_asked_about_and_a_copy_is_kept(here, folder, script):
    cart, other = folder / "cart.py", folder / "other.py"
    cart.write_text(LINES)
    writes = [call("workspace_write_file", path="cart.py", content=LINES.replace("2", "two")),
              call("workspace_write_file", path="other.py", content="new\n")]  # fmt: skip
    model = script({"tool_calls": writes}, DONE)
    here("run", "--model", model, "--approvals", "never", "go")
    mine = LINES.replace("line 2\n", "line two, mine\n")
    cart.write_text(mine)

    refused = here("undo", "--yes")
    assert (refused.returncode, cart.read_text()) == (1, mine)
    assert "+line two, mine\n" in refused.stdout
    assert "Changed since then: cart.py." in refused.stderr

    keep = "[m] keep the later changes and undo the rest, "
    overwrite = "[o] overwrite them (a copy is kept), [n] do nothing"
    with Terminal(here, "undo") as terminal:
        terminal.until("Later changes to the same lines, which would be overwritten:")
        terminal.until("+line two, mine")
        terminal.until(f"Later changes in cart.py: {keep}{overwrite}")
        terminal.press("m\n")
        terminal.until("Undone: 1 change")
        assert terminal.end() == 0
    assert (cart.read_text(), other.exists()) == (mine, False)

    with Terminal(here, "undo") as terminal:
        terminal.until(f"Later changes in cart.py: {overwrite}")
        terminal.press("o\n")
        terminal.until("Undone: 1 change")
        terminal.until("A copy of what it overwrote is in ")
        assert terminal.end() == 0
    assert cart.read_text() == LINES
    (copy,) = Path(here.environ["STEERSMAN_HOME"]).glob("overwritten/*/cart.py")
    assert copy.read_text() == mine
    assert str(copy.parent) in terminal.text.replace("\n", "")


def test_a_rewind_that_keeps_mine_leaves_the_rest_to_undo_in_the_new_thread(here, folder, script):
    """What stays is noted there, for `steer undo` and for the model."""
    cart, other = folder / "cart.py", folder / "other.py"
    cart.write_text(LINES)
    writes = [call("workspace_write_file", path="cart.py", content=LINES.replace("2", "two")),
              call("workspace_write_file", path="other.py", content="new\n")]  # fmt: skip
    model = script({"text": "Hello."}, {"tool_calls": writes}, DONE)
    first = here.messages("run", "--model", model, "--approvals", "never", "hello")
    thread = first[0]["thread"]
    here("resume", thread, "go", "--approvals", "never")
    mine = LINES.replace("line 2\n", "line two, mine\n")
    cart.write_text(mine)

    with Terminal(here, "rewind", thread, str(len(first))) as terminal:
        terminal.until("[m] keep the later changes and undo the rest")
        terminal.press("m\n")
        terminal.until("Undone: 1 change")
        assert terminal.end() == 0
    fresh = terminal.text.split()[-1]
    assert (cart.read_text(), other.exists()) == (mine, False)

    listed = here("undo", fresh, "--list").stdout
    assert "cart.py" in listed
    assert "other.py" not in listed
    told = here.messages("resume", fresh, "well?", "--model", script({"text": "Hello."}, DONE))
    (note,) = [one["body"]["text"] for one in told if one["kind"] == "meanwhile"]
    assert 'but kept later changes: "cart.py".' in note

    assert here("undo", fresh, "--force", "--yes").returncode == 0
    assert cart.read_text() == LINES


def test_a_new_folder_with_something_of_the_person_in_it_stays(here, folder, script):
    write = call("workspace_write_file", path="new/a.py", content="a\n")
    here("run", "--model", script({"tool_calls": [write]}, DONE), "--approvals", "never", "go")
    (folder / "new" / "mine").write_text("mine\n")

    done = here("undo", "--yes")

    assert done.returncode == 0, done.stderr
    assert [path.name for path in (folder / "new").iterdir()] == ["mine"]


CUT = """
import os, runpy, signal, sys
real, sent = getattr(os, sys.argv[1]), getattr(signal, sys.argv[2])
def cut(name, *rest, **places):
    if str(name).startswith(".steersman-"):
        os.kill(os.getpid(), sent)
    return real(name, *rest, **places)
setattr(os, sys.argv[1], cut)
del sys.argv[1:3]
runpy.run_module("steersman", run_name="__main__", alter_sys=True)
"""


@pytest.fixture
def two_turns(here, script):
    """A thread whose turns wrote main.py, first `1` and then `2`."""
    model = script(*[
        step for n in "12" for step in (
            {"tool_calls": [call("workspace_write_file", path="main.py", content=n)]}, DONE)
    ])  # fmt: skip
    thread = here.messages("run", "--model", model, "--approvals", "never", "one")[0]["thread"]
    here("resume", thread, "two", "--approvals", "never")
    return thread


def cut_in(here, call_of_system, signal_name, *arguments):
    """`steer` that gets a signal when it first does something to a file that it hides."""
    command = [sys.executable, "-c", CUT, call_of_system, signal_name, *arguments]
    return subprocess.Popen(command, cwd=here.folder, env=here.environ, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("asked", [["--yes"], ["--list"]])
def test_an_undo_that_was_cut_off_late_is_finished_and_no_other_turn_is_undone(
    here, folder, two_turns, asked
):
    assert cut_in(here, "unlink", "SIGKILL", "undo", "--yes").wait() == -9
    assert (folder / "main.py").read_text() == "1"
    assert list(folder.glob(".steersman-*"))

    told = here("undo", *asked)
    assert (told.returncode, told.stdout) == (
        0,
        f"The undo that was cut off was finished: 1 change in thread {two_turns}. "
        "Run `steer undo` again to undo the turn before.\n",
    )
    assert (folder / "main.py").read_text() == "1"
    assert not list(folder.glob(".steersman-*"))

    assert here("undo", "--yes").returncode == 0
    assert (folder / "main.py").read_text() == "print('old')\n"


def test_an_undo_that_was_cut_off_early_is_reverted_and_says_so(here, folder, two_turns):
    assert cut_in(here, "rename", "SIGKILL", "undo", "--yes").wait() == -9

    told = here("undo", "--yes")
    assert (told.returncode, told.stdout) == (
        0,
        f"The undo that was cut off was reverted: 1 change in thread {two_turns}. "
        "Run `steer undo` again to undo the turn.\n",
    )
    assert (folder / "main.py").read_text() == "2"
    assert here("undo", "--yes").returncode == 0
    assert (folder / "main.py").read_text() == "1"


def test_while_an_undo_is_under_way_another_one_says_so(here, two_turns):
    stopped = cut_in(here, "unlink", "SIGSTOP", "undo", "--yes")
    try:
        os.waitid(os.P_PID, stopped.pid, os.WSTOPPED | os.WNOWAIT)
        told = here("undo", "--yes")
        assert told.returncode == 1
        assert f"Another process is changing files of thread {two_turns}" in told.stderr
    finally:
        stopped.kill()
        stopped.wait()


def test_an_undo_of_a_move_keeps_what_i_changed_under_the_new_name(here, folder, script):
    lines = [f"line {number}\n" for number in range(9)]
    (folder / "old.txt").write_text("".join(lines))
    command = "mv old.txt new.txt && sed -i 's/line 0/agent/' new.txt"
    model = script(
        {"tool_calls": [call("workspace_run_command", command=command)]}, {"text": "Done."}
    )
    here.messages("run", "--model", model, "--yes", "go")
    new = folder / "new.txt"
    assert new.read_text().startswith("agent\n")
    new.write_text(new.read_text().replace("line 8", "mine"))

    here("undo", "--yes")

    assert not new.exists()
    assert (folder / "old.txt").read_text() == "".join([*lines[:-1], "mine\n"])
    here("redo", "--yes")
    assert new.read_text() == "".join(["agent\n", *lines[1:-1], "mine\n"])
