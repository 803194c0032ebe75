"""How a line is read: branches, places, facts, and the table of programs."""

import importlib

import pytest

from steersman.governance.guard.judge import judge
from steersman.governance.guard.programs import handler_of
from steersman.governance.guard.programs.names import OWNERS
from steersman.governance.guard.programs.speech_table import ALIASES, SPEECHES
from steersman.governance.guard.programs.tables import TABLES
from steersman.governance.guard.programs.verbs import rows
from steersman.governance.guard.programs.wrap_table import WRAPPERS
from steersman.records.judgement import CommandPlace
from tests.governance.guard.kit import said, verdict

IF = "if test -d x; then {}; else {}; fi; {}"


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (IF.format("D=/", "D=build", "rm -rf $D"), "block"),
        (IF.format("D=build", "D=/", "rm -rf $D"), "block"),
        (IF.format("D=build", "D=dist", "rm -rf $D"), "allow"),
        (IF.format("D=build", "D=/", "for d in $D; do rm -rf $d; done"), "ask"),
        (IF.format("D=build", "D=/", "f() { rm -rf $D; }; f"), "block"),
        (IF.format("D=/", "D=build", "D=out; rm -rf $D"), "allow"),
        (IF.format("cd build", "true", "rm -rf *"), "ask"),
        (IF.format("cd /", "true", "rm -rf *"), "block"),
        (IF.format("X=rm", "X=ls", "$X -rf ~"), "block"),
        ("if test -d x; then D=build; fi; rm -rf $D", "ask"),
        ("D=/; false && D=build; rm -rf $D", "block"),
        ("D=build && rm -rf $D", "allow"),
        ("D=x; while read l; do D=/; done < f; rm -rf $D", "block"),
        ("case $x in a) D=/etc;; b) D=x;; esac; rm -rf $D", "block"),
        ("A=/ ls; A=b; rm -rf $A", "allow"),
    ],
)
def test_what_a_branch_may_have_set_is_judged(line, wanted):
    assert verdict(line) == wanted, said(line)


BELOW_TEMP = CommandPlace("/tmp/x/work", "/tmp/x/home")


@pytest.mark.parametrize(
    ("line", "wanted", "breaker"),
    [
        ("rm -rf ~", "block", True),
        ("rm -rf ~/Documents", "block", True),
        ("rm -rf /tmp/x", "block", True),
        ("rm -rf /tmp", "block", True),
        ("rm -rf ..", "block", True),
        ("rm -rf .", "ask", False),
        ("rm -rf $PWD", "ask", False),
        ("rm -rf build", "allow", False),
        ("rm -rf /tmp/y", "allow", False),
    ],
)
def test_home_and_workspace_count_for_more_than_being_temporary(line, wanted, breaker):
    found = judge(line, BELOW_TEMP)
    assert (found.verdict, found.breaker) == (wanted, breaker), found


def test_a_home_that_is_the_workspace_is_a_home():
    assert judge("rm -rf .", CommandPlace("/home/dev", "/home/dev")).breaker


def test_a_redirect_reads():
    (fact,) = said("cat < a.txt").facts
    assert fact.reads == ("/home/dev/project/a.txt",)
    assert said("while read l; do echo; done < a.txt").facts[0].reads == fact.reads


@pytest.mark.parametrize(
    ("line", "network"),
    [
        ("curl host:8080/x", ("host:8080",)),
        ("curl https://host/x", ("host",)),
        ("wget http://u@host:81", ("host:81",)),
        ("nc host 9", ("host:9",)),
    ],
)
def test_a_port_that_is_written_is_kept(line, network):
    assert said(line).facts[0].network == network


def test_a_glob_is_recorded_as_a_pattern():
    (fact,) = said("wc -l src/*.py b.txt").facts
    assert fact.reads == ("/home/dev/project/src/*.py", "/home/dev/project/b.txt")
    assert fact.patterns == ("/home/dev/project/src/*.py",)
    assert said("rm $X").facts[0].patterns == ("$?",)


def test_more_commands_than_are_recorded_are_never_plain():
    few, many = ("; ".join(f"echo {n}" for n in range(count)) for count in (200, 201))
    assert (said(few).verdict, said(few).plain) == ("allow", True)
    assert (said(many).verdict, said(many).plain) == ("ask", False)


