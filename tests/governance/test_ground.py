"""What an answer for outside the sandbox covers: text is not believed where links may lie."""

import os

import pytest
from msgspec.structs import replace

from steersman.governance.cases import decided
from steersman.governance.offers import offers
from steersman.governance.policy import Circumstances
from steersman.governance.rule import Rule
from steersman.governance.rules import RuleSet
from steersman.records.action import Execute

NAMES = ("echo", "cat", "grep", "ls", "wc")
SUBS = ("log", "show", "diff", "archive", "bundle", "commit", "fetch", "format-patch", "status")
PROGRAMS = (
    ("npm", "test"),
    ("split",),
    ("tree",),
    *(("git", sub) for sub in SUBS),
    *((name,) for name in NAMES),
)


@pytest.fixture
def where(tmp_path):
    """A home with a key in it, and a workspace whose links lead there."""
    home, work = tmp_path / "home", tmp_path / "home/code/work"
    for folder in (home / ".ssh/old", home / "notes", work / "sub/deep/deeper"):
        folder.mkdir(parents=True)
    (home / ".ssh/id_ed25519").touch()
    for name in ("a.txt", "sub/a.txt", "@odd"):
        (work / name).touch()
    for name, target in {
        "rc": home / ".bashrc",  # does not exist yet
        "d": home,
        "key": home / ".ssh/id_ed25519",
        "old": home / ".ssh/old",
        "note": home / "notes/one",
        "near": "a.txt",
        "deep": "sub/deep/deeper",
        "around": f"/proc/self/root{home}/.ssh/id_ed25519",
    }.items():
        os.symlink(target, work / name)
    rules = [Rule(" ".join(words), "allow", command=words, outside=True, source="thread")
             for words in PROGRAMS]  # fmt: skip
    return Circumstances(str(work), home=str(home), answers=RuleSet(rules, home=str(home)))


def verdict(command, where, **more):
    action = Execute(command.format(home=where.home, work=where.workspace), where.workspace, **more)
    return decided(action, "", where).verdict.decision


@pytest.mark.parametrize(
    "command",
    [
        "git log -1 --format=%B > rc",
        "git log > d/.bashrc",
        "git log >> new.txt",  # by the time it runs, that may be a link
        "git log &> sub/new.txt",
        "git log > {work}/a.txt",
        "git log > $PWD/a.txt",
        "nice git log > rc",
        "time git log > rc",
        "! git log > rc",
        "git log; > rc",
        "git log | cat > rc",
        "git log > deep/../../dev/null",
        "git log > /proc/self/cwd/rc",
        "git diff --output=rc",
        "cat key",
        "cat < key",
        "cat around",
        "cat /proc/self/root{home}/.ssh/id_ed25519",
        "cat /proc/1/task/1/root/etc/hostname",
        "cat /dev/fd/../cwd/key",
        "cat old/../id_ed25519",
        "cd old && cat ../id_ed25519",
        "cd d && git log",
        "cat note",
        "cat *",
        "grep -R x d/.ssh",
        "grep -r x old",
        "grep -r x sub",
        "grep -nr x",
        "grep x -f key a.txt",
        "grep --file=key x a.txt",
        "git diff --no-index a.txt key",
        "git diff --no-index a.txt {home}/.ssh/id_ed25519",
        "wc --files0-from=key",
    ],
)
def test_what_may_be_a_link_is_asked_about_whatever_was_answered_before(command, where):
    assert verdict(command, where, outside=True) != "allow"


@pytest.mark.parametrize(
    "command",
    ["cat a.txt > /dev/null 2>&1", "cat a.txt", "cat near", "cat ./sub/a.txt",
     "cat sub/../a.txt", "grep -n x a.txt", "cd sub && ls", "nice cat a.txt", "ls sub", "ls",
     "echo a=b x:y @odd -rc", "cat /etc/hosts", "cat a.txt | wc -l"],
)  # fmt: skip
def test_without_a_link_an_answer_covers_what_begins_alike(command, where):
    assert verdict(command, where, outside=True) == "allow"


@pytest.mark.parametrize(
    "command",
    ["git format-patch -1", "git format-patch -1 -o sub", "git archive -o x.zip HEAD",
     "split a.txt", "git archive HEAD", "git bundle create x HEAD", "git fetch", "git commit -m x",
     "tree -o x",
     "git status", "git diff", "npm test", "git log && git format-patch -1", "nice git fetch",
     # The folder, or the user's own settings that name its scripts, say what else git runs.
     "git log -1", "git show --stat @{{u}}", "cd sub && git log -p"],
)  # fmt: skip
def test_what_chooses_names_of_its_own_is_answered_once(command, where):
    """Also git's index and messages are files of the workspace, which can become links."""
    action = Execute(command, where.workspace, outside=True)
    case = decided(action, "", where)
    assert case.verdict.decision == "ask"
    offer = offers([action], case.judgement, where.workspace)
    assert offer.choices == ()
    assert offer.why_not
    # Inside the sandbox nothing of it is real before it was judged.
    assert verdict(command, where) == "allow"
    rules = [Rule(" ".join(words), "allow", command=words, outside=True) for words in PROGRAMS]
    written = replace(where, answers=RuleSet(), rules=RuleSet(rules, home=where.home))
    named = {"git bundle create x HEAD"}  # a file of the workspace, which no rule covers
    assert verdict(command, written, outside=True) == ("ask" if command in named else "allow")


def test_nothing_is_offered_that_would_not_be_covered(where):
    told = {}
    for command in ("ls", "ls > new.txt", "ls > rc", "grep -r x sub", "cat key"):
        action = Execute(command, where.workspace, outside=True)
        judgement = decided(action, "", where).judgement
        told[command] = offers([action], judgement, where.workspace).why_not
    work, home = where.workspace, where.home
    assert told == {
        "ls": "",
        "ls > new.txt": (
            f"it changes {work}/new.txt, and a file of the workspace can become a link to any other"
        ),
        "ls > rc": f"it changes {home}/.bashrc, which is outside the workspace",
        "grep -r x sub": "`grep` reads whole folders, and a link there may lead to a secret",
        "cat key": f"{work}/key leads to secrets",
    }


def test_where_no_command_is_confined_only_what_leaves_by_a_link_is_asked_about(where):
    free = replace(where, trust="untrusted")
    assert verdict("ls > new.txt", free) == "allow"
    assert verdict("ls > rc", free) == "ask"
    assert verdict("cat key", free) == "ask"
    # Where nobody is asked, a key is not read by way of a link, just as it is not by its name.
    never = replace(free, approvals="never", answers=RuleSet())
    assert [verdict(command, never) for command in ("cat a.txt", "cat key")] == ["allow", "deny"]


@pytest.mark.parametrize("command", ["cat note", "cat d/notes/one", "cat /proc/self/cwd/note"])
def test_a_rule_about_a_path_holds_for_the_links_to_it(command, where):
    rule = Rule("notes", "deny", path="~/notes", on=("read",))
    strict = replace(where, rules=RuleSet([rule], home=where.home))
    assert verdict(command, strict) == "deny"
    assert verdict("cat a.txt", strict) == "allow"


def test_a_written_rule_for_outside_covers_no_file_of_the_workspace(where):
    rule = Rule("log", "allow", command=("git", "log"), outside=True)
    written = replace(where, answers=RuleSet(), rules=RuleSet([rule], home=where.home))
    assert verdict("git log", written, outside=True) == "allow"
    assert {verdict(f"git log >> {path}", written, outside=True) for path in ("rc", "a.txt")} == {
        "ask"
    }
