"""Programs that need a terminal: known by their command, and answered instead of started."""

import pytest

from steersman.records.errors import UsageProblem
from steersman.views.interactive import check_terminal

ELSEWHERE = "Run it in another terminal, or press Ctrl+Z for your shell; `fg` comes back."


@pytest.mark.parametrize(
    "command",
    [
        "vim",
        "vim calc.py",
        "/usr/bin/vim calc.py",
        "cd src && nano a.py",
        "git diff; vi .",
        "sudo -E vim /etc/hosts",
        "TERM=xterm nvim a",
        "top",
        "watch -n1 ls",
        "python",
        "python3.12",
        "python -i a.py",
        "node",
        "bash",
        "psql",
        "crontab -e",
        "kubectl edit pod a",
    ],
)
def test_what_needs_a_terminal_is_sent_to_one(command):
    with pytest.raises(UsageProblem) as problem:
        check_terminal(command)
    assert "needs a terminal, and a command has none here." in problem.value.what
    assert problem.value.try_this == ELSEWHERE


@pytest.mark.parametrize("command", ["cd sub", "cd", "cd a && cd b", "pushd 'my folder'", "cd -"])
def test_to_go_elsewhere_and_do_nothing_there_is_no_command(command):
    with pytest.raises(UsageProblem) as problem:
        check_terminal(command)
    assert problem.value.what == (
        f"`{command}` has no effect: every command starts in the workspace."
    )
    assert problem.value.try_this == f"Use `!{command} && COMMAND`."


@pytest.mark.parametrize(
    ("command", "instead"),
    [
        ("git commit", "`/commit`"),
        ("git add . && git commit -a", "`/commit`"),
        ("git -C sub commit --amend", "`--no-edit`"),
        ("git add -p", "another terminal"),
        ("git rebase -i HEAD~3", "another terminal"),
    ],
)
def test_git_says_how_without_an_editor(command, instead):
    with pytest.raises(UsageProblem) as problem:
        check_terminal(command)
    assert instead in problem.value.try_this


@pytest.mark.parametrize(
    "command",
    [
        "ls -l",
        "cd sub && ls",
        "mkdir sub && cd sub",
        "cd sub || echo missing",
        "cd sub > list.txt",  # makes a file
        "cd>list.txt",
        "cd a && cd b 2>list.txt",
        "cd `./make-folder`",
        'cd "$(mktemp -d)"',
        "less calc.py",  # prints all of it
        "man ls",
        "echo vim",
        "which vim",
        "vim --version",
        "vim -es -c '%s/a/b/' -c wq a.py",
        "emacs --batch -l a.el",
        "top -b -n1",
        "top -bn1",
        "python a.py",
        "python -c 'print(1)'",
        "python --version",
        "echo 'print(1)' | python",
        "python < a.py",
        "python <<EOF\nvim\nEOF",
        "bash -c vim-like",
        "git commit -m 'vim'",
        "git commit -am wip",
        "git commit --message=wip",
        "git commit --amend --no-edit",
        "git commit --fixup HEAD",
        "git log",
        "git add .",
        "git rebase main",
        "GIT_SEQUENCE_EDITOR='sed -i 2d' git rebase -i HEAD~3",
        "crontab -l",
        "echo it's",  # the shell has something to say about that
        "",
    ],
)
def test_everything_else_is_run(command):
    check_terminal(command)
