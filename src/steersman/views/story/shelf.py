"""Where the blocks of a story stand, and what is going on in it.

`settled` counts the blocks whose place will not change any more. Behind them are words on their
way, and at the very end what the user said that has not been delivered.
"""

from datetime import datetime

from msgspec import Struct

from steersman.records.message import Audit, Error, Message, SessionStart
from steersman.views.blocks import Agent, Asked, Block, Person, Remark, Request, Todo, Words, Work

ROOMS = ("coordination", "intelligence", "governance", "operations", "identity", "monitoring")


class Usage(Struct):
    """What the models used so far, in tokens; `context` is what the next request begins with."""

    requests: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0
    cost: float = 0.0
    context: int = 0
    model: str = ""


class Shelf:
    """Blocks in order, and what is open: words, calls, requests, inputs, agents."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.settled = 0
        self.seq = 0  # of the last message of the log that was taken in
        self.turn = 0
        self.working = False
        self.began: datetime | None = None
        self.steps = 0  # answers of the model in this turn
        self.usage = Usage()
        self.used_before = 0  # tokens, when this turn began
        self.todo: tuple[Todo, ...] = ()
        self.todo_turn = 0  # in which the list was written last
        self.agents: dict[str, Agent] = {}  # by the lane they work in
        self.session: SessionStart | None = None
        self.retrying: Error | None = None
        self.failing: dict[str, Remark] = {}  # by lane: the request that is tried again
        self.advice = ""  # of the last error in this turn
        self.progress = ""
        self.audits: set[Audit] = set()  # that are shown
        self.live_words: dict[str, list[Words]] = {}  # by lane
        self.open_inputs: dict[str, Person] = {}
        self.delivered: dict[str, Person] = {}
        self.open_calls: dict[str, Work] = {}
        self.known_calls: dict[str, Work] = {}
        self.jobs: dict[str, str] = {}  # commands in the background, by their names
        self.open_requests: dict[str, Request | Asked] = {}
        self._lanes: dict[str, str] = {}
        self._named = 0

    def settle(self, message: Message, block: Block) -> Block:
        """Give a block its place, behind everything that has one."""
        block.time = message.time
        if self.settled == len(self.blocks):
            self.blocks.append(block)
        else:
            self.blocks.insert(self.settled, block)
        self.settled += 1
        return block

    def take_out(self, block: Block) -> None:
        """Take a block without a place out of the list."""
        for index in range(len(self.blocks) - 1, self.settled - 1, -1):
            if self.blocks[index] is block:
                del self.blocks[index]
                return

    def drop_words(self, lane: str | None = None) -> None:
        """Words that the log will not have: the answer broke off, and may be asked for again."""
        for name in list(self.live_words) if lane is None else [lane]:
            for one in self.live_words.pop(name, ()):
                self.take_out(one)

    def tried(self, *lanes: str) -> list[Block]:
        """Requests that are not tried again any more: with success, or something else came."""
        over = [self.failing.pop(lane) for lane in lanes if lane in self.failing]
        for one in over:
            one.state = "done"
            one.touch()
        return list(over)

    def moot(self, call: str) -> list[Block]:
        """What was asked about a call that ended, or is asked about otherwise now."""
        gone = [
            one for one in self.open_requests.values()
            if call and one.call == call
        ]  # fmt: skip
        for one in gone:
            del self.open_requests[one.corr]
            one.state = "cancelled"
            one.touch()
        return list(gone)

    def let_go(self, *, waits: bool = False) -> list[Block]:
        """Nothing of what was continuing continues: it was cut off, or it ended and that went by.

        With `waits`, what waits for an answer continues waiting, and so does the call it is about.
        """
        self.drop_words()
        asked = self.open_requests if waits else {}
        about = {one.call for one in asked.values()}
        kept = {corr: call for corr, call in self.open_calls.items() if corr in about}
        left: list[Block] = [one for one in self.open_calls.values() if one.corr not in kept]
        left += [one for one in self.open_requests.values() if one.corr not in asked]
        left += [agent for agent in self.agents.values() if agent.state == "running"]
        for block in left:
            block.state = "cancelled"
            if isinstance(block, Work):
                block.progress = ""
            block.touch()
        self.open_calls = kept
        self.open_requests = dict(asked)
        return left

    def lane(self, path: str) -> str:
        """Whose message it is: the path without the room and the tool at its end."""
        lane = self._lanes.get(path)
        if lane is None:
            parts = path.split("/")
            if len(parts) > 2 and parts[-2] == "operations":
                del parts[-2:]
            elif len(parts) > 1 and parts[-1] in ROOMS:
                del parts[-1:]
            lane = self._lanes[path] = "/".join(parts)
        return lane

    def is_root(self, lane: str) -> bool:
        """Whether a lane is the user's own, and no agent's."""
        return lane not in self.agents

    def key(self, message: Message) -> str:
        """A name for what a message begins."""
        return str(message.seq) if message.seq else self.fresh()

    def fresh(self) -> str:
        """A name for what is not in the log yet."""
        self._named += 1
        return f"live-{self._named}"
