"""What a push really does is in its question, however git's settings hide it."""

import os
import subprocess

import pytest

from steersman.governance.cases import covered, decided
from steersman.governance.guard.safer import safer
from steersman.governance.policy import Circumstances
from steersman.governance.rule import Rule
from steersman.governance.rules import RuleSet
from steersman.operations.running.push_settings import host_at, meant
from steersman.records.action import Execute
from tests.cli.kit import DONE
from tests.host.test_pushing import play
from tests.world import call

HUB = "https://github.com/me/shop.git"
SETTING = f"""
git init -q . -b main; git remote add origin {HUB}; git remote add hub git@hub.example:me/shop.git
git -c user.name=x -c user.email=x@y commit -q --allow-empty -m Begin; git checkout -qb a
"""


def set_up(folder, environ, setting):
    lines = f"set -e\n{SETTING}\n{setting}"
    subprocess.run(lines, shell=True, cwd=folder, check=True, env=environ, capture_output=True)


SAID = " (set in the repository's config)"
SIMPLE = f"on {HUB}, this would push `a`"


@pytest.mark.parametrize(
    ("setting", "command", "told", "line"),
    [
        ("", "git push origin a", SIMPLE, ""),
        ("", "git push", SIMPLE, ""),
        ("", "git push -f", f"on {HUB}, this would force-push `a`", ""),
        ("", "git push origin a:main :old",
         f"on {HUB}, this would push `a` to `main`, delete `old`", ""),
        ("", "git push hub a", "on git@hub.example:me/shop.git, this would push `a`", ""),
        ("git config remote.origin.push +a:main", "git push",
         f"on {HUB}, this would force-push `a` to `main`{SAID}", "git push --force origin a:main"),
        ("git config remote.origin.push :main", "git push",
         f"on {HUB}, this would delete `main`{SAID}", "git push origin :main"),
        ("git config remote.origin.push +refs/heads/a:refs/heads/main", "git push origin a",
         f"on {HUB}, this would force-push `a` to `main`{SAID}",
         "git push --force origin a:refs/heads/main"),
        ("git config remote.origin.push '+refs/heads/*:refs/heads/x/*'", "git push -q origin a",
         f"on {HUB}, this would force-push `a` to `x/a`{SAID}",
         "git push -q --force origin a:refs/heads/x/a"),
        ("git config remote.origin.push +a:main", "git push origin a:b",
         f"on {HUB}, this would push `a` to `b`", ""),
        ("git config remote.origin.mirror true", "git push",
         f"on {HUB}, this would overwrite every branch and tag and delete those that are not here "
         f"(a mirror){SAID}", "git push --mirror origin"),
        ("git config push.default matching", "git push",
         f"on {HUB}, this would push every branch that is there as well{SAID}",
         "git push origin :"),
        ("git config push.default matching", "git push -f",
         f"on {HUB}, this would force-push every branch that is there as well{SAID}",
         "git push -f origin :"),
        ("git config push.default upstream; git config branch.a.remote origin; "
         "git config branch.a.merge refs/heads/main", "git push",
         f"on {HUB}, this would push `a` to `main`{SAID}", "git push origin a:refs/heads/main"),
        ("git config push.followTags true", "git push origin a",
         f"{SIMPLE}, push its tags{SAID}", "git push --follow-tags origin a"),
        ("git config remote.pushDefault hub", "git push",
         "on git@hub.example:me/shop.git, this would push `a`", ""),
        ("git config branch.a.pushRemote hub", "git push",
         "on git@hub.example:me/shop.git, this would push `a`", ""),
        ("git config remote.pushDefault https://evil.example/x", "git push",
         "on https://evil.example/x, this would push `a`", ""),
        ("git config url.https://evil.example/.pushInsteadOf https://github.com/", "git push",
         f"on https://evil.example/me/shop.git (set to replace {HUB}), this would push `a`", ""),
        ("git config url.https://evil.example/.insteadOf https://github.com/",
         f"git push {HUB} a",
         f"on https://evil.example/me/shop.git (set to replace {HUB}), this would push `a`", ""),
        ("git config url.https://evil.example/.pushInsteadOf https://github.com/; "
         "git config url.https://other.example/.insteadOf https://",
         f"git push {HUB} a",
         f"on https://evil.example/me/shop.git (set to replace {HUB}), this would push `a`", ""),
        ("git remote set-url --add --push origin ../one; git remote set-url --add --push origin "
         "https://me:password@two.example/x", "git push origin a",
         "on ../one and https://two.example/x, this would push `a`", ""),
        ("git config remote.origin.push +a:main", "git commit -qm 'x; y' && git push; make test",
         f"on {HUB}, this would force-push `a` to `main`{SAID}",
         "git commit -qm 'x; y' && git push --force origin a:main ; make test"),
        ("git init -q sub; git -C sub remote add origin ../x; git -C sub checkout -qb b; "
         "git -C sub config remote.origin.push +b:main", "cd sub && git push",
         f"on ../x, this would force-push `b` to `main`{SAID}",
         "cd sub && git push --force origin b:main"),
        ("git init -q sub; git -C sub remote add origin ../x; git -C sub checkout -qb b",
         "git -C sub push origin b", "on ../x, this would push `b`", ""),
        ("git config remote.origin.push '+a:$(touch$IFS$9made)'", "git push",
         f"on {HUB}, this would force-push `a` to `$(touch$IFS$9made)`{SAID}",
         "git push --force origin 'a:$(touch$IFS$9made)'"),
    ],
)  # fmt: skip
def test_a_question_says_what_would_be_pushed(tmp_path, environ, setting, command, told, line):
    set_up(tmp_path, environ, setting)
    found = meant(command, str(tmp_path), environ, str(tmp_path))
    assert (found.told, found.line) == ((told,), line)


