"""The hooks of an open thread: run when something happens, logged, and what follows from them.

`records/hooks.py` knows the contract. Whatever goes wrong with a hook is in the log, and the work
continues without it.
"""

import asyncio
from asyncio import to_thread
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import msgspec

from steersman.governance.modes import looks_only, of_hooks
from steersman.identity.hooks import OWN, Configured
from steersman.operations.executor import Outcome, Toolbox
from steersman.operations.running.guardian import Limits
from steersman.operations.running.processes import Processes
from steersman.operations.tools.apply_patch import patched
from steersman.operations.tools.run_hook import RunHook
from steersman.records.call_ids import HOOK
from steersman.records.dialogue import Call
from steersman.records.errors import Denied
from steersman.records.hooks import (
    BLOCKERS,
    REFUSES,
    Answer,
    Hook,
    chosen,
    names_of,
    response_of,
    run_name,
    seen_as,
    through,
    understood,
    unheard,
    unseen,
    withheld,
)
from steersman.records.message import (
    Audit,
    ConfirmRequest,
    HookDecision,
    HookEvent,
    HookRun,
    Message,
    Question,
    ToolResult,
)
from steersman.records.tool_names import inward
from steersman.store.log import Lane, ThreadLog
from steersman.systems import Hooked
from steersman.threads.hook_files import HookFiles
from steersman.threads.startups import few
from steersman.threads.transcript import TranscriptFile

if TYPE_CHECKING:
    from steersman.threads.systems import Setup, ThreadSystems

LIMITS = Limits(256, 64 << 20)  # processes of a hook, and bytes of a file that it writes
ERRORS = 1 << 20  # bytes of its errors that are kept on disk
INPUT = 8 << 20  # bytes that a hook reads
OUTPUT = 2000  # characters of what it printed that the log keeps
ROUNDS = 8  # how often hooks keep a turn going
UNSTARTED = (126, 127)  # how a shell says that it cannot start something
SIGNALS = range(129, 193)  # how a shell and the sandbox say that a signal ended a command
IN_ORDER = ("PostToolUse", "Stop", "SubagentStop")  # when hooks are run that change files
OTHERS = "A hook gave other arguments, which is possible for calls of a single edit; not used."
Given = tuple[str, Mapping[str, Any]]  # what an event is about, and its fields


