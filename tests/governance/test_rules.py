"""Rules: the strictest that matches decides, whatever the order; leave needs every part allowed."""

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.governance.rules import Rule, RuleProblem, RuleSet, subject
from steersman.records.action import (
    Action,
    ChangeMany,
    Delete,
    Execute,
    List,
    McpCall,
    Network,
    Read,
    Search,
    SpawnAgent,
    Verdict,
    Write,
)
from steersman.records.judgement import Fact, Judgement

HOME, HERE = "/home/dev", "/srv/app"


def a_set(*rules: Rule) -> RuleSet:
    return RuleSet(rules, home=HOME, resolve=str)


def rule(decision: str = "allow", **fields: Any) -> Rule:
    """A rule; a command may be written as one text."""
    if isinstance(fields.get("command"), str):
        fields["command"] = tuple(fields["command"].split())
    return Rule(**{"id": f"user.{decision}", "decision": decision, **fields})


def line(*commands: str | Fact, verdict: str = "allow", plain: bool = True) -> Judgement:
    """What the guard says of a line made of these simple commands."""
    facts = tuple(c if isinstance(c, Fact) else Fact(tuple(c.split())) for c in commands)
    return Judgement(verdict, "guard.test", "", plain=plain, facts=facts)


def said(rules: RuleSet, action: Action, judgement: Judgement | None = None, tool: str = "") -> str:
    """The decision of a set of rules; a dash when it has none."""
    verdict = rules.verdict(action, tool, judgement, HERE)
    return verdict.decision if verdict else "-"


def ran(rules: RuleSet, *commands: str | Fact, outside: bool = False, **how: Any) -> str:
    """The decision on a command line."""
    return said(rules, Execute("…", HERE, outside=outside), line(*commands, **how))


PATHS = [
    # pattern, paths it names, paths it does not
    ("*.pem", "a.pem deep/er/b.pem a.pem/inner", "a.pem.txt apem /etc/a.pem"),
    ("secrets", "secrets secrets/a deep/secrets/b/c", "secrets-old secret /srv/app-evil/secrets"),
    ("secrets/", "secrets secrets/a deep/secrets/b", "secrets-old"),
    ("./secrets", "secrets secrets/a", "deep/secrets secrets2"),
    ("src/**", "src/a src/b/c", "src other/src/a src2/a"),
    ("src/*.py", "src/a.py src/a.py/x", "src/b/a.py a.py"),
    ("src/{a,b}/x", "src/a/x src/b/x/y", "src/c/x src/a/xx"),
    (".", "a b/c /srv/app", "/srv/app-evil /srv /"),
    ("**", "a b/c", "/srv/app-evil/a"),
    ("/srv/app", "a b/c /srv/app", "/srv/app-evil /srv/app-evil/a /srv /srv/ap"),
    ("/srv/app/", "a /srv/app", "/srv/app-evil"),
    ("/etc/*.conf", "/etc/a.conf", "/etc/a/b.conf etc/a.conf"),
    ("/", "a /etc /", ""),
    ("~/.ssh", "/home/dev/.ssh /home/dev/.ssh/id", "/home/dev/.sshx /home/other/.ssh .ssh"),
    ("~", "/home/dev /home/dev/x", "/home/devx /home"),
    ("#odd", "#odd", "odd"),
    ("a\\*b", "a*b", "axb"),
]


@pytest.mark.parametrize(("pattern", "named", "others"), PATHS, ids=[p for p, *_ in PATHS])
def test_a_path_names_itself_and_all_below_by_whole_names(pattern, named, others):
    for decision in ("deny", "allow"):
        rules = a_set(rule(decision, path=pattern))
        for text, expected in ((named, decision), (others, "-")):
            for path in text.split():
                place = path if path.startswith("/") else f"{HERE}/{path}"
                assert said(rules, Read(place)) == expected, place


def test_a_path_is_meant_as_written_and_as_it_really_is():
    links = {"/home/dev/notes": "/mnt/disk/notes", "/tmp": "/private/tmp"}
    rules = RuleSet(
        [rule("deny", path="~/notes"), rule("deny", path="/tmp/*.key")],
        home=HOME,
        resolve=lambda path: links.get(path, path),
    )
    for path in ("/home/dev/notes/a", "/mnt/disk/notes/a", "/tmp/x.key", "/private/tmp/x.key"):
        assert said(rules, Read(path)) == "deny", path


