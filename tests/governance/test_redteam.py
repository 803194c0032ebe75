"""Attacks on what is judged by name and by diff: each is the smallest form of one that worked."""

import os
import sys

import msgspec
import pytest

from steersman.governance.policy import Circumstances, decide
from steersman.governance.secret_finder import Finder
from steersman.governance.secrets import secret_values
from steersman.operations.running.programs import found, of_the_system
from steersman.records import protection
from steersman.records.action import ChangeMany, Delete, Write
from steersman.records.message import ConfirmRequest
from steersman.records.names import written
from steersman.records.protection import protected_name

ROOT = "/srv/app"
NEVER = Circumstances(ROOT, approvals="never")


def judged(name, diff="", *, before="", after="b"):
    return decide(Write(f"{ROOT}/{name}", before, after, diff, origin="command"), NEVER).rule


@pytest.mark.parametrize(
    ("trick", "diff", "after"),
    [
        ("too large for a diff", ".git/config: 122 → 500,122 bytes\n", "b"),
        ("no text", "Binary files a/.git/config and b/.git/config differ\n", "b"),
        ("a link", "--- a/.git/config\n+++ /dev/null\n-[user]\n", ""),
        ("a line in a line", "+[core]\rfsmonitor = ./evil\n", "b"),
        ("a line in a line", "+[core]\x0bfsmonitor = ./evil\n", "b"),
    ],
)
def test_a_git_config_that_a_diff_does_not_show_is_protected(trick, diff, after):
    assert judged(".git/config", diff, before="a", after=after) == "paths.protected", trick


@pytest.mark.parametrize(
    "diff",
    [
        # A key that is harmless in its own section, in one that runs it.
        "@@ -9,2 +9,3 @@\n [pager]\n+\tfetch = sh evil.sh\n \tbranch = false\n",
        '@@ -9,2 +9,3 @@\n [alias]\n \tlg = log\n+\turl = ""!sh evil.sh\n',
        # The section is not shown.
        "@@ -9,3 +9,4 @@\n \ta = b\n \tc = d\n \te = f\n+\tfetch = sh evil.sh\n",
        # A section goes, and what it held belongs to the one above.
        '@@ -9,3 +9,2 @@\n [pager]\n-[remote "x"]\n \tfetch = sh evil.sh\n',
        '@@ -9,5 +9,4 @@\n [pager]\n-[remote "x"]\n #\n #\n #\n',
        # A line that goes on with the next one.
        "@@ -9,2 +9,3 @@\n [user]\n \tname = \\\n+\temail = x\n",
        '+[remote "x"]\n+\turl = e""xt::sh -c evil\n',
        "+[core]\n+\trepositoryformatversion = 99\n",
    ],
)
def test_a_key_of_a_git_config_is_judged_by_its_section(diff):
    assert judged(".git/config", diff, before="a") == "paths.protected"


@pytest.mark.parametrize(
    "diff",
    [
        '@@ -4,2 +4,5 @@\n [alias]\n \ta = b\n+[branch "x"]\n+\tremote = o\n+\tmerge = m\n',
        '@@ -4,5 +4,2 @@\n [alias]\n \ta = b\n-[branch "x"]\n-\tremote = o\n-\tmerge = m\n',
        '@@ -4,5 +4,3 @@\n-[branch "x"]\n-\tremote = o\n [branch "y"]\n \ta = b\n #\n',
        '@@ -1,2 +1,2 @@\n [remote "o"]\n-\turl = a\n+\turl = git@example.org:b.git\n',
    ],
)
def test_branches_and_remotes_come_and_go_beside_any_section(diff):
    assert judged(".git/config", diff, before="a") == "command.effect"


def test_lines_that_end_as_on_windows_and_a_change_of_mode_are_bookkeeping():
    assert judged(".git/config", "+[user]\r\n+\tname = me\r\n", before="a") == "command.effect"
    mode = ".git/config: mode 644 → 600\n"
    assert judged(".git/config", mode, before="a", after="a") == "command.effect"


OBEYED = [
    "info/grafts", "info/attributes", "objects/info/alternates", "objects/info/http-alternates",
    "config.other", "branches/origin", "remotes/origin", "safe", "modules/a/b/info/grafts",
    "worktrees/w/config.worktree", "modules/a/objects/info/alternates", "worktrees/w/gitdir",
]  # fmt: skip