WITH_C = " (set with `-c` and in the repository's config)"
MIRROR = "overwrite every branch and tag and delete those that are not here (a mirror)"


@pytest.mark.parametrize(
    ("command", "does", "line"),
    [
        ("git -c remote.origin.mirror=true push", f"{MIRROR}{WITH_C}",
         "git -c remote.origin.mirror=true push --mirror origin"),
        ("git -c Remote.origin.Push=+a:main push", f"force-push `a` to `main`{WITH_C}",
         "git -c Remote.origin.Push=+a:main push --force origin a:main"),
        ("git -c user.name=x --no-pager push", "push `a`", ""),
        ("git push --del origin main", "delete `main`", ""),
        ("git push origin main -df", "delete `main`", ""),
        ("git push -uf", "force-push `a`", ""),
        ("git push -f --no-force", "push `a`", ""),
        ("git push --mir", MIRROR, ""),
        ("git push --prune origin a", "delete branches that are not here, push `a`", ""),
        ("git push --exec=prog origin a", "run `prog` to receive it, push `a`", ""),
        ("git push 2>&1 origin a", "push `a`", ""),
        ("git push origin a 2>&1 | tail -3", "push `a`", ""),
        ("(cd nowhere; ls); timeout 60 git push origin a", "push `a`", ""),
        ("git checkout -q a && git push origin a", "push `a`", ""),
    ],
)  # fmt: skip
def test_a_question_says_what_the_words_of_a_line_do(tmp_path, environ, command, does, line):
    set_up(tmp_path, environ, "")
    found = meant(command, str(tmp_path), environ, str(tmp_path))
    assert (found.told, found.line) == ((f"on {HUB}, this would {does}",), line)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("git --git-dir=x/.git push", "`--git-dir=x/.git` changes which settings hold"),
        ("git --git-dir x/.git push", "`--git-dir x/.git` changes which settings hold"),
        ("git --work-tree=x push", "`--work-tree=x` changes which settings hold"),
        ("git -c include.path=x push", "`-c include.path=x` changes which settings hold"),
        ("GIT_DIR=x git push", "`GIT_DIR=x` changes which settings hold"),
        ("env GIT_CONFIG_COUNT=1 git push", "`GIT_CONFIG_COUNT=1` changes which settings hold"),
        ("export GIT_CONFIG_GLOBAL=x; git push",
         "`GIT_CONFIG_GLOBAL=x` changes which settings hold"),
        ("HOME=x git push", "`HOME=x` changes which settings hold"),
        ("git push --d origin a", "`--d` is no option of a push that is known"),
        ("git push --new", "`--new` is no option of a push that is known"),
        ("git push origin $X", "the shell replaces `$X`"),
        ("git push origin `x`", "the shell replaces words of it"),
        ("git push origin $(x)", "the shell replaces words of it"),
        ("git $X push", "the shell replaces `$X`"),
        ("echo a | xargs git push origin", "`xargs` runs it"),
        ("cd $X && git push", "its folder is not known"),
        ("git config remote.origin.push +a:main; git push",
         "the line changes git's settings before it"),
        ("git remote set-url origin x && git push", "the line changes git's settings before it"),
        ("git checkout main && git push", "the line changes the branch before it"),
        ("git branch -q -u hub/main && git push", "`git branch` runs before it"),
        ("git fetch --set-upstream hub main; git push", "`git fetch` runs before it"),
        (". ./env.sh; git push", "`./env.sh` runs before it"),
        ("read -r GIT_CONFIG_PARAMETERS <e; git push", "`read` runs before it"),
        ("git x; git push", "`git x` runs before it"),
        ("make test && git push", "`make` runs before it"),
        ("git() { ./x; }; git push", "the line gives `git` another meaning"),
        ("bash -c 'git push'", "a text that the shell runs pushes"),
        ('echo "$(git push)"', "a text that the shell runs pushes"),
        ("git push --recurse-submodules=on-demand", "submodules are pushed with it"),
        ("git push " + "a" * 30_000, "the line is too long"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_said_and_opens_no_host(tmp_path, environ, command, why):
    set_up(tmp_path, environ, "")
    found = meant(command, str(tmp_path), environ, str(tmp_path))
    said = (f"what it pushes is not known beforehand: {why}",)
    assert (found.told, found.line, found.hosts) == (said, "", ())


@pytest.mark.parametrize("file", ["remotes/old", "branches/old"])
@pytest.mark.parametrize("cd", ["", "cd sub && "])
def test_a_remote_in_a_file_of_old_versions_of_git_is_named(tmp_path, environ, file, cd):
    set_up(tmp_path, environ, f"mkdir -p .git/{os.path.dirname(file)} sub")
    (tmp_path / ".git" / file).write_text(f"URL: {HUB}\nPush: +a:main\n")
    found = meant(f"{cd}git push old", str(tmp_path), environ, str(tmp_path))
    assert found.told == (f"what it pushes is not known beforehand: .git/{file} says so",)
    assert found.hosts == ()
    assert meant("git push origin", str(tmp_path), environ, str(tmp_path)).told == (SIMPLE,)


def test_settings_that_push_more_are_said(tmp_path, environ):
    root = str(tmp_path)
    set_up(tmp_path, environ, "git config remote.origin.receivepack prog")
    found = meant("git push", root, environ, root)
    assert found.told == (f"on {HUB}, this would run `prog` to receive it, push `a`{SAID}",)
    assert found.line == "git push --receive-pack=prog origin a"
    subprocess.run(["git", "config", "submodule.recurse", "true"], cwd=tmp_path, check=True)
    assert meant("git push", root, environ, root).told == (
        "what it pushes is not known beforehand: submodules are pushed with it",
    )


def test_a_line_is_read_once_however_it_is_written(tmp_path, environ):
    """A reader that tries every way to part these words would not end."""
    set_up(tmp_path, environ, "")
    line = "git" + " -C" * 500 + " x; echo push"
    assert meant(line, str(tmp_path), environ, str(tmp_path)).told == ()
    many = meant("git push;" * 500, str(tmp_path), environ, str(tmp_path))
    assert (len(many.told), many.hosts) == (9, ())


@pytest.mark.parametrize("command", ["git status", "echo push", "git stash push", "git pushy"])
def test_what_pushes_nothing_has_no_such_sentence(tmp_path, environ, command):
    set_up(tmp_path, environ, "git config remote.origin.push +a:main")
    assert meant(command, str(tmp_path), environ, str(tmp_path)).told == ()


@pytest.mark.parametrize(
    ("setting", "written"),
    [
        ("remote.origin.push +a:main", "git push --force origin a:main"),
        ("remote.origin.push +a:topic", "git push --force origin a:topic"),
        ("remote.origin.push :main", "git push origin :main"),
        ("remote.origin.push :topic", "git push origin :topic"),
        ("remote.origin.push '+refs/heads/*:refs/heads/*'",
         "git push --force origin 'refs/heads/*:refs/heads/*'"),
        ("remote.origin.push +:", "git push --force origin :"),
        ("remote.origin.mirror true", "git push --mirror origin"),
        ("push.default matching", "git push origin :"),
    ],
)  # fmt: skip
def test_what_settings_hide_is_judged_as_if_it_were_written(tmp_path, environ, setting, written):
    set_up(tmp_path, environ, f"git config {setting}")
    root = str(tmp_path)
    line = meant("git push", root, environ, root).line
    where = Circumstances(root, home=environ["HOME"])
    hidden = decided(Execute("git push", root, means=line), "", where)
    open_ = decided(Execute(written, root), "", where)
    assert hidden.verdict.decision == open_.verdict.decision
    assert hidden.verdict.rule == open_.verdict.rule
    assert hidden.judgement
    assert open_.judgement
    assert hidden.judgement.reason == open_.judgement.reason
    assert safer(line) == safer(written)


def test_a_person_reads_it_before_they_approve(environ, workspace, script):
    set_up(workspace, environ, "git config remote.origin.push +a:topic")
    runs = ("git push", "git push origin a:b", "git config --unset remote.origin.push")
    turns = [{"tool_calls": [call("workspace_run_command", command=one)]} for one in runs]
    asked = play(environ, workspace, script(*turns[:2], DONE), ["deny", "deny"])
    assert f"on {HUB}, this would force-push `a` to `topic`{SAID}" in asked[0].reason
    assert asked[0].actions[0].means == "git push --force origin a:topic"
    assert f"on {HUB}, this would push `a` to `b`" in asked[1].reason


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://github.com/me/x", "github.com:443"),
        ("https://me@git.example:8443/x", "git.example:8443"),
        ("http://127.0.0.1:9000/x", "127.0.0.1:9000"),
        ("git@github.com:me/x", "github.com:22"),
        ("ssh://git@github.com:2222/x", "github.com:2222"),
        ("git://a.example/x", "a.example:9418"),
        ("../x", ""),
        ("/srv/x", ""),
        ("file:///srv/x", ""),
        ("./a:b", ""),
        ("ext::sh -c x", ""),
    ],
)
def test_the_host_of_an_address(address, host):
    assert host_at(address) == host