TOUCHES = [
    (Read(f"{HERE}/x"), "read"), (List(f"{HERE}/x"), "read"), (Search(f"{HERE}/x", "a"), "read"),
    (Write(f"{HERE}/x"), "write"), (Delete(f"{HERE}/x"), "delete"),
    (Write(f"{HERE}/x", origin="command"), "write"),
    (Delete(f"{HERE}/x", origin="command"), "delete"),
]  # fmt: skip


@pytest.mark.parametrize(("action", "touch"), TOUCHES, ids=[repr(a) for a, _ in TOUCHES])
@pytest.mark.parametrize("on", ["read", "write", "delete"])
def test_a_path_can_be_about_one_kind_of_use(action, touch, on):
    assert said(a_set(rule("deny", path="x", on=(on,))), action) == ("deny" if on == touch else "-")
    assert said(a_set(rule("deny", path="x")), action) == "deny"


@pytest.mark.parametrize(
    ("fact", "on"),
    [
        (Fact(("cat", "x"), reads=(f"{HERE}/x/y",)), "read"),
        (Fact(("tee", "x"), writes=(f"{HERE}/x",)), "write"),
        (Fact(("rm", "x"), deletes=(f"{HERE}/x",)), "delete"),
    ],
)
def test_a_path_is_kept_from_commands_as_far_as_the_guard_sees_them(fact, on):
    rules = a_set(rule("deny", path="x", on=(on,)))
    assert ran(rules, "ls", fact) == "deny"
    assert ran(rules, "ls", fact, plain=False) == "deny"
    assert ran(a_set(rule("deny", path="./y", on=(on,))), fact) == "-"
    assert ran(a_set(rule("allow", path="x")), fact) == "-"


def test_who_deletes_a_folder_deletes_what_is_known_to_be_in_it():
    rules = a_set(rule("deny", path="docs/keep/**"))
    for path, expected in (("docs", "deny"), ("docs/keep", "deny"), ("docs/other", "-")):
        assert said(rules, Delete(f"{HERE}/{path}")) == expected
        assert ran(rules, Fact(("rm",), deletes=(f"{HERE}/{path}",))) == expected
        assert said(rules, Write(f"{HERE}/{path}/x")) == ("deny" if path == "docs/keep" else "-")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("*.pem", "ask"), ("docs/x", "ask"), (".", "ask"), ("/etc/x", "-"), ("~/.ssh", "-")],
)
def test_among_very_many_changes_may_be_one_that_is_forbidden(pattern, expected):
    many = ChangeMany(HERE, created=9000, changed=0, deleted=0, origin="command")
    assert said(a_set(rule("deny", path=pattern, on=("write",))), many) == expected
    assert said(a_set(rule("deny", path=pattern, on=("delete",))), many) == "-"


def test_many_changes_can_be_looked_at_one_by_one():
    rules = a_set(
        rule("ask", id="user.lock", path="*.lock"), rule("deny", id="user.pem", path="*.pem")
    )
    many = [("write", f"{HERE}/{n}.txt") for n in range(3000)]
    assert rules.over(many, HERE) is None
    asked = rules.over([*many, ("write", f"{HERE}/a.lock")], HERE)
    assert (asked.decision, asked.rule) == ("ask", "user.lock")
    denied = rules.over([("write", f"{HERE}/a.lock"), *many, ("delete", f"{HERE}/a.pem")], HERE)
    assert (denied.decision, denied.rule) == ("deny", "user.pem")
    assert a_set(rule("allow", path=".")).over(many, HERE) is None


PROTECTED = [Write(f"{HERE}/.vscode/tasks.json"), Delete(f"{HERE}/.git/hooks/pre-commit")]


@pytest.mark.parametrize("action", PROTECTED, ids=repr)
def test_a_protected_file_is_allowed_only_by_a_rule_that_names_it(action):
    name = action.path.removeprefix(f"{HERE}/")
    for wide in ("**", ".", "*", ".*", name.split("/")[0] + "/*", "*.json"):
        assert said(a_set(rule(path=wide)), action) == "-", wide
    assert said(a_set(rule(path=f"./{name}")), action) == "allow"
    assert said(a_set(rule(path=name.rpartition("/")[0])), action) == "allow"
    for source in ("thread", "here"):
        assert said(a_set(rule(path=f"./{name}", source=source)), action) == "-"
    assert said(a_set(rule(tool="*")), action, tool="workspace_edit_files") == "-"