@pytest.mark.parametrize("name", OBEYED)
def test_what_git_obeys_is_protected_whatever_it_says(name):
    assert protected_name(f".git/{name}")
    assert judged(f".git/{name}", "+x\n") == "paths.protected"
    assert judged(f"sub/.git/{name}".upper(), "+x\n") == "paths.protected"


BOOKKEEPING = [
    "refs/remotes/origin/main", "modules/a/refs/remotes/origin/main", "logs/refs/remotes/o/m",
    "objects/info/commit-graph", "index", "HEAD", "ORIG_HEAD", "COMMIT_EDITMSG", "packed-refs",
    "rebase-merge", "rebase-merge/message", "rebase-merge/done", "sequencer/head", "hooks/x.sample",
    "rebase-apply/0001", "worktrees/w/index", "worktrees/w/rebase-merge/onto", "BISECT_RUN",
]  # fmt: skip


@pytest.mark.parametrize("name", BOOKKEEPING)
def test_what_git_writes_as_it_works_is_not(name):
    diff = f".git/{name}: absent → folder\n" if name == "rebase-merge" else "+exec x\n"
    assert judged(f".git/{name}", diff) == "command.effect"


SHA = "0123456789abcdef" * 2 + "01234567"
RUN_BY_GIT = {
    "rebase-merge/git-rebase-todo": (
        f"+pick {SHA} exec the plan\n+# exec x\n+label x\n+merge -C {SHA} x\n+break\n+xyz\n",
        ["+exec ./evil\n", "+x ./evil\n", "+ \tx\t./evil\n", "+pick a\n+exec true\n", "+x\r\n"],
    ),
    "sequencer/todo": (f"+pick {SHA} words\n", ["+exec ./evil\n"]),
    "sequencer/opts": (
        "+[options]\n+\tmainline = 1\n+\tstrategy = ort\n+\tstrategy-option = theirs\n",
        ["+[options]\n+\tstrategy = ../../evil\n", "+\tstrategy=evil\n", "+[include]\n"],
    ),
    "rebase-merge/strategy": ("+ort\n", ["+evil\n", "+ort evil\n"]),
    "rebase-merge/author-script": (
        "+GIT_AUTHOR_NAME='O'\\''Neil'\n+GIT_AUTHOR_EMAIL='n@x'\n+GIT_AUTHOR_DATE='@1 +0000'\n",
        ["+./evil\n", "+GIT_AUTHOR_NAME='n'; ./evil\n", "+GIT_AUTHOR_NAME=$(./evil)\n"],
    ),
    "rebase-apply/apply-opt": ("+ '--whitespace=fix'\n", ["+ '--unsafe-paths'\n"]),
    "BISECT_LOG": (
        f"+git bisect start 'b' 'a' '--' 'x y'\n+# bad: [{SHA}] $(x)\n+git bisect good {SHA}\n",
        ["+git bisect start; ./evil\n", "+./evil\n", "+git bisect good $(./evil)\n"],
    ),
    "BISECT_NAMES": ("+ '--' 'it'\\''s'\n", ["+ '--' $(./evil)\n", "+; ./evil\n"]),
    "BISECT_TERMS": ("+bad\n+good\n", ["+bad; ./evil\n"]),
    "BISECT_START": ("+main\n", ["+--orphan x\n"]),
    "shallow": (f"+{SHA}\n", ["+evil\n"]),
}


@pytest.mark.parametrize("name", RUN_BY_GIT)
@pytest.mark.parametrize("above", ["", "modules/a/", "worktrees/w/"])
def test_what_git_keeps_while_it_works_is_protected_when_it_would_run_it(name, above):
    usual, attacks = RUN_BY_GIT[name]
    path = f".git/{above}{name}"
    assert protected_name(path)
    assert judged(path, usual) == "command.effect"
    for attack in [*attacks, "Binary files a and b differ\n", f"{path}: 1 → 9,999,999 bytes\n"]:
        assert judged(path, attack) == "paths.protected", attack
    assert judged(path, f"{path}: absent → link to x\n", after="") == "paths.protected"
    assert decide(Delete(f"{ROOT}/{path}", origin="command"), NEVER).rule == "command.effect"


