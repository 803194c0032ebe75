"""`steer config`: what holds, where it comes from, and changing it without losing a word."""

import os
import subprocess
from pathlib import Path

import pytest

from steersman.host import config
from steersman.identity.settings import load_settings
from steersman.records.settings import Settings
from tests.cli.kit import decoded


@pytest.fixture
def file(environ):
    """The person's settings file."""
    path = Path(environ["XDG_CONFIG_HOME"], "steersman", "config.toml")
    path.parent.mkdir(parents=True)
    return path


def listed(steer):
    """Every setting by its name."""
    return {one["name"]: one for one in decoded(steer("config", "list", "--json").stdout)}


def test_each_value_is_shown_with_where_it_comes_from(steer, file, workspace):
    file.write_text('approvals = "never"\nmax_steps = 9\n\n[budget.run]\ncost = 2.5\n')
    own = workspace / ".steersman" / "config.toml"
    own.parent.mkdir()
    own.write_text("max_steps = 50\n")
    steer("policy", "trust", "--yes")

    found = listed(steer.having(STEERSMAN_MODE="ask"))

    assert found["mode"] == {
        "name": "mode", "value": "ask", "source": "environment", "where": "STEERSMAN_MODE"
    }  # fmt: skip
    assert (found["approvals"]["source"], found["approvals"]["where"]) == ("file", str(file))
    assert (found["max_steps"]["value"], found["max_steps"]["where"]) == (50, str(own))
    assert (found["max_steps"]["source"], found["trust"]["source"]) == ("folder", "default")
    assert (found["budget.run.cost"]["value"], found["budget.run.cost"]["source"]) == (2.5, "file")
    assert found["budget.run.calls"]["source"] == "default"
    shown = steer("config", "list").stdout
    assert f"approvals              never  (file, {file})" in shown.splitlines()


def test_every_setting_is_listed_and_what_runs_as_the_user_has_no_variable(environ):
    listed = {name.split(".")[0] for name in (*config.VALUES, *config.TABLES)}
    assert listed == set(Settings.__struct_fields__)
    told = {"STEERSMAN_STATUS_LINE": "touch made"}
    assert load_settings(environ | told, {}).status_line == ""


def test_a_folder_that_is_not_trusted_has_no_say(steer, workspace):
    own = workspace / ".steersman" / "config.toml"
    own.parent.mkdir()
    own.write_text("max_steps = 50\n")

    assert listed(steer)["max_steps"]["source"] == "default"


def test_get_prints_the_value_alone(steer, file):
    file.write_text('mode = "plan"\n')

    done = steer("config", "get", "mode")

    assert (done.stdout, done.stderr) == ("plan\n", f"file  {file}\n")


WRITTEN = """\
# My settings.
mode = "ask"  # while I "look" # around
domains = [
    "a.example",  # the first
    "b.example",
]

# What it may cost.
[budget.run]
cost = 1.5

[roles]
mode = "x"
"""


def test_set_changes_one_value_and_keeps_every_comment(steer, file):
    file.write_text(WRITTEN.replace('mode = "x"', 'planner = "openai:m"'))
    before = file.read_text()

    for name, value in (("mode", "plan"), ("domains", "c.example, d.example"),
                        ("budget.run.cost", "2.5"), ("budget.run.tokens", "500_000"),
                        ("max_steps", "77"), ("budget.thread.calls", "3"),
                        ("status_line", "echo \"$PWD\"")):  # fmt: skip
        assert steer("config", "set", name, value).returncode == 0

    assert file.read_text() == (
        before.replace('mode = "ask"', 'mode = "plan"')
        .replace('domains = [\n    "a.example",  # the first\n    "b.example",\n]\n',
                 'domains = ["c.example", "d.example"]\nmax_steps = 77\n'
                 "status_line = \"echo \\\"$PWD\\\"\"\n")
        .replace("[budget.run]\ncost = 1.5\n", "[budget.run]\ntokens = 500000\ncost = 2.5\n")
        + "\n[budget.thread]\ncalls = 3\n"
    )  # fmt: skip


