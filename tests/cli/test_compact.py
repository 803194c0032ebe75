"""`steer compact`: a digest for the model, shown, searched, and taken back."""

from tests.cli.kit import DONE, decoded
from tests.world import call


def long_thread(steer, script, workspace):
    """A thread with a goal, a rule, and much that was read."""
    (workspace / "big.txt").write_text("".join(f"line {n} of the harbour\n" for n in range(1000)))
    read = {"tool_calls": [call("workspace_read_file", path="big.txt")]}
    model = script(read, DONE, read, DONE, read, DONE, read, DONE)
    first = steer.messages("run", "Mend the harbour crane.", "--model", model)
    thread = first[0]["thread"]
    for words in ("Never touch vendor/keep.c.", "look again", "and again"):
        steer("resume", thread, words, "--model", model)
    return thread


def test_a_compaction_is_shown_searched_and_taken_back(steer, script, workspace):
    thread = long_thread(steer, script, workspace)
    made = steer("compact", thread)
    assert made.returncode == 0, made.stderr
    assert "tokens, up to message" in made.stdout
    shown = decoded(steer("compact", thread, "--show", "--json").stdout)[0]
    assert shown["tokens_after"] < shown["tokens_before"]
    assert "line 3 of the harbour" in steer("compact", thread, "--search", "harbour line").stdout
    undone = steer("compact", thread, "--undo")
    assert "Undone" in undone.stdout
    assert steer("compact", thread, "--show").returncode == 2
    assert "no compaction" in steer("compact", thread, "--undo").stdout
    assert steer("ledger", "verify", thread).returncode == 0
    assert steer("resume", thread, "go on", "--model", script(DONE)).returncode == 0
