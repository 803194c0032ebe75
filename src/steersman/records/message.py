"""The record everything is made of: one `Message` per thing that happened, typed by its kind.

Nothing here knows how a message is stored, shown or sent.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Literal

import msgspec
from msgspec import Struct

from steersman.records.action import Action, ChangeMany, Delete, Verdict, Write
from steersman.records.change import Change
from steersman.records.dialogue import Image, ProviderState
from steersman.records.hunks import FileHunks
from steersman.records.problem import Problem
from steersman.records.summary import FileStat, Tested
from steersman.records.undo import Part

MASK = "[redacted]"  # is in the log where a secret was
JSON = Any  # whatever JSON can say: tool arguments and outputs, whose shape belongs to the tool


class Body(Struct, frozen=True, omit_defaults=True):
    """What one kind of message says.

    `stored` is False for kinds that are only broadcast. `synced` kinds are on disk, flushed,
    before whatever follows from them begins.
    """

    kind: ClassVar[str]
    stored: ClassVar[bool] = True
    synced: ClassVar[bool] = False

    @property
    def flushed(self) -> bool:
        """Whether this one is on disk before anything follows from it."""
        return self.synced


class SessionStart(Body, frozen=True, omit_defaults=True):
    """A process opened the thread; everything until `session_end` happened in it."""

    kind: ClassVar[str] = "session_start"
    version: str
    workspace: str
    model: str
    mode: str
    trust: str
    approvals: str
    add_dir: tuple[str, ...] = ()


class SessionEnd(Body, frozen=True, omit_defaults=True):
    """The process left the thread; `exit` is its exit code, absent when it was cut off."""

    kind: ClassVar[str] = "session_end"
    synced: ClassVar[bool] = True
    status: Literal["done", "failed", "denied", "needs_answer", "budget", "interrupted"]
    exit: int | None = None
    reason: str = ""


class TurnStart(Body, frozen=True, omit_defaults=True):
    """Work on a prompt began, with these settings; `SettingsChanged` says what changed since."""

    kind: ClassVar[str] = "turn_start"
    mode: str = ""
    model: str = ""
    engine: str = ""
    approvals: str = ""
    title: str = ""


class SettingsChanged(Body, frozen=True, omit_defaults=True):
    """From the next model call on, these settings hold; what is empty stays as it was."""

    kind: ClassVar[str] = "setting"
    synced: ClassVar[bool] = True
    mode: str = ""
    model: str = ""
    engine: str = ""
    approvals: str = ""
    trust: str = ""
    title: str = ""
    output_style: str = ""
    effort: str = ""
    add_dir: tuple[str, ...] = ()
    skills_off: tuple[str, ...] | None = None


class RequestReceipt(Body, frozen=True, omit_defaults=True):
    """What became of a request from the thread's inbox; `corr` is the request's id."""

    kind: ClassVar[str] = "request"
    synced: ClassVar[bool] = True
    what: str
    sender: str
    outcome: Literal["taken", "refused", "expired", "too_late"]
    reason: str = ""


TurnEnding = Literal[
    "done", "failed", "cancelled", "interrupted", "needs_answer", "limit", "blocked"
]


class TurnEnd(Body, frozen=True, omit_defaults=True):
    """Work on a prompt ended, and why."""

    kind: ClassVar[str] = "turn_end"
    ending: TurnEnding
    steps: int = 0
    reason: str = ""


class Summary(Body, frozen=True, omit_defaults=True):
    """What a turn that asked nobody came to: its files, its commits, its tests, what was denied.

    `files` names the first of `count`, `commits` are subjects, the oldest first;
    `log` is the command that shows all that happened.
    """

    kind: ClassVar[str] = "summary"
    files: tuple[FileStat, ...] = ()
    count: int = 0
    added: int = 0
    removed: int = 0
    commits: tuple[str, ...] = ()
    tests: tuple[Tested, ...] = ()
    denied: int = 0
    log: str = ""


class User(Body, frozen=True, omit_defaults=True):
    """Words of the user as the model gets them; `corr` names the input they came from.

    `attached` are texts that the words name, such as skills, and `images` pictures they come with;
    the model gets them as well.
    """

    kind: ClassVar[str] = "user"
    synced: ClassVar[bool] = True
    text: str
    via: Literal["prompt", "steer", "queue"] = "prompt"
    attached: tuple[str, ...] = ()
    images: tuple[Image, ...] = ()


class Meanwhile(Body, frozen=True, omit_defaults=True):
    """What people did to the work since the model last worked on it, as the model gets it.

    `calls` are their commands whose output it has.
    """

    kind: ClassVar[str] = "meanwhile"
    text: str
    calls: tuple[str, ...] = ()


class RequestResult(Body, frozen=True, omit_defaults=True):
    """What came of a request that took longer to carry out; `corr` is the request's id."""

    kind: ClassVar[str] = "request_result"
    result: JSON = None
    problem: Problem | None = None


