"""How the host works when nobody says otherwise: a person's choices, whatever they came from.

Pure records; `identity/settings.py` reads them from files, variables and flags.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from steersman.records.limits import NO_LIMITS, Limits

# When a person is asked, the level that asks most first.
Approvals = Literal["on-request", "review", "on-failure", "never"]
Effort = Literal["default", "low", "medium", "high"]
Value = str | tuple[str, ...]  # of a setting that can change while a thread is open
# What a person finds again in a thread. How far a thread is trusted, each run says again.
RESTORED = ("mode", "model", "effort", "approvals", "output_style", "skill_meta_file", "skills_off")
LASTING = (*RESTORED, "trust", "sandbox", "profile")


class Budgets(Struct, frozen=True, forbid_unknown_fields=True):
    """What may be spent: in one run, and in a thread over all its runs."""

    run: Limits = NO_LIMITS
    thread: Limits = NO_LIMITS


Mode = Literal["ask", "plan", "spec", "code", "debug"]
REVIEW = "review"  # the level of approvals at which what a turn changed is looked at afterwards


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """How the host works when nobody says otherwise.

    `approvals` is `review` where a person is there and nobody says otherwise.
    `sandbox` "none" lets commands run where nothing can confine them. `domains` may be reached by
    confined commands without asking; `environment` are variables they inherit besides the usual.
    `sockets` are unix sockets of this machine that commands may connect to.
    `effort` says how hard a model thinks that has such a choice; "default" leaves it to the model.
    `window` caps the tokens of a request; `models`, `providers`, `roles` and `fallback` say what
    models there are and who does what (docs/models.md). `language_servers` are programs that know
    code, `code_backends` those who are asked about it first (docs/code-intelligence.md). `store`
    is where threads are kept: a URL, or empty for SQLite in the data folder. `max_output` bytes of
    what a command prints are kept; with more than `max_processes` it is ended, and no file that it
    writes gets larger than `max_file` bytes; all else goes before it by `nice`. One that the agent
    runs is waited for `command_wait` seconds, unless the call says how long.
    `on_hangup` says what becomes of a turn whose terminal goes away.
    `output_style` names how answers are worded; `status_line` is a command whose first line the
    terminal shows as its status. `otel` is where turns are sent as traces, a URL or `on` for what
    the usual variables name; `otel_content` whether with what was said (docs/telemetry.md).
    `safer` "apply" runs the safer form of a command where there is one; `guard` "refuse" refuses
    what the guard would ask about, whatever rules and earlier answers say.
    `add_dir` are folders outside the workspace that may be read, and never written.
    `tools` are the only tools that the model is offered; "default" among them is all.
    `allow` and `deny` are rules, as in `Bash(npm test *)`; `instructions` is text that the model
    gets after everything else that it gets before the conversation. `hooks` are commands that are
    run when something happens (docs/hooks.md). `profiles` are settings by name, for a kind of
    work; those of the one that `profile` names are in force. `skill_meta_file` is the file that
    makes a folder a skill; `skills_off` are skills that are not used.
    """

    model: str = ""
    effort: Effort = "default"
    mode: Mode = "code"
    trust: Literal["restricted", "sandboxed", "untrusted"] = "sandboxed"
    approvals: Approvals = "on-request"
    sandbox: Literal["auto", "none"] = "auto"
    domains: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    sockets: tuple[str, ...] = ()
    budget: Budgets = Budgets()
    window: Annotated[int, Meta(ge=2000)] | None = None
    models: dict[str, Any] = {}
    providers: dict[str, Any] = {}
    roles: dict[str, Any] = {}
    fallback: dict[str, Any] = {}
    language_servers: dict[str, Any] = {}
    code_backends: tuple[str, ...] = ()
    max_steps: Annotated[int, Meta(ge=1)] = 2500
    max_output: Annotated[int, Meta(ge=65_536)] = 2 * 1024**3
    max_processes: Annotated[int, Meta(ge=16)] = 2000
    max_file: Annotated[int, Meta(ge=1_000_000)] = 16 * 1024**3
    nice: Annotated[int, Meta(ge=0, le=19)] = 5
    command_wait: Annotated[float, Meta(gt=0, le=3600)] = 10
    store: str = ""
    on_hangup: Literal["detach", "cancel"] = "detach"
    safer: Literal["offer", "apply"] = "offer"
    guard: Literal["ask", "refuse"] = "ask"
    output_style: str = "default"
    status_line: str = ""
    otel: str = ""
    otel_content: Literal["off", "on"] = "off"
    add_dir: tuple[str, ...] = ()
    tools: tuple[str, ...] = ("default",)
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    instructions: str = ""
    hooks: dict[str, Any] = {}
    profile: str = ""
    profiles: dict[str, dict[str, Any]] = {}
    skill_meta_file: str = ""
    skills_off: tuple[str, ...] = ()
