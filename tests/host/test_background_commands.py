"""Commands in the background: they see what changes, and nothing they do happens unjudged.

The attacks are the smallest forms of ones that worked when such a command had the folder itself.
"""

import asyncio
import os
import subprocess
from contextlib import suppress

import pytest

from steersman.operations.running.command_run import OverView
from steersman.operations.running.over_mirror import OverMirror
from steersman.records.message import Error, ToolResult
from tests.host.beside import until_stopped


def test_it_sees_what_changes_and_what_it_writes_is_there_at_the_next_call(beside, workspace):
    (workspace / "app.txt").write_text("one\n")
    watch = "while ! grep -q two app.txt; do sleep 0.02; done; cp app.txt built.txt; echo built"

    async def edit(look):
        (workspace / "app.txt").write_text("two\n")
        assert (await look(0))["output"] == "built\n"
        assert (await look(0))["state"] == "running"  # this call settled what there was before it
        assert (workspace / "built.txt").read_text() == "two\n"
        (workspace / "sub").mkdir()
        (workspace / "sub" / "deep").symlink_to("../app.txt")
        (workspace / "app.txt").unlink()

    output, _ = beside(
        f"{watch}; while [ -e app.txt ] || [ ! -L sub/deep ]; do sleep 0.02; done; echo seen; "
        + until_stopped(":"),
        edit,
    )
    assert output == "built\nseen\nended\n"


def test_what_both_changed_stays_as_it_is_and_the_other_is_kept(beside, workspace):
    (workspace / "both.txt").write_text("before\n")

    async def edit(look):
        assert (await look(0))["output"] == "changed\n"
        (workspace / "both.txt").write_text("by the person\n")

    _, messages = beside(
        "until [ -e both.txt ]; do :; done; echo mine >> both.txt; echo changed; "
        "while [ ! -e stop ]; do echo more >> both.txt; sleep 0.02; done; echo ended",
        edit,
    )
    assert (workspace / "both.txt").read_text() == "by the person\n"
    told = [message.body.what for message in messages if message.kind == "error"]
    told += [
        message.body.output.get("note", "")
        for message in messages
        if isinstance(message.body, ToolResult) and isinstance(message.body.output, dict)
    ]
    assert any("both.txt was changed by others and stays as it is" in t for t in told)


def test_a_file_that_git_obeys_cannot_be_reached_by_waiting_for_it_to_be_replaced(
    beside, workspace
):
    subprocess.run(["git", "init", "-q"], cwd=workspace, check=True)
    plant = r"printf '[core]\n\tfsmonitor = ./evil\n' >> .git/config"

    async def work(look):
        for number in range(20):  # each replaces the file by a rename
            name = ("git", "config", "user.name", f"n{number}")
            await asyncio.to_thread(subprocess.run, name, cwd=workspace, check=True)

    beside(until_stopped(f"{plant} 2>/dev/null"), work)
    assert "fsmonitor" not in (workspace / ".git/config").read_text()
    assert "n19" in (workspace / ".git/config").read_text()


@pytest.mark.parametrize("name", [".env", "keys/server.pem", "later.pem"])
def test_a_secret_file_cannot_be_read_by_waiting_for_it_to_be_replaced(beside, workspace, name):
    word = "rosebud-" + "in-a-file"
    place = workspace / name
    place.parent.mkdir(exist_ok=True)
    if name != "later.pem":
        place.write_text("old words\n")

    async def save(look):
        for number in range(20):
            fresh = workspace / "saved"
            fresh.write_text(f"{word} {number}\n")
            os.replace(fresh, place)
            await look(0, wait=0)

    unsaid = f"n=$(echo {name[:-1]}?)" if name != "later.pem" else "n=$(ls | grep ^later)"
    output, messages = beside(until_stopped(f"{unsaid}; cat $n 2>/dev/null"), save)
    assert word not in output
    assert word not in str(messages)


def test_a_file_linked_from_outside_is_not_written_through(beside, workspace, tmp_path):
    outside = tmp_path / "cache"
    outside.write_text("shared by every project\n")
    os.link(outside, workspace / "linked")
    beside("echo evil >> linked; " + until_stopped(":"))
    assert outside.read_text() == "shared by every project\n"
    assert (workspace / "linked").read_text() == "shared by every project\nevil\n"