@pytest.mark.parametrize("origin", ["tool", "command"])
def test_what_a_command_did_is_not_covered_by_answers_or_by_the_tool(origin):
    for action in (Write(f"{HERE}/a", origin=origin), Delete(f"{HERE}/a", origin=origin)):
        expected = "allow" if origin == "tool" else "-"
        assert said(a_set(rule(path=".", source="here")), action) == expected
        assert said(a_set(rule(tool="run_*")), action, tool="run_command") == expected
        assert said(a_set(rule(path=".")), action) == "allow"


def test_very_many_changes_are_allowed_only_where_the_place_is_named():
    many = ChangeMany(f"{HERE}/build", 0, 3, 4, origin="command")
    assert said(a_set(rule(path="./build")), many) == "allow"
    assert said(a_set(rule(path="./build", on=("delete",))), many) == "-"
    for pattern in ("**", ".", "build*", "./build/x"):
        assert said(a_set(rule(path=pattern)), many) == "-"


DENIED = [
    # prefix, commands it keeps from happening, commands it does not
    ("git push", ["git push", "git push -f origin", "/usr/bin/git push", "./git push",
                  "git -C x push", "git --no-pager -c a=b push", "git --git-dir=x push"],
                 ["git pull", "git pushy", "git log push", "gitpush", "git", "git commit -m push"]),
    ("git push --force", ["git push --force", "git push origin main --force",
                          "git push -v --force x"],
                         ["git push", "git push --force-with-lease", "git --force pull"]),
    ("python -c", ["python -c x", "python -B -c x"], ["python x.py -c", "python3 -c x", "python"]),
    ("rm", ["rm x", "/bin/rm x"], ["rmdir x", "./rm-all x"]),
    ("docker * prune", ["docker system prune", "docker image prune -a"], ["docker prune"]),
    ("git tag --sort", ["git tag --sort=x"], ["git tag --sorted=x"]),
    ("*", ["ls", "/tmp/x y"], []),
]  # fmt: skip


@pytest.mark.parametrize(("prefix", "kept", "others"), DENIED, ids=[p for p, *_ in DENIED])
@pytest.mark.parametrize("decision", ["deny", "ask"])
def test_a_prefix_keeps_a_command_from_happening_wherever_it_hides(decision, prefix, kept, others):
    rules = a_set(rule(decision, command=prefix))
    for command in kept:
        hidden = Fact(tuple(command.split()), via=("sudo", "env"))
        assert ran(rules, command) == ran(rules, "ls", command, plain=False) == decision, command
        assert ran(rules, hidden, plain=False) == decision, command
    for command in others:
        assert ran(rules, command) == "-", command


def test_wrappers_can_be_kept_from_happening_themselves():
    inner = Fact(("ls",), via=("sudo", "bash"))
    for prefix in ("sudo", "bash", "bash -c", "sudo bash", "bash ls", "sudo -u"):
        assert ran(a_set(rule("deny", command=prefix)), inner) == "deny", prefix
    for prefix in ("sudo ls", "su", "bash cat", "bash -c ls"):
        assert ran(a_set(rule("deny", command=prefix)), inner) == "-", prefix


ALLOWED = [
    # prefix, commands it covers, commands it does not
    ("npm test", ["npm test", "npm test -- -k x", "/usr/bin/npm test"],
                 ["npm", "npm tests", "npm -s test", "npm run test", "./npm test", "/tmp/npm test",
                  "/srv/app/bin/npm test"]),
    ("git log", ["git log", "git log -p"], ["git -C x log", "git logs", "git"]),
    ("./check.sh", ["./check.sh", "./check.sh a"], ["check.sh", "/srv/check.sh", "./check.sh2"]),
    ("make *", ["make all", "make -j"], ["make", "/tmp/make all"]),
    ("* --version", ["git --version", "/usr/bin/git --version"], ["./evil --version", "git -v"]),
]  # fmt: skip


@pytest.mark.parametrize(("prefix", "covered", "others"), ALLOWED, ids=[p for p, *_ in ALLOWED])
def test_a_prefix_gives_leave_only_for_what_begins_with_just_its_words(prefix, covered, others):
    rules = a_set(rule(command=prefix))
    for command in covered:
        assert ran(rules, command) == "allow", command
        assert ran(rules, command, plain=False) == "-", command
        assert ran(rules, command, "ls") == "-", command
    for command in others:
        assert ran(rules, command) == "-", command


