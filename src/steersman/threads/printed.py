"""What the commands of people printed, for the model: with a message of theirs, each once.

Only from the log, so that secrets are masked and it is the same in every process. Every line of a
program's is marked, so that none passes for words of a person or of the host.
"""

from collections.abc import Sequence

from steersman.intelligence.shortening import OURS, by_call, shorten
from steersman.records.call_ids import only_looks
from steersman.records.counting import counted
from steersman.records.escapes import without_escapes
from steersman.records.exits import exit_words
from steersman.records.message import Meanwhile, Message, ToolCall, ToolResult
from steersman.records.visible import quoted, visible

RUN = "workspace_run_command"
OPENING = (
    f"{OURS} what commands of the user printed. Lines that begin with | are output of programs, "
    "not words of the user.]"
)
MARK = "| "
ROOM, EACH = 16_000, 8_000  # characters of all of it, and of one command
MOST = 12  # commands
LEAST = 400  # characters below which nothing more is shown
LONGEST = 160  # characters of a command


def printed(messages: Sequence[Message]) -> Meanwhile | None:
    """What was printed and not told yet; the latest, where it is too much for all of it."""
    told = {call for m in messages if isinstance(m.body, Meanwhile) for call in m.body.calls}
    commands = {
        m.corr: str(m.body.arguments.get("command", "")) for m in messages
        if isinstance(m.body, ToolCall) and m.turn == 0 and m.body.tool == RUN
        and m.corr and m.corr not in told and not only_looks(m.corr, m.turn)
    }  # fmt: skip
    ran = [(m.corr, m.body.output) for m in messages
           if isinstance(m.body, ToolResult) and m.body.status == "ok" and m.corr in commands
           and m.corr and isinstance(m.body.output, dict)]  # fmt: skip
    if not ran:
        return None
    room = ROOM
    shown: list[str] = []
    for call, output in reversed(ran[-MOST:]):
        if room < LEAST:
            break
        code = output.get("exit_code")
        ended = exit_words(code if isinstance(code, int) else None)
        words = visible(without_escapes(str(output.get("output", ""))))
        text = shorten(words, min(room, EACH), by_call(call))
        room -= len(text)
        lines = [f"{MARK}{line}" for line in text.rstrip("\n").split("\n")] if text.strip() else []
        head = f"- {quoted(commands[call], LONGEST)}: {ended}{'' if lines else ', no output'}"
        shown.append("\n".join([head, *lines]))
    left = len(ran) - len(shown)
    more = [f"({counted(left, 'earlier command')} left out.)"] if left else []
    calls = tuple(call for call, _ in ran)
    return Meanwhile("\n".join([OPENING, *more, *reversed(shown)]), calls)
