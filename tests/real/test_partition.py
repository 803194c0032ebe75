"""Two machines and a partition in the middle of a turn: one line of history, whoever wrote it."""

import json

import pytest

from tests.cli.kit import DONE, READ, decoded, eventually, until
from tests.real.machines import machines

pytestmark = pytest.mark.real
LEASE = "2"


def stored(messages):
    """What of a machine's output is in the log: place, kind, and what it is about."""
    return [(m["seq"], m["kind"], m["corr"]) for m in messages if m["seq"]]


def test_a_partition_in_a_turn_leaves_one_line_of_history(
    environ, workspace, script, gate, postgres_url, tmp_path
):
    environ["STEERSMAN_LEASE_SECONDS"] = LEASE
    slow = script({"tool_calls": [gate.wait]}, {"tool_calls": [READ]}, DONE)
    quick = script({"text": "I took over."}, name="quick.json")
    with machines(("left", "right"), postgres_url, environ, tmp_path) as (left, right):
        # The left machine works; its command runs when the cable is cut, and ends afterwards.
        working = left.start(workspace, "run", "--json", "--yes", "--model", slow, "begin")
        seen = until(working, "policy")
        thread = seen[0]["thread"]
        gate.waiting()
        [listed] = decoded(right.run(workspace, "threads", "list", "--json").stdout)
        assert listed["process"]["machine"] == "left"
        resume = ("resume", "--json", thread, "go on here", "--model", quick)
        refused = right.run(workspace, *resume)
        assert refused.returncode == 1
        assert f"Thread {thread} is open in another process" in refused.stderr
        left.unplug()
        gate.open()

        # When the lease is over, the right machine may go on.
        taken = eventually(lambda: _unless_busy(right.run(workspace, *resume)), 60)
        assert taken.returncode == 0, taken.stderr
        theirs = decoded(taken.stdout)

        # The cable is back: the left machine hears that it has lost the thread, and says so.
        left.plug_in()
        output, told = working.communicate(timeout=90)
        assert working.returncode == 1
        assert f"Another process has taken over thread {thread}." in told
        assert "Traceback" not in told

        # One line of history: what either machine was shown is in it, in its place.
        assert right.run(workspace, "ledger", "verify", thread).returncode == 0
        history = [
            json.loads(line) for line in right.run(workspace, "replay", thread).stdout.splitlines()
        ]
        whole = stored(history)
        assert [seq for seq, _, _ in whole] == [*range(1, len(whole) + 1)]
        mine = stored([*seen, *decoded(output)])
        assert mine == whole[: len(mine)]
        assert set(stored(theirs)) <= set(whole)
        kinds = [kind for _, kind, _ in whole]
        assert kinds.count("session_start") == kinds.count("session_end") == 2
        assert kinds.count("tool_call") == kinds.count("tool_result") == 1
        [result] = [m["body"] for m in history if m["kind"] == "tool_result"]
        assert result["message"] == "interrupted: outcome unknown"
        assert left.run(workspace, "replay", thread).stdout == "".join(
            json.dumps(m, ensure_ascii=False, separators=(",", ":")) + "\n" for m in history
        )


def _unless_busy(done):
    return None if "is open in another process" in done.stderr else done
