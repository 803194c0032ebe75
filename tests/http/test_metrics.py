"""Numbers for Prometheus: what this server ran since it started, and what waits in the store."""

import json
import re

from steersman.host.meter import MOST_NAMES, Meter
from steersman.ports.http.metrics import _labels
from steersman.records.clock import now
from steersman.records.message import Message, UsageReport
from tests.cli.kit import DONE, WRITE, outside
from tests.http.kit import Events, Served

LINE = re.compile(r'steersman_[a-z_]+(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? [0-9.e+-]+')


def read(server: Served) -> dict[str, float]:
    """The numbers, by their names and labels."""
    got = server.request("GET", "/metrics")
    assert got.status == 200, got.body
    assert got.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = [one for one in got.body.decode().splitlines() if not one.startswith("# ")]
    assert all(LINE.fullmatch(one) for one in lines), lines
    return {name: float(number) for name, _, number in (one.rpartition(" ") for one in lines)}


def test_what_happened_is_counted(server: Served) -> None:
    """A turn with a call, and one that waits for permission."""
    empty = read(server)
    assert empty['steersman_questions_waiting{kind="permission"}'] == 0
    assert not any(name.startswith("steersman_turns_total") for name in empty)
    usage = {"input": 100, "output": 20}
    done = server.begin({"tool_calls": [WRITE], "usage": usage}, DONE)
    server.ended(done)
    model = "".join(
        one["body"]["model"]
        for one in server.get(f"/threads/{done}/messages?kinds=usage&limit=1")["messages"]
    )
    asks = server.begin({"tool_calls": [outside(str(server.home / "away.txt"))]}, DONE)
    asked = server.asked(asks)
    found = read(server)
    assert found['steersman_turns_total{ending="done"}'] == 1
    write = WRITE["name"]
    assert found[f'steersman_tool_calls_total{{tool="{write}",status="ok"}}'] == 1
    assert found[f'steersman_tool_duration_seconds_count{{tool="{write}"}}'] == 1
    assert found[f'steersman_tool_duration_seconds_sum{{tool="{write}"}}'] >= 0
    assert found[f'steersman_tokens_total{{model="{model}",kind="input"}}'] >= 100
    assert found['steersman_questions_waiting{kind="permission"}'] == 1
    assert found['steersman_threads{state="waiting"}'] == 1
    assert found["steersman_threads_here"] == 2
    assert found["steersman_store_bytes"] > 0
    assert 0 < found["steersman_start_time_seconds"] <= now().timestamp()
    told = {"type": "permission", "corr": asked["corr"], "decision": "deny"}
    server.post(f"/threads/{asks}/answer", told)
    server.ended(asks)
    assert read(server)['steersman_questions_waiting{kind="permission"}'] == 0


def test_who_follows_is_counted(server: Served) -> None:
    """For as long as they do."""
    thread = server.begin({"text": "Hello."})
    server.ended(thread)
    with Events(server, f"/api/v0/threads/{thread}/events?after=0") as frames:
        next(iter(frames))
        assert read(server)["steersman_readers"] >= 1


def test_numbers_are_for_tokens_that_see_all(server: Served) -> None:
    """Without one nobody gets them, and one for a folder does not."""
    assert server.request("GET", "/metrics", token=None).status == 401
    folder = str(server.workspace)
    for words, status in ((("reader",), 200), (("narrow", "--workspace", folder), 403)):
        made = server.steer("token", "make", *words, "--may", "read", "--json")
        token = json.loads(made)["token"]
        assert server.request("GET", "/metrics", token=token).status == status, words


def test_a_name_cannot_break_a_line() -> None:
    """Models and tools are named by others."""
    assert _labels({"tool": 'a"} 1\n\\'}) == '{tool="a\\"} 1\\n\\\\"}'


def test_names_are_bounded() -> None:
    """Whoever makes them up does not fill the memory."""
    meter = Meter()
    for number in range(MOST_NAMES + 50):
        used = UsageReport(f"made-up-{number}", input=1)
        meter.hear(Message("t", 1, now(), 1, "usage", "steersman", None, used))
    assert len(meter.requests) == MOST_NAMES + 1
    assert meter.requests["other"] == 50
