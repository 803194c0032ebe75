"""A hook as a command of its thread: confined, journaled and ended like any other.

It reads what happened and prints an answer; it is never offered to a model.
"""

from collections.abc import Mapping

from msgspec.structs import asdict, replace

from steersman.operations.running.command_result import CommandResult, result_of
from steersman.operations.running.command_run import CommandRun, Effects
from steersman.operations.running.command_runs import CommandRuns
from steersman.operations.running.processes import Processes, Running
from steersman.operations.running.second_chance import More
from steersman.operations.tool import Bench, Family, Plan
from steersman.operations.tools.run_command import Attempt, RunCommandArgs
from steersman.operations.tools.talking import Talking
from steersman.operations.workspace import PlanningWorkspace
from steersman.records.action import Execute
from steersman.records.errors import SteersmanError

PRINTED = 256 * 1024  # bytes of an answer; a longer one is not read


class HookResult(CommandResult, frozen=True, omit_defaults=True):
    """How a hook ended: `output` are its errors, `printed` is its answer if that is `whole`.

    `lost` says why its changes were not made. What it answered counts nevertheless.
    """

    printed: str = ""
    whole: bool = False
    lost: str = ""


class RunHook(Talking):
    """Run a hook."""

    family = Family.HOOKS

    def __init__(
        self,
        environ: Mapping[str, str],
        processes: Processes,
        runs: CommandRuns,
        transcript: str = "",
    ) -> None:
        super().__init__(environ, processes, runs)
        self._readable = (transcript,) if transcript else ()
        self.inputs: dict[str, bytes] = {}  # what hooks will read, by the calls that run them

    async def plan(
        self, args: RunCommandArgs, workspace: PlanningWorkspace
    ) -> Plan[RunCommandArgs]:
        """Execute that command, in the workspace and with no more than a sandbox gives."""
        return Plan(args, [Execute(args.command, workspace.root)])

    async def perform(self, plan: Plan[RunCommandArgs], bench: Bench) -> HookResult:
        """Run it once, knowing where it works."""
        environ = bench.profile.environ or self._environ
        own = {
            "CLAUDE_PROJECT_DIR": bench.workspace.root,
            # Compiled modules would be a change of the folder that the hook is run from, and
            # those that are there may say something else than their source.
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPYCACHEPREFIX": "/nonexistent",
        }
        known = {**environ, **own}
        readable = (*bench.profile.readable, *self._readable)
        profile = replace(bench.profile, environ=known, readable=readable)
        bench = replace(bench, profile=profile)
        said = self.inputs.pop(bench.call)
        ran, printed = await self.talk(plan.args, bench, said, PRINTED)
        assert isinstance(ran, HookResult), "what is settled is one"
        text = printed[:PRINTED].decode("utf-8", "replace")
        return replace(ran, printed=text, whole=len(printed) <= PRINTED)

    async def _settled(
        self, running: Running, run: CommandRun, attempt: Attempt
    ) -> HookResult | More:
        """How it ended, also where its changes are refused or meet those of another run."""
        try:
            result = await super()._settled(running, run, attempt)
        except (SteersmanError, OSError) as error:
            ended = result_of(running, attempt.notes, Effects())
            return HookResult(**asdict(ended), lost=str(error))
        return HookResult(**asdict(result)) if isinstance(result, CommandResult) else result
