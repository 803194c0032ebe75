"""Which values count as secret: variables by their names, tokens in MCP configurations."""

import json

import pytest

from steersman.governance.secrets import mcp_configs, secret_values, secret_variables

VALUE = "v4lue-0123456789"

SECRET = [
    "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY", "APIKEY",
    "GITHUB_TOKEN", "GH_TOKEN", "HF_TOKEN", "NPM_TOKEN", "TOKEN", "token", "My_Secret",
    "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN", "DB_PASSWORD", "DB_PASSWD",
    "SSH_PASSPHRASE", "GH_PAT", "SIGNING_PRIVATE_KEY", "API_KEY_2", "API_KEY2", "TOKEN_VALUE",
    "STRIPE_SECRET", "SERVICE_CREDENTIALS", "BASIC_AUTH", "OPENAI_KEY", "PGPASSWORD", "MYSQL_PWD",
    "SECRET_KEY_BASE",
]  # fmt: skip
PLAIN = [
    "PATH", "HOME", "LANG", "KEYBOARD", "MONKEY", "TOKENIZERS_PARALLELISM", "AUTHOR", "PWD",
    "OLDPWD", "SSH_AUTH_SOCK", "COMPASS", "PATTERN", "GIT_AUTHOR_NAME", "DESKTOP_SESSION",
    "KEYMAP", "XAUTHORITY", "TOKENS_LIMIT", "PASSWORDLESS",
]  # fmt: skip


@pytest.mark.parametrize("name", SECRET)
def test_variables_with_such_names_are_secret(name):
    assert secret_variables({name: VALUE}) == {name: VALUE}


@pytest.mark.parametrize("name", PLAIN)
def test_variables_with_such_names_are_not(name):
    assert secret_variables({name: VALUE}) == {}


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("12345678", True),
        ("1234567", False),  # too short: masking it would hide half of the log
        ("", False),
        ("true", False),
        ("/home/me/.config/key.json", False),  # where it is, not what it is
        ("/0aZ+9qT4wK7bN2xV5yR8uM1cJ3eL6hP/dS9fG0o", True),  # base64 may begin with a slash
        ("two words and more", True),
    ],
)
def test_a_value_is_secret_when_it_is_long_enough_and_no_path(tmp_path, value, secret):
    assert bool(secret_variables({"AWS_SECRET_ACCESS_KEY": value})) is secret


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("postgres://me:s3cret-word@db/x", {"s3cret-word"}),
        ("https://me:p%40ssw%2Frd%21@host", {"p%40ssw%2Frd%21", "p@ssw/rd!"}),
        ("https://me:short@host", set()),
        ("https://me@host/x", set()),
        ("https://host/x@y:z", set()),
        ("me@host", set()),
        ("http://[broken:pass-word-1@x", set()),
    ],
)
def test_passwords_in_addresses_are_secret_whatever_the_variable_is_called(value, found):
    assert secret_values({"DATABASE": value}, iter(())) == found


TOKEN = "ghp_0123456789abcdefABCDEF"
SERVERS = [
    ({"env": {"GITHUB_TOKEN": TOKEN}}, {TOKEN}),
    ({"env": {"X": TOKEN}}, {TOKEN}),  # by its shape
    ({"env": {"MODE": "production", "LEVEL": "debug-verbose-all"}}, set()),
    ({"env": {"API_KEY": "OnlyLetters"}}, {"OnlyLetters"}),
    ({"headers": {"Authorization": f"Bearer {TOKEN}"}}, {TOKEN}),
    ({"headers": {"authorization": "bearer OnlyLettersinthisone"}}, {"OnlyLettersinthisone"}),
    ({"headers": {"Authorization": "Basic dXNlcjpwYXNzd29yZA=="}}, {"dXNlcjpwYXNzd29yZA=="}),
    ({"headers": {"X-Api-Key": "letters-only-key"}}, {"letters-only-key"}),
    ({"headers": {"Accept": "application/json"}}, set()),
    ({"args": ["serve", f"--api-key={TOKEN}"]}, {TOKEN}),
    ({"args": ["serve", "--token", TOKEN, "--port", "80808080"]}, {TOKEN}),
    ({"args": ["--verbose=everything-please"]}, set()),
    ({"url": "https://me:s3cret-word@mcp.example/x"}, {"s3cret-word"}),
    ({"url": f"https://mcp.example/x?api_key={TOKEN}&q=1"}, {TOKEN}),
    ({"url": "https://mcp.example/x"}, set()),
    ({"command": "npx", "args": None, "env": None, "headers": [], "url": None}, set()),
    ({"env": {"PORT": 80808080, "ON": True, "API_KEY": 1234567890}}, {"1234567890"}),
]