InputState = Literal["waiting", "queued", "delivered", "withdrawn"]


class Steer(Body, frozen=True, omit_defaults=True):
    """A receipt for a message sent while a turn ran; the newest one of a `corr` is its state."""

    kind: ClassVar[str] = "steer"
    synced: ClassVar[bool] = True
    state: InputState
    how: Literal["steer", "queue"]
    text: str = ""


class AssistantDelta(Body, frozen=True, omit_defaults=True):
    """A piece of the answer as it streams."""

    kind: ClassVar[str] = "assistant_delta"
    stored: ClassVar[bool] = False
    text: str


class ReasoningDelta(Body, frozen=True, omit_defaults=True):
    """A piece of the model's reasoning as it streams."""

    kind: ClassVar[str] = "reasoning_delta"
    stored: ClassVar[bool] = False
    text: str


class Assistant(Body, frozen=True, omit_defaults=True):
    """One whole answer of the model; `calls` are the `corr`s of the tool calls that follow.

    `state` is what the provider wants handed back with it.
    """

    kind: ClassVar[str] = "assistant"
    text: str = ""
    reasoning: str = ""
    calls: tuple[str, ...] = ()
    stop: str = "end"
    state: ProviderState | None = None


class ToolCall(Body, frozen=True, omit_defaults=True):
    """The model, or a person, asks for a tool. `malformed` holds arguments that are not JSON.

    `typed` when it is a command that a person typed.
    """

    kind: ClassVar[str] = "tool_call"
    tool: str
    arguments: dict[str, JSON] = {}
    malformed: str | None = None
    typed: bool = False


class ToolProgress(Body, frozen=True, omit_defaults=True):
    """A running tool has something to show."""

    kind: ClassVar[str] = "tool_progress"
    stored: ClassVar[bool] = False
    text: str


ToolStatus = Literal["ok", "error", "denied", "malformed", "cancelled", "interrupted"]


class ToolResult(Body, frozen=True, omit_defaults=True):
    """What came of a call: `output` when it ran, `message` when it did not or went wrong.

    `note` is the host's remark to the model.
    """

    kind: ClassVar[str] = "tool_result"
    tool: str
    status: ToolStatus
    output: JSON = None
    message: str = ""
    note: str = ""
    ms: int = 0


class WholeResult(ToolResult, frozen=True, omit_defaults=True):
    """A result for whoever made the call: `whole` is what an MCP server sent, never stored."""

    whole: Mapping[str, JSON] = {}


class JobEnd(Body, frozen=True, omit_defaults=True):
    """A command in the background ended; `corr` is the call that started it.

    `left` when it was ended because the thread was closed; `lost` when nobody saw it end, because
    the process that ran the thread ended without closing it; `copied` when it is another thread's,
    of which this one is a copy.
    """

    kind: ClassVar[str] = "job_end"
    process_id: str
    command: str
    exit_code: int | None = None
    left: bool = False
    lost: bool = False
    copied: bool = False


class Policy(Body, frozen=True, omit_defaults=True):
    """The gate's verdict on one action; written and flushed before the action may begin.

    A change that is allowed begins with its checkpoint, and what is flushed with that one includes
    everything before it.
    """

    kind: ClassVar[str] = "policy"
    synced: ClassVar[bool] = True
    action: Action
    verdict: Verdict

    @property
    def flushed(self) -> bool:
        changes = isinstance(self.action, Write | Delete | ChangeMany)
        return not (changes and self.verdict.decision == "allow")


class Audit(Body, frozen=True, omit_defaults=True):
    """Something about how the work is governed that people should know."""

    kind: ClassVar[str] = "audit"
    synced: ClassVar[bool] = True
    about: Literal["sandbox", "network", "folder", "settings", "mcp", "guard"]
    what: str
    why: str = ""
    try_this: str = ""


