"""No effect without an allowing verdict before it in the log, whatever a model asks for.

Random calls of every tool go through a host in a process whose every touch of a file is noticed;
folders and links are swapped while the person thinks. The checker itself is tested on tools that
do avoid the gate.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operations.gate_checker import Story, unexplained
from tests.operations.gate_world import ROGUES
from tests.operations.workshop import our_tools
from tests.store.elsewhere import ROOT
from tests.world import call

Play = Callable[[dict[str, Any]], Story]

PATHS = st.sampled_from([
    "a.txt", "sub/b.txt", "new.txt", "sub/new.txt", "sub/deep/er/new.txt", "./sub/../a.txt",
    "link_in/b.txt", "link_in/new.txt", "link_out/secret.txt", "link_out/new.txt", "file_link",
    "dangling", "loop", "../outside/secret.txt", "../ws-evil/secret.txt", "sub/../../outside/new",
    "/etc/hostname", ".", "sub", "link_in", "link_out", "..", "", "no\0name", "a.txt/below",
])  # fmt: skip
COMMANDS = st.sampled_from([
    "echo 0 > made_0.txt", "echo 1 > made_1.txt", "true", "cat a.txt", "exit 3",
    "rm a.txt", "rm -rf sub", "mv a.txt sub/", "mkdir -p d/e && touch d/e/f",
    "ln -s a.txt made_link",
    "mkdir -p .husky && echo x > .husky/pre-push", "echo x > .mcp.json; echo y > made_2.txt",
    "for n in $(seq 300); do echo $n > many_$n; done", "git init -q . && git config core.pager x",
    "git push origin main", "git push origin topic", "curl -s http://127.0.0.1:9/x",
    'rm -rf "$HOME"',
    "echo x > ../outside/new", "cat ../outside/secret.txt > /dev/null",
    "chmod 600 a.txt; rm sub/b.txt",
])  # fmt: skip
FOLDERS = st.sampled_from([".", "sub", "link_in", "link_out", "..", "nowhere"])
TEXTS = st.sampled_from(["", "one\n", "new text\n"])
SEARCHES = st.sampled_from(["one", "two\n", "nothing like it", "o"])

edits = st.builds(lambda s, r: {"search": s, "replace": r}, SEARCHES, TEXTS)
files = st.builds(
    lambda path, made: {"path": path, "edits": made}, PATHS, st.lists(edits, min_size=1, max_size=2)
)


def patch(path: str, kind: str) -> str:
    """A patch of one file."""
    bodies = {
        "Add": "+made by a patch\n",
        "Update": "@@\n-one two\n+two one\n",
        "Delete": "",
    }
    return f"*** Begin Patch\n*** {kind} File: {path}\n{bodies[kind]}*** End Patch\n"


KNOWN = {
    "workspace_write_file": st.fixed_dictionaries({"path": PATHS, "content": TEXTS}),
    "workspace_edit_files": st.fixed_dictionaries(
        {"files": st.lists(files, min_size=1, max_size=2)}
    ),
    "workspace_run_command": st.fixed_dictionaries(
        {"command": COMMANDS, "cwd": FOLDERS},
        optional={"background": st.booleans(), "outside_sandbox": st.booleans()},
    ),
    "workspace_apply_patch": st.fixed_dictionaries(
        {"patch": st.builds(patch, PATHS, st.sampled_from(["Add", "Update", "Delete"]))}
    ),
}


def from_schema(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments for a tool nothing else is known of: its paths are paths, its words are words."""
    needed = schema.get("required", ())
    fields = schema["properties"]
    made = {}
    for name in fields:
        words = PATHS if name in ("path", "file", "folder", "cwd", "root") else SEARCHES
        if fields[name].get("type") == "string":
            made[name] = words
        elif name in needed:
            made[name] = st.integers(0, 3) | words
    optional = {name: found for name, found in made.items() if name not in needed}
    required = {name: found for name, found in made.items() if name in needed}
    return st.fixed_dictionaries(required, optional=optional)


TOOLS = {
    name: KNOWN[name] if name in KNOWN else from_schema(tool.spec().parameters)
    for name, tool in our_tools().items()
}
calls = st.sampled_from(sorted(TOOLS)).flatmap(
    lambda name: st.builds(lambda given: {"name": name, "arguments": given}, TOOLS[name])
)
changes = st.sampled_from(sorted(KNOWN)).flatmap(
    lambda name: st.builds(lambda given: {"name": name, "arguments": given}, KNOWN[name])
)
deeds = st.sampled_from(["", "", "swap-folder", "swap-link", "swap-file", "change"])
answers = st.builds(
    lambda decision, deed: {"decision": decision, "meanwhile": deed},
    st.sampled_from(["allow", "allow", "some", "some", "deny"]), deeds,
)  # fmt: skip
cases = st.fixed_dictionaries(
    {
        "mode": st.sampled_from(["code", "code", "code", "code", "debug", "plan", "spec", "ask"]),
        "trust": st.sampled_from(["sandboxed"] * 4 + ["untrusted", "restricted"]),
        "approvals": st.sampled_from(["on-request", "on-request", "on-failure", "never"]),
        "attended": st.sampled_from([True, True, True, False]),
        "answers": st.lists(answers, max_size=6),
        "turns": st.lists(st.lists(calls | changes, min_size=1, max_size=3), max_size=3),
    }
)