def test_words_can_have_alternatives_and_an_end():
    rules = a_set(rule(command=("git", ("log", "diff"), "*"), whole=True))
    for command in ("git log x", "git diff -p"):
        assert ran(rules, command) == "allow"
    for command in ("git show x", "git log", "git log x y"):
        assert ran(rules, command) == "-"
    assert ran(a_set(rule("deny", command="git push", whole=True)), "git push") == "deny"
    assert ran(a_set(rule("deny", command="git push", whole=True)), "git push x") == "-"


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        (Fact(("make",), via=("timeout", "nice")), "allow"),
        (Fact(("make",), via=("sudo",)), "-"),
        (Fact(("make",), via=("timeout", "ssh")), "-"),
        (Fact(("make", "$?"), known=False), "-"),
        (Fact(("make",), writes=(f"{HERE}/out.txt", "/dev/null")), "allow"),
        (Fact(("make",), writes=("/srv/app-evil/x",)), "-"),
        (Fact(("make",), deletes=("/home/dev/x",)), "-"),
        (Fact(("make",), writes=(f"{HERE}/.git/hooks/x",)), "-"),
        (Fact(("make",), reads=("/etc/hosts",)), "allow"),
        (Fact(("make",), unknown_code=True), "allow"),
    ],
)
def test_a_prefix_does_not_cover_wrappers_unknown_words_or_changes_elsewhere(fact, expected):
    assert ran(a_set(rule(command="make")), fact) == expected


def test_going_to_a_folder_of_the_workspace_needs_no_leave():
    rules = a_set(rule(command="make"))
    for place in ("src", "src/deep", ".", "./src", "/srv/app", "/srv/app/src/"):
        assert ran(rules, f"cd {place}", "make") == "allow", place
        assert ran(rules, f"cd {place}") == "-", place
    for place in ("..", "src/../..", "/srv/app-evil", "/srv/app/..", "~", "-", "/", "a b"):
        assert ran(rules, f"cd {place}", "make") == "-", place
    assert ran(rules, Fact(("cd",)), "make") == "-"
    assert ran(rules, Fact(("cd", "$?"), known=False), "make") == "-"
    assert ran(a_set(rule("deny", command="cd")), "cd src") == "deny"


def test_a_change_elsewhere_can_be_allowed_by_a_rule_of_its_own():
    copy = Fact(("cp", "x", "/srv/data/x"), writes=("/srv/data/x",))
    place = {"path": "/srv/data", "on": ("write",)}
    assert ran(a_set(rule(command="cp"), rule(**place)), copy) == "allow"
    assert ran(a_set(rule(command="cp"), rule(**place, source="here")), copy) == "-"
    assert ran(a_set(rule(**place)), copy) == "-"


def test_leave_to_be_outside_the_sandbox_is_given_on_its_own():
    inside, out = rule(command="make"), rule(command="make", outside=True)
    assert [ran(a_set(inside), "make", outside=flag) for flag in (False, True)] == ["allow", "-"]
    assert [ran(a_set(out), "make", outside=flag) for flag in (False, True)] == ["allow"] * 2
    never = a_set(rule("deny", command="*", outside=True))
    assert [ran(never, "make", outside=flag) for flag in (False, True)] == ["-", "deny"]
    tool = a_set(rule(tool="run"))
    for flag, expected in ((False, "allow"), (True, "-")):
        action = Execute("make", HERE, outside=flag)
        assert said(tool, action, line("make"), tool="run") == expected


def test_what_the_guard_blocks_is_allowed_only_when_it_is_spelled_out():
    assert ran(a_set(rule(command="git push")), "git push --force x", verdict="block") == "-"
    assert ran(a_set(rule(command="git push * x")), "git push --force x", verdict="block") == "-"
    exact = a_set(rule(command="git push --force x"))
    assert ran(exact, "git push --force x", verdict="block") == "allow"
    assert ran(exact, "git push --force x", "ls", verdict="block") == "-"
    blocked = line("git push", verdict="block")
    assert said(a_set(rule(tool="*")), Execute("…", HERE), blocked, tool="run") == "-"


def test_in_a_line_of_too_many_commands_anything_may_hide():
    many = [f"echo {n}" for n in range(101)]
    assert ran(a_set(rule(command="echo")), *many[:100]) == "allow"
    assert ran(a_set(rule(command="echo")), *many) == "-"
    assert ran(a_set(rule("deny", command="rm")), *many) == "ask"
    assert ran(a_set(rule("deny", mcp="x")), *many) == "-"


