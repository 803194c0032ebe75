"""What an action does, in words a person uses: every kind of action, and commands that push."""

from typing import get_args

import msgspec
import pytest

from steersman.governance.guard.judge import judge
from steersman.records.action import (
    Action,
    ChangeMany,
    Delete,
    Execute,
    List,
    McpCall,
    Network,
    Read,
    Search,
    Setting,
    SpawnAgent,
    Write,
)
from steersman.records.judgement import CommandPlace
from steersman.records.wording import OUTSIDE, described, for_people, requested


def diff_of(name: str, before: str | None = "") -> str:
    """The head of a file's diff; `before` is its old name, None for a file that is new."""
    old = "/dev/null" if before is None else f"a/{before or name}"
    return f"--- {old}\n+++ b/{name}\n@@ -1 +1 @@\n"


ACTIONS: list[tuple[Action, str]] = [
    (Read("/w/a.txt"), "read `/w/a.txt`"),
    (List("/w"), "list the files below `/w`"),
    (Search("/w", "x y"), "search `/w` for `x y`"),
    (Write("/w/docs/a.md", "0", "1", diff_of("docs/a.md")), "change `docs/a.md`"),
    (Write("/w/docs/a.md", "", "1", diff_of("docs/a.md", None)), "create `docs/a.md`"),
    (Write("/w/p.png", "", "1", "Binary files /dev/null and b/p.png differ\n"), "create `p.png`"),
    (Write("/w/docs/a.md", "0", "1"), "change `/w/docs/a.md`"),
    (Write("/etc/a.md", "0", "1", diff_of("docs/a.md")), "change `/etc/a.md`"),
    (Write("/w/b.py", "", "1", diff_of("b.py", "a.py"), moved_from="/w/a.py"),
     "move `a.py` to `b.py`"),
    (Write("/w/lib/a.py", "", "1", diff_of("lib/a.py", "a.py"), moved_from="/w/a.py"),
     "move `a.py` to `lib/a.py`"),
    (Delete("/w/a/b.py", "0", "--- a/a/b.py\n+++ /dev/null\n"), "delete `a/b.py`"),
    (Delete("/w/a.py", "0", origin="command"), "keep what the command did: delete `/w/a.py`"),
    (ChangeMany("/w", 0, 0, 3, lost=3, examples=("a", "b", "c")),
     "delete 3 untracked files: `a`, `b`, `c`"),
    (ChangeMany("/w", 0, 0, 9, lost=9, emptied=1, examples=("a", "b")),
     "delete or empty 9 untracked files: `a`, `b` and 7 more"),
    (ChangeMany("/w", 0, 0, 3, lost=2, precious=2, tracked=2, examples=("a", "b")),
     "delete 2 files with uncommitted changes: `a`, `b`"),
    (ChangeMany("/w", 0, 0, 3, lost=3, precious=3, tracked=1, examples=("a", "b", "c")),
     "delete 2 untracked files and 1 file with uncommitted changes: `a`, `b`, `c`"),
    (ChangeMany("/w", 0, 1, 0, discarded=1, examples=("a",)),
     "discard uncommitted work in 1 file: `a`"),
    (ChangeMany("/w", 0, 0, 0, commits=1, objects=2),
     "delete 1 commit and 2 other objects from git's history permanently"),
    (ChangeMany("/w", 1200, 30, 4), "change 1,234 files at once"),
    (Execute("make  test", "/w"), "run `make test`"),
    (Execute("make\nrm -rf /", "/w"), "run `make ⏎ rm -rf /`"),
    (Execute("x" * 200, "/w"), f"run `{'x' * 79}…`"),
    (Execute("make", "/w", outside=True), "run `make` outside the sandbox"),
    (Network("example.org", 443), "connect to `example.org`"),
    (Network("example.org", 80), "connect to `example.org` without encryption"),
    (Network("127.0.0.1", 8000), "connect to `127.0.0.1` on port 8000"),
    (McpCall("github", "create_issue", {"title": "x"}),
     "run tool `create_issue` of MCP server `github`"),
    (McpCall("*", "tools/list", {}, "reads"), "list the tools of all MCP servers"),
    (Setting("model", "m-2", "m-1"), "set your setting `model` to `m-2` (it is `m-1`)"),
    (Setting("model", "m-2"), "set your setting `model` to `m-2`"),
    (SpawnAgent("reviewer", "Read it.\nAll."), "start agent `reviewer` on: Read it. ⏎ All."),
]  # fmt: skip
COMMANDS = [
    ("git push origin fix/x", "push branch `fix/x` to `origin`"),
    ("git push", "push the current branch to its remote"),
    ("git push -u origin HEAD", "push the current branch to `origin`"),
    ("git push origin a:b", "push `a` as branch `b` to `origin`"),
    ("git push origin v1.2", "push `v1.2` to `origin`"),
    ("git push origin tag v1", "push tag `v1` to `origin`"),
    ("git push origin refs/tags/v1", "push tag `v1` to `origin`"),
    ("git push --tags origin", "push all tags to `origin`"),
    ("git push --force origin x",
     "force-push branch `x` to `origin`, replacing what is there"),
    ("git push origin +x", "force-push branch `x` to `origin`, replacing what is there"),
    ("git push origin :old", "delete branch `old` on `origin`"),
    ("git push --delete origin old", "delete branch `old` on `origin`"),
    ("git -C sub push --repo x main", "push to a git remote"),
    ("git push && npm publish",
     "push the current branch to its remote; publish the package in this folder"),
    ("cd sub && git push", "push the current branch to its remote"),
    ("make && git push", "push the current branch to its remote and run other commands"),
    ("gh pr create --title x", "open a pull request on GitHub"),
    ("gh pr merge 3", "merge pull request `3` on GitHub"),
    ("gh pr merge --body x 3", "merge a pull request on GitHub"),
    ("gh release create v1", "publish release `v1` on GitHub"),
    ("npm publish", "publish the package in this folder"),
    ("twine upload dist/x.whl", "publish the packages `dist/x.whl`"),
    ("docker push acme/app:1", "push image `acme/app:1` to its registry"),
    ("kubectl apply -f k.yaml", "apply `k.yaml` to the cluster"),
    ("kubectl apply --filename=k.yaml", "apply `k.yaml` to the cluster"),
    ("kubectl delete pod x", "delete `pod` `x` from the cluster"),
    ("terraform apply", "change your infrastructure (terraform apply)"),
    ("aws s3 cp a s3://b/c", "copy `a` to `s3://b/c`"),
    ("scp a host:b", "copy files to `host`"),
    ("ssh host", "log in to `host`"),
    ("curl -X POST https://x.example/a -d 1", "send a POST request to `x.example`"),
    ("helm upgrade --install app ./c",
     "run `helm upgrade --install app ./c`, which changes a cluster"),
]  # fmt: skip


