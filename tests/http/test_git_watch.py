"""`GET /threads/{thread}/git/watch`: what changes in the repositories a thread works in."""

import json
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from steersman.host.git_look import FileChange, Repository, look
from steersman.operations.running.programs import git as git_program
from steersman.records.errors import SteersmanError
from steersman.store.redactor import Redactor
from tests.http.watched import Serving, git, repository
from tests.world import call

WRITE = call("workspace_write_file", path="calc.txt", content="two\n")


@pytest.fixture
def server(environ: dict[str, str], tmp_path: Path) -> Iterator[Serving]:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    made = Serving(environ, folder)
    yield made
    made.stop()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "repo")


def link(at: Path, to: Path) -> None:
    at.unlink()
    at.symlink_to(to)


def test_the_whole_state_is_shown_at_once(server: Serving, repo: Path) -> None:
    git(repo, "remote", "add", "origin", "https://me:hunter2@example.org/repo.git")
    (repo / "calc.txt").write_text("two\n")
    (repo / "new.txt").write_text("new\n")
    with server.watch(server.thread(repo)) as watch:
        frame = watch.next()
    (found,) = frame["repositories"]
    assert frame["type"] == "changes"
    assert "T" in frame["scanned_at"]
    diff = found.pop("unified_diff")
    assert "-one\n+two\n" in diff
    assert "new.txt" not in diff  # untracked files are only listed
    assert found == {
        "repo_root": str(repo),
        "branch": "main",
        "remote_origin": "https://[redacted]@example.org/repo.git",
        "files": [
            {"path": "calc.txt", "state": "modified", "shown": True},
            {"path": "new.txt", "state": "untracked"},
        ],
        "truncated": False,
        "more": 0,
        "removed": False,
        "scan": 1,
    }


def test_of_secret_files_the_names_are_shown_and_no_line(server: Serving, repo: Path) -> None:
    (repo / ".env").write_text("PIN=1234\n")
    (repo / "id_rsa").write_text("line one\nline two\nline three\nline four\n")
    (repo / ".steersmanignore").write_text("notes.txt\n")
    (repo / "notes.txt").write_text("mine\n")
    git(repo, "add", "-f", ".")
    git(repo, "commit", "-qm", "Secrets")
    (repo / ".env").write_text("PIN=5678\n")
    (repo / "notes.txt").write_text("also mine\n")
    git(repo, "mv", "id_rsa", "plain.txt")
    (repo / "new.pem").write_text("new\n")
    (repo / "calc.txt").write_text("two\n")
    with server.watch(server.thread(repo)) as watch:
        found = watch.only()
    assert found["unified_diff"].count("diff --git") == 1
    assert "-one\n+two\n" in found["unified_diff"]
    assert sorted(found["files"], key=lambda one: str(one["path"])) == [
        {"path": ".env", "state": "modified", "not_shown": "secret"},
        {"path": "calc.txt", "state": "modified", "shown": True},
        {"path": "new.pem", "state": "untracked", "not_shown": "secret"},
        {"path": "notes.txt", "state": "modified", "not_shown": "secret"},
        {"path": "plain.txt", "state": "renamed", "source": "id_rsa", "not_shown": "secret"},
    ]


@pytest.mark.parametrize("name", [".gitattributes", ".gitignore", ".gitmodules"])
def test_git_is_not_asked_where_it_would_wait_for_a_pipe(repo: Path, name: str) -> None:
    assert git_program({"PATH": os.environ["PATH"]}, str(repo)) is not None
    os.mkfifo(repo / name)
    assert git_program({"PATH": os.environ["PATH"]}, str(repo)) is None


def looked_at(repo: Path) -> Repository:
    """What one look at a repository finds."""
    environ = {"PATH": os.environ["PATH"]}
    return look(str(repo), "", (), environ, Redactor([]), lambda _: False)


@pytest.mark.parametrize(
    "name", ["sub/.gitignore", "sub/.gitattributes", ".git/refs/heads/a/b", "sub/in/.git/HEAD"]
)
def test_a_pipe_that_git_waits_for_is_named(repo: Path, name: str) -> None:
    pipe = repo / name
    (repo / "sub").mkdir()
    (repo / "sub/file").write_text("one\n")
    git(repo, "init", "-q", "sub/in")
    git(repo, "checkout", "-q", "-b", "a/b")
    git(repo, "add", "sub/file")
    git(repo, "commit", "-qm", "Deeper")
    (repo / "sub/file").write_text("two\n")
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    for _ in range(2):  # the second time it is known
        with pytest.raises(SteersmanError) as problem:
            looked_at(repo)
        assert f": it would wait for {pipe}, which is a pipe or a device." in problem.value.what
    pipe.unlink()
    if "refs" not in name and "HEAD" not in name:
        assert "+two" in looked_at(repo).unified_diff