def test_a_command_nobody_looked_at_is_covered_by_no_prefix():
    action = Execute("make", HERE)
    assert said(a_set(rule(command="make")), action, None) == "-"
    assert said(a_set(rule(command="make")), action, line()) == "-"
    assert said(a_set(rule("deny", command="make")), action, None) == "-"
    assert said(a_set(rule("deny", tool="run")), action, None, tool="run") == "deny"


HOSTS = [
    (
        "files.test",
        ["files.test:443", "files.test:80", "Files.test:443"],
        ["x.files.test:443", "files.test.evil:443"],
    ),
    ("*.files.test", ["a.files.test:443"], ["files.test:443", "xfiles.test:443"]),
    ("files.test:8080", ["files.test:8080"], ["files.test:443"]),
]


@pytest.mark.parametrize(("pattern", "named", "others"), HOSTS, ids=[p for p, *_ in HOSTS])
def test_hosts_are_named_as_everywhere_else(pattern, named, others):
    for decision in ("deny", "ask", "allow"):
        rules = a_set(rule(decision, domain=pattern))
        for text, expected in ((named, decision), (others, "-")):
            for host, _, port in (name.rpartition(":") for name in text):
                assert said(rules, Network(host, int(port))) == expected


def test_a_command_that_names_a_forbidden_host_is_not_started():
    rules = a_set(rule("deny", domain="evil.example"))
    assert ran(rules, Fact(("curl",), network=("ok.example", "evil.example"))) == "deny"
    assert ran(rules, Fact(("curl",), network=("evil.example:8080",))) == "deny"
    assert ran(rules, Fact(("npm",), network=("*",))) == "-"
    assert ran(a_set(rule(domain="ok.example")), Fact(("curl",), network=("ok.example",))) == "-"
    assert said(a_set(rule("ask", domain="*")), Network("any.example", 1)) == "ask"


@pytest.mark.parametrize(
    ("pattern", "named", "others"),
    [
        ("github", "github/a github/b", "github2/a git/hub"),
        ("github/get_*", "github/get_issue", "github/set_issue other/get_issue"),
        ("*/delete_*", "a/delete_x b/delete_", "a/undelete_x"),
        ("git?ub", "github/x", "gitub/x"),
    ],
)
def test_servers_and_their_tools_are_named_by_patterns(pattern, named, others):
    for text, expected in ((named, True), (others, False)):
        for server, _, tool in (name.partition("/") for name in text.split()):
            action = McpCall(server, tool)
            for decision in ("deny", "ask", "allow"):
                rules = a_set(rule(decision, mcp=pattern))
                assert said(rules, action) == (decision if expected else "-")


def test_a_tool_is_named_by_a_pattern_whatever_it_does():
    for action in (Read(f"{HERE}/x"), SpawnAgent("a", "b"), Network("a.example", 443)):
        for decision in ("deny", "ask", "allow"):
            rules = a_set(rule(decision, tool="workspace_*"))
            assert said(rules, action, tool="workspace_search") == decision
            assert said(rules, action, tool="my_workspace_search") == "-"
            assert said(rules, action) == "-"


def test_the_word_tells_who_decided_why_and_what_to_do_instead():
    place = {"file": "/home/dev/.config/steersman/rules.toml", "line": 7}
    assert a_set(rule("deny", path="*.pem", on=("read",), **place)).verdict(
        Read(f"{HERE}/a.pem"), "", None, HERE
    ) == Verdict(
        "deny",
        "user.deny",
        "reading *.pem: denied by /home/dev/.config/steersman/rules.toml:7",
        "continue without it; see /home/dev/.config/steersman/rules.toml:7",
    )
    assert a_set(rule("ask", mcp="a/b", reason="it costs money")).verdict(
        McpCall("a", "b"), "", None, HERE
    ) == Verdict("ask", "user.ask", "it costs money")
    parts = a_set(
        rule(id="k3f9", command="npm test", source="here"),
        rule(id="user.git", command=("git", ("log", "diff")), **place),
    )
    assert parts.verdict(Execute("…", HERE), "", line("npm test", "git log"), HERE) == Verdict(
        "allow",
        "k3f9+user.git",
        "commands beginning with `npm test`: allowed by an answer for this folder; commands "
        "beginning with `git (log|diff)`: allowed by /home/dev/.config/steersman/rules.toml:7",
    )