def test_every_kind_of_action_has_words() -> None:
    assert {type(action) for action, _ in ACTIONS} == set(get_args(Action))


@pytest.mark.parametrize(("action", "words"), ACTIONS)
def test_an_action_in_words(action: Action, words: str) -> None:
    assert described(action) == words
    assert type(action).__name__ not in words


@pytest.mark.parametrize(("command", "words"), COMMANDS)
def test_what_a_command_changes_elsewhere(command: str, words: str) -> None:
    facts = judge(command, CommandPlace("/w", "/home/me", "/w")).facts
    told = described(Execute(command, "/w"), [msgspec.to_builtins(fact) for fact in facts])
    assert told == words


def test_several_actions_are_one_phrase() -> None:
    edits = [Write("/w/a", "0", "1"), Write("/w/b", "", "1"), Delete("/w/c", "0")]
    assert requested(edits) == "change `/w/a`, create `/w/b`, delete `/w/c`"
    many = [Delete(f"/w/{name}", "0", f"--- a/{name}\n+++ /dev/null\n") for name in "abcd"]
    assert requested(many) == "delete 4 files: `a`, `b`, `c` and 1 more"
    assert requested([Read("/w/a"), List("/w/b")]) == "look at `a`, `b`"
    assert requested([Network("a", 443), Network("b", 443)]) == "connect to `a`; connect to `b`"


def test_advice_for_the_model_is_not_shown_to_people() -> None:
    assert for_people(f"it may have failed because the network is closed{OUTSIDE}; 2 left") == (
        "it may have failed because the network is closed; 2 left"
    )


def test_a_long_path_is_shortened_in_the_middle() -> None:
    name = f"src/{'deep/' * 40}end.py"
    told = described(Write(f"/w/{name}", "0", "1", diff_of(name)))
    assert told.startswith("change `src/deep/")
    assert told.endswith("deep/end.py`")
    assert "…" in told
    assert len(told) < 100


@pytest.mark.parametrize(
    "advice",
    [
        "all 9 bytes can be read with process_id p1, or later with the artifact",
        "all 1,234,567 bytes can be read with process_id p12, or later with the artifact",
        "its output can be read by that name",
        "next: offset 2001",
    ],
)
def test_how_a_model_reads_the_rest_is_not_shown_to_people(advice: str) -> None:
    assert for_people(f"{advice}; stopped 1 process that it left running") == (
        "stopped 1 process that it left running"
    )
    assert for_people(advice) == ""


@pytest.mark.parametrize(
    "note",
    [
        "the file notes; offset table.txt was skipped",
        "not written: next: offset 3.txt (it is too large)",
        "Not kept: all notes can be read by that name.md",
        "a; can be read with process_id",
    ],
)
def test_what_a_file_is_called_takes_nothing_from_a_note(note: str) -> None:
    assert for_people(note) == note
