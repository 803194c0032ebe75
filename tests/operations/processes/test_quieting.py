"""Commands nobody watches: what their environment says, and which are better not run at all."""

import pytest

from steersman.operations.running.quieting import note_for, quiet_environment


def test_the_environment_never_asks_never_decorates_and_calls_nobody():
    person = {"PATH": "/bin", "EDITOR": "vim", "FORCE_COLOR": "1", "BASH_ENV": "/rc", "CI": "x"}
    made = quiet_environment(person)
    assert made.keys().isdisjoint({"FORCE_COLOR", "BASH_ENV"})
    expected = {
        "PATH": "/bin",
        "CI": "x",
        "EDITOR": "true",
        "GIT_TERMINAL_PROMPT": "0",
        "TERM": "dumb",
        "npm_config_update_notifier": "false",
        "NO_UPDATE_NOTIFIER": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "YARN_ENABLE_TELEMETRY": "0",
        "NEXT_TELEMETRY_DISABLED": "1",
    }
    assert {name: made[name] for name in expected} == expected
    assert all(name.replace("_", "").isalnum() and value for name, value in made.items())
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
