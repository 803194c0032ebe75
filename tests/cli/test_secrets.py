"""Secrets never enter the log: not from the environment, a file, the model or an MCP config."""

import json

import pytest

from tests.cli.kit import DONE, READ, decoded, shell
from tests.world import call

KEY = "sk-test-4f9a2c71b6d8e035"
PASSWORD = "correct-horse-battery"
TOKEN = "ghp_A1b2C3d4E5f6G7h8I9j0"
SECRETS = (KEY, PASSWORD, TOKEN)


@pytest.fixture
def steer(steer, workspace):
    """A command line whose circumstances are full of secrets."""
    servers = {"tracker": {"command": "tracker", "env": {"TRACKER_TOKEN": TOKEN}}}
    (workspace / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    return steer.having(
        OPENAI_API_KEY=KEY, DATABASE_URL=f"postgres://app:{PASSWORD}@db.example/app"
    )


def leaks(home, *secrets):
    """The secrets of which most can be found in the bytes of the database."""
    kept = b"".join(path.read_bytes() for path in home.glob("steersman.db*"))
    return [secret for secret in secrets if secret[: len(secret) // 2 + 3].encode() in kept]


def in_commands(secret):
    """Commands themselves, and what they print."""
    return [shell(f"echo {secret} | tee copy.txt; env; printenv; cat .mcp.json")]


def in_files(secret):
    """Contents that are written, read, changed and listed."""
    edit = {"path": "notes.txt", "edits": [{"search": "end", "replace": secret}]}
    return [
        call("workspace_write_file", path="notes.txt", content=f"key: {secret}\nend\n"),
        call("workspace_read_file", path="notes.txt"),
        call("workspace_read_file", path=".mcp.json"),
        call("workspace_edit_files", files=[edit]),
        call("workspace_write_file", path=f"{secret}.txt", content="named after it\n"),
        call("workspace_list_files"),
    ]


def in_broken_calls(secret):
    """Calls that do not fit their tool."""
    return [
        call("workspace_read_file", path=f"missing/{secret}"),
        call("workspace_read_file", path="calc.py", **{secret: 1}),
        call(f"tool_{secret}"),
        {"name": "workspace_read_file", "arguments": f'{{"path": "{secret}'},
    ]


@pytest.mark.parametrize("way", [in_commands, in_files, in_broken_calls], ids=lambda w: w.__name__)
def test_a_secret_never_enters_the_log_through_a_tool(steer, script, home, way):
    model = script({"tool_calls": [made for secret in SECRETS for made in way(secret)]}, DONE)

    done = steer("run", "--json", "--deltas", "--yes", "--model", model, "do it")

    assert done.returncode == 0
    assert leaks(home, *SECRETS) == []
    assert [secret for secret in SECRETS if secret in done.stdout + done.stderr] == []
    assert done.stdout.count("[redacted]") >= len(SECRETS)


def test_a_secret_never_enters_the_log_through_the_words_of_the_model(steer, script, home):
    words = " and ".join(SECRETS)
    said = {"text": f"I say {words}.", "reasoning": f"Shall I say {words}?", "chunk": 1}
    model = script({**said, "tool_calls": [READ]}, {"text": f"Done with {words}."})

    work = steer.work("run", "--deltas", "--model", model, "speak")

    assert leaks(home, *SECRETS) == []
    hidden = "[redacted] and [redacted] and [redacted]"
    for kind, field, whole in (
        ("assistant_delta", "text", f"I say {hidden}.Done with {hidden}."),
        ("reasoning_delta", "text", f"Shall I say {hidden}?"),
        ("assistant", "text", f"I say {hidden}.Done with {hidden}."),
    ):
        assert "".join(body[field] for body in work.bodies(kind)) == whole


def test_a_task_that_holds_secrets_is_kept_without_them(steer, script, home):
    filler = "please use the secret that I write at the very end of this sentence: "
    for task in (*SECRETS, *(filler + secret for secret in SECRETS)):
        assert steer("run", "--model", script(DONE), task).returncode == 0

    assert leaks(home, *SECRETS) == []


def test_a_call_from_the_shell_keeps_secrets_out_too(steer, home):
    command = {"command": f"echo {' '.join(SECRETS)}; env"}

    assert steer("call", "--yes", "workspace_run_command", json.dumps(command)).returncode == 0
    assert leaks(home, *SECRETS) == []


def test_a_secret_that_is_printed_in_two_pieces_is_not_streamed(steer, script):
    half = len(KEY) // 2
    command = f"printf %s {KEY[:half]}; sleep 0.3; printf '%s\\n' {KEY[half:]}"
    model = script({"tool_calls": [shell(command)]}, DONE)

    done = steer("run", "--json", "--deltas", "--yes", "--model", model, "print it")

    messages = decoded(done.stdout)
    streamed = [m["body"]["text"] for m in messages if m["kind"] == "tool_progress"]
    (result,) = (m["body"] for m in messages if m["kind"] == "tool_result")
    assert KEY not in "".join(streamed)
    assert result["output"]["output"] == "[redacted]\n"


def test_a_secret_that_spans_the_place_where_output_is_cut_is_not_shown_in_part(
    steer, script, home
):
    fill = "head -c {} /dev/zero | tr '\\0' x"
    command = f"{fill.format(16364)}; echo {KEY}; {fill.format(20000)}"
    model = script({"tool_calls": [shell(command)]}, DONE)

    assert steer("run", "--yes", "--model", model, "print much").returncode == 0
    assert leaks(home, KEY) == []


def test_commands_do_not_inherit_the_variables_that_hold_secrets(steer, script, workspace):
    command = "env | grep OPENAI || echo none; printenv HOME > home.txt"
    model = script({"tool_calls": [shell(command)]}, {"expect": "none", "text": "Done."})

    assert steer.work("run", "--yes", "--model", model, "print it").code == 0
    assert (workspace / "home.txt").read_text() == f"{steer.environ['HOME']}\n"


CONFIGS = {
    "1-variable-A1b2C3d4E5": {"env": {"API_TOKEN": "1-variable-A1b2C3d4E5"}},
    "2-other-name-A1b2C3d4": {"env": {"TRACKER": "2-other-name-A1b2C3d4"}},
    "3-header-A1b2C3d4E5f6": {"headers": {"Authorization": "Bearer 3-header-A1b2C3d4E5f6"}},
    "4-other-header-A1b2C3": {"headers": {"X-Api-Key": "4-other-header-A1b2C3"}},
    "5-address-A1b2C3d4E5f": {"url": "https://user:5-address-A1b2C3d4E5f@x.example/mcp"},
    "6-query-A1b2C3d4E5f6G": {"url": "https://x.example/mcp?api_key=6-query-A1b2C3d4E5f6G"},
    "7-argument-A1b2C3d4E5": {"args": ["--token=7-argument-A1b2C3d4E5"]},
    "8-next-argument-A1b2C": {"args": ["--api-key", "8-next-argument-A1b2C"]},
    "9-header-argument-A1b": {"args": ["--header", "Authorization: Bearer 9-header-argument-A1b"]},
}


def test_a_token_is_found_wherever_an_mcp_config_holds_it(steer, script, home, workspace):
    servers = {f"server{n}": server for n, server in enumerate(CONFIGS.values())}
    (workspace / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    look = [shell("cat .mcp.json"), call("workspace_read_file", path=".mcp.json")]

    assert (
        steer("run", "--yes", "--model", script({"tool_calls": look}, DONE), "go").returncode == 0
    )
    assert leaks(home, *CONFIGS) == []


VARIABLES = {
    "ANTHROPIC_API_KEY": "anthropic-4f9a2c71b6d8",
    "GITHUB_TOKEN": "github-4f9a2c71b6d8e035",
    "AWS_SECRET_ACCESS_KEY": "/q8Jt2mXw4Zr7Lk9Vb3+Nd5",
    "PGPASSWORD": "pg-8842-secret-word",
    "MYSQL_PWD": "my-8842-secret-word",
    "STRIPE_KEY_2": "rk_live_0123456789ab",
    "QUOTED_SECRET": 'pass"word\\with-quotes',
    "UNICODE_PASSWORD": "gehämmert-süß-öffnen",
}
ADDRESSES = {
    "REDIS_URL": ("redis://:{}@cache.example:6379/0", "redis-horse-battery"),
    "HTTPS_PROXY": ("http://me:{}@proxy.example:3128", "p%40ss-word-1234"),
}
KEY_LINE = "MIIEvQIBADANBgkqhkiG9w0B"
PRIVATE_KEY = f"-----BEGIN KEY-----\n{KEY_LINE}\n-----END KEY-----\n"


def test_a_secret_variable_is_recognised_by_its_name_or_its_shape(steer, script, home, workspace):
    addresses = {name: shape.format(value) for name, (shape, value) in ADDRESSES.items()}
    variables = {**VARIABLES, **addresses, "SERVICE_PRIVATE_KEY": PRIVATE_KEY}
    (workspace / "dump.txt").write_text("".join(f"{n}={v}\n" for n, v in variables.items()))
    look = [call("workspace_read_file", path="dump.txt"), shell("cat dump.txt; env")]
    full = steer.having(**variables)

    assert full("run", "--yes", "--model", script({"tool_calls": look}, DONE), "go").returncode == 0

    passwords = [password for _, password in ADDRESSES.values()]
    plain = [json.dumps(value, ensure_ascii=False)[1:-1] for value in VARIABLES.values()]
    assert leaks(home, *plain, *passwords, KEY_LINE) == []


def test_what_only_looks_like_a_secret_is_masked_in_the_log_and_never_in_a_file(
    steer, script, home, workspace
):
    token = "ghp_" + "A1b2C3d4E5" * 4
    content = f"token: {token}\nend\n"
    edit = {"path": "kept.txt", "edits": [{"search": "end", "replace": f"end {token}"}]}
    (workspace / "kept.txt").write_text(content)
    made = [
        call("workspace_write_file", path="notes.txt", content=content),
        call("workspace_edit_files", files=[edit]),
        shell(f"echo {token} > made.txt; cat kept.txt; printf {token} | base64"),
    ]

    model = script({"tool_calls": made}, DONE)
    done = steer("run", "--json", "--deltas", "--yes", "--model", model, "use it")

    assert done.returncode == 0
    assert leaks(home, token) == []
    assert token not in done.stdout + done.stderr
    assert (workspace / "notes.txt").read_text() == content
    assert (workspace / "kept.txt").read_text() == f"token: {token}\nend {token}\n"
    assert (workspace / "made.txt").read_text() == f"{token}\n"
    assert steer("undo", "--yes").returncode == 0
    assert (workspace / "kept.txt").read_text() == content
    assert not (workspace / "notes.txt").exists()
    assert not (workspace / "made.txt").exists()


def test_a_file_does_not_lose_a_secret_to_the_words_that_stand_for_it(steer, script, workspace):
    content = "token: ghp_" + "A1b2C3d4E5" * 4 + "\n"
    (workspace / "kept.txt").write_text(content)
    again = call("workspace_write_file", path="kept.txt", content="token: [redacted]\nmore\n")
    (result,) = steer.work(
        "run", "--yes", "--model", script({"tool_calls": [again]}, DONE), "go"
    ).bodies("tool_result")
    assert "the file would lose it" in result["message"].lower()
    assert (workspace / "kept.txt").read_text() == content
