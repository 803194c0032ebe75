"""A command that reads what it is given and prints an answer, apart from its errors."""

import asyncio
from tempfile import TemporaryFile

from steersman.operations.running.command_line import looking
from steersman.operations.running.command_result import CommandResult
from steersman.operations.tool import Bench
from steersman.operations.tools.run_command import Given, RunCommand, RunCommandArgs
from steersman.records.errors import ToolProblem

PATIENCE = 60.0  # seconds
MOST = 256 * 1024  # bytes of what it prints


class Talking(RunCommand):
    """Runs commands of the host's own, confined, journaled and ended like those of a model."""

    async def talk(
        self, args: RunCommandArgs, bench: Bench, said: bytes, most: int
    ) -> tuple[CommandResult, bytes]:
        """Run it once, and how it ended; what the sandbox refuses it is not asked for.

        Of its answer no more than a byte beyond `most` is read.
        """
        with TemporaryFile() as asked, TemporaryFile() as printed:
            await asyncio.to_thread(asked.write, said)
            asked.flush()
            talk = asked.fileno(), printed.fileno()
            ran = await self._run(args, bench, Given(last=True), talk)
            assert isinstance(ran, CommandResult), "it asks for no more"
            printed.seek(0)
            return ran, await asyncio.to_thread(printed.read, most + 1)

    async def look(self, command: str, bench: Bench) -> str:
        """What a command prints that may only read the workspace, and reaches nobody."""
        args = RunCommandArgs(command, wait_timeout=PATIENCE, kill_on_timeout=True)
        ran, printed = await self.talk(args, looking(bench, self._environ), b"", MOST)
        if ran.exit_code or len(printed) > MOST:
            why = "It printed too much." if len(printed) > MOST else ran.output.strip()[:500]
            raise ToolProblem(f"`{command.split()[0]}` could not answer.", why)
        return printed.decode("utf-8", "replace")
