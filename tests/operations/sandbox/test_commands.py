"""Commands as a model runs them, through the gate: where they run and what is said of it."""

import os
from pathlib import Path
from typing import Any

import pytest

from steersman.records.action import Execute, Network
from steersman.records.message import Policy, ToolResult
from tests.operations.sandbox.kit import a_folder
from tests.operations.workshop import Workshop

RENAME = 'python3 -c \'import os; os.rename("d", "e")\''


class Shop:
    """A workspace with a command run in it."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.root = folder / "work"
        (self.root / "d").mkdir(parents=True)
        (self.root / "d/f").write_text("f")
        self.workshop = Workshop(self.root, **settings)

    def run(self, command: str, **arguments: Any) -> ToolResult:
        """Run a command."""
        return self.workshop.one("workspace_run_command", command=command, **arguments)

    def run_script(self, script: str, **arguments: Any) -> ToolResult:
        """Run a script, whose words the guard does not see."""
        (self.root / "s.sh").write_text(script)
        return self.run("bash s.sh", **arguments)

    def judged(self) -> list[Any]:
        """What the gate was asked."""
        return [m.body.action for m in self.workshop.messages if isinstance(m.body, Policy)]


def test_what_a_view_cannot_do_is_done_in_the_same_sandbox() -> None:
    """Over a copy, so its effects wait for judgement like those of any other."""
    with a_folder() as folder:
        shop = Shop(folder, answer=lambda _: "allow")
        result = shop.run_script(f"{RENAME} && (: > {folder}/out)")
        assert "ran a second time, on a copy" in result.output["note"]
        assert sorted(os.listdir(shop.root)) == ["e", "s.sh"]
        assert os.listdir(folder) == ["work"]
        asked = [action.direct for action in shop.judged() if isinstance(action, Execute)]
        assert asked == [False]


def test_a_workspace_that_is_too_large_for_a_copy_is_left_alone(monkeypatch) -> None:
    monkeypatch.setattr("steersman.operations.running.copied.MOST_PATHS", 1)
    with a_folder() as folder:
        shop = Shop(folder, answer=lambda _: "allow")
        result = shop.run_script(RENAME)
        assert result.status == "error"
        assert "too large to be copied" in result.message
        assert sorted(os.listdir(shop.root)) == ["d", "s.sh"]


def test_in_the_background_it_works_on_the_workspace_itself() -> None:
    """Still confined, and nothing is left of what held the place of missing files."""
    with a_folder() as folder:
        shop = Shop(folder, answer=lambda _: "allow")
        script = f"touch made; (: > {folder}/out); ls -d .vs* > seen; touch .vscode/tasks.json"
        result = shop.run_script(script, background=True, wait_timeout=30)
        assert result.output["exit_code"] == 1
        assert sorted(result.output["changes"]) == ["created made", "created seen"]
        assert sorted(os.listdir(shop.root)) == ["d", "made", "s.sh", "seen"]
        assert os.listdir(folder) == ["work"]


def test_a_failure_of_the_sandbox_is_explained() -> None:
    """So that whoever ran it knows what to do."""
    with a_folder() as folder:
        beside = 'pathlib.Path.cwd().with_name("x").touch()'
        result = Shop(folder).run(f"python3 -c 'import pathlib; {beside}'")
        assert "the sandbox is read-only outside the workspace" in result.output["note"]
        assert "outside_sandbox" in result.output["note"]


@pytest.mark.parametrize("background", [False, True])
def test_a_host_that_is_not_allowed(background: bool) -> None:
    """The door asks the gate before a name is looked up, and the command is told."""
    with a_folder() as folder:
        shop = Shop(folder)
        result = shop.run(
            "curl -sS http://steersman.invalid", background=background, wait_timeout=30
        )
        assert "steersman.invalid" in str(result.output)
        if not background:
            assert Network("steersman.invalid", 80) in shop.judged()


def test_in_plan_mode_nothing_changes() -> None:
    """The workspace is mounted to be read."""
    with a_folder() as folder:
        shop = Shop(folder, mode="plan")
        shop.run("cat d/f; touch new; rm -rf d")
        assert [str(path.relative_to(shop.root)) for path in shop.root.rglob("*")] == ["d", "d/f"]