def test_the_first_value_makes_a_file_for_its_owner_alone(steer, file):
    done = steer("config", "set", "mode", "plan")

    assert done.stdout == f"mode = plan, in {file}\n"
    assert file.read_text() == 'mode = "plan"\n'
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_behind_a_link_and_its_mode_and_line_ends_stay(steer, file, tmp_path):
    real = tmp_path / "dotfiles.toml"
    real.write_bytes(b'# mine\r\nmode = "ask"\r\n')
    real.chmod(0o644)
    file.symlink_to(real)

    steer("config", "set", "mode", "plan")

    assert file.is_symlink()
    assert real.read_bytes() == b'# mine\r\nmode = "plan"\r\n'
    assert real.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("modle", "x", ["There is no setting “modle”. Did you mean “mode” or “model”?"]),
        ("xyzzy", "1", ["There is no setting “xyzzy”. There are: model, effort,"]),
        ("mode", "pln", ["It must be one of ask, code,", "Did you mean “plan”?"]),
        ("max_steps", "many", ["“many” is not valid for max_steps.", "a whole number of at least"]),
        ("max_steps", "0", ["a whole number of at least 1"]),
        ("window", "none", ["“none” is not valid for window."]),
        ("budget.run.cost", "-1", ["It must be a number above 0."]),
        ("budget.run.costs", "1", ["Did you mean “budget.run.cost”"]),
        ("max_steps", "-3", ["“-3” is not valid for max_steps.", "of at least 1"]),
        ("domains", "https://a b/", ["“https://a b/” is not a host.", "*.example.com"]),
        ("environment", "a b", ["“a b” is not the name of a variable."]),
        ("model", "opnai:gpt", ["There is no provider “opnai”."]),
        ("model", "gpt", ["There is no model “gpt”."]),
        ("status_line", "echo a\necho b", ["A status line is one shell command on one line."]),
        ("output_style", "explanatry", ["no output style “explanatry”. Did you mean"]),
        ("store", "abc", ["“abc” is not the address of a store."]),
        ("roles.planner", "x", ["is a table or part of one", "steer config edit"]),
        ("providers", "x", ["is a table or part of one"]),
    ],
)
def test_what_is_wrong_is_said_in_plain_words_and_nothing_is_written(
    steer, file, name, value, words
):
    done = steer("config", "set", name, "--", value)

    assert done.returncode == 2
    assert all(word in done.stderr for word in words), done.stderr
    assert not any(word in done.stderr for word in ("$.", "Expected", "Invalid"))
    assert not file.exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('mdoe = "ask"\n', ["There is no setting “mdoe”. Did you mean “mode”"]),
        ('mode = "pln"\n', ["“pln” is not valid for mode.", "Did you mean “plan”?"]),
        ("[budget.run]\ntokns = 1\n", ["“budget.run.tokns”", "“budget.run.tokens”"]),
        ("budget = 3\n", ["“3” is not valid for budget. It must be a table."]),
        ("domains = [1, 2]\n", ["It must be a list of words."]),
        ("mode = \n", ["It is not TOML at line 1, column"]),
    ],
)
def test_a_wrong_file_is_explained_to_every_command(steer, file, text, words):
    file.write_text(text)

    for command in (["config", "list"], ["run", "go"], ["config", "set", "safer", "apply"]):
        done = steer(*command)
        assert done.returncode == 2
        assert all(word in done.stderr for word in [str(file), *words]), done.stderr
        assert not any(word in done.stderr for word in ("$.", "Expected", "Invalid"))
    assert file.read_text() == text


def test_a_wrong_value_can_be_set_right(steer, file):
    file.write_text('mode = "pln" # soon\n')

    assert steer("config", "set", "mode", "plan").returncode == 0
    assert file.read_text() == 'mode = "plan" # soon\n'