def test_a_folder_in_which_git_keeps_its_plans_is_no_link():
    name = ".git/rebase-merge"
    assert judged(name, f"{name}: absent → link to x\n", after="") == "paths.protected"
    assert judged(name, f"{name}: folder → link to x\n", after="") == "paths.protected"


@pytest.mark.parametrize("name", [".git", "sub/.git", "a/b/.git"])
def test_a_git_file_or_link_that_leads_git_to_a_config_elsewhere_is_protected(name):
    assert judged(name, f"--- /dev/null\n+++ b/{name}\n+gitdir: ../x\n") == "paths.protected"
    assert judged(name, f"{name}: absent → link to x\n", after="") == "paths.protected"
    spoofed = f"{name}: absent → link to absent → folder\n"
    assert judged(name, spoofed, after="") == "paths.protected"
    assert judged(name, f"{name}: absent → folder\n", after="") == "command.effect"


@pytest.mark.parametrize("name", ["HEAD", "sub/HEAD", "x.git/HEAD"])
def test_a_folder_cannot_become_a_bare_repository_unasked(name):
    assert judged(name) == "paths.protected"
    assert judged(f".git/{name}") == "command.effect"
    assert judged("config") == judged("hooks") == judged("sub/head") == "command.effect"


@pytest.mark.parametrize("name", [".GIT/hooks/pre-commit", ".Git/Config", ".VSCode/tasks.json",
                                  ".EnvRC", ".git/modules/a\nb/hooks/x", ".githooks/pre-push",
                                  ".opencode/x", ".hg/hgrc"])  # fmt: skip
def test_the_case_of_a_name_or_a_line_break_in_it_hides_nothing(name):
    assert protected_name(name)
    assert judged(name) == "paths.protected"


def test_what_the_host_runs_from_is_protected_when_it_lies_in_the_workspace(monkeypatch):
    assert not protection.runs_host(f"{ROOT}/.venv/x.pth", ROOT)
    assert os.path.realpath(sys.prefix) in protection._own()
    monkeypatch.setattr(protection, "_own", lambda *_: {f"{ROOT}/.venv"})
    assert judged(".venv/lib/x.pth") == "paths.protected"
    assert judged(".venvs/lib/x.pth") == "command.effect"
    monkeypatch.setattr(protection, "_own", lambda *_: {"/srv"})  # the system's Python, with /
    assert judged("x.py") == "command.effect"


def test_settings_and_state_are_protected_where_they_lie_in_the_workspace(monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", f"{ROOT}/dotfiles")
    monkeypatch.setenv("STEERSMAN_HOME", f"{ROOT}/state")
    assert judged("dotfiles/steersman/config.toml") == "paths.protected"
    assert judged("state/steersman.db") == "paths.protected"
    assert judged("dotfiles/other/config.toml") == "command.effect"


def test_debug_mode_asks_about_very_many_changes_too():
    where = Circumstances(ROOT, mode="debug", approvals="never")
    many = ChangeMany(ROOT, created=0, changed=300, deleted=0, origin="command")
    assert decide(many, where).rule == "mode.debug"
    built = ChangeMany(ROOT, created=300, changed=0, deleted=0, origin="command")
    assert decide(built, where).decision == "allow"


def test_what_a_secret_link_leads_to_is_secret_by_every_name(tmp_path):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "prod [1] #").write_text("KEY=x\n")
    (tmp_path / ".env").symlink_to("conf/prod [1] #")
    (tmp_path / "id_rsa").symlink_to("/etc/hostname")
    secret_files, _ = Finder(str(tmp_path)).find()
    assert secret_files.covers(f"{tmp_path}/conf/prod [1] #")
    assert not secret_files.covers(f"{tmp_path}/conf/prod 1 #")


def test_the_exceptions_to_what_is_secret_are_not_made_by_a_command():
    assert protected_name(".steersmanignore")


def test_a_pipe_or_a_device_in_place_of_a_config_holds_nobody_up(tmp_path):
    os.mkfifo(tmp_path / ".mcp.json")
    (tmp_path / "other.json").symlink_to("/dev/zero")
    places = (tmp_path / ".mcp.json", tmp_path / "other.json", tmp_path)
    assert secret_values({}, iter(places)) == set()