@pytest.mark.parametrize("kind", [stat.S_IFIFO, stat.S_IFSOCK])
def test_a_pipe_or_socket_in_the_place_of_a_file_is_listed(repo: Path, kind: int) -> None:
    (repo / "calc.txt").unlink()
    os.mknod(repo / "calc.txt", kind | 0o600)
    (repo / "new.txt").write_text("new\n")
    assert looked_at(repo).files == (
        FileChange("calc.txt", "retyped"),
        FileChange("new.txt", "untracked"),
    )


def test_what_a_call_changes_arrives(server: Serving, repo: Path) -> None:
    thread = server.thread(repo, {"tool_calls": [WRITE]}, {"text": "Done."})
    with server.watch(thread) as watch:
        assert watch.only()["unified_diff"] == ""
        server.send(thread)
        assert watch.until("+two")["files"][0]["path"] == "calc.txt"


def test_what_did_not_change_is_not_sent_again(server: Serving, repo: Path) -> None:
    with server.watch(server.thread(repo)) as watch:
        watch.only()
        watch.refresh()
        again = watch.next()
        assert again["type"] == "unchanged"
        assert again["scans"] > 1  # it was looked at
        (repo / "calc.txt").write_text("two\n")
        watch.refresh()
        assert "+two" in watch.only()["unified_diff"]


def test_listeners_share_the_looks_at_a_repository(server: Serving, repo: Path) -> None:
    thread, other = server.thread(repo), server.thread(repo)
    with server.watch(thread) as one, server.watch(other) as two:
        one.only(), two.only()
        for _ in range(2):
            one.refresh()
            assert one.next()["type"] == "unchanged"
        (repo / "calc.txt").write_text("two\n")
        one.refresh()
        assert one.only() == two.only()  # with the number of the look that found it


def test_a_repository_is_looked_at_once_a_second_whoever_asks(server: Serving, repo: Path) -> None:
    thread = server.thread(repo)
    began = time.monotonic()
    with server.watch(thread) as one, server.watch(thread) as two:
        one.only(), two.only()
        for _ in range(3):
            one.refresh(), two.refresh()
            looks = max(one.next()["scans"], two.next()["scans"])
        assert looks <= time.monotonic() - began + 1


def test_repositories_elsewhere_are_watched_once_a_call_worked_in_them(
    server: Serving, repo: Path
) -> None:
    inner = repository(repo / "vendored" / "lib", lib="one\n")
    (inner / "lib.txt").write_text("two\n")
    reads = {"tool_calls": [call("workspace_read_file", path="vendored/lib/lib.txt")]}
    thread = server.thread(repo, reads, {"text": "Done."})
    with server.watch(thread) as watch:
        assert watch.only()["repo_root"] == str(repo)
        server.send(thread)
        found = watch.only()
        assert (found["repo_root"], found["branch"]) == (str(inner), "main")
        assert "+two" in found["unified_diff"]