HookEvent = Literal[
    "PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop", "SubagentStop",
    "PreCompact", "Notification",
]  # fmt: skip
HookDecision = Literal["", "allow", "ask", "deny", "block", "stop"]


class HookRun(Body, frozen=True, omit_defaults=True):
    """A hook was run: what it decided and said, or the `problem` that kept it from that.

    `context` is what the model gets of it, where there is no result of a call to say it in. The
    gate takes no notice of an `allow`. `arguments` are what it made of a call's, `changes` what it
    did to files, `output` the beginning of what it printed. Its `corr` is that of the verdicts and
    changes of the run.
    """

    kind: ClassVar[str] = "hook_run"
    event: HookEvent
    command: str
    source: str
    matcher: str = ""
    about: str = ""
    exit: int | None = None
    ms: int = 0
    decision: HookDecision = ""
    reason: str = ""
    context: str = ""
    arguments: dict[str, JSON] | None = None
    message: str = ""
    problem: str = ""
    output: str = ""
    changes: tuple[str, ...] = ()


class GuardBlock(Body, frozen=True, omit_defaults=True):
    """An incident: the guard blocked a command; `breaker` when no setting could lift that."""

    kind: ClassVar[str] = "guard_block"
    synced: ClassVar[bool] = True
    tool: str
    command: str
    rule: str
    reason: str
    breaker: bool = False


Scope = Literal["once", "turn", "thread", "here"]


class Lasting(Struct, frozen=True):
    """An answer that could hold for longer: all that it would allow, in sentences, and how long."""

    name: str
    sentences: tuple[str, ...]
    scopes: tuple[Scope, ...]


class ConfirmRequest(Body, frozen=True, omit_defaults=True):
    """The gate wants a person's answer before `actions` of call `call` may begin.

    `facts` is what the guard read in a command, part by part. `lasting` are the answers that could
    hold for longer; without any, `only_once` shows why. `whole` when the answer can only be allow
    or deny: neither arguments nor a choice of hunks. `own` when the user made the call. `command`
    wants to reach the hosts that are asked about.
    """

    kind: ClassVar[str] = "confirm_request"
    synced: ClassVar[bool] = True
    call: str
    tool: str
    actions: tuple[Action, ...]
    reason: str
    facts: tuple[JSON, ...] = ()
    lasting: tuple[Lasting, ...] = ()
    only_once: str = ""
    whole: bool = False
    own: bool = False
    command: str = ""


class ConfirmResponse(Body, frozen=True, omit_defaults=True):
    """The answer to the request with the same `corr`; `guidance` goes to the model.

    `scope` shows how long it holds: this once, in this turn, in this thread, or always in this
    folder; `lasting` names which of the lasting answers is meant. `arguments` are the call's
    arguments as the user changed them; `hunks` are all that was accepted of the diffs the request
    showed. `by` is `earlier` where an answer to another request covers this one.
    """

    kind: ClassVar[str] = "confirm_response"
    synced: ClassVar[bool] = True
    decision: Literal["allow", "deny"]
    guidance: str = ""
    scope: Scope = "once"
    lasting: str = "same"
    arguments: dict[str, JSON] | None = None
    by: Literal["person", "yes-flag", "earlier"] = "person"
    hunks: tuple[FileHunks, ...] | None = None


class Question(Body, frozen=True, omit_defaults=True):
    """The user is asked something that is not a permission.

    `header` is set where an agent or a server asks and not the host: then it can be declined, and
    `call` is the agent's call. `details` explain the options, `multiple` of which may be chosen.
    `back` when the answer can be to go back to the question before. `default` counts where nobody
    answers; `marked` is what Enter takes where a person does, if that is another.
    """

    kind: ClassVar[str] = "question"
    text: str
    options: tuple[str, ...] = ()
    default: str = ""
    header: str = ""
    details: tuple[str, ...] = ()
    multiple: bool = False
    call: str = ""
    back: bool = False
    marked: str = ""


class Answer(Body, frozen=True, omit_defaults=True):
    """The answer to the question with the same `corr`.

    `by` is `default` where there was no one to ask, `declined` where a person would not answer, and
    `back` where they go back to the question before.
    """

    kind: ClassVar[str] = "answer"
    synced: ClassVar[bool] = True
    text: str
    by: Literal["person", "default", "declined", "back"] = "person"