def test_unset_removes_one_value_and_says_what_holds_then(steer, file):
    file.write_text(WRITTEN.replace('mode = "x"', 'planner = "openai:m"'))
    before = file.read_text()

    done = steer("config", "unset", "domains")
    assert (done.returncode, done.stdout) == (0, "domains = none (default)\n")
    assert steer("config", "unset", "budget.run.cost").returncode == 0
    assert file.read_text() == (
        before.replace('domains = [\n    "a.example",  # the first\n    "b.example",\n]\n', "")
        .replace("[budget.run]\ncost = 1.5\n", "[budget.run]\n")
    )  # fmt: skip
    left = file.read_text()
    for name, told in (("domains", "is not set in"), ("domans", "Did you mean “domains”"),
                       ("roles", "is a table")):  # fmt: skip
        done = steer("config", "unset", name)
        assert (done.returncode, told in done.stderr) == (2, True), done.stderr
    assert file.read_text() == left


def test_a_value_that_is_written_in_an_unusual_way_is_left_to_the_person(steer, file):
    file.write_text("budget = { run = { cost = 1.0 } }\n")

    done = steer("config", "set", "budget.run.cost", "2")

    assert done.returncode == 2
    assert "steer config edit" in done.stderr
    assert file.read_text() == "budget = { run = { cost = 1.0 } }\n"


def test_secrets_are_neither_written_nor_shown(steer, file):
    password = "-".join(["correct", "horse", "battery"])
    url = f"postgresql://me:{password}@db.example.org:5432/steer"

    done = steer("config", "set", "store", url)
    assert done.returncode == 2
    assert "STEERSMAN_STORE" in done.stderr
    assert not file.exists()
    token = "sk-ant-" + "api03-" + "Zk4" * 31 + "AA"
    assert steer("config", "set", "model", token).returncode == 2

    header = f'[providers.lab]\nheaders = {{ Authorization = "Bearer {token}" }}\n'
    file.write_text(f'store = "{url}"\n{header}')
    for arguments in (["list"], ["list", "--json"], ["get", "store"], ["get", "providers"]):
        shown = steer("config", *arguments).stdout
        assert "[redacted]" in shown
        assert password not in shown
        assert token not in shown


def test_an_address_without_a_password_can_be_set(steer, file):
    assert steer("config", "set", "store", "postgresql://db.example.org:5432/steer").returncode == 0


def test_a_variable_that_counts_more_is_named(steer, file):
    done = steer.having(STEERSMAN_MODE="ask")("config", "set", "mode", "plan")

    assert done.returncode == 0
    assert done.stderr == "STEERSMAN_MODE overrides it.\n"


def test_edit_opens_the_editor_and_checks_what_was_written(steer, file, tmp_path):
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "mode = \\"$WISH\\"\\n" >> "$1"\n')
    editor.chmod(0o755)
    steer = steer.having(VISUAL=str(editor))

    good = steer.having(WISH="plan")("config", "edit")
    assert (good.returncode, good.stdout) == (0, f"{file} is valid.\n")
    file.unlink()
    bad = steer.having(WISH="pln")("config", "edit")
    assert bad.returncode == 2
    assert "Did you mean “plan”?" in bad.stderr


def test_a_store_that_cannot_be_opened_does_not_keep_one_from_changing_it(steer, file, workspace):
    (workspace / ".steersman").mkdir()
    (workspace / ".steersman" / "config.toml").write_text("max_steps = 5\n")
    file.write_text('store = "nonsense://x"\n')

    assert steer("config", "set", "store", "").returncode == 0
    assert file.read_text() == 'store = ""\n'


def test_a_pipe_in_the_place_of_the_file_holds_up_nothing(steer, file):
    os.mkfifo(file)

    assert steer("config", "set", "mode", "plan").returncode == 2
    assert subprocess.run(["test", "-p", file], check=False).returncode == 0