@pytest.mark.parametrize(("server", "found"), SERVERS, ids=[str(s) for s, _ in SERVERS])
def test_tokens_of_mcp_servers_are_secret(tmp_path, server, found):
    config = tmp_path / ".mcp.json"
    config.write_text(json.dumps({"mcpServers": {"one": {}, "two": server}}))
    assert secret_values({}, iter([config])) == found


def test_tokens_of_servers_that_belong_to_one_project_are_secret(tmp_path):
    config = tmp_path / ".claude.json"
    servers = {"mcpServers": {"one": {"env": {"API_KEY": TOKEN}}}}
    config.write_text(json.dumps({"projects": {"/srv/app": servers}, "theme": "dark"}))
    assert secret_values({}, iter([config])) == {TOKEN}


BROKEN = {
    "empty": b"",
    "not-json": b"{mcpServers:",
    "not-utf-8": b'{"mcpServers": {"x": {"env": {"API_KEY": "\xff\xfe"}}}}',
    "a-list": b"[1, 2]",
    "a-number": b"7",
    "no-servers": b'{"mcpServers": null}',
    "a-list-of-servers": b'{"mcpServers": [{"env": {}}]}',
    "servers-of-text": b'{"mcpServers": {"x": "y", "z": 7}}',
    "too-deep": b"[" * 200_000,
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_configuration_holds_no_secret_and_stops_nothing(tmp_path, content):
    config = tmp_path / ".mcp.json"
    config.write_bytes(content)
    assert secret_values({}, iter([config])) == set()


def test_a_configuration_that_is_not_there_or_not_a_file_stops_nothing(tmp_path):
    (tmp_path / "folder").mkdir()
    files = iter([tmp_path / "nowhere", tmp_path / "folder", tmp_path / "folder" / "x"])
    assert secret_values({}, files) == set()


def test_configurations_are_looked_for_in_the_workspace_and_where_the_user_says(tmp_path):
    extra = {"STEERSMAN_MCP_CONFIG_FILES": " deep/mcp.json , /etc/mcp.json,,"}
    found = list(mcp_configs(tmp_path, extra))
    assert tmp_path / ".mcp.json" in found
    assert [str(path) for path in found[-2:]] == [f"{tmp_path}/deep/mcp.json", "/etc/mcp.json"]


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ("Zq8firstLineAAAA1111bbb\nZq9secondLineCCCC2222ddd", "Zq8firstLineAAAA1111bbb "
         "Zq9secondLineCCCC2222ddd"),
        ("s3cret!word\r\npass-4-word\r\n", "s3cret!word pass-4-word"),
        ("-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAAB4\n-----END KEY-----",
         "MIIEvQIBADANBgkqhkiG9w0B"),
        ('{\n  "type": "service_account",\n  "id": "aB3dE5fG7hI9jK1lM",\n----------------\n}',
         "aB3dE5fG7hI9jK1lM"),
        ("one line 4fG7hI9jK1lMaB3dE5", ""),
    ],
)  # fmt: skip
def test_the_lines_of_a_secret_are_secret_the_first_and_the_last_too(value, lines):
    assert secret_values({"TWO_SECRET": value}, []) - {value} == set(lines.split())