def test_programs_of_the_workspace_are_not_run_by_the_host(tmp_path):
    inside, outside = tmp_path / "ws" / ".venv" / "bin", tmp_path / "bin"
    for folder in (inside, outside):
        folder.mkdir(parents=True)
        (folder / "git").write_text("#!/bin/sh\n")
        (folder / "git").chmod(0o755)
    (tmp_path / "linked").symlink_to(inside)
    path = os.pathsep.join((".", "", str(inside), str(tmp_path / "linked"), str(outside)))
    assert found("git", {"PATH": path}, str(tmp_path / "ws")) == f"{outside}/git"
    assert found("git", {"PATH": f"ws/.venv/bin:{inside}"}, str(tmp_path / "ws")) is None
    assert os.path.isabs(of_the_system("rm"))


def test_a_prompt_cannot_be_forged_by_what_it_shows():
    from steersman.ports.cli.views import request_words
    from steersman.records.action import Execute

    command = Execute("ls\n  in /safe\n  · nothing", "/ws\n  · nothing")
    shown = request_words(
        ConfirmRequest("c", "run\n", (command, Delete("/x\ny")), "because\n  · of this")
    )
    assert "\n  · " not in shown
    assert "\n  in /safe" not in shown


@pytest.fixture
def place(tmp_path):
    """A workspace with a repository, and what the gate says to a change of a path in it."""
    for name in ("HEAD", "objects", "refs"):
        (tmp_path / ".git" / name).mkdir(parents=True)

    def verdict(name, diff="+x\n", *, delete=False, root=tmp_path):
        path = f"{root}/{name}"
        change = Delete(path, "a", diff) if delete else Write(path, "a", "b", diff)
        where = Circumstances(str(root), approvals="never")
        return decide(msgspec.structs.replace(change, origin="command"), where).rule

    return verdict


def test_a_repository_of_any_name_keeps_its_hooks_and_its_config(place, tmp_path):
    assert place("x.git/hooks/post-receive") == "command.effect"
    for name in ("sub/x.git/objects", "sub/x.git/refs"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "sub/x.git/HEAD").write_text("ref: refs/heads/main\n")
    assert place("sub/x.git/config", "+[core]\n+\tfsmonitor = evil\n") == "paths.protected"
    assert place("sub/x.git/hooks/post-receive") == "paths.protected"
    assert place("sub/x.git", "sub/x.git: folder → link to evil\n") == "paths.protected"
    assert place("sub/x.git/objects", delete=True) == "paths.protected"
    assert place("hooks/post-receive", root=tmp_path / "sub/x.git") == "paths.protected"
    assert place("sub/x.git/refs/heads/main") == place("sub/x.git/packed-refs") == "command.effect"
    assert place("sub/config") == place("sub/hooks/x") == "command.effect"


LINKS = {
    ".git/hooks/pre-commit": ("../../tools/pc.sh", "tools/pc.sh"),
    ".git/hooks": ("../dev/hooks", "dev/hooks/pre-commit"),
    ".git/info": ("../dev/info", "dev/info/attributes"),
    ".vscode": ("editor", "editor/tasks.json"),
    ".vscode/tasks.json": ("../editor/deep/tasks", "editor/deep/tasks"),
    "sub/.husky": ("../hop", "away/pre-commit"),
    "tools/.envrc": ("../tools/env", "tools/env"),
}


@pytest.mark.parametrize("link", LINKS)
def test_what_a_protected_link_leads_to_is_protected(place, tmp_path, link):
    target, file = LINKS[link]
    below = "sub/" if link.startswith("sub/") else ""
    (tmp_path / "sub").mkdir()
    (tmp_path / below / "hop").symlink_to("away")
    target, file = target.removeprefix("../") if below else target, below + file
    assert place(file) == "command.effect"
    (tmp_path / link).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / link).symlink_to(target)
    assert place(file) == place(file, delete=True) == "paths.protected"
    assert protected_name(file, protection.GitPlaces(str(tmp_path)), str(tmp_path))
    assert place("other/x") == "command.effect"
    if below:
        assert place("sub/hop", "sub/hop: link to away → link to evil\n") == "paths.protected"