def test_what_nobody_agreed_to_lose_is_not_lost_however_large_or_shut(beside, workspace):
    with (workspace / "large").open("wb") as large:
        large.truncate(70 << 20)
    for number in range(60):
        (workspace / "notes").mkdir(exist_ok=True)
        (workspace / "notes" / f"{number}").write_text(f"precious {number}\n")
    (workspace / "notes").chmod(0o700)
    beside("rm -rf large; chmod 000 notes; chmod 700 notes; rm -rf notes", wait=60)
    assert (workspace / "large").stat().st_size == 70 << 20
    assert (workspace / "notes" / "59").read_text() == "precious 59\n"


def test_long_work_is_not_lost_for_one_file_that_was_refused(beside, workspace):
    beside("echo result > result.txt; mkdir .vscode; echo evil > .vscode/tasks.json; "
           + until_stopped(":"))  # fmt: skip
    assert (workspace / "result.txt").read_text() == "result\n"
    assert not (workspace / ".vscode").exists()


def test_a_folder_with_something_refused_in_it_loses_all_else_and_what_is_lost_is_named(
    beside, workspace
):
    """A folder stays because of one file; a pipe that went for good is named all the same."""
    made = workspace / "node_modules"  # a folder that nobody is asked about
    made.mkdir()
    (made / ".mcp.json").write_text("{}")
    (made / "plain").write_text("plain")
    os.mkfifo(made / "pipe")
    _, messages = beside("rm -rf node_modules; echo done > result")
    assert os.listdir(made) == [".mcp.json"]
    assert (workspace / "result").read_text() == "done\n"
    said = [message.body.what for message in messages if isinstance(message.body, Error)]
    assert any("Cannot be restored once it is gone: node_modules/pipe" in what for what in said)


def test_a_protected_path_is_not_deleted_because_it_is_a_pipe(beside, workspace):
    os.mkfifo(workspace / ".mcp.json")
    beside("rm .mcp.json; echo done > result")
    assert (workspace / ".mcp.json").is_fifo()
    assert (workspace / "result").read_text() == "done\n"


def test_a_pipe_whose_mode_is_changed_is_still_there(beside, workspace):
    (workspace / "d").mkdir()
    os.mkfifo(workspace / "d/pipe")
    beside("chmod -R 700 d; echo done > result")
    assert (workspace / "d/pipe").is_fifo()
    assert (workspace / "result").read_text() == "done\n"


def test_a_secret_file_that_the_person_makes_meanwhile_is_theirs(beside, workspace):
    word = "rosebud-" + "in-a-file"

    async def make(look):
        await look(0)
        (workspace / ".env").write_text(word)
        (workspace / "seen").touch()
        await look(5)

    unsaid = "n=$(echo .e)nv; echo x > $n; rm $n"
    _, messages = beside(
        f"echo begun; until [ -e seen ]; do sleep 0.02; done; {unsaid}; echo over > $n; echo did; "
        + until_stopped(":"),
        make,
    )
    assert (workspace / ".env").read_text() == word
    assert word not in str(messages)


def test_what_a_list_hides_that_the_person_makes_meanwhile_is_hidden(beside, workspace):
    word = "rosebud-" + "in-a-file"

    async def make(look):
        await look(0, wait=0)
        (workspace / ".steersmanignore").write_text("diary*\n!.env\n")
        (workspace / "diary.txt").write_text(word)
        (workspace / ".env").write_text(word)
        for _ in range(5):
            await look(0, wait=0)

    output, messages = beside(until_stopped("cat d?ary* .e?v 2>/dev/null"), make)
    assert word not in output + str(messages)


def test_what_others_changed_too_stays_theirs_however_often_it_is_written(beside, workspace):
    (workspace / "both.txt").write_text("before\n")

    async def edit(look):
        assert (await look(0))["output"] == "changed\n"
        (workspace / "both.txt").write_text("by the person\n")
        for _ in range(5):
            await look(0, wait=0)

    write = "echo mine >> both.txt"
    beside(f"{write}; echo changed; " + until_stopped(write), edit)
    assert (workspace / "both.txt").read_text() == "by the person\n"


