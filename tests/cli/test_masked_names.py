"""Secrets in the names of files: undo finds the files, and nobody sees the secrets."""

import asyncio
import secrets

import pytest

from steersman.records.change import ABSENT, Change, FileState
from steersman.records.errors import ToolProblem
from steersman.records.message import MASK, Checkpoint
from steersman.store.log import Lane
from steersman.threads.way_back import WayBack
from tests.cli.kit import DONE, decoded, shell
from tests.cli.test_secrets import leaks
from tests.store.logs import a_place
from tests.store.made import a_thread
from tests.world import call

COMMIT = "git add calc.py; git -c user.name=a -c user.email=a@example.org commit -qm agent"


def test_paths_with_a_known_secret_are_undone_whatever_the_log_masks(
    steer, script, home, workspace, git
):
    token = secrets.token_hex(20)
    steer = steer.having(POSTGRES_PASSWORD="postgres", X_SECRET="refs/heads", Y_TOKEN=token)
    (workspace / "postgres.conf").write_text("orig\n")
    (workspace / f"{token}.txt").write_text("orig\n")
    odd = workspace / f"{MASK}.txt"  # a name that only looks masked
    odd.write_text("orig\n")
    git("add", "README.md")
    git("commit", "-qm", "first")
    files = [f"{token}.txt", odd.name]
    made = [call("workspace_write_file", path="postgres.conf", content="agent\n"),
            shell(f"for f in *.txt; do echo agent > $f; done; {COMMIT}")]  # fmt: skip
    run = steer("run", "--json", "--model", script({"tool_calls": made}, DONE), "--yes", "go")
    diffs = {m["body"]["file"]: m["body"]["diff"] for m in decoded(run.stdout)
             if m["kind"] == "diff_ready"}  # fmt: skip
    assert "+++ b/postgres.conf\n" in diffs["postgres.conf"]

    listed = steer("undo", "--list")
    one = steer("undo", "--file", "postgres.conf", "--yes")
    assert ((workspace / "postgres.conf").read_text(), one.returncode) == ("orig\n", 0)
    rest = steer("undo", "--yes")
    assert rest.returncode == 0, rest.stderr
    assert {(workspace / name).read_text() for name in files} == {"orig\n"}
    assert git("log", "--format=%s") == "first\n"
    again = steer("redo", "--yes")
    assert again.returncode == 0, again.stderr
    assert {(workspace / name).read_text() for name in files} == {"agent\n"}
    assert "postgres.conf" in listed.stdout
    assert [path.name for path in workspace.iterdir() if MASK in path.name] == [odd.name]
    assert leaks(home, token) == []
    everything = "".join(done.stdout + done.stderr for done in (run, listed, one, rest, again))
    assert token not in everything


@pytest.mark.parametrize(
    "change",
    [
        Change(f"{MASK}.conf", FileState("file", 0o644, "a" * 64, 1), ABSENT),
        Change("link", FileState("link", target=f"to/{MASK}"), ABSENT),
    ],
)
def test_a_name_that_the_log_only_has_masked_is_refused_and_no_file_is_made(tmp_path, change):
    with a_place() as place:
        place.store.create_thread(a_thread("old", workspace=str(tmp_path)))
        lane = Lane(place.open_log("old"), "steersman", 1)
        asyncio.run(lane.append(Checkpoint("effect", (change,))))
        with pytest.raises(ToolProblem, match="The exact name is not known"):
            WayBack(place.store, tmp_path / "home").plan_undo("old")
