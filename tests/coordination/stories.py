"""Plausible logs of a session, drawn at random: turns, parallel calls, requests, nested agents."""

from collections.abc import Sequence
from itertools import count

from hypothesis import strategies as st

from steersman.records.action import Execute, Read, SpawnAgent, Verdict, Write
from steersman.records.message import (
    AgentDone,
    AgentSpawn,
    Assistant,
    Body,
    ConfirmRequest,
    ConfirmResponse,
    Message,
    Policy,
    SessionEnd,
    SessionStart,
    Steer,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    UsageReport,
    User,
)
from steersman.store.log import Draft
from tests.store.made import START

ROOT = "steersman"
Story = list[Draft]


def told(story: Sequence[Draft]) -> list[Message]:
    """A story as the messages of a thread."""
    return [
        Message("t1", seq, START, d.turn, d.body.kind, d.path, d.corr, d.body)
        for seq, d in enumerate(story, 1)
    ]


def riffled(draw: st.DrawFn, parts: list[Story]) -> Story:
    """Several stories at the same time, each in its own order."""
    waiting = [list(part) for part in parts if part]
    merged: Story = []
    while waiting:
        chosen = draw(st.integers(0, len(waiting) - 1))
        merged.append(waiting[chosen].pop(0))
        waiting = [part for part in waiting if part]
    return merged


class Teller:
    """Draws the parts of one session."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._names = count(1)

    def session(self) -> Story:
        """A whole session."""
        start = SessionStart("0.1.0", "/srv/app", "scripted:x", "code", "sandboxed", "on-request")
        story = [Draft(start, ROOT)]
        for turn in range(1, self._draw(st.integers(0, 2)) + 1):
            story += self._turn(turn)
        return [*story, Draft(SessionEnd("done", 0), ROOT)]

    def _turn(self, turn: int) -> Story:
        place = f"{ROOT}/coordination"
        asked = [Draft(TurnStart(), place, turn), Draft(User("go"), place, turn)]
        work = self._work(ROOT, turn, depth=0)
        return [*asked, *work, Draft(TurnEnd("done", 2), place, turn)]

    def _work(self, lane: str, turn: int, depth: int) -> Story:
        """Steps of an agent, its last one without calls."""
        story: Story = []
        for _ in range(self._draw(st.integers(0, 2))):
            story += self._step(lane, turn, depth)
            if depth == 0 and self._draw(st.booleans()):
                story += self._steering(turn)
        return [*story, Draft(Assistant("Done."), f"{lane}/intelligence", turn)]

    def _steering(self, turn: int) -> Story:
        corr, place = f"in_{next(self._names)}", f"{ROOT}/coordination"
        bodies: list[Body] = [
            Steer("waiting", "steer", "also"), Steer("delivered", "steer"), User("also", "steer"),
        ]  # fmt: skip
        return [Draft(body, place, turn, corr) for body in bodies]

    def _step(self, lane: str, turn: int, depth: int) -> Story:
        """An answer with calls, and what came of them, whichever was ready first."""
        ids = [f"call_{next(self._names)}" for _ in range(self._draw(st.integers(1, 3)))]
        thinking = f"{lane}/intelligence"
        answer = Assistant("Looking.", "", tuple(ids), "tool_calls")
        story = [Draft(answer, thinking, turn), Draft(UsageReport("x"), thinking, turn)]
        calls = [self._call(call, lane, turn, depth) for call in ids]
        story += [announced for announced, _ in calls]
        return story + riffled(self._draw, [carried_out for _, carried_out in calls])

    def _call(self, call: str, lane: str, turn: int, depth: int) -> tuple[Draft, Story]:
        kinds = ["read", "write", "deny", "malformed"] + (["agent"] if depth < 2 else [])
        kind = self._draw(st.sampled_from(kinds))
        place = f"{lane}/operations/{'helper' if kind == 'agent' else kind}"
        announced = Draft(ToolCall(kind, {"n": call}), place, turn, call)
        bodies: Story = getattr(self, f"_{kind}")(call, place, turn, depth)
        return announced, bodies

    def _read(self, call: str, place: str, turn: int, depth: int) -> Story:
        bodies = [Policy(Read("/srv/app/a"), ALLOW), ToolResult("read", "ok", {"content": call})]
        return [Draft(body, place, turn, call) for body in bodies]

    def _write(self, call: str, place: str, turn: int, depth: int) -> Story:
        look = Policy(Read("/srv/app/a"), ALLOW)
        change = Write("/srv/app/a", "", "0" * 64, "+x\n")
        looked = Draft(look, place, turn, call)
        judged = Draft(Policy(change, ASK), place, turn, call)
        corr = f"ask_{next(self._names)}"
        decision = self._draw(st.sampled_from(["allow", "deny"]))
        request = ConfirmRequest(call, "write", (change,), ASK.reason)
        answered = [
            Draft(request, place, turn, corr),
            Draft(ConfirmResponse(decision), place, turn, corr),
        ]
        status = "ok" if decision == "allow" else "denied"
        return [looked, judged, *answered, Draft(ToolResult("write", status), place, turn, call)]

    def _deny(self, call: str, place: str, turn: int, depth: int) -> Story:
        bodies = [Policy(Execute("ls", "/"), DENY), ToolResult("deny", "denied", message="no")]
        return [Draft(body, place, turn, call) for body in bodies]

    def _malformed(self, call: str, place: str, turn: int, depth: int) -> Story:
        return [Draft(ToolResult("malformed", "malformed", message="what?"), place, turn, call)]

    def _agent(self, call: str, place: str, turn: int, depth: int) -> Story:
        """An agent in a lane of its own below its parent's."""
        opened: list[Body] = [
            Policy(SpawnAgent("helper", "task"), ALLOW),
            AgentSpawn("helper", place, "task"),
        ]
        closed: list[Body] = [
            AgentDone("helper", place, "done", "Done."),
            ToolResult("helper", "ok", "Done."),
        ]
        return [
            *(Draft(body, place, turn, call) for body in opened),
            Draft(User("task"), f"{place}/coordination", turn, call),
            *self._work(place, turn, depth + 1),
            *(Draft(body, place, turn, call) for body in closed),
        ]


ALLOW = Verdict("allow", "paths.inside", "looking inside the workspace")
ASK = Verdict("ask", "approvals.on-request", "a change of a file needs your approval")
DENY = Verdict("deny", "paths.outside", "outside", "use paths inside the workspace")


@st.composite
def sessions(draw: st.DrawFn) -> Story:
    """One whole session."""
    return Teller(draw).session()


@st.composite
def cut_sessions(draw: st.DrawFn) -> Story:
    """A session that was cut off somewhere."""
    story = draw(sessions())
    return story[: draw(st.integers(0, len(story)))]