def test_after_a_refused_loss_the_rest_of_its_work_arrives(beside, workspace):
    for number in range(80):
        (workspace / f"note{number}.txt").write_text(f"precious {number}\n")

    async def look_twice(look):
        assert (await look(0))["output"] == "first\n"
        (workspace / "go").touch()
        assert (await look(6))["output"] == "second\n"

    beside(
        "rm note*.txt; mkdir made; echo a > made/a; echo first; "
        "while [ ! -e go ]; do sleep 0.02; done; echo b > made/b; echo c > c.txt; echo second; "
        + until_stopped(":"),
        look_twice,
    )
    assert (
        len(list(workspace.glob("note*.txt"))) > 20
    )  # how many were gone at the first look varies
    assert (workspace / "made" / "a").read_text() == "a\n"
    assert (workspace / "made" / "b").read_text() == "b\n"
    assert (workspace / "c.txt").read_text() == "c\n"


def test_a_look_that_comes_when_it_is_over_takes_nothing_for_deleted(
    beside, workspace, monkeypatch
):
    settle, discard = OverMirror.settle, OverMirror.discard
    benches = []

    async def settled(self, bench):
        benches.append(bench)
        return await settle(self, bench)

    async def discarded(self):
        await discard(self)
        self._mirror.discard()
        assert await self.milestone(benches[0]) is None

    monkeypatch.setattr(OverMirror, "settle", settled)
    monkeypatch.setattr(OverMirror, "discard", discarded)
    before = {path.name for path in workspace.iterdir()}
    beside(until_stopped(":"))
    assert benches
    assert {path.name for path in workspace.iterdir()} == {*before, "stop"}


def test_a_save_just_when_its_work_is_taken_over_loses_neither(beside, workspace, monkeypatch):
    judge, saved = OverView.judge, []
    (workspace / "both.txt").write_text("before\n")

    async def slow(self, found, bench):
        await judge(self, found, bench)
        if not saved and any(change.path == "both.txt" for change in found.changes):
            saved.append((workspace / "both.txt").write_text("by the person\n"))

    monkeypatch.setattr(OverView, "judge", slow)
    beside("echo mine >> both.txt; echo result > result.txt; " + until_stopped(":"))
    assert saved
    assert (workspace / "both.txt").read_text() == "by the person\n"
    assert (workspace / "result.txt").read_text() == "result\n"


def test_a_commit_that_others_were_before_is_named(beside, workspace):
    git = ("git", "-c", "user.name=n", "-c", "user.email=e@example.org")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run([*git, *words], cwd=workspace, check=True)

    async def commit(look):
        assert (await look(0))["output"] == "committed\n"
        subprocess.run(
            [*git, "commit", "-q", "--allow-empty", "-m", "p"], cwd=workspace, check=True
        )

    mine = " ".join(git) + " commit -q --allow-empty -m mine && echo committed; "
    _, messages = beside(mine + until_stopped(":"), commit)
    told = [message.body.what for message in messages if message.kind == "error"]
    assert any("the command's commit is " in one for one in told), told


def test_a_folder_swapped_for_a_link_leads_the_host_nowhere(beside, workspace, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("precious\n")
    (workspace / "sub").mkdir()
    (workspace / "sub" / "file").write_text("plain\n")
    swap = f"mv sub was; ln -s {outside} sub; rm sub; mv was sub; echo x >> sub/file"

    async def edit(look):
        for number in range(20):
            with suppress(FileNotFoundError):  # the command's move of the folder came over
                (workspace / "sub" / "other").write_text(f"{number}\n")
            await look(0, wait=0)

    beside(until_stopped(swap), edit)
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"file": "precious\n"}
    there = [path for path in workspace.rglob("*") if path.is_file() and not path.is_symlink()]
    assert not any("precious" in path.read_text(errors="replace") for path in there)


def test_a_file_that_is_mostly_nothing_takes_no_room(beside, workspace):
    def sparse(name):
        with open(workspace / name, "wb") as file:
            file.seek(1024**3)
            file.write(b"end")

    async def brings(look):
        sparse("brought")

    output, _ = beside(f"truncate -s 1G made; {until_stopped(':')}; stat -c %b brought", brings)
    assert int(output.split()[-1]) * 512 < 1_000_000  # also in the copy
    for name in ("made", "brought"):
        assert (workspace / name).stat().st_blocks * 512 < 1_000_000