def test_only_a_line_of_git_alone_opens_a_host(tmp_path, environ):
    set_up(tmp_path, environ, "")
    lines = {"git push": ("github.com:443",), "git add . && git push hub": ("hub.example:22",),
             "make test && git push": (), "git push; git x": (),
             "git push && git rebase -x ./x a": (), "git commit -m \"$(./tool)\" && git push": (),
             "git push > out": (), "git push | tail": ()}  # fmt: skip
    found = {one: meant(one, str(tmp_path), os.environ | environ, str(tmp_path)) for one in lines}
    assert {one: said.hosts for one, said in found.items()} == lines


@pytest.mark.parametrize(
    ("rule", "hosts"),
    [
        ([], ("github.com:443",)),
        ([Rule("r", "deny", domain="github.com")], ()),
        ([Rule("r", "ask", domain="github.com")], ()),
        ([Rule("r", "allow", command=("git", "push"))], ()),
    ],
)
def test_an_approved_push_covers_its_host_unless_a_rule_speaks_of_it(rule, hosts):
    """Nor does a rule that allows pushes, which nobody was asked about."""
    where = Circumstances("/w", home="/home/dev", rules=RuleSet(rule))
    push = Execute("git push", "/w", hosts=("github.com:443",))
    assert covered(decided(push, "workspace_run_command", where), where) == hosts