class DiffReady(Body, frozen=True, omit_defaults=True):
    """A file was changed; the diff is unified."""

    kind: ClassVar[str] = "diff_ready"
    file: str
    diff: str
    added: int
    removed: int


class DiffCommit(Body, frozen=True, omit_defaults=True):
    """The files that a call, a hook or an undo changed are as they were to be, all of them.

    Never stored: it follows from the messages before it. `actor` is the lane of what changed them.
    Of very many files only some are among `files`; `count` is how many there are.
    """

    kind: ClassVar[str] = "diff_commit"
    stored: ClassVar[bool] = False
    actor: str
    summary: str
    files: tuple[FileStat, ...] = ()
    count: int = 0
    added: int = 0
    removed: int = 0


class Checkpoint(Body, frozen=True, omit_defaults=True):
    """Files are about to be changed: as they are and as they will be; the originals are kept.

    Very many changes are kept as a content of their own, named by `manifest`. `undoes` are the
    `seq`s of checkpoints that this one undoes; a `void` one says that they never happened. An
    undo with `parts` undoes only those; where someone else had changed a file since, `own` has the
    same change without theirs. `special` are pipes, sockets and devices that were made with the
    changes: an undo removes those that are in its way.
    """

    kind: ClassVar[str] = "checkpoint"
    synced: ClassVar[bool] = True
    cause: Literal["effect", "undo", "redo", "void"]
    changes: tuple[Change, ...] = ()
    count: int = 0
    manifest: str = ""
    undoes: tuple[int, ...] = ()
    parts: tuple[Part, ...] = ()
    own: tuple[Change, ...] = ()
    special: tuple[str, ...] = ()


class Rewind(Body, frozen=True, omit_defaults=True):
    """This thread continues from message `at` of another; the other stays complete.

    `undo` is the checkpoint there that restored the files; 0 where they stayed as they were.
    """

    kind: ClassVar[str] = "rewind"
    synced: ClassVar[bool] = True
    source: str
    at: int
    undo: int = 0


class UndoEnd(Body, frozen=True):
    """A person heard what became of the undo or redo at `checkpoint`: it is not open any more."""

    kind: ClassVar[str] = "undo_end"
    checkpoint: int


Weight = Literal["", "rule", "steer"]


class Said(Struct, frozen=True, omit_defaults=True):
    """Words of the user, kept; `message` is where they are whole, `why` what makes them weigh."""

    text: str
    message: int = 0
    why: Weight = ""


class Touched(Struct, frozen=True):
    """A file, and what was last done to it."""

    path: str
    what: str


class Shortened(Struct, frozen=True, omit_defaults=True):
    """An item of a tail, by its place in it, that is shown in so many characters."""

    place: int
    room: int
    message: int = 0


class Kept(Struct, frozen=True, omit_defaults=True):
    """What a compaction keeps beside its digest; `unsaid` counts words of the user left out."""

    goal: str = ""
    words: tuple[Said, ...] = ()
    unsaid: int = 0
    plan: str = ""
    todo: str = ""
    files: tuple[Touched, ...] = ()
    commands: tuple[str, ...] = ()
    error: str = ""
    questions: tuple[str, ...] = ()


class Compaction(Body, frozen=True, omit_defaults=True):
    """From here on a model sees a digest of what was said up to message `until`, then the rest.

    `tail` counts the items of the conversation that stay, some of them shortened. Nothing is
    deleted: `undone` takes the compaction at message `until` back, and the model sees what it saw
    before.
    """

    kind: ClassVar[str] = "compaction"
    synced: ClassVar[bool] = True
    until: int = 0
    tail: int = 0
    digest: str = ""
    kept: Kept = Kept()
    shortened: tuple[Shortened, ...] = ()
    by: Literal["model", "rules"] = "rules"
    cause: Literal["window", "user", "context_length"] = "window"
    tokens_before: int = 0
    tokens_after: int = 0
    undone: bool = False


class UsageReport(Body, frozen=True, omit_defaults=True):
    """What one model request used, in tokens, and how long its first token took.

    `aside` when it was no part of the conversation, such as one for a title or a digest.
    """

    kind: ClassVar[str] = "usage"
    model: str
    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0
    cost: float = 0.0
    first_token_ms: int = 0
    ms: int = 0
    aside: bool = False