def test_a_hook_that_is_a_link_to_its_sample_protects_the_sample(place, tmp_path):
    assert place(".git/hooks/pre-commit.sample") == "command.effect"
    (tmp_path / ".git/hooks").mkdir()
    (tmp_path / ".git/hooks/pre-commit").symlink_to("pre-commit.sample")
    assert place(".git/hooks/pre-commit.sample") == "paths.protected"
    assert place(".git/hooks/pre-push.sample") == "command.effect"


def test_a_hook_in_the_folder_that_a_config_names_may_be_a_link(place, tmp_path):
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/pre-commit").symlink_to("../tools/pc.sh")
    assert place("tools/pc.sh") == "command.effect"
    (tmp_path / ".git/config").write_text("[core]\nhooksPath = dev\n")
    assert place("tools/pc.sh") == "paths.protected"


def test_places_of_git_whose_names_are_not_text_are_found(place, tmp_path):
    odd = os.fsdecode(b"caf\xe9")
    for name in ("x.git/objects", "x.git/refs", "x.git/HEAD", "hooks"):
        (tmp_path / odd / name).mkdir(parents=True)
    (tmp_path / ".git/config").write_bytes(b"[core]\nhooksPath = caf\xe9/hooks\n")
    assert place(f"{written(odd)}/x.git/hooks/post-receive") == "paths.protected"
    assert place(f"{written(odd)}/hooks/pre-commit") == "paths.protected"
    assert place(f"{written(odd)}/other/pre-commit") == "command.effect"


@pytest.mark.parametrize("name", ["XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"])
def test_hooks_that_a_config_of_the_persons_environment_names_are_protected(
    place, tmp_path, monkeypatch, name
):
    config = tmp_path / "persons/git/config"
    config.parent.mkdir(parents=True)
    config.write_text("[core]\nhooksPath = dev/hooks\n")
    assert place("dev/hooks/pre-commit") == "command.effect"
    monkeypatch.setenv(name, str(tmp_path / "persons" if "XDG" in name else config))
    assert place("dev/hooks/pre-commit") == "paths.protected"


@pytest.mark.parametrize("name", ["objects", "refs", "commondir"])
def test_a_folder_with_a_head_does_not_become_a_repository(place, tmp_path, name):
    assert place(f"site/{name}", f"site/{name}: absent → folder\n") == "command.effect"
    for folder in ("site", ".git/logs"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "HEAD").write_text("ref: refs/heads/main\n")
    assert place(f"site/{name}", f"site/{name}: absent → folder\n") == "paths.protected"
    assert place(".git/logs/refs", ".git/logs/refs: absent → folder\n") == "command.effect"


CONFIGS = [
    "[core]\n\thooksPath = dev/hooks\n",
    '[CORE] HOOKSPATH="dev/ho\\\noks" ; words\n',
    "[core]\nhookspath = {root}/dev/../dev/hooks # words\n",
    "[core]\nhooksPath = linked\n",
    "[include]\n\tpath = ../more.cfg\n",
    '[user]\nname = x\n[includeIf "gitdir:~/[x]/"]\n\tpath = ../more.cfg\n',
]


@pytest.mark.parametrize("config", CONFIGS)
def test_hooks_in_a_folder_that_the_persons_config_names_are_protected(place, tmp_path, config):
    assert place("dev/hooks/pre-commit") == "command.effect"
    (tmp_path / "dev/hooks").mkdir(parents=True)
    (tmp_path / "linked").symlink_to("dev/hooks")
    (tmp_path / "more.cfg").write_text("[core]\nhooksPath = dev/hooks\n")
    (tmp_path / ".git/config").write_text(config.replace("{root}", str(tmp_path)))
    assert place("dev/hooks/pre-commit") == "paths.protected"
    assert place("dev", "dev: folder → link to evil\n") == "paths.protected"
    assert place("dev/hooks2/x") == place("hooks/pre-commit") == "command.effect"
    included = "paths.protected" if "more" in config else "command.effect"
    assert place("more.cfg") == place("more.cfg", delete=True) == included


def test_a_config_that_is_a_pipe_or_includes_itself_keeps_nobody_waiting(place, tmp_path):
    os.mkfifo(tmp_path / ".git/config")
    assert place("a") == "command.effect"
    (tmp_path / ".git/config").unlink()
    (tmp_path / ".git/config").write_text("[include]\npath = config\npath = ../a\n")
    (tmp_path / "a").write_text("[include]\npath = .git/config\n")
    assert place("a") == "paths.protected"
