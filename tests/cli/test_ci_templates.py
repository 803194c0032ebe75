"""The templates for GitHub and GitLab, run step by step as their runners would, without either."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.cli.kit import DONE, FIX, FIXED, WRITE, StrictSteer, decoded
from tests.cli.kit import shell as shell_call

ROOT = Path(__file__).parents[2]
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
HOSTILE = 'fix it"; touch hacked; $(touch hacked) `touch hacked` ${{ secrets.KEY }}'
Runner = Callable[..., "Ran"]


class Ran:
    """What a job came to: its exit code, what it printed, and the files it left."""

    def __init__(self, done: subprocess.CompletedProcess[str], files: dict[str, Path]) -> None:
        self.code, self.printed, self.files = done.returncode, done.stdout + done.stderr, files

    def text(self, name: str) -> str:
        """What one of its files says."""
        return self.files[name].read_text()


def github(steer: StrictSteer, folder: Path, inputs: dict[str, str]) -> Ran:
    """The steps of the action, each in its own shell; expressions are put into `env` alone."""
    action = yaml.safe_load((ROOT / "ci/github/action.yml").read_text())
    values = {name: said.get("default", "") for name, said in action["inputs"].items()} | inputs
    outputs, summary = folder / "outputs", folder / "summary"
    own = {"GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": str(summary)}
    for step in action["runs"]["steps"]:
        assert not EXPRESSION.search(step["run"]), "text of others would be part of a script"
        given = {
            name: EXPRESSION.sub(lambda found: values[found[1].removeprefix("inputs.")], value)
            for name, value in step["env"].items()
        }
        done = shell(steer, ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"), step["run"],
                     {**own, **given, "RUNNER_TEMP": str(folder)})  # fmt: skip
        if done.returncode:
            break
    named = dict(line.split("=", 1) for line in outputs.read_text().splitlines())
    assert set(named) == set(action["outputs"])
    return Ran(done, {name: Path(path) for name, path in named.items()} | {"summary": summary})


def gitlab(steer: StrictSteer, folder: Path, inputs: dict[str, str]) -> Ran:
    """The script of the hidden job, in one shell, with its variables."""
    job = yaml.safe_load((ROOT / "ci/gitlab.yml").read_text())[".steersman"]
    given = {f"STEERSMAN_{name.upper()}": value for name, value in inputs.items()}
    assert set(given) <= set(job["variables"])
    done = shell(steer, ("bash", "-eo", "pipefail", "-c"), "\n".join(job["script"]),
                 {**job["variables"], **given})  # fmt: skip
    kept = steer.folder / job["artifacts"]["paths"][0]
    return Ran(done, {path.name: path for path in kept.iterdir()})


def shell(
    steer: StrictSteer, words: tuple[str, ...], script: str, environ: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """A script in the workspace, with `steer` to be found."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [*words, script], cwd=steer.folder, env={**steer.environ, "PATH": path, **environ},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture(params=[github, gitlab], ids=["github", "gitlab"])
def run(
    request: pytest.FixtureRequest, steer: StrictSteer, tmp_path: Path, git: Callable[..., str]
) -> Runner:
    """A job of either kind in a repository with one commit."""
    git("init", "-qb", "main")
    git("add", ".")
    git("commit", "-qm", "one")
    return lambda **inputs: request.param(steer, tmp_path, inputs)


def told(ran: Ran) -> str:
    """What the agent was told, as the log has it."""
    (said,) = (m["body"]["text"] for m in decoded(ran.text("log")) if m["kind"] == "user")
    return said


def test_a_task_leaves_its_answer_a_patch_and_the_log(run, script, workspace, git):
    ran = run(task="fix add", model=script({"tool_calls": [FIX, WRITE]}, {"text": "Fixed."}))

    assert ran.code == 0, ran.printed
    assert ran.text("answer") == "Fixed.\n"
    kinds = [message["kind"] for message in decoded(ran.text("log"))]
    assert "policy" in kinds
    assert (workspace / "calc.py").read_text() == FIXED
    git("checkout", "-q", ".")
    (workspace / "new.txt").unlink()
    git("apply", str(ran.files["patch"]))
    assert (workspace / "calc.py").read_text() == FIXED
    assert (workspace / "new.txt").read_text() == "new\n"


def test_a_review_gets_the_change_and_writes_nothing(run, script, workspace, git):
    (workspace / "calc.py").write_text(FIXED)
    git("commit", "-qam", "two")
    model = script({"tool_calls": [WRITE]}, {"text": "Looks right."})
    ran = run(review="HEAD~1", model=model)
    assert ran.code == 0, ran.printed
    assert "+    return a + b" in told(ran)
    assert ran.text("answer") == "Looks right.\n"
    assert ran.text("patch") == ""
    assert not (workspace / "new.txt").exists()


def test_what_a_stranger_writes_in_a_task_is_only_text(run, script, workspace):
    ran = run(task=HOSTILE, model=script(DONE))
    assert ran.code == 0, ran.printed
    assert told(ran) == HOSTILE
    assert not list(workspace.rglob("hacked"))


def test_a_run_that_fails_fails_the_job_and_keeps_what_it_has(run, script):
    ran = run(task="fix add", model=script({"tool_calls": [FIX]}, {"expect": "never said", **DONE}))
    assert ran.code != 0
    assert "+    return a + b" in ran.text("patch")
    assert told(ran) == "fix add"


THEFT = """import os, pathlib
pathlib.Path(os.environ["STEERSMAN_HOME"], "stolen").write_text(os.environ["SOME_API_KEY"])
"""


def test_nothing_of_the_checkout_runs_with_the_key_outside_the_sandbox(run, script, environ, git):
    """A module that a program of the template might import, from the change that is reviewed."""
    environ["SOME_API_KEY"] = "k"
    folder = Path(git("rev-parse", "--show-toplevel").strip())
    for name in ("json.py", "sys.py", "sitecustomize.py"):
        (folder / name).write_text(THEFT)
    git("add", ".")
    git("commit", "-qm", "helpers")
    ran = run(review="HEAD~1", model=script(DONE))
    assert ran.code == 0, ran.printed
    assert not Path(environ["STEERSMAN_HOME"], "stolen").exists()


def test_the_patch_has_also_what_the_index_was_told_to_ignore(run, script, git):
    hidden = "git update-index --assume-unchanged calc.py; echo 'x = 1' > calc.py"
    ran = run(task="go", model=script({"tool_calls": [shell_call(hidden)]}, DONE))
    assert "+x = 1" in ran.text("patch")


def test_results_are_those_of_the_run_whatever_the_repository_brings(run, script, workspace, git):
    (workspace / "steersman-results").mkdir()
    (workspace / "steersman-results" / "answer").write_text("approved")
    git("add", ".")
    git("commit", "-qm", "results")
    assert run(task="go", model=script(DONE)).text("answer") == "Done.\n"


def test_a_model_that_does_not_exist_fails_the_job_with_a_sentence(run):
    ran = run(task="go", model="nosuch:model")
    assert ran.code == 2
    assert "Traceback" not in ran.printed
    assert "nosuch" in ran.printed
