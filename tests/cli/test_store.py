"""`steer store`: which store is used, and copying it elsewhere."""

import json
from pathlib import Path

import pytest

from tests.cli.kit import DONE, shell


@pytest.fixture
def worked(steer, script):
    """A thread in the store of the data folder."""
    return steer.work("run", "--model", script(DONE), "go").thread


def test_the_status_says_which_store_it_is_and_how_much_it_holds(steer, worked, home):
    told = json.loads(steer("store", "status", "--json").stdout)
    assert (told["kind"], told["threads"], told["requests"]) == ("sqlite", 1, 0)
    assert told["where"].startswith(str(home))
    assert told["messages"] > 3
    shown = steer("store", "status").stdout
    assert "sqlite" in shown
    assert f"{told['messages']:,}" in shown


def test_migrating_says_the_version_and_can_be_repeated(steer, worked):
    first, second = (json.loads(steer("store", "migrate", "--json").stdout) for _ in range(2))
    assert first == second
    assert f"has version {first['version']}." in steer("store", "migrate").stdout


def test_a_copy_holds_the_same_threads_and_can_be_repeated(steer, worked, postgres_url):
    done = steer("store", "copy", "--to", postgres_url)
    assert done.returncode == 0, done.stderr
    assert "Copied 1 thread," in done.stdout
    again = json.loads(steer("store", "copy", "--to", postgres_url, "--json").stdout)
    assert (again["threads"], again["messages"], again["refused"]) == (1, 0, [])

    there = steer.having(STEERSMAN_STORE=postgres_url)
    assert there("ledger", "verify").stdout == steer("ledger", "verify").stdout
    assert there("replay", worked, "--json").stdout == steer("replay", worked, "--json").stdout
    back = there("store", "copy", "--to", "sqlite", "--json")
    assert json.loads(back.stdout)["refused"] == []


def test_a_store_is_not_copied_into_itself(steer, worked):
    refused = steer("store", "copy", "--to", "sqlite")
    assert refused.returncode == 2
    assert "That is the store you use already." in refused.stderr


def test_the_users_own_settings_name_the_store_and_a_variable_counts_more(steer, environ):
    config = Path(environ["HOME"], ".config", "steersman", "config.toml")
    config.parent.mkdir(parents=True)
    config.write_text('store = "mysql://x/y"\n')
    refused = steer("store", "status")
    assert refused.returncode == 2
    assert "It names mysql." in refused.stderr
    assert (
        "It names oracle." in steer.having(STEERSMAN_STORE="oracle://x/y")("threads", "list").stderr
    )


def test_a_folder_does_not_say_where_threads_are_kept(steer, workspace, script):
    (workspace / ".steersman").mkdir()
    (workspace / ".steersman" / "config.toml").write_text('store = "mysql://x/y"\n')
    assert steer("policy", "trust", "--yes").returncode == 0
    refused = steer("run", "--model", script(DONE), "go")
    assert refused.returncode == 2
    assert "must not set “store”" in refused.stderr
    assert steer("threads", "list").returncode == 0


def test_a_password_is_never_shown(steer):
    url = "postgresql://me:hunter2hunter2@127.0.0.1:1/nowhere"
    there = steer.having(STEERSMAN_STORE=url, STEERSMAN_STORE_PATIENCE="0.1")
    for done in (there("store", "status"), there("doctor"), there("threads", "list")):
        assert done.returncode != 0
        assert "hunter2" not in done.stdout + done.stderr


def test_the_password_of_a_store_that_the_settings_name_is_not_written_into_it(
    steer, script, postgres_url
):
    url = postgres_url.replace("steersman@", "steersman:tr0ub4dor-and-3@")
    config = Path(steer.environ["XDG_CONFIG_HOME"]) / "steersman/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'store = "{url}"\n')
    said = {"text": "It is tr0ub4dor-and-3.", "tool_calls": [shell("echo tr0ub4dor-and-3")]}

    thread = steer.work("run", "--yes", "--model", script(said, DONE), "go").thread

    log = steer("replay", thread).stdout
    assert "workspace_run_command" in log
    assert "tr0ub4dor" not in log
