"""The HTTP API against its own description: requests that Schemathesis makes up, valid and not.

No answer may be a failure of the server, have a status or a shape that the description does not
name, or accept what it says is not valid. Streams have no end and are left out.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import provision
from tests.http.kit import Served

pytestmark = pytest.mark.real
SEED = "20"
# A folder, a model and a thread that are there; else nearly all requests would end at the first
# look. What is valid may still be impossible, and say so.
CONFIG = """
hooks = "hooks.py"
request-timeout = 60

[dictionaries.folders]
values = ["{workspace}"]

[dictionaries.models]
values = ["scripted:{script}"]

[parameters]
{thread}
"query.workspace" = {{ dictionary = "folders" }}
"body.workspace" = {{ dictionary = "folders" }}
"body.model" = {{ dictionary = "models", probability = 0.9 }}

[checks]
positive_data_acceptance.expected-statuses = ["2xx", 401, 403, 404, 409, 422]
negative_data_rejection.expected-statuses = ["4xx"]
# It shows many wrong tokens in a minute, and gets 429: tests/http/test_door.py.
ignored_auth.enabled = false

[[operations]]
# What they name may not be there, which no schema can say; and 2.0 is no whole number to us.
include-operation-id = [
  "answer", "cancel", "change_thread", "edit", "fork_thread", "hasten", "import_thread",
  "open_terminal", "plan_undo", "rewind", "start_thread", "undo", "withdraw",
]
checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 401, 403, 404, 409, 422]
"""
HOOKS = '''
import schemathesis

@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    """Text is sent as it is, anything else as one line."""
    return value.encode() if isinstance(value, str) else str(value).encode()
'''


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    """A server with something to read."""
    made = Served(tmp_path / "home", tmp_path / "work")
    (made.workspace / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    (made.home / "hello.json").write_text('{"turns": [{"text": "Hello."}]}')
    yield made
    errors = made.stop()
    assert "Traceback" not in errors, errors


def fuzzed(server: Served, folder: Path, thread: str, *words: str) -> None:
    """Run Schemathesis; it must find nothing."""
    (folder / "hooks.py").write_text(HOOKS)
    fixed = f'"path.thread" = "{thread}"' if thread else ""
    script = server.home / "hello.json"
    config = CONFIG.format(workspace=server.workspace, script=script, thread=fixed)
    (folder / "schemathesis.toml").write_text(config)
    argv = [str(provision.schemathesis()), "run", f"{server.url}/openapi.json", *words]
    argv += ["-H", f"Authorization: Bearer {server.token}", "--exclude-path-regex", "/events$"]
    argv += ["--seed", SEED, "--generation-database", "none", "--warnings", "off", "--no-color"]
    done = subprocess.run(
        argv,
        cwd=folder,
        env=server.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_each_operation_answers_as_it_is_described(server: Served, tmp_path: Path) -> None:
    """With values at the borders of its schema, and with many others."""
    thread = server.begin({"text": "Hello."})
    server.ended(thread)
    kept = ["--exclude-operation-id", "delete_thread"]  # the others need the thread
    phases = ["--phases", "coverage,fuzzing", "--max-examples", "10"]
    fuzzed(server, tmp_path, thread, *phases, *kept)


def test_one_operation_after_the_other_answers_as_it_is_described(
    server: Served, tmp_path: Path
) -> None:
    """A thread is spoken to, and whatever is started on the way, as the links say."""
    thread = server.begin({"text": "Hello."})
    before = server.ended(thread)["messages"]
    kept = ["--exclude-operation-id", "delete_thread"]
    fuzzed(server, tmp_path, thread, "--phases", "stateful", "--max-examples", "20", *kept)
    assert server.get(f"/threads/{thread}")["messages"] > before, "nobody spoke to it"
