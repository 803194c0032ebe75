"""Record five everyday tasks in a real terminal, at two sizes, as pictures to look at.

    PYTHONPATH=.:docs/pictures python docs/pictures/record.py FOLDER

The tasks are those of the fatigue benchmark, played by the scripted model in tmux. Nothing here is
part of the manual; `make.py` draws what is.
"""

import io
import json
import shutil
import sys
import tempfile
from pathlib import Path

from make import cleaned
from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from benchmarks.fatigue.players import abstract
from benchmarks.fatigue.service import service
from benchmarks.fatigue.tasks import Task, load
from benchmarks.fatigue.world import prepared
from tests.tui.tmux import Window
from tests.world import Steer

TASKS = (
    "fix-failing-test", "add-flag", "rename-across-files", "upgrade-dependency", "explain-module",
)  # fmt: skip
SIZES = ((80, 24), (200, 50))
LAST = "That is **done**. I ran it once more, and nothing else was changed."


def record(task: Task, size: tuple[int, int], root: Path) -> dict[str, str]:
    """Play one task; the screens by name: before it is sent, and when it has ended."""
    with service(root / "received") as url, prepared(root, url, task) as world:
        steps = (replace(world.step(step), path=step.path) for step in task.steps)
        turns = [abstract(step) for step in steps]
        for turn, step in zip(turns, task.steps, strict=True):
            turn["text"] = f"Now {step.do} {step.path or step.command.split()[0]}."
        script = root / "script.json"
        script.write_text(json.dumps({"turns": [*turns, {"text": LAST}], "aside": task.title}))
        environ = world.environ | {"STEERSMAN_HOME": str(root / "data"), "COLORTERM": "truecolor"}
        steer = Steer(environ, world.work)
        how = ("--model", f"scripted:{script}", "--approvals", "review")
        with Window(steer, *how, size=size) as window:
            window.until("Say what to do")
            window.write(task.title)
            begun = window.coloured
            window.press("Enter")
            window.until("nothing else was changed", "Say what to do")
            return {"begun": begun, "ended": window.coloured}


def drawn(screen: str, size: tuple[int, int]) -> str:
    """A screen of a terminal as SVG."""
    console = Console(
        record=True, width=size[0], height=size[1], file=io.StringIO(), color_system="truecolor",
        force_terminal=True,
    )  # fmt: skip
    console.print(Text.from_ansi(screen), no_wrap=True, crop=True)
    return cleaned(console.export_svg(title="steer"))


def main(folder: Path) -> None:
    """All tasks at all sizes."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in TASKS:
        (task,) = load(name)
        for size in SIZES:
            with tempfile.TemporaryDirectory(dir=Path.home()) as place:
                for when, screen in record(task, size, Path(place)).items():
                    path = folder / f"{name}-{size[0]}x{size[1]}-{when}.svg"
                    path.write_text(drawn(screen, size), encoding="utf-8")
                    print(path)
                shutil.rmtree(Path(place) / "data", ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
