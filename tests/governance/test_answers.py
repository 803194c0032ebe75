"""Remembered answers: an offer shows all it would allow; what was said can be read and removed."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.governance import answers
from steersman.governance.answers import (
    Choice,
    Offer,
    Remembered,
    all_remembered,
    forget,
    forget_all,
    forget_thread,
    offers,
    remember,
    remembered,
)
from steersman.governance.guard.judge import judge
from steersman.governance.rules import Rule, RuleSet
from steersman.records.action import (
    Action,
    ChangeMany,
    Delete,
    Execute,
    McpCall,
    Network,
    Read,
    SpawnAgent,
    Write,
)
from steersman.records.errors import StorageProblem, UsageProblem
from steersman.records.judgement import CommandPlace, Fact, Judgement
from steersman.store.redactor import Redactor
from steersman.store.sqlite import SqliteStore
from tests.store.made import a_thread

HERE, HOME = "/home/dev/project", "/home/dev"
BOTH, THREAD = ("turn", "thread", "here"), ("thread",)


def seen(command: str) -> Judgement:
    return judge(command, CommandPlace(HERE, HOME))


def offered(command: str, *, outside: bool = False, **more: Any) -> Offer:
    """What is offered for a command line."""
    return offers([Execute(command, HERE, outside=outside)], seen(command), HERE, **more)


def same(*rules: Rule, sentences: tuple[str, ...], scopes: tuple[str, ...] = BOTH) -> Choice:
    return Choice("same", rules, sentences, scopes)


def begins(*words: str, **more: Any) -> Rule:
    return Rule("", "allow", command=words, **more)


def test_a_command_is_offered_by_its_beginning():
    assert offered("npm test -- -k sums") == Offer(
        (same(begins("npm", "test"), sentences=("commands beginning with `npm test`",)),)
    )


def test_a_line_of_several_commands_is_offered_part_by_part_and_all_are_shown():
    assert offered("npm test && git status --short") == Offer(
        (
            same(
                begins("npm", "test"),
                begins("git", "status"),
                sentences=(
                    "commands beginning with `npm test`",
                    "commands beginning with `git status`",
                ),
            ),
        )
    )


def test_going_to_a_folder_of_the_workspace_is_no_part_of_an_offer():
    assert offered(f"cd {HERE}/web && npm test") == offered("npm test")
    assert offered("cd web") == Offer(why_not="it starts no program")
    assert offered("cd /etc && npm test").choices == ()


@pytest.mark.parametrize("program", ["./run.sh", "scripts/deploy", f"{HERE}/run.sh"])
def test_outside_the_sandbox_a_file_of_the_workspace_is_asked_about_each_time(program):
    offer = offered(f"{program} staging", outside=True)
    assert "is a file of the workspace, which can change" in offer.why_not


def test_outside_the_sandbox_an_answer_lasts_for_a_thread_at_most():
    rule = begins("uname", outside=True)
    told = ("commands beginning with `uname` outside the sandbox",)
    assert offered("uname -a", outside=True) == Offer(
        (same(rule, sentences=told, scopes=("turn", *THREAD)),)
    )


def test_what_changes_another_machine_is_offered_whole_or_not_at_all():
    fact = Fact(("git", "push", "origin", "topic"), remote="pushes to origin")
    judgement = Judgement("ask", "git.push", "", plain=True, facts=(fact,))
    offer = offers([Execute("git push origin topic", HERE)], judgement, HERE)
    rule = begins("git", "push", "origin", "topic", whole=True)
    assert offer == Offer((same(rule, sentences=("the command `git push origin topic`",)),))


NEVER = {
    "rm -rf /": "the guard objects to it",
    "python x.py": "may do something quite different",
    "python3 -c 1": "",
    "npm run build": "may do something quite different",
    "git -c core.pager=x log": "",
    "bash -c 'npm test'": "",
    "sudo npm test": "",
    "env A=1 npm test": "",
    "npm test $X": "",
    "npm test $(cat x)": "",
    "npm test && python x.py": "may do something quite different",
    "npm test > /etc/motd": "",
    "for x in a b; do npm test; done": "",
    "ls; cat a; pwd; date; git status; npm test": "too many",
}


@pytest.mark.parametrize("command", NEVER)
def test_some_commands_are_asked_about_every_time_and_the_reason_is_told(command):
    offer = offered(command)
    assert offer.choices == ()
    assert NEVER[command] in offer.why_not
    assert offer.why_not


def test_what_nobody_looked_at_is_not_offered():
    assert offers([Execute("npm test", HERE)], None, HERE) == Offer(
        why_not="the command was not checked"
    )


def test_an_edit_is_offered_for_its_file_or_for_all_of_them():
    edits = Choice(
        "edits",
        (Rule("", "allow", path=".", on=("write",)),),
        ("changes of any file in the workspace, but not of protected ones",),
        BOTH,
    )
    files = [Write(f"{HERE}/src/a.py"), Write(f"{HERE}/odd[1]*.txt")]
    assert offers(files, None, HERE) == Offer(
        (
            same(
                Rule("", "allow", path="./src/a.py", on=("write",)),
                Rule("", "allow", path=r"./odd\[1\]\*.txt", on=("write",)),
                sentences=("changes of ./src/a.py", r"changes of ./odd\[1\]\*.txt"),
                scopes=THREAD,
            ),
            edits,
        )
    )
    both = offers([Write(f"{HERE}/a"), Delete(f"{HERE}/b")], None, HERE)
    assert both.choices[1].rules == (Rule("", "allow", path=".", on=("write", "delete")),)
    assert both.choices[1].sentences == (
        "changes and deletions of any file in the workspace, but not of protected ones",
    )


@pytest.mark.parametrize(
    ("action", "rule", "told"),
    [
        (
            Network("files.test", 443),
            Rule("", "allow", domain="files.test:443"),
            "connections to files.test:443",
        ),
        (
            McpCall("github", "get_issue", {"n": 1}),
            Rule("", "allow", mcp="github/get_issue"),
            "the tool get_issue of MCP server github",
        ),
    ],
)
def test_hosts_and_tools_of_servers_are_offered_by_name(action, rule, told):
    scopes = BOTH[1:] if isinstance(action, Network) else BOTH  # a host is asked once in a thread
    assert offers([action], None, HERE) == Offer((same(rule, sentences=(told,), scopes=scopes),))


@pytest.mark.parametrize(
    ("actions", "why"),
    [
        ([], "there is nothing to allow"),
        ([SpawnAgent("a", "b")], "you are asked about such a request each time"),
        (
            [ChangeMany(HERE, 1, 2, 3)],
            "you are asked each time a command changes this many files",
        ),
        (
            [ChangeMany(HERE, 0, 0, 1, lost=1)],
            "you are asked each time a command deletes work that git does not keep",
        ),
        (
            [Write(f"{HERE}/.git/hooks/x")],
            "you are asked about protected files each time: .git/hooks/x, which git runs or loads",
        ),
        (
            [Write(f"{HERE}/a"), Write(f"{HERE}/.envrc")],
            "you are asked about protected files each time",
        ),
        (
            [Write(f"{HERE}/a", origin="command")],
            "you are asked each time a command changes such a file",
        ),
        ([McpCall("a*", "b")], "the name 'a*' cannot be used in a rule"),
        (
            [Write(f"{HERE}/{n}") for n in range(6)],
            "it has 6 parts, too many to read at a glance",
        ),
        ([Write(f"{HERE}/\udcff")], "it has a name that is not UTF-8, which cannot be stored"),
        (
            [Execute("ls", HERE), Execute("pwd", HERE)],
            "several commands are approved one by one",
        ),
        ([Network("*", 443)], "a single * would allow every host"),
    ],
)
def test_some_requests_are_asked_about_every_time(actions: list[Action], why: str):
    offer = offers(actions, None, HERE)
    assert offer.choices == ()
    assert offer.why_not.startswith(why)
    assert not offer.why_not.endswith(",")


def test_what_a_rule_asks_about_is_asked_every_time():
    rules = RuleSet([Rule("user.net", "ask", domain="*.test")])
    assert offers([Network("files.test", 443)], None, HERE, rules=rules) == Offer(
        why_not="a rule asks about this each time (user.net)"
    )
    assert offers([Network("pypi.com", 443)], None, HERE, rules=rules).choices


def test_a_secret_is_neither_offered_nor_kept(store):
    redact = Redactor(["s3cret-word"]).text
    mcp = McpCall("server", "s3cret-word")
    assert offers([mcp], None, HERE, redact=redact) == Offer(
        why_not="it contains a secret, which is not stored"
    )
    with pytest.raises(UsageProblem):
        keep(store, begins("npm", "login", "s3cret-word"), redact=redact)
    keep(store, begins("npm", "test"), request="npm test --key s3cret-word", redact=redact)
    [kept] = all_remembered(store)
    assert kept.request == "npm test --key [redacted]"


names = st.text("ab[*?]{}!# \\.é", min_size=1, max_size=5).filter(
    lambda name: name not in (".", "..")
)


@given(st.lists(names, min_size=1, max_size=3), names)
def test_an_offer_for_a_file_covers_it_and_no_other(parts, other):
    path = "/".join([HERE, *parts])
    for choice in offers([Write(path)], None, HERE).choices[:1]:
        rules = RuleSet([msgspec.structs.replace(rule, source="thread") for rule in choice.rules])
        assert rules.verdict(Write(path), "", None, HERE).decision == "allow"
        assert rules.verdict(Write(path + other), "", None, HERE) is None
        assert rules.verdict(Delete(path), "", None, HERE) is None
        assert rules.verdict(Read(path), "", None, HERE) is None


@pytest.fixture
def store(tmp_path: Path):
    opened = SqliteStore(tmp_path)
    yield opened
    opened.close()


def keep(store: SqliteStore, *rules: Rule, scope: str = "here", **more: Any) -> list[Rule]:
    """Answer a request in the thread `t1` of this workspace."""
    where = {"workspace": HERE, "thread": "t1", **more}
    return remember(store, rules, scope, **where)


def test_an_answer_becomes_a_rule_with_a_name_that_can_be_forgotten(store):
    [rule] = keep(store, begins("npm", "test"), request="npm test -- -k x")
    assert rule == Rule(rule.id, "allow", command=("npm", "test"), source="here")
    assert len(rule.id) == 4
    [kept] = all_remembered(store)
    assert kept == Remembered(rule, HERE, kept.created, "npm test -- -k x")
    assert remembered(store, HERE, "t2") == [rule]
    assert forget(store, "nope") is None
    assert forget(store, rule.id) == kept
    assert (remembered(store, HERE, "t1"), all_remembered(store)) == ([], [])
    assert forget(store, rule.id) is None


def test_an_answer_holds_where_it_was_given(store):
    [thread] = keep(store, begins("a"), scope="thread")
    [here] = keep(store, begins("b"), scope="here")
    assert keep(store, begins("c"), scope="once") == []
    assert (thread.source, here.source) == ("thread", "here")
    assert remembered(store, HERE, "t1") == [thread, here]
    assert remembered(store, HERE, "t2") == remembered(store, HERE, "") == [here]
    assert remembered(store, f"{HERE}-evil", "t1") == []
    forget_thread(store, "t1")
    forget_thread(store, "")
    assert remembered(store, HERE, "t1") == [here]


def test_the_same_answer_is_kept_once(store):
    first = keep(store, begins("a"), begins("b"))
    assert keep(store, begins("b"), begins("a")) == first[::-1]
    keep(store, begins("a"), scope="thread")
    assert len(all_remembered(store)) == 3


def test_answers_given_for_two_commands_cover_both_in_one_line(store):
    for command in ("npm test", "git status"):
        [choice] = offered(command).choices
        keep(store, *choice.rules)
    rules = RuleSet(remembered(store, HERE, "t1"))

    def word(command: str) -> Any:
        return rules.verdict(Execute(command, HERE), "", seen(command), HERE)

    assert word("npm test && git status").decision == "allow"
    for command in ("npm test && npm run x", "npm test && git push", "npm test | tee /etc/x"):
        assert word(command) is None, command


def test_what_one_process_forgets_no_other_brings_back(store, tmp_path):
    [old] = keep(store, begins("old"))
    others = [SqliteStore(tmp_path) for _ in range(4)]

    def work(number: int) -> None:
        other = others[number]
        for step in range(5):
            if (number, step) == (0, 2):
                forget(other, old.id)
            keep(other, begins(f"c{number}", f"{step}"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    for other in others:
        other.close()
    kept = {rule.command for rule in remembered(store, HERE, "t1")}
    assert kept == {(f"c{number}", f"{step}") for number in range(4) for step in range(5)}
    assert len({answer.rule.id for answer in all_remembered(store)}) == 20


def test_there_is_an_end_to_what_is_remembered(store, monkeypatch):
    monkeypatch.setattr(answers, "MOST", 3)
    store.create_thread(a_thread("t1"))
    keep(store, begins("gone"), scope="thread", thread="t0")
    keep(store, begins("a"), begins("b"), begins("c"), scope="thread")
    assert [rule.command for rule in remembered(store, HERE, "t1")] == [("a",), ("b",), ("c",)]
    with pytest.raises(UsageProblem):
        keep(store, begins("d"))
    assert len(all_remembered(store)) == 3


def test_answers_that_cannot_be_read_are_told_of_and_can_be_removed(store):
    store.remember("policy", "answers", "[{]")
    for use in (lambda: remembered(store, HERE, "t1"), lambda: keep(store, begins("a"))):
        with pytest.raises(StorageProblem):
            use()
    forget_all(store)
    assert all_remembered(store) == []