class AgentSpawn(Body, frozen=True, omit_defaults=True):
    """A capsule began work for its parent, in the lane `lane`."""

    kind: ClassVar[str] = "agent_spawn"
    agent: str
    lane: str
    task: str


class AgentDone(Body, frozen=True, omit_defaults=True):
    """A spawned capsule ended."""

    kind: ClassVar[str] = "agent_done"
    agent: str
    lane: str
    ending: TurnEnding
    text: str = ""


class Progress(Body, frozen=True, omit_defaults=True):
    """Long work shows where it is."""

    kind: ClassVar[str] = "progress"
    stored: ClassVar[bool] = False
    text: str


class Error(Body, frozen=True, omit_defaults=True):
    """Something went wrong: what, why, what to do. `retry_in` is set when the host tries again."""

    kind: ClassVar[str] = "error"
    what: str
    why: str = ""
    try_this: str = ""
    retry_in: float | None = None


class Failure(Body, frozen=True, omit_defaults=True):
    """A turn, a tool, a command or the thread itself failed, and it is not tried again.

    Never stored: it follows from the message before it. `actor` is the lane of what failed.
    """

    kind: ClassVar[str] = "failure"
    stored: ClassVar[bool] = False
    actor: str
    summary: str
    what: Literal["turn", "tool", "command", "thread"]


class Unknown(Body, frozen=True, omit_defaults=True):
    """A message of a kind this version does not know, kept as it is."""

    kind: ClassVar[str] = "unknown"
    name: str
    fields: dict[str, JSON]


BODIES: Mapping[str, type[Body]] = {
    body.kind: body
    for body in (
        SessionStart, SessionEnd, TurnStart, SettingsChanged, RequestReceipt, RequestResult,
        TurnEnd, Summary, User, Meanwhile, Steer, AssistantDelta, ReasoningDelta,
        Assistant, ToolCall, ToolProgress, ToolResult, JobEnd, Policy, Audit, GuardBlock,
        HookRun,
        ConfirmRequest, ConfirmResponse, Question, Answer, DiffReady, DiffCommit, Checkpoint,
        Rewind, UndoEnd, Compaction, UsageReport, AgentSpawn, AgentDone, Progress, Error, Failure,
    )
}  # fmt: skip


class Message(Struct, frozen=True):
    """One thing that happened in a thread.

    `seq` is dense per thread and 0 for broadcast-only kinds; `path` is the lane it happened in;
    `corr` joins a call and its result, a request and its answer.
    """

    thread: str
    seq: int
    time: datetime
    turn: int
    kind: str
    path: str
    corr: str | None
    body: Body


_encoder = msgspec.json.Encoder()
# Each is made for the first body of its kind: all of them take as long as to import this module.
_decoders: "dict[str, msgspec.json.Decoder[Body]]" = {}


def encode_body(body: Body) -> bytes:
    """The bytes of a body that are stored and hashed."""
    return _encoder.encode(body.fields if isinstance(body, Unknown) else body)


def decode_body(kind: str, data: bytes) -> Body:
    """A body from its stored bytes; an unknown kind is kept, not refused."""
    decoder = _decoders.get(kind)
    if decoder is None:
        if (known := BODIES.get(kind)) is None:
            return Unknown(name=kind, fields=msgspec.json.decode(data, type=dict[str, Any]))
        decoder = _decoders[kind] = msgspec.json.Decoder(known)
    return decoder.decode(data)


def encode_message(message: Message) -> bytes:
    """One line of JSON: the form in which messages leave the program."""
    if isinstance(message.body, Unknown):
        record = {name: getattr(message, name) for name in message.__struct_fields__}
        return _encoder.encode(record | {"body": message.body.fields})
    return _encoder.encode(message)


class _Line(Struct, frozen=True):
    """A message whose body is not looked at yet: its kind says how."""

    thread: str
    seq: int
    time: datetime
    turn: int
    kind: str
    path: str
    corr: str | None
    body: msgspec.Raw


_lines = msgspec.json.Decoder(_Line)


def decode_message(data: bytes | msgspec.Raw) -> Message:
    """A message from what `encode_message` made of it."""
    one = _lines.decode(data)
    body = decode_body(one.kind, bytes(one.body))
    return Message(one.thread, one.seq, one.time, one.turn, one.kind, one.path, one.corr, body)
