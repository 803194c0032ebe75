"""The index is built behind the work, kept fresh, and ends with whoever keeps it."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from steersman.operations.code.index import keeper as module
from steersman.operations.code.index import watch as watching
from steersman.operations.code.index.answering import Asked
from steersman.operations.code.index.keeper import IndexKeeper
from steersman.operations.code.index.keepers import IndexKeepers
from steersman.operations.code.index.watch import Watch
from steersman.operations.tools.ranked_context import reader
from tests.operations.code.index.kit import PROJECT, plant

PATIENCE = 60.0


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    plant(folder, PROJECT)
    return folder


def many(folder, count):
    plant(folder, {f"part{n}.py": f"def part_{n}():\n    return {n}\n" for n in range(count)})


def keeping(folder, work, secret=""):
    """Let something be done with the keeper of a folder."""

    async def do():
        root = os.path.realpath(folder)
        keeper = IndexKeeper(root, folder.parent / "data", os.environ, secret)
        try:
            return await work(keeper, reader(root, secret))
        finally:
            await keeper.close()

    return asyncio.run(asyncio.wait_for(do(), 120))


def paths(found):
    return [excerpt.path for excerpt in found.excerpts]


@pytest.mark.parametrize("count", [0, 60], ids=["in a thread", "by the program"])
def test_the_first_question_builds_it(project, count):
    many(project, count)

    async def work(keeper, read):
        found = await keeper.answer(Asked("sum of prices"), read, PATIENCE)
        assert paths(found)[0] == "shop/prices.py"
        assert found.note == ""
        state = await keeper.state()
        assert (state.files, state.languages["python"]) == (5 + count, 4 + count)

    keeping(project, work)


def test_an_answer_that_cannot_wait_says_so(project):
    many(project, 60)

    async def work(keeper, read):
        early = await keeper.answer(Asked("sum of prices"), read, 0)
        assert early.excerpts == ()
        assert early.note.startswith("The index is still being built")
        late = await keeper.answer(Asked("sum of prices"), read, PATIENCE)
        assert late.note == ""
        assert paths(late)[0] == "shop/prices.py"

    keeping(project, work)


@pytest.mark.parametrize("watched", [True, False], ids=["watched", "not watched"])
def test_every_answer_knows_the_last_change(project, monkeypatch, watched):
    if not watched:
        monkeypatch.setattr(watching, "MOST_FOLDERS", 0)
    asked = Asked("zebra crossing")

    async def work(keeper, read):
        assert (await keeper.answer(asked, read, PATIENCE)).excerpts == ()
        (project / "shop/prices.py").write_text("def zebra():\n    '''Crossing.'''\n")
        assert paths(await keeper.answer(asked, read, PATIENCE)) == ["shop/prices.py"]
        plant(project, {"new/folder/zebra.py": "def crossing():\n    pass\n"})
        assert set(paths(await keeper.answer(asked, read, PATIENCE))) == {
            "shop/prices.py",
            "new/folder/zebra.py",
        }
        (project / "new/folder/zebra.py").unlink()
        assert paths(await keeper.answer(asked, read, PATIENCE)) == ["shop/prices.py"]

    keeping(project, work)


def test_what_did_not_change_is_not_looked_at_again(project, monkeypatch):
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux tells")
    looked = []
    real = module.listed

    async def counted(*arguments):
        looked.append(arguments)
        return await real(*arguments)

    monkeypatch.setattr(module, "listed", counted)

    async def work(keeper, read):
        await keeper.answer(Asked("prices"), read, PATIENCE)
        before = len(looked)
        await keeper.answer(Asked("client"), read, PATIENCE)
        assert len(looked) == before

    keeping(project, work)


def test_what_becomes_secret_is_forgotten(project):
    asked = Asked("sum of prices")

    async def work(keeper, read):
        assert "shop/prices.py" in paths(await keeper.answer(asked, read, PATIENCE))
        keeper.secret_files("prices.py\n")
        found = await keeper.answer(asked, read, PATIENCE)
        assert "shop/prices.py" not in {*paths(found), *found.files}

    keeping(project, work)


def test_an_index_that_cannot_be_kept_is_told(project, tmp_path):
    (tmp_path / "file").write_text("")

    async def work(keeper, read):
        keeper._home = tmp_path / "file"
        assert not await keeper.ready(PATIENCE)
        assert "cannot be used" in keeper.problem

    keeping(project, work)


def children():
    """The processes that this one has."""
    mine = Path(f"/proc/{os.getpid()}/task")
    return {pid for task in mine.iterdir() for pid in (task / "children").read_text().split()}


async def building(keeper, before):
    """Wait until the program is at work."""
    keeper.start()
    while not children() - before:
        await asyncio.sleep(0.01)
    return children() - before


def test_closing_ends_the_build(project):
    many(project, 1500)
    before = children()

    async def work(keeper, read):
        assert await building(keeper, before)

    keeping(project, work)
    assert children() <= before


HOST = """
import asyncio, os, sys
from pathlib import Path
from steersman.operations.code.index.keeper import IndexKeeper

async def main():
    keeper = IndexKeeper(sys.argv[1], Path(sys.argv[2]), os.environ)
    keeper.start()
    while keeper.progress is None or not keeper.progress.done:
        await asyncio.sleep(0.01)
    task = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    print(task.read_text(), flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


def test_the_program_ends_when_its_host_is_killed(project, tmp_path):
    many(project, 1500)
    root = os.path.realpath(project)
    command = [sys.executable, "-c", HOST, root, str(tmp_path / "data")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as host:
        (pid,) = host.stdout.readline().split()
        host.send_signal(signal.SIGKILL)
    patience = time.monotonic() + 30
    while Path(f"/proc/{pid}/cmdline").exists() and time.monotonic() < patience:
        if "Z" in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]:
            break
        time.sleep(0.02)
    else:
        assert not Path(f"/proc/{pid}").exists()


def test_a_workspace_has_one_keeper(tmp_path):
    async def work():
        keepers = IndexKeepers(tmp_path / "data", os.environ)
        first = keepers.of("/somewhere")
        assert keepers.of("/somewhere", "secret\n") is first
        assert keepers.of("/elsewhere") is not first
        await keepers.close()

    asyncio.run(work())


# --- watching -------------------------------------------------------------------------------------


def test_a_watch_hears_what_happens_in_its_folders(project):
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux tells")
    heard = []

    async def work():
        watch = Watch(str(project), lambda: heard.append(True))
        assert await watch.follow(PROJECT)
        assert not await watch.follow(PROJECT)
        for change in (
            lambda: (project / "shop/prices.py").write_text("x = 1\n"),
            lambda: (project / "shop/new.py").touch(),
            lambda: (project / "shop/new.py").rename(project / "tests/new.py"),
            lambda: (project / "tests/new.py").unlink(),
            lambda: (project / "other").mkdir(),
        ):
            heard.clear()
            change()
            watch.look()
            assert heard
        (project / "other/deep.py").touch()
        watch.look()
        assert await watch.follow([*PROJECT, "other/deep.py"])
        heard.clear()
        watch.close()
        (project / "shop/prices.py").write_text("x = 2\n")
        watch.look()
        assert not heard
        assert not watch.works

    asyncio.run(work())
