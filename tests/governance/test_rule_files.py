"""Rule files: read whole and checked whole; every problem is told with its file and line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.governance.rule_files import (
    LARGEST,
    load_rules,
    project_file,
    read_rules,
    user_file,
)
from steersman.governance.rules import Rule, RuleProblem
from steersman.records.errors import Exit

HERE, HOME = "/srv/app", "/home/dev"


def problems(text: str, source: str = "user") -> list[str]:
    """What is wrong with a text, each with its line."""
    _, found = read_rules(text, source, "rules.toml", workspace=HERE, home=HOME)
    assert all(problem.file == "rules.toml" for problem in found)
    return [f"{problem.line}: {problem.text}" for problem in found]


GOOD = '''\
# what this machine's owner wants
[[rule]]
id = "tests"
decision = "allow"
command = "npm test"
match = ["npm test", "npm test -- -k x", "timeout 60 npm test"]
not_match = ["npm tests", "npm run x", "npm test && curl x", "npm test > /etc/x"]

[[rule]]
decision = "deny"
command = ["git", ["push", "send-email"]]
reason = """
only
[[rule]]
people push"""
match = ["ls; git -C x push", "/usr/bin/git send-email"]
not_match = ["git log"]

[[rule]]
id = "keys"
decision = "deny"
path = "*.pem"
on = ["read", "write"]
match = ["a.pem", "deep/b.pem", "/srv/app/c.pem"]
not_match = ["/etc/a.pem", "~/x.pem", "pem"]

[[rule]]
decision = "ask"
domain = "*.example.org"
match = ["a.example.org", "b.example.org:8080"]
not_match = ["example.org", "example.org.evil.net:443"]

[[rule]]
decision = "deny"
mcp = "github/delete_*"
match = ["github/delete_repo"]
not_match = ["github/get_repo"]

[[rule]]
decision = "ask"
tool = "spawn_*"
match = ["spawn_agent"]
not_match = ["respawn_agent"]
'''


def test_a_file_of_every_kind_of_rule_with_its_own_tests():
    rules, found = read_rules(GOOD, "user", "/r.toml", workspace=HERE, home=HOME)
    assert found == []
    assert rules[:3] == [
        Rule(
            "user.tests",
            "allow",
            command=("npm", "test"),
            match=("npm test", "npm test -- -k x", "timeout 60 npm test"),
            not_match=("npm tests", "npm run x", "npm test && curl x", "npm test > /etc/x"),
            file="/r.toml",
            line=2,
        ),
        Rule(
            "user.9",
            "deny",
            command=("git", ("push", "send-email")),
            reason="only\n[[rule]]\npeople push",
            match=("ls; git -C x push", "/usr/bin/git send-email"),
            not_match=("git log",),
            file="/r.toml",
            line=9,
        ),
        Rule(
            "user.keys",
            "deny",
            path="*.pem",
            on=("read", "write"),
            match=("a.pem", "deep/b.pem", "/srv/app/c.pem"),
            not_match=("/etc/a.pem", "~/x.pem", "pem"),
            file="/r.toml",
            line=19,
        ),
    ]
    assert [(rule.id, rule.line) for rule in rules[3:]] == [
        ("user.27", 27), ("user.33", 33), ("user.39", 39),
    ]  # fmt: skip


ALLOW = '[[rule]]\ndecision = "allow"\n'
BAD = {
    "not toml": ("[[rule]]\ndecision = allow\n", ["2: this is not TOML: invalid value"]),
    "not closed": (
        '[[rule]]\nid = "x',
        ["2: this is not TOML: unterminated string (at end of document)"],
    ),
    "twice": (
        '[[rule]]\ntool = "x"\ntool = "y"\n',
        ["3: this is not TOML: cannot overwrite a value"],
    ),
    "too deep": ("a = " + "[" * 100_000, ["1: this is not TOML: "]),
    "another table": ("# x\n[rules]\nx = 1\n", ["2: “rules” is not known here: only [[rule]] is"]),
    "another key": ("\nversion = 1\n", ["2: “version” is not known here: only [[rule]] is"]),
    "one table": ('[rule]\ntool = "x"\n', ["1: rules are written as [[rule]] tables"]),
    "a list of texts": ('\nrule = ["x"]\n', ["2: rules are written as [[rule]] tables"]),
    "unknown key": (ALLOW + 'tool = "x"\n\ncomand = "y"\n', ["5: “comand” is not known in a rule"]),
    "unknown table": (
        ALLOW + 'tool = "x"\n[rule.more]\ny = 1\n',
        ["1: “more” is not known in a rule"],
    ),
    "no subject": (ALLOW, ["1: a rule is about one of tool, path, command, domain, mcp"]),
    "two subjects": (
        ALLOW + 'tool = "x"\npath = "y"\n',
        [
            "4: a rule is about one of tool, path, command, domain, mcp;"
            " this one is about tool and path"
        ],
    ),
    "empty subject": (ALLOW + 'path = ""\n', ["3: “path” is empty"]),
    "empty command": (ALLOW + "command = []\n", ["3: “command” is empty"]),
    "blank command": (ALLOW + 'command = " "\n', None),
    "no decision": ('[[rule]]\ntool = "x"\n', ["1: a rule needs a decision: deny, ask, allow"]),
    "no such decision": (
        '[[rule]]\ntool = "x"\ndecision = "Allow"\n',
        ["3: “Allow” is not a decision: deny, ask, allow"],
    ),
    "a number": (
        "[[rule]]\ntool = 1\ndecision = 2\n",
        ["2: “tool” must be a text", "3: “decision” must be a text"],
    ),
    "a list of numbers": (
        ALLOW + 'tool = "x"\nmatch = [1]\n',
        ["4: “match” must be a list of texts"],
    ),
    "a text for a list": (
        ALLOW + 'tool = "x"\nmatch = "x"\n',
        ["4: “match” must be a list of texts"],
    ),
    "command of numbers": (
        ALLOW + "command = [1]\n",
        ["3: “command” must be a text, or a list of words and of lists of alternatives"],
    ),
    "too nested": (
        ALLOW + 'command = ["a", [["b"]]]\n',
        ["3: “command” must be a text, or a list of words and of lists of alternatives"],
    ),
    "open quote": (
        ALLOW + 'command = "a \'b"\n',
        ["3: the command cannot be split into words: no closing quotation"],
    ),
    "compound": (
        ALLOW + 'command = "a && b"\n',
        ["3: a command is one simple command, and `&&` joins or changes several"],
    ),
    "variable first": (
        ALLOW + 'command = "A=1 b"\n',
        ["3: a command begins with its program, not with a variable"],
    ),
    "half a star": (
        ALLOW + 'command = "npm run test:*"\n',
        ["3: `*` only matches a whole word, not a part of one as in `test:*`"],
    ),
    "bad glob": (ALLOW + 'path = "a[b"\n', ["3: the path is not a glob as .gitignore has them"]),
    "going up": (ALLOW + 'path = "../x"\n', ["3: a path cannot go up with `..`"]),
    "negated": (
        ALLOW + 'path = "!x"\n',
        ["3: a path cannot begin with `!`: write a rule for what you mean"],
    ),
    "every host": (
        ALLOW + 'domain = "*"\n',
        ["3: a single * would allow every host; name those that are needed"],
    ),
    "bad host": (
        ALLOW + 'domain = "https://x"\n',
        ["3: a pattern names a host and perhaps a port, not a scheme or a path"],
    ),
    "bad server": (ALLOW + 'mcp = "/x"\n', ["3: the name is empty, or has spaces around it"]),
    "long name": (ALLOW + f'tool = "{"[" * 2000}"\n', ["3: the name has more than 500 letters"]),
    "on what": (
        ALLOW + 'path = "x"\non = ["execute"]\n',
        ["4: “execute” cannot be done to a path: read, write, delete"],
    ),
    "on nothing": (
        ALLOW + 'path = "x"\non = []\n',
        ["4: “on” is empty: leave it out to mean everything"],
    ),
    "on a tool": (ALLOW + 'tool = "x"\non = ["read"]\n', ["4: “on” is only for rules about paths"]),
    "outside a path": (
        ALLOW + 'path = "x"\noutside = true\n',
        ["4: “outside” is only for rules about commands"],
    ),
    "whole what": (ALLOW + 'command = "x"\nwhole = "yes"\n', ["4: “whole” must be true or false"]),
    "bad id": (
        ALLOW + 'tool = "x"\nid = "a b"\n',
        ["4: an id is made of letters, digits, “_”, “-” and “.”, at most 64 of them"],
    ),
    "same id": (
        f'{ALLOW}id = "a"\ntool = "x"\n{ALLOW}tool = "y"\nid = "a"\n',
        ["8: this rule has the same id as the one in line 1"],
    ),
    "contradiction": (
        f'{ALLOW}command = "npm  test"\n[[rule]]\ncommand = ["npm", "test"]\ndecision = "deny"\n',
        [
            "6: this rule and the one in line 1 contradict each other:"
            " deny and allow for commands beginning with `npm test`"
        ],
    ),
    "overruled": (
        f'{ALLOW}path = "x/"\non = ["read"]\n[[rule]]\npath = "x"\ndecision = "ask"\n',
        [
            "7: this rule and the one in line 1 contradict each other:"
            " ask and allow for any use of x"
        ],
    ),
    "example not met": (
        '[[rule]]\npath = "*.pem"\ndecision = "deny"\nmatch = [\n  "a.pem",\n  "a.key",\n]\n',
        ["4: the example “a.key” is not matched, and should be"],
    ),
    "example met": (
        '[[rule]]\ntool = "x*"\ndecision = "deny"\nnot_match = ["xy"]\n',
        ["4: the example “xy” is matched, and should not be"],
    ),
    "useless examples": (
        '[[rule]]\nmcp = "x"\ndecision = "deny"\nmatch = ["x", " "]\n'
        '[[rule]]\ndomain = "a.org"\ndecision = "deny"\nmatch = ["a.org:x"]\n',
        [
            "4: the example “ ” is not valid: it is empty",
            "4: the example “x” is not valid: a tool of a server is written as server/tool",
            "8: the example “a.org:x” is not valid:"
            " a host is written as example.org or example.org:8080",
        ],
    ),
    "inline": (
        'rule = [\n  {tool = "x", decision = "allow"},\n  {tool = "y"},\n]\n',
        ["1: a rule needs a decision: deny, ask, allow"],
    ),
    "after a text of several lines": (
        f"{ALLOW}tool = 'x'\nreason = '''\nid = 1\n[[rule]]\n'''\n"
        "[[rule]]\ndecision = 'x'\ntool = 'y'\n",
        ["9: “x” is not a decision: deny, ask, allow"],
    ),
}


@pytest.mark.parametrize(("text", "told"), BAD.values(), ids=BAD.keys())
def test_what_is_wrong_is_told_with_its_line(text, told):
    found = problems(text)
    if told is None:
        assert found
    elif text.startswith("a = [["):
        assert [problem.startswith(told[0]) for problem in found] == [True]
    else:
        assert found == told


COMMANDS = [
    ('command = "npm test"\nmatch = ["npm run test"]\n', "is not matched, and should be"),
    ('command = "npm test"\nmatch = ["npm test && curl x"]\n', "is not matched, and should be"),
    ('command = "npm test"\nmatch = ["npm test $(x)"]\n', "is not matched, and should be"),
    ('command = "npm"\nnot_match = ["npm test"]\n', "is matched, and should not be"),
]


@pytest.mark.parametrize(("text", "told"), COMMANDS)
def test_an_example_of_a_command_is_read_as_the_guard_reads_it(text, told):
    [found] = problems(ALLOW + text)
    assert found.startswith("4: the example")
    assert found.endswith(told)


def test_a_rule_that_denies_is_met_by_any_part_of_a_line():
    deny = '[[rule]]\ndecision = "deny"\ncommand = "curl"\n'
    assert problems(f"{deny}match = ['ls && curl x', 'echo $(curl x)', 'sudo curl x']") == []
    assert len(problems(f"{deny}not_match = ['ls && curl x', 'echo $(curl x)']")) == 2


def test_all_problems_are_told_at_once_in_order():
    text = f'{ALLOW}x = 1\n{ALLOW}tool = "a"\npath = "b"\n[[rule]]\ntool = 3\n'
    assert [problem.split(":")[0] for problem in problems(text)] == ["1", "3", "7", "8", "9"]


def test_a_project_can_only_tighten():
    assert problems('[[rule]]\ntool = "x"\ndecision = "deny"\n', "project") == []
    assert problems('[[rule]]\ntool = "x"\ndecision = "allow"\n', "project") == [
        "3: a project's rules can only tighten: “allow” belongs in the user's own file"
    ]
    assert problems('[[rule]]\ntool = "x"\ndecision = "allow"\n', "managed") == []


def load(folder: Path, **files: bytes) -> tuple[Rule, ...]:
    """The rules of files in a folder."""
    for name, content in files.items():
        (folder / name).write_bytes(content)
    paths = {name: folder / name for name in ("managed", "user", "project")}
    return load_rules(workspace=HERE, home=HOME, **paths)


def test_the_rules_of_all_files_hold_together(tmp_path):
    one = b'[[rule]]\nid = "a"\ntool = "x"\ndecision = "deny"\n'
    rules = load(tmp_path, managed=one, user=one, project=one)
    assert [(rule.id, rule.source) for rule in rules] == [
        ("managed.a", "managed"), ("user.a", "user"), ("project.a", "project"),
    ]  # fmt: skip
    assert rules[1].file == str(tmp_path / "user")


def test_no_file_is_no_rule(tmp_path):
    assert load(tmp_path) == ()
    assert load(tmp_path, user=b"", project=b"# nothing\n", managed=b"\xef\xbb\xbf") == ()
    assert load_rules(workspace=HERE, home=HOME, managed=None) == ()


def test_with_any_problem_there_are_no_rules_at_all(tmp_path):
    good, bad = b'[[rule]]\ntool = "x"\ndecision = "deny"\n', b"[[rule]]\ntool = 1\n"
    with pytest.raises(RuleProblem) as caught:
        load(tmp_path, managed=good, user=bad, project=b"\n\n\xff")
    problem = caught.value
    assert problem.exit is Exit.USAGE
    assert problem.what == (
        "3 things are wrong in the rules, so none of them is used and nothing is started."
    )
    assert problem.problems == (
        f"{tmp_path}/user:1: a rule needs a decision: deny, ask, allow",
        f"{tmp_path}/user:2: “tool” must be a text",
        f"{tmp_path}/project:3: the file is not UTF-8",
    )
    assert problem.why == "\n".join(problem.problems)


def _folder(path: Path) -> None:
    path.mkdir()


def _huge(path: Path) -> None:
    path.write_bytes(b"#" * (LARGEST + 1))


ODD = {
    "folder": (_folder, "this is not a file"),
    "pipe": (os.mkfifo, "this is not a file"),
    "dangling": (
        lambda path: path.symlink_to("nowhere"),
        "the file cannot be read: No such file or directory",
    ),
    "loop": (
        lambda path: path.symlink_to(path),
        "the file cannot be read: Too many levels of symbolic links",
    ),
    "huge": (_huge, "the file is larger than 256 kB, too large for rules"),
}


@pytest.mark.parametrize(("make", "told"), ODD.values(), ids=ODD.keys())
def test_what_is_no_file_of_rules_is_told_and_not_waited_for(tmp_path, make, told):
    make(tmp_path / "user")
    with pytest.raises(RuleProblem) as caught:
        load(tmp_path)
    assert caught.value.problems == (f"{tmp_path}/user:1: {told}",)


def test_where_rules_are_kept():
    config = Path("/home/dev/.config/steersman/config.toml")
    assert user_file(config) == Path("/home/dev/.config/steersman/rules.toml")
    assert project_file(HERE) == Path("/srv/app/.steersman/rules.toml")


def test_without_files_nothing_heavy_is_loaded():
    code = (
        "import sys\n"
        "from steersman.governance.rule_files import load_rules\n"
        "from steersman.governance.rules import RuleSet\n"
        "RuleSet(load_rules(workspace='/srv/app', home='/home/dev', managed=None))\n"
        "heavy = ('tomllib', 'shlex', 'tree_sitter', 'steersman.governance.guard.judge',\n"
        "         'steersman.governance.domains', 'steersman.governance.rule_tables')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


pieces = st.sampled_from(
    ["[[rule]]", "\n", "\n", '"', "'", '"""', "'''", "=", "[", "]", "{", "}", "#", "\\", "é", "\0",
     "decision", '"deny"', '"allow"', "tool", "path", "command", '"x"', '["a", ["b"]]', "1"]
)  # fmt: skip


@given(st.lists(pieces, max_size=30).map(" ".join) | st.text(max_size=60))
def test_whatever_a_file_holds_the_answer_is_rules_or_problems(text):
    rules, found = read_rules(text, "user", "f", workspace=HERE, home=HOME)
    lines = text.count("\n") + 1
    assert all(1 <= problem.line <= lines and problem.text for problem in found)
    assert all(1 <= rule.line <= lines for rule in rules)


def test_the_rules_in_the_manual_are_right():
    page = (Path(__file__).parents[2] / "docs" / "policy.md").read_text()
    text = page.split("```toml\n")[1].split("```")[0]
    rules, found = read_rules(text, "user", "policy.md", workspace=HERE, home=HOME)
    assert (len(rules), found) == (6, [])