def test_of_equally_strict_rules_the_highest_place_is_named():
    sources = ("managed", "user", "project", "here", "thread")
    rules = [rule("deny", id=f"{source}.x", tool="t", source=source) for source in sources]
    for order in permutations(rules):
        assert RuleSet(order).verdict(Read("/x"), "t", None, HERE).rule == "managed.x"


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (rule(tool="a_*"), "the tool a_*"),
        (rule(path="src/"), "any use of src/"),
        (rule(path="src/", on=("write", "delete")), "changes of and deletion of src/"),
        (rule(command="npm test"), "commands beginning with `npm test`"),
        (
            rule(command="git push", whole=True, outside=True),
            "the command `git push` outside the sandbox",
        ),
        (rule(domain="files.test:443"), "connections to files.test:443"),
        (rule(mcp="y/x"), "the tool x of MCP server y"),
        (rule(mcp="y"), "MCP server y"),
    ],
)
def test_a_rule_can_be_told_to_a_person(made, told):
    assert subject(made) == told


@pytest.mark.parametrize(
    "made",
    [rule(path="../x"), rule(path="!x"), rule(path="[x"), rule(path="~root/x"), rule(path=" "),
     rule(command=("a", "&&")), rule(command=("A=1", "b")), rule(command=("a", "b*")),
     rule(command=("a", ())), rule(domain="*"), rule(domain="https://x"), rule(mcp="/x"), rule()],
    ids=subject,
)  # fmt: skip
def test_a_subject_that_cannot_be_understood_is_refused(made):
    with pytest.raises(RuleProblem):
        a_set(made)


def test_what_may_not_be_read_can_be_listed_for_those_who_hide_it():
    rules = a_set(
        rule("deny", path="*.pem"),
        rule("deny", path="x", on=("read", "write")),
        rule("deny", path="y", on=("write",)),
        rule("ask", path="z"),
        rule("deny", command="cat"),
    )
    assert rules.unreadable() == ("*.pem", "x")


words = st.sampled_from(["git", "npm", "push", "log", "-x", "test", "a"])
commands = st.lists(words, min_size=1, max_size=4).map(tuple)
some_rules = st.lists(
    st.builds(
        lambda n, decision, command: Rule(f"user.{n}", decision, command=command),
        st.integers(0, 99),
        st.sampled_from(["deny", "ask", "allow"]),
        commands,
    ),
    max_size=6,
)


@given(some_rules, st.lists(commands, min_size=1, max_size=4), st.randoms())
def test_deny_beats_ask_beats_allow_whatever_the_order(rules, parts, random):
    judgement = Judgement("allow", "g", "", plain=True, facts=tuple(map(Fact, parts)))
    shuffled = list(rules)
    random.shuffle(shuffled)
    decision = said(a_set(*rules), Execute("…", HERE), judgement)
    assert decision == said(a_set(*shuffled), Execute("…", HERE), judgement)
    for strict in ("deny", "ask"):
        if any(said(a_set(r), Execute("…", HERE), judgement) == strict for r in rules):
            assert decision == strict
            return
    assert decision in ("allow", "-")


@given(st.lists(commands, min_size=1, max_size=5), commands)
def test_leave_for_every_part_is_leave_for_the_whole_and_for_nothing_more(parts, other):
    rules = a_set(*(Rule(f"r{n}", "allow", command=part) for n, part in enumerate(parts)))
    whole = [" ".join(part) for part in parts]
    assert ran(rules, *whole) == "allow"
    begun = any(other[: len(part)] == part for part in parts)
    assert ran(rules, *whole, " ".join(other)) == ("allow" if begun else "-")


names = st.text("ab-.", min_size=1, max_size=4).filter(lambda n: n not in (".", ".."))


@given(st.lists(names, min_size=1, max_size=3), names, st.booleans())
def test_a_longer_name_is_another_name(parts, more, absolute):
    pattern = ("/" if absolute else "./") + "/".join(parts)
    place = "/".join(["" if absolute else HERE, *parts])
    for decision in ("deny", "allow"):
        rules = a_set(rule(decision, path=pattern))
        assert said(rules, Read(place)) == said(rules, Read(f"{place}/{more}")) == decision
        assert said(rules, Read(place + more)) == "-"
        assert said(rules, Read(place[:-1])) == "-"
