"""Numbers for Prometheus, in its text format."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from steersman import __version__
from steersman.host.desk import Desk
from steersman.host.meter import Meter, Now, state_of
from steersman.host.tokens import Holder
from steersman.ports.http.asgi import Response
from steersman.ports.http.layer import Nothing, operation
from steersman.records.errors import Denied

TEXT = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
Sample = tuple[Mapping[str, str], float]
KIND, STATES = ("permission", "question"), ("idle", "running", "waiting", "queued")


@operation("GET", "/metrics", needs="read", gives="text/plain", prefix="")
async def show_metrics(desk: Desk, caller: Holder, params: Nothing) -> bytes:
    """Show what this server counts, for Prometheus.

    The numbers are of all folders: a token for one folder does not get them.
    """
    if caller.workspace:
        raise Denied(f"This token is for {caller.workspace} alone.")
    now = await asyncio.to_thread(state_of, desk.host)
    text = "".join(_families(desk.meter, now, desk.readers()))
    return Response(text.encode(errors="replace"), kind=TEXT)  # type: ignore[return-value]


def _families(meter: Meter, now: Now, readers: int) -> Iterable[str]:
    yield _family("info", "gauge", "What runs.", [({"version": __version__}, 1)])
    yield _one("start_time_seconds", "gauge", "Since when it counts.", meter.since)
    yield _family("turns_total", "counter", "Turns that ended here.", _by("ending", meter.turns))
    requests = _by("model", meter.requests)
    yield _family("model_requests_total", "counter", "Requests to models.", requests)
    tokens = [({"model": model, "kind": kind}, n) for (model, kind), n in meter.tokens.items()]
    yield _family("tokens_total", "counter", "Tokens; those cached are part of input.", tokens)
    yield _family("cost_dollars_total", "counter", "What they cost.", _by("model", meter.cost))
    calls = [({"tool": tool, "status": status}, n) for (tool, status), n in meter.calls.items()]
    yield _family("tool_calls_total", "counter", "Calls of tools that ended here.", calls)
    yield _durations(meter)
    states = [({"state": one}, now.states[one]) for one in STATES]
    yield _family("threads", "gauge", "Threads of the store, whoever runs them.", states)
    waiting = [({"kind": one}, now.waiting[one]) for one in KIND]
    yield _family("questions_waiting", "gauge", "What threads wait for an answer to.", waiting)
    untaken = "Requests that no process has taken yet."
    yield _one("requests_waiting", "gauge", untaken, now.requests)
    yield _one("threads_here", "gauge", "Threads that this server has open.", now.here)
    yield _one("readers", "gauge", "Streams and sockets that are read.", readers)
    yield _one("store_bytes", "gauge", "How large the store is.", now.size)


def _durations(meter: Meter) -> str:
    """Seconds by tool, as a sum and a count."""
    name, counted = "tool_duration_seconds", dict.fromkeys(meter.milliseconds, 0)
    for (tool, _), number in meter.calls.items():
        counted[tool] += number
    sums = {tool: spent / 1000 for tool, spent in meter.milliseconds.items()}
    return (
        _head(name, "summary", "How long calls of tools took.")
        + _lines(f"{name}_sum", _by("tool", sums))
        + _lines(f"{name}_count", _by("tool", counted))
    )


def _by(label: str, numbers: Mapping[str, float]) -> list[Sample]:
    return [({label: name}, number) for name, number in numbers.items()]


def _one(name: str, kind: str, words: str, number: float) -> str:
    return _family(name, kind, words, [({}, number)])


def _family(name: str, kind: str, words: str, samples: Iterable[Any]) -> str:
    return _head(name, kind, words) + _lines(name, samples)


def _head(name: str, kind: str, words: str) -> str:
    return f"# HELP steersman_{name} {words}\n# TYPE steersman_{name} {kind}\n"


def _lines(name: str, samples: Iterable[Sample]) -> str:
    return "".join(f"steersman_{name}{_labels(by)} {number}\n" for by, number in samples)


def _labels(by: Mapping[str, str]) -> str:
    told = ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in by.items())
    return f"{{{told}}}" if told else ""