def test_a_folder_can_become_a_repository(server: Serving, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    reads = {"tool_calls": [call("workspace_list_files", path=".")]}
    thread = server.thread(folder, reads, {"text": "Done."})
    with server.watch(thread) as watch:
        assert watch.next()["repositories"] == []
        git(folder, "init", "-q", "-b", "trunk")
        server.send(thread)
        found = watch.only()
    assert (found["branch"], found["files"]) == ("trunk", [])


def test_after_a_restart_and_in_a_fork_the_same_is_watched(server: Serving, repo: Path) -> None:
    inner = repository(repo / "lib", lib="one\n")
    reads = {"tool_calls": [call("workspace_read_file", path="lib/lib.txt")]}
    thread = server.thread(repo, reads, {"text": "Done."})
    with server.watch(thread) as watch:
        watch.only()
        server.send(thread)
        assert watch.only()["repo_root"] == str(inner)
    server.kill()
    server.start()
    fork = server.ask("POST", f"/threads/{thread}/fork")["id"]
    for one in (thread, fork):
        with server.watch(one) as watch:
            roots = [found["repo_root"] for found in watch.next()["repositories"]]
        assert roots == [str(repo), str(inner)]


def test_a_long_diff_is_cut_between_files_and_says_so(server: Serving, tmp_path: Path) -> None:
    repo = repository(tmp_path / "big", a="a\n", b="b\n", c="c\n")
    for name in "abc":
        (repo / f"{name}.txt").write_text(f"{name} line of text\n" * 100_000)
    with server.watch(server.thread(repo)) as watch:
        found = watch.only()
    assert found["truncated"] is True
    assert len(found["unified_diff"]) < 3 << 20
    assert [(one["path"], one.get("shown", False)) for one in found["files"]] == [
        ("a.txt", True),
        ("b.txt", False),
        ("c.txt", False),
    ]
    assert found["unified_diff"].count("diff --git") == 1


def test_nothing_that_a_repository_configures_is_run(
    server: Serving, repo: Path, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    program.chmod(0o755)
    inner = repository(repo / "sub", lib="one\n")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", "./sub", "sub")
    git(repo, "commit", "-qm", "With a submodule")
    (repo / ".gitattributes").write_text("* diff=evil filter=e=vil\n")
    for folder, named in ((repo, "e=vil"), (inner, "inner")):
        for name in (
            "core.fsmonitor", "core.pager", "diff.external", "diff.evil.command",
            "diff.evil.textconv", f"filter.{named}.clean", f"filter.{named}.smudge",
            f"filter.{named}.process", "core.sshCommand",
        ):  # fmt: skip
            git(folder, "config", name, str(program))
        git(folder, "config", "core.hooksPath", str(tmp_path / "hooks"))
        git(folder, "config", f"filter.{named}.required", "true")
        (folder / ".git" / "info").mkdir(exist_ok=True)
        (folder / ".git" / "info" / "attributes").write_text(f"* diff=evil filter={named}\n")
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks" / "post-index-change").symlink_to(program)
    (repo / "calc.txt").write_text("two\n")
    (inner / "lib.txt").write_text("two\n")
    ran.unlink(missing_ok=True)
    with server.watch(server.thread(repo)) as watch:
        assert "+two" in watch.only()["unified_diff"]
    assert not ran.exists()


def test_a_repository_cannot_show_files_of_other_places(
    server: Serving, repo: Path, tmp_path: Path
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "calc.txt").write_text("mine alone\n")
    git(repo, "config", "core.worktree", str(private))
    with server.watch(server.thread(repo)) as watch:
        assert watch.only()["unified_diff"] == ""


def test_secrets_are_masked(server: Serving, repo: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    (repo / "calc.txt").write_text(f"token = {secret}\n")
    with server.watch(server.thread(repo)) as watch:
        diff = watch.only()["unified_diff"]
    assert "[redacted]" in diff
    assert secret not in diff


def test_when_git_fails_an_error_says_so_until_it_works_again(server: Serving, repo: Path) -> None:
    head = (repo / ".git" / "HEAD").read_bytes()
    with server.watch(server.thread(repo)) as watch:
        watch.only()
        (repo / ".git" / "HEAD").write_text("nonsense")
        watch.refresh()
        frames = [watch.next(), watch.next()]
        assert {one["type"] for one in frames} == {"error", "unchanged"}
        error = next(one for one in frames if one["type"] == "error")
        assert error["repo_root"] == str(repo)
        assert error["message"].startswith("git could not")
        (repo / ".git" / "HEAD").write_bytes(head)
        watch.refresh()
        assert watch.only()["branch"] == "main"


def test_a_repository_that_is_gone_is_removed(server: Serving, repo: Path) -> None:
    with server.watch(server.thread(repo)) as watch:
        watch.only()
        (repo / ".git").rename(repo / "old.git")
        watch.refresh()
        assert watch.only()["removed"] is True


def test_what_is_not_understood_is_answered(server: Serving, repo: Path) -> None:
    with server.watch(server.thread(repo)) as watch:
        watch.only()
        watch.say({"type": "explode"})
        assert watch.next()["type"] == "error"
        watch.refresh()
        assert watch.next()["type"] == "unchanged"


def test_a_page_watches_with_a_ticket_once(server: Serving, repo: Path) -> None:
    thread = server.thread(repo)
    path = f"/api/v0/threads/{thread}/git/watch"
    ticket = server.ask("POST", "/tickets", {"path": path})["ticket"]
    with server.watch(thread, query=f"?ticket={ticket}") as watch:
        assert watch.only()["repo_root"] == str(repo)
    socket = server.connect(thread, query=f"?ticket={ticket}")
    with socket, pytest.raises(ConnectionClosed) as closed:
        socket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4401


def test_pages_of_other_origins_are_refused(server: Serving, repo: Path) -> None:
    thread = server.thread(repo)
    with pytest.raises(InvalidStatus) as refused:
        server.connect(thread, Origin="https://example.org")
    assert refused.value.response.status_code == 403


def test_a_token_of_another_folder_sees_no_thread(
    server: Serving, repo: Path, tmp_path: Path
) -> None:
    token = server.token_for("there", "--workspace", str(tmp_path))
    with pytest.raises(InvalidStatus) as refused:
        server.connect(server.thread(repo), token=token)
    assert refused.value.response.status_code == 404
    assert json.loads(refused.value.response.body)["what"].startswith("There is no thread")


def test_a_token_of_a_folder_sees_only_that_part_of_a_repository(
    server: Serving, repo: Path
) -> None:
    (repo / "part").mkdir()
    (repo / "part" / "mine.txt").write_text("one\n")
    git(repo, "add", ".")
    (repo / "calc.txt").write_text("two\n")
    thread = server.thread(repo / "part")
    token = server.token_for("part", "--workspace", str(repo / "part"))
    with server.watch(thread, token=token) as watch, server.watch(thread) as owners:
        part, whole = watch.only(), owners.only()
    assert [one["path"] for one in part["files"]] == ["part/mine.txt"]
    assert "calc.txt" not in part["unified_diff"]
    assert [one["path"] for one in whole["files"]] == ["calc.txt", "part/mine.txt"]


@pytest.mark.parametrize(
    "way", ["file", "link", "objects", "below", "common", "spaces", "alternates", "none"]
)
def test_a_token_of_a_folder_sees_no_history_of_other_places(
    server: Serving, tmp_path: Path, way: str
) -> None:
    private = repository(tmp_path / "private", secret="mine alone\n") / ".git"
    folder = tmp_path / "folder"
    inner = repository(folder / "inner")
    if way == "objects":
        for name in ("objects", "refs"):
            (inner / ".git" / name).rename(inner / ".git" / f"old-{name}")
            (inner / ".git" / name).symlink_to(private / name)
    elif way == "below":  # only what is in the folders leads elsewhere
        store = inner / "store"
        (inner / ".git" / "objects").rename(store)
        (inner / ".git" / "objects").symlink_to(store)
        for one in (private / "objects").glob("??/*"):
            (store / one.parent.name).mkdir(exist_ok=True)
            (store / one.parent.name / one.name).symlink_to(one)
        link(inner / ".git" / "refs" / "heads" / "main", private / "refs" / "heads" / "main")
    elif way == "common":
        (inner / ".git" / "commondir").write_text(str(private))
    elif way == "spaces":  # git takes the space for a part of the name
        (inner / ".git").rename(inner / "old")
        (inner / "old ").symlink_to(private)
        (inner / ".git").write_text("gitdir: old \n")
    elif way == "alternates":
        commit = git(private.parent, "rev-parse", "HEAD")
        (inner / ".git" / "refs" / "heads" / "main").write_text(commit)
        lines = "\n" * 80_000 + f"{private}/objects\n"
        (inner / ".git" / "objects" / "info" / "alternates").write_text(lines)
    elif way == "none":  # git would look for a repository further up
        (inner / ".git").rename(inner / "old")
        (inner / ".git").mkdir()
        private.rename(tmp_path / ".git")
    else:
        (inner / ".git").rename(inner / "old")
        if way == "file":
            (inner / ".git").write_text(f"gitdir: {private}\n")
        else:
            (inner / ".git").symlink_to(private)
    reads = {"tool_calls": [call("workspace_list_files", path="inner")]}
    thread = server.thread(folder, reads, {"text": "Done."})
    server.send(thread)
    with server.watch(thread) as owners:
        while way != "none" and not (found := owners.next()["repositories"]):
            pass
        assert way == "none" or "-mine alone" in found[0]["unified_diff"]
    token = server.token_for("part", "--workspace", str(folder))
    with server.watch(thread, token=token) as watch:
        assert "mine alone" not in str(watch.next())


def test_a_history_that_is_replaced_while_it_is_watched_is_not_shown(
    server: Serving, repo: Path, tmp_path: Path
) -> None:
    private = repository(tmp_path / "private", secret="mine alone\n") / ".git"
    token = server.token_for("part", "--workspace", str(repo))
    with server.watch(server.thread(repo), token=token) as watch:
        watch.only()
        (repo / ".git").rename(tmp_path / "old")
        (repo / ".git").symlink_to(private)
        watch.refresh()
        found = watch.only()
    assert (found["removed"], found["unified_diff"]) == (True, "")


def test_a_token_of_a_folder_sees_a_worktree_of_a_repository_elsewhere(
    server: Serving, repo: Path, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    git(repo, "worktree", "add", "-q", str(tree))
    token = server.token_for("part", "--workspace", str(tree))
    with server.watch(server.thread(tree), token=token) as watch:
        assert watch.only()["branch"] == "tree"