class Hooks:
    """Runs the hooks of one thread, through its gate and with its journal."""

    def __init__(
        self,
        found: Configured,
        files: HookFiles,
        log: ThreadLog,
        systems: "ThreadSystems",
        setup: "Setup",
    ) -> None:
        self.audits = tuple(Audit("settings", problem) for problem in found.problems)
        self._hooks = found.hooks
        self._files = files
        self._agreeing = asyncio.Lock()  # about files that changed, people are asked once
        self._log = log
        self._systems = systems
        self._root = setup.workspace.root
        # Processes of their own: nobody sees hooks among the jobs, and less is allowed them.
        spool = Path(setup.state, "output", log.thread, "hooks")
        guardian = setup.resources.guardian
        self._processes = Processes(spool, guardian, max_output=ERRORS, limits=LIMITS)
        self._transcript = TranscriptFile(spool / "transcript.jsonl", log, self._root)
        self._tool = RunHook(setup.environ, self._processes, systems.runs, self._transcript.path)
        self._toolbox = Toolbox([self._tool], setup.workspace, systems.journal, systems.gate)
        self._started = False
        self._rounds: dict[tuple[str, int], int] = {}
        self._notifying: set[asyncio.Task[list[Answer]]] = set()
        self._changing = asyncio.Lock()  # one hook at a time, in the order in which they came

    # What happens

    async def before(self, call: Call, lane: Lane) -> Hooked:
        """Hooks before a call may refuse it, have it asked about, or change its arguments.

        Of a call that one has changed, the others have seen another; they see it as it is now. The
        user's own hooks change what the folder's have made of it, and what hooks would change after
        that is not used, so that this comes to an end.
        """
        names, events = await to_thread(self._of_call, call)
        hooks = chosen(self._hooks, "PreToolUse", names)
        latest = await self._each(hooks, events, lane)
        answers = [answer for _, answer in latest]
        made, notes = call, []
        for own in (False, True):
            by, given = next(
                (
                    (hook, answer.arguments)
                    for hook, answer in latest
                    if answer.arguments is not None and (hook.source == OWN) is own
                ),
                (None, None),
            )
            if given is None or _reason(answers, "deny") or _reason(answers, "stop"):
                continue
            changed, note = await to_thread(self._changed, made, given)
            notes.append(note)
            if changed is not made:
                made, seeing = changed, [hook for hook in hooks if hook is not by]
                _, events = await to_thread(self._of_call, made)
                latest = await self._each(seeing, events, lane, len(answers))
                answers += [answer for _, answer in latest]
        ask = _reason(answers, "ask")
        if hooks and not ask and await to_thread(unseen, made, self._root, patched):
            ask = "this file has other names, which the hooks did not see"
        return Hooked(
            made,
            ask=ask,
            refuse=_reason(answers, "deny"),
            told="\n".join(dict.fromkeys(filter(None, (*notes, *(a.context for a in answers))))),
            stop=_reason(answers, "stop"),
        )

    async def after(self, call: Call, result: ToolResult, lane: Lane) -> Hooked:
        """Hooks after a call may say something to the model, and change files."""
        answers = await self._run(
            "PostToolUse", *await to_thread(self._of_call, call, result), lane
        )
        blocked = _reason(answers, "block")
        said = [f"A hook says: {blocked}"] if blocked else []
        told = "\n".join(filter(None, (*said, *(a.context for a in answers))))
        return Hooked(call, told=told, stop=_reason(answers, "stop"))

    async def prompt(self, text: str, corr: str, lane: Lane, *, resumed: bool) -> None:
        """The user says something; before the first time, the session starts for hooks."""
        if not self._started:
            self._started = True
            source = "resume" if resumed else "startup"
            begun = (source, {"source": source, "prompt_id": corr})
            await self._run("SessionStart", (source,), [begun], lane)
        said = ("", {"prompt": text, "prompt_id": corr})
        answers = await self._run("UserPromptSubmit", None, [said], lane)
        if why := _reason(answers, "stop") or _reason(answers, "block"):
            raise Denied("A hook refused the message.", why, "`/hooks` lists the hooks.")

    async def stop(self, lane: Lane) -> bool:
        """The model is done; True when a hook wants the turn to continue."""
        event: HookEvent = "SubagentStop" if "/" in lane.path else "Stop"
        place = lane.path, lane.turn
        rounds = self._rounds.get(place, 0)
        if rounds >= ROUNDS:
            return False
        answers = await self._run(event, None, [("", {"stop_hook_active": rounds > 0})], lane)
        if _reason(answers, "stop") or not _reason(answers, "block"):
            return False
        self._rounds[place] = rounds + 1
        return True

    async def compacting(self, cause: str, lane: Lane) -> bool:
        """The conversation is about to be compacted; False when a hook calls that off.

        Only what the user asked for can be: without room, the model could not go on.
        """
        trigger = "manual" if cause == "user" else "auto"
        fields = {"trigger": trigger, "custom_instructions": ""}
        above = Lane(lane.log, lane.path.rpartition("/")[0], lane.turn)
        answers = await self._run("PreCompact", (trigger,), [(trigger, fields)], above)
        return trigger == "auto" or not (_reason(answers, "block") or _reason(answers, "stop"))

    def observe(self, messages: Iterable[Message]) -> None:
        """Notify of what waits for the user, beside the work; not of what hooks wait for."""
        for message in messages:
            self._files.observe(message, self._systems.gate.where.rules)
            match message.body:
                case ConfirmRequest(call=call, tool=tool) if not call.startswith(HOOK):
                    kind, told = "permission_prompt", f"Steersman needs your permission: {tool}"
                case Question(text=text):
                    kind, told = "idle_prompt", f"Steersman waits for your answer: {text}"
                case _:
                    continue
            if not chosen(self._hooks, "Notification", (kind,)):
                continue
            lane = Lane(self._log, message.path.partition("/")[0], message.turn)
            fields = {"message": told, "notification_type": kind}
            task = asyncio.create_task(self._run("Notification", (kind,), [(kind, fields)], lane))
            self._notifying.add(task)
            task.add_done_callback(self._notifying.discard)

    async def close(self) -> None:
        """End every hook that runs."""
        for task in self._notifying:
            task.cancel()
        await asyncio.gather(*self._notifying, return_exceptions=True)
        await self._processes.close()

    # How they are run

    def _of_call(
        self, call: Call, result: ToolResult | None = None
    ) -> tuple[tuple[str, ...], list[Given]]:
        """The names of a call, and an event for everything that it is seen as."""
        events: list[Given] = []
        seen = seen_as(call, self._root, patched)
        if result is None:  # who may refuse a file, refuses it by all of its names
            seen += through(call, self._root, patched)
        for name, given in seen:
            fields = {"tool_name": name, "tool_input": given, "tool_use_id": call.id}
            came = {"tool_response": response_of(result, given)} if result else {}
            events.append((name, {**fields, **came}))
        return names_of(call, seen), events

    def _changed(self, call: Call, given: Mapping[str, Any]) -> tuple[Call, str]:
        """The call with the arguments that a hook gave, and a note on that."""
        (_, shown), *others = seen_as(call, self._root, patched)
        if others or {"edits", "patch"} & shown.keys():
            return call, OTHERS
        ours = inward(call.name, call.arguments, given, self._root)
        if ours is None:
            return call, ""
        changed = msgspec.json.encode(given).decode()
        return msgspec.structs.replace(call, arguments=ours), f"A hook changed the call: {changed}"

    async def _run(
        self, event: HookEvent, names: Iterable[str] | None, events: Sequence[Given], lane: Lane
    ) -> list[Answer]:
        """Run the hooks that are meant; their answers are in their order."""
        heard = await self._each(chosen(self._hooks, event, names), events, lane)
        return [answer for _, answer in heard]

    async def _each(
        self, hooks: Sequence[Hook], events: Sequence[Given], lane: Lane, first: int = 0
    ) -> list[tuple[Hook, Answer]]:
        """Run hooks for every event, the answers to which follow one another, with whose they are.

        They run side by side, but those that change files one after the other: of two changes of
        one file at the same time, one would be lost. `first` is how many have run for the same.
        """

        async def one(hook: Hook, given: Given, at: int) -> Answer:
            mode = of_hooks(self._systems.settings.mode)
            in_order = hook.event in IN_ORDER and not looks_only(mode)
            async with self._changing if in_order else nullcontext():
                return await self._one(hook, given, lane, at)

        works = [(hook, given) for given in events for hook in hooks]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(*work, at)) for at, work in enumerate(works, first)]
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None  # the others are mostly the same
        return [(hook, task.result()) for (hook, _), task in zip(works, tasks, strict=True)]

    async def _one(self, hook: Hook, given: Given, lane: Lane, at: int) -> Answer:
        """Run one hook, and log what came of it.

        With the same call it has the same name: asked about again, it finds its answer.
        """
        about, fields = given
        known = {
            "session_id": lane.log.thread,
            "transcript_path": await self._transcript.write(),
            "cwd": self._root,
            "permission_mode": self._mode(),
            "hook_event_name": hook.event,
        }
        said = msgspec.json.encode({**known, **fields})
        of = fields.get("tool_use_id") or fields.get("prompt_id") or token_hex(4)
        name = run_name(hook.event, of, at)
        run = HookRun(hook.event, hook.command, hook.source, hook.matcher, about)
        stop = None
        if len(said) > INPUT:
            answer = unheard(hook, f"not run: there are more than {INPUT >> 20} MB to read")
        else:
            run, answer, stop = await self._carried_out(
                hook, Call(name, self._tool.name), said, run, lane
            )
        heard = hook.event not in ("PreToolUse", "PostToolUse")  # there the result says it
        told = answer.context
        if answer.decision == "block" and hook.event in ("Stop", "SubagentStop"):
            told = "\n".join(filter(None, (answer.reason, told)))
        run = msgspec.structs.replace(
            run,
            decision=answer.decision,
            reason=answer.reason,
            context=told if heard else "",
            arguments=answer.arguments,
            message=answer.message,
            problem=answer.problem,
        )
        await lane.at("operations", "hook").append(run, corr=name)
        if isinstance(stop, asyncio.CancelledError):
            raise stop
        return answer

    async def _carried_out(
        self, hook: Hook, call: Call, said: bytes, run: HookRun, lane: Lane
    ) -> tuple[HookRun, Answer, BaseException | None]:
        """Run the command through the gate; how it ended, what that means, and what stopped it."""
        given = {"command": hook.command, "wait_timeout": hook.timeout, "kill_on_timeout": True}
        call = msgspec.structs.replace(call, arguments=given)
        self._tool.inputs[call.id] = said
        self._systems.gate.mark_hook(call.id)
        if hook.event == "Notification":
            self._systems.gate.ask_nobody(call.id)  # of a question it would make two
        try:
            outcome, changed = await self._outcome(hook, call, lane)
        finally:
            self._tool.inputs.pop(call.id, None)
            self._systems.gate.over(call.id)
        result = outcome.result
        if result.status == "cancelled":
            return run, Answer(problem="stopped"), outcome.stop
        if result.status != "ok":
            answered = withheld if changed else unheard
            return run, answered(hook, f"not run: {result.message}"), None
        ended: dict[str, Any] = result.output
        printed, errors, code = ended.get("printed", ""), ended["output"], ended.get("exit_code")
        run = msgspec.structs.replace(
            run,
            exit=code,
            ms=ended["wall_ms"],
            output="\n".join(filter(None, (printed.strip(), errors.strip())))[:OUTPUT],
            changes=tuple(ended.get("changes", ())),
        )
        answer = _heard(hook, ended)
        if lost := ended.get("lost"):
            told = f"what it changed was not kept: {lost}"
            told = "; ".join(filter(None, (answer.problem, told)))
            answer = msgspec.structs.replace(answer, problem=told)
        return run, answer, None

    async def _outcome(self, hook: Hook, call: Call, lane: Lane) -> tuple[Outcome, Sequence[str]]:
        """What came of a hook's command; when files of it changed, which, and the user is asked."""
        if hook.event not in BLOCKERS:
            return await self._toolbox.outcome(call, lane, lambda _: ""), ()
        now = await to_thread(self._files.now, hook)
        async with self._agreeing if self._files.changed(hook, now) else nullcontext():
            if changed := self._files.changed(hook, now):
                why = f"{few(changed)} changed, which this hook runs: check what it does now"
                self._systems.gate.hold(call.id, why)
            outcome = await self._toolbox.outcome(call, lane, lambda _: "")
            if outcome.result.status == "ok":
                self._files.agree(hook, now)
        return outcome, changed

    def _mode(self) -> str:
        """How much is asked, in the words that hooks know."""
        settings = self._systems.settings
        levels = {"never": "dontAsk", "review": "acceptEdits"}
        return "plan" if settings.mode == "plan" else levels.get(settings.approvals, "default")


def _heard(hook: Hook, ended: Mapping[str, Any]) -> Answer:
    """What a hook means that was run; its refusal counts, whatever else went wrong."""
    code = ended.get("exit_code")
    if code != REFUSES and ended["wall_ms"] >= 1000 * hook.timeout:
        return unheard(hook, f"ended after {hook.timeout:g} s, its time limit")
    if code is None or code < 0 or code in SIGNALS:
        return unheard(hook, f"it was killed{f' (exit code {code})' if code else ''}")
    if code == 0 and not ended.get("whole"):
        return unheard(hook, "it printed too much; its answer was not read")
    answer = understood(hook.event, code, ended.get("printed", ""), ended["output"])
    if code in UNSTARTED:
        return unheard(hook, f"it could not be started ({answer.problem})")
    unclear = code == 0 and answer.problem and not answer.decision
    return unheard(hook, answer.problem) if unclear else answer


def _reason(answers: Iterable[Answer], decision: HookDecision) -> str:
    """Why hooks decided something; empty when none did."""
    return "\n".join(dict.fromkeys(a.reason for a in answers if a.decision == decision))
