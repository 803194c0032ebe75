"""Commands nobody watches: what their environment says, and which are better not run at all."""

import pytest

from steersman.operations.running.quieting import note_for, quiet_environment


def test_the_environment_never_asks_and_never_decorates():
    person = {"PATH": "/bin", "EDITOR": "vim", "FORCE_COLOR": "1", "BASH_ENV": "/rc", "CI": "x"}
    assert quiet_environment(person) == {
        "PATH": "/bin",
        "CI": "x",
        "EDITOR": "true",
        "VISUAL": "true",
        "GIT_EDITOR": "true",
        "GIT_SEQUENCE_EDITOR": "true",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "MANPAGER": "cat",
        "SYSTEMD_PAGER": "cat",
        "AWS_PAGER": "cat",
        "GH_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "SSH_ASKPASS_REQUIRE": "never",
        "GH_PROMPT_DISABLED": "1",
        "PIP_NO_INPUT": "1",
        "DEBIAN_FRONTEND": "noninteractive",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "PYTHONUNBUFFERED": "1",
    }
    assert person["EDITOR"] == "vim"


@pytest.mark.parametrize(
    ("command", "call"),
    [
        ("cat a.py", '{"path": "a.py"}'),
        ("  cat -n 'my file.txt' ", '{"path": "my file.txt"}'),
        ("less a.py", '{"path": "a.py"}'),
        ("more a.py", '{"path": "a.py"}'),
        ("head a.py", '{"path": "a.py", "limit": 10}'),
        ("head -20 a.py", '{"path": "a.py", "limit": 20}'),
        ("head -n 20 a.py", '{"path": "a.py", "limit": 20}'),
        ("head -n20 a.py", '{"path": "a.py", "limit": 20}'),
        ("head --lines=20 a.py", '{"path": "a.py", "limit": 20}'),
        ("tail a.py", '{"path": "a.py"}'),
        ("tail -n 5 a.py", '{"path": "a.py"}'),
        ("tail -n +5 a.py", '{"path": "a.py", "offset": 5}'),
        ("sed -n 10,20p src/ä.py", '{"path": "src/ä.py", "offset": 10, "limit": 11}'),
        ("sed -n '7p' a.py", '{"path": "a.py", "offset": 7, "limit": 1}'),
    ],
)
def test_a_command_that_only_shows_a_file_is_told_of_the_better_way(command, call):
    assert note_for(command) == (
        f"workspace_read_file {call} shows this with line numbers, and pages what is long."
    )


@pytest.mark.parametrize(
    "command",
    [
        "", "   ", "cat", "cat -", "cat a b", "cat *.py", "cat $FILE", "cat ~/a", "cat a | grep x",
        "cat a > b", "cat a; ls", "cat <<E\nx\nE", "cat a\nls", "cat 'a", "cat -n -", "head -c 5 a",
        "head -n 5 a b", "head -n -5 a", "head -n +5 a", "tail -f a", "tail -n 5 -f a",
        "sed -i 1,2p a", "sed -n /x/p a", "sed 1,2p a", "sed -n 1,2p a b", "ls a", "grep x a",
        "cat a && cat b", "echo `cat a`", "cat \\\na", "catx a", "cat a # b",
    ],
)  # fmt: skip
def test_any_other_command_is_left_alone(command):
    assert note_for(command) == ""