@pytest.fixture(scope="module")
def play() -> Iterator[Play]:
    """A process that plays cases."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.operations.gate_world"],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip

        def played(case: dict[str, Any]) -> Story:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(case) + "\n")
            process.stdin.flush()
            return msgspec.json.decode(process.stdout.readline(), type=Story)

        yield played


@given(case=cases)
@settings(max_examples=70)
def test_no_effect_is_there_without_an_allowing_verdict_before_it(play, case):
    story = play(case)
    assert unexplained(story) == []
    results = [m["corr"] for m in story.messages if m["kind"] == "tool_result"]
    asked = [m["corr"] for m in story.messages if m["kind"] == "tool_call"]
    assert sorted(results) == sorted(asked)


def a_case(*turns: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A case in which everything inside is allowed."""
    plain = {"mode": "code", "trust": "sandboxed", "approvals": "never", "attended": True}
    return plain | {"answers": [], "turns": list(turns)} | more


HONEST = a_case(
    [call("workspace_write_file", path="new.txt", content="new\n")],
    [call("workspace_edit_files", files=[{"path": "a.txt", "edits": [
        {"search": "one", "replace": "1"}]}])],
    [call("workspace_run_command", command="echo 1 > made_1.txt")],
    [call("workspace_read_file", path="sub/b.txt")],
)  # fmt: skip


def test_what_is_allowed_happens_and_is_explained(play):
    story = play(HONEST)
    assert unexplained(story) == []
    now = {path.removeprefix(f"{story.root}/ws/"): kind for path, kind in story.after.items()}
    assert now["new.txt"].startswith("file b'new\\n'")
    assert now["a.txt"].startswith("file b'1 two\\n'")
    assert now["made_1.txt"].startswith("file b'1\\n'")
    assert {event.what for event in story.events} >= {"read", "change"}


def test_what_a_person_cut_is_explained_by_the_cut_and_not_by_the_request(play):
    both = [{"path": path, "edits": [{"search": "one", "replace": "1"}]}
            for path in ("a.txt", "sub/b.txt")]  # fmt: skip
    some = [{"decision": "some", "meanwhile": ""}]
    case = a_case([call("workspace_edit_files", files=both)], approvals="on-request", answers=some)
    story = play(case)
    assert unexplained(story) == []
    now = {path.removeprefix(f"{story.root}/ws/"): kind for path, kind in story.after.items()}
    assert now["a.txt"].startswith("file b'1 two\\n'")
    assert now["sub/b.txt"].startswith("file b'one two\\n'")
    last = [m["seq"] for m in story.messages if m["kind"] == "policy"][-1]
    silent = [m for m in story.messages if m["seq"] != last]
    assert unexplained(msgspec.structs.replace(story, messages=silent))


def test_the_same_effects_are_not_explained_by_a_log_without_their_verdicts(play):
    story = play(HONEST)
    for spoil in (lambda m: m["kind"] != "policy", lambda m: m["seq"] > len(story.messages) - 5):
        silent = msgspec.structs.replace(story, messages=list(filter(spoil, story.messages)))
        found = "\n".join(unexplained(silent))
        for name in ("new.txt", "a.txt", "made_1.txt", "b.txt"):
            assert f"/ws/{name}" in found or f"/ws/sub/{name}" in found


def test_a_verdict_that_comes_after_its_effect_explains_nothing(play):
    story = play(HONEST)
    late = [m | {"seq": m["seq"] + 1000} for m in story.messages]
    found = unexplained(msgspec.structs.replace(story, messages=late))
    assert [line for line in found if "change of" in line]
    assert [line for line in found if "read of" in line]


@pytest.mark.parametrize("decision", ["deny", "ask"])
def test_a_verdict_that_does_not_allow_explains_nothing(play, decision):
    story = play(HONEST)
    messages = json.loads(json.dumps(story.messages))
    for message in messages:
        if message["kind"] == "policy":
            message["body"]["verdict"]["decision"] = decision
    assert unexplained(msgspec.structs.replace(story, messages=messages))


@pytest.mark.parametrize("rogue", ROGUES)
def test_a_tool_that_avoids_the_gate_is_caught(play, rogue):
    story = play(a_case(rogue=rogue))
    assert unexplained(story)


def test_a_tool_that_keeps_to_its_leave_is_not(play):
    story = play(a_case([call("workspace_write_file", path="a.txt", content="x")]))
    assert unexplained(story) == []
    assert story.before != story.after
