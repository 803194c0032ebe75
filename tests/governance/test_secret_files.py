"""Which files are secret, found on a real disk and kept up to date."""

import asyncio
import os

from steersman.governance.secret_finder import Finder


def made(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def found(finder, folder):
    return sorted(os.path.relpath(path, folder) for path in finder.find()[1])


def test_the_usual_names_are_found_wherever_they_are(tmp_path):
    made(
        tmp_path,
        ".env",
        "a/b/.env.local",
        "a/server.key",
        "k/id_rsa",
        ".env.example",
        "a.py",
        "node_modules/x/cert.pem",
        ".venv/lib/site-packages/certifi/cacert.pem",
        ".git/x.key",
    )
    finder = Finder(str(tmp_path))
    assert found(finder, tmp_path) == [".env", "a/b/.env.local", "a/server.key", "k/id_rsa"]


def test_the_folder_says_what_else_is_secret_and_what_is_not(tmp_path):
    made(tmp_path, ".env", "a/.env", "secret/deep/x", "b.txt")
    (tmp_path / ".steersmanignore").write_text("secret/\n/b.txt\n!a/.env\n")
    finder = Finder(str(tmp_path))
    assert found(finder, tmp_path) == [".env", "b.txt", "secret"]
    secret_files, _ = finder.find(deep=False)
    assert secret_files.covers(str(tmp_path / "secret/deep/x"))
    assert not secret_files.covers(str(tmp_path / "a/.env"))


def test_what_appears_later_is_found_and_so_is_a_changed_file(tmp_path):
    made(tmp_path, "a/x.py")
    finder = Finder(str(tmp_path))
    assert found(finder, tmp_path) == []
    made(tmp_path, "a/.env")
    assert found(finder, tmp_path) == ["a/.env"]
    (tmp_path / ".steersmanignore").write_text("x.py\n!.env\n")
    assert found(finder, tmp_path) == ["a/x.py"]
    os.unlink(tmp_path / "a/x.py")
    assert found(finder, tmp_path) == []


def test_a_pipe_or_a_link_for_an_ignore_file_is_no_ignore_file(tmp_path):
    made(tmp_path, ".env")
    os.mkfifo(tmp_path / ".steersmanignore")
    assert found(Finder(str(tmp_path)), tmp_path) == [".env"]
    os.unlink(tmp_path / ".steersmanignore")
    (tmp_path / "rules").write_text("!.env\n")
    os.symlink("rules", tmp_path / ".steersmanignore")
    assert found(Finder(str(tmp_path)), tmp_path) == [".env"]


def test_those_who_look_at_once_share_a_look_that_begins_after_they_asked(tmp_path):
    made(tmp_path, ".env")

    async def scenario():
        finder = Finder(str(tmp_path))
        together = await asyncio.gather(*(finder.look(deep=True) for _ in range(20)))
        assert len({id(secrets) for _, secrets in together}) == 1
        with finder._finding:  # a look has begun and cannot go on
            early = asyncio.create_task(finder.look(deep=True))
            while not finder._looking.locked():
                await asyncio.sleep(0)
            made(tmp_path, "a/.env")
            late = [asyncio.create_task(finder.look(deep=True)) for _ in range(3)]
            await asyncio.sleep(0)
        await early
        found = [secrets for _, secrets in await asyncio.gather(*late)]
        assert found[0] == (str(tmp_path / ".env"), str(tmp_path / "a/.env"))
        assert found[1] is found[0]
        assert found[2] is found[0]
        await finder.close()

    asyncio.run(asyncio.wait_for(scenario(), 60))


def test_a_shallow_look_sees_what_the_ignore_file_says_now(tmp_path):
    async def scenario():
        finder = Finder(str(tmp_path))
        assert not (await finder.look(deep=False))[0].covers(str(tmp_path / "x.py"))
        (tmp_path / ".steersmanignore").write_text("x.py\n")
        assert (await finder.look(deep=False))[0].covers(str(tmp_path / "x.py"))

    asyncio.run(scenario())