@pytest.mark.parametrize("before", ["true\n", "true; ", "  ", "cd src && "])
@pytest.mark.parametrize(
    "line",
    ["\\rm -rf /", "\\r\\m \\-\\r\\f \\/", "{rm,-rf,/}", "=rm -rf /", "$'rm' -rf ~", "> /dev/sda"],
)
def test_where_a_command_stands_does_not_matter(before, line):
    assert verdict(before + line) == "block"


@pytest.mark.parametrize("owner", OWNERS)
def test_every_program_in_the_table_has_its_function(owner):
    module, _, function = owner.partition(".")
    package = "steersman.governance.guard.programs"
    found = getattr(importlib.import_module(f"{package}.{module}"), function)
    assert all(handler_of(name) is found for name in OWNERS[owner].split())


def test_no_program_has_two_functions():
    names = [name for names in OWNERS.values() for name in names.split()]
    assert len(names) == len(set(names))


def test_the_other_tables_name_known_programs():
    names = {*WRAPPERS, *SPEECHES, *ALIASES}
    names |= {alias for name, table in TABLES.items() for alias in (name, *table.names.split())}
    assert [name for name in sorted(names) if handler_of(name) is None] == []
    assert all(rows(name) for name in TABLES)


@pytest.mark.parametrize(
    "text",
    ["{\U00076f5b", "echo {\u6a14\U0007d9f1a", "echo {1..\U0006f75e}", "echo ${\U000dae57}"],
    ids=ascii,
)
def test_letters_far_beyond_do_not_end_the_program(text):
    """The grammar's scanner looked them up in a table that does not have them."""
    assert said(text).verdict == "ask"


def test_pictures_in_names_are_letters():
    assert said("echo {\U0001f600,b} \U0001f600.txt").verdict == "allow"


def test_a_home_that_is_a_list_is_unknown():
    assert said("HOME=(a b); rm -rf ${X:-~/x}").rule != "guard.defect"
    assert said("HOME=(a b); rm -rf ${X:-~/x}").verdict != "allow"


@pytest.mark.parametrize(
    "command",
    [
        "terraform destroy -help",
        "kubectl delete pod x -h",
        "aws s3 rb help",
        "make -n install",
        "make -j4 --dry-run deploy",
        "node --test",
        "RAILS_ENV=test bin/rails db:drop db:create",
        "bin/rails db:test:prepare",
        "ssh -T git@github.com",
        "zsh -c 'print -l src/**/*.ts(.om[1,5])'",
        "env | cut -d= -f1 | sort",
        "env | awk -F= '{print $1}'",
        'eval "$(direnv export bash)"',
    ],
)
def test_what_only_looks_or_tries_is_not_asked_about(command):
    assert verdict(command) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "make install",
        "env | cut -d= -f2",
        "env; env | cut -d= -f1",
        "RAILS_ENV=test DATABASE_URL=postgres://prod/x bin/rails db:drop",
        "ssh -T git@x.example",
        'eval "$(direnv hook bash)"',
        "npm install help",
    ],
)
def test_and_what_only_looks_like_it_is(command):
    assert verdict(command) == "ask"


@pytest.mark.parametrize("after", ["2>&1 | head", "2>/dev/null | tee log", "> out 2>&1 | cat"])
def test_a_redirect_between_a_here_document_and_a_pipe(after):
    assert verdict(f"python3 - <<'PY' {after}\nprint(open('a.json').read())\nPY\n") == "allow"
    harm = "import shutil; shutil.rmtree('/home/dev')"
    assert verdict(f"python3 - <<'PY' {after}\n{harm}\nPY\n") == "block"


@pytest.mark.parametrize("program", ["mkfs.ext4", "shutdown", "dd", "dropdb", "userdel"])
def test_help_of_any_program_is_harmless(program):
    assert verdict(f"{program} --help") == "allow"


@pytest.mark.parametrize("mark", ["<<END", "<<'END'", '<<"END"', "<<-END", "<<\\END"])
@pytest.mark.parametrize("blank", ["", "\n", " \n\n"])
def test_a_here_document_may_begin_with_a_backslash(mark, blank):
    for way in (f"bash {mark}", f"bash {mark} > out.txt", f"cat {mark} | bash"):
        command = f"{way}\n{blank}\\rm -rf ~\nEND\n"
        assert verdict(command) == "block", said(command)
    assert verdict(f"cat {mark}\n{blank}\\rm -rf ~\nEND\n") == "allow"
