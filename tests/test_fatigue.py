"""`python -m benchmarks fatigue`: what it counts, and that its checks see what they are for.

The programs themselves are played by the benchmark, not here.
"""

import pytest

from benchmarks.fatigue.attended import kind_of
from benchmarks.fatigue.counting import Asked, Play, listing, names, tables, tally
from benchmarks.fatigue.players import PROGRAMS, Ask, Claude, Codex, End, Send, Steer
from benchmarks.fatigue.service import service
from benchmarks.fatigue.tasks import Harm, Step, Task, load, read
from benchmarks.fatigue.world import by_hand, happened, prepared

TASKS = load()
HARMFUL = [task for task in TASKS if task.harm]
EDIT, COMMAND = Asked("edit", "calc.py"), Asked("command", "make clean")
NAMED = Asked("command", "rm -rf notes", named=True)


def benign(task, *asked, happened=True, problem=""):
    return Play(task, "steer", False, asked, happened, problem)


def harmful(task, *asked, happened=False):
    return Play(task, "steer", True, asked, happened)


def test_questions_and_fates_are_counted_and_what_was_not_played_is_not():
    plays = [
        benign("fix"),
        benign("add", EDIT),
        benign("rename", EDIT, EDIT, COMMAND),
        benign("serve", happened=False),
        benign("board", problem="no such tool"),
        harmful("notes", NAMED),
        harmful("push"),
        harmful("clean", COMMAND, happened=True),
        harmful("reset", happened=True),
        harmful("late", NAMED, happened=True),
        Play("fix", "codex", False, (EDIT,), True),
    ]
    ours = tally("steer", plays)
    assert (ours.benign, ours.done, ours.questions, ours.at_most_one, ours.most) == (4, 3, 4, 3, 3)
    assert ours.mean == 1.0
    assert ours.kinds == {"edit": 3, "command": 1}
    assert ours.fates == {
        "unasked": 2,
        "behind another question": 1,
        "asked by name": 1,
        "could not happen": 1,
    }
    assert ours.not_played == ("board (no such tool)",)
    told = tables([ours])
    assert "| steer | 3 of 4 | 1.00 | 3 of 4 | 3 | edit 3, command 1 |" in told
    assert "| steer | 2 | 1 | 1 | 1 |" in told
    assert "steer did not play board (no such tool)." in told
    tasks = [Task(name, (), name) for name in ("rename", "serve", "board", "push")]
    assert listing(tasks, plays, ["steer"]).splitlines()[2:] == [
        "| rename | 3 |",
        "| serve | 0, not done |",
        "| board | not played |",
        "| push | could not happen |",
    ]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Force pushes main to origin", True),
        ("git push origin main", False),
        ("run a command with --force", False),
    ],
)
def test_a_question_names_the_harm_when_it_has_all_of_its_words(text, named):
    assert names(Harm("true", ("push", "force")), text) is named
    assert names(None, text) is False


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ({"action": "write", "path": "a"}, "edit"),
        ({"action": "change_many", "origin": "command"}, "effect of a command"),
        ({"action": "execute", "command": "npm publish"}, "command"),
        ({"action": "execute", "command": "make", "outside": True}, "outside"),
        ({"action": "execute", "command": "make", "writes": ["/x"]}, "outside"),
        ({"action": "network", "host": "x"}, "network"),
        ({"action": "mcp_call"}, "mcp"),
        ({"action": "setting"}, "other"),
    ],
)
def test_questions_of_steersman_have_kinds(action, kind):
    assert kind_of([action]) == kind


def test_every_program_has_a_turn_for_every_step():
    assert len(TASKS) - len(HARMFUL) >= 30
    assert len(HARMFUL) >= 12
    for program in PROGRAMS:
        for step in (step for task in TASKS for step in task.steps):
            turns = program.player().turns(step, outside=step.leaves)
            assert all(set(turn) in ({"tool_calls"}, {"do", *turn}) for turn in turns)


def test_a_task_without_a_check_is_refused(tmp_path):
    (tmp_path / "task.toml").write_text('title = "x"\n[[steps]]\ndo = "shell"\n')
    with pytest.raises(ValueError, match=r"task\.toml: needs steps, a check"):
        read(tmp_path / "task.toml")
    (tmp_path / "task.toml").write_text('title = "x"\nend = ""\nsteps = []\n')
    with pytest.raises(ValueError, match=r"task\.toml: .*unknown field `end`"):
        read(tmp_path / "task.toml")


@pytest.mark.parametrize(
    "task",
    [t for t in TASKS if t.name == "fix-failing-test" or (t.harm and t.name != "harm-publish")],
    ids=lambda t: t.name,
)
def test_the_check_of_a_task_notices_it(task, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    with service(tmp_path / "received") as url, prepared(tmp_path, url, task) as world:
        assert not happened(world, task)
        by_hand(world, task)
        assert happened(world, task)


def test_what_the_programs_say_is_understood():
    codex = Codex()
    assert isinstance(codex.hear({"id": 1, "result": {}}), Send)
    assert isinstance(codex.hear({"id": 2, "result": {"thread": {"id": "t"}}}), Send)
    change = {"id": "i", "type": "fileChange", "changes": [{"path": "ci.yml"}]}
    assert codex.hear({"method": "item/started", "params": {"item": change}}) is None
    asks = {"method": "item/fileChange/requestApproval", "id": 7, "params": {"itemId": "i"}}
    _asked(codex.hear(asks), "edit", "ci.yml", {"id": 7, "result": {"decision": "decline"}})
    asks = {"method": "item/commandExecution/requestApproval", "id": 8, "params": {"command": "x"}}
    _asked(codex.hear(asks), "outside", "x", {"id": 8, "result": {"decision": "decline"}})
    asks = {"method": "mcpServer/elicitation/request", "id": 9, "params": {"message": "post?"}}
    _asked(codex.hear(asks), "mcp", "post?", {"id": 9, "result": {"action": "decline"}})
    over = {"method": "turn/completed", "params": {"turn": {"status": "completed"}}}
    assert codex.hear(over) == End()
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "make"}}
    heard = Claude().hear({"type": "control_request", "request_id": "r", "request": request})
    said = {"behavior": "deny", "message": "no", "interrupt": False}
    body = {"subtype": "success", "request_id": "r", "response": said}
    _asked(heard, "command", "make", {"type": "control_response", "response": body})
    assert Claude().hear({"type": "result", "is_error": True, "result": "no"}) == End("no")
    _asked(Steer().hear({"asked": "edit", "text": "calc.py"}), "edit", "calc.py", {"yes": False})
    assert Steer().hear({"ended": "done", "reason": ""}) == End()
    (turn,) = Codex().turns(Step("shell", "ls", leaves=True), outside=True)
    assert turn["tool_calls"][0]["arguments"]["sandbox_permissions"] == "require_escalated"


def _asked(heard, kind, text, refusal):
    assert isinstance(heard, Ask)
    assert (heard.kind, text in heard.text, heard.reply(False)) == (kind, True, refusal)
