"""Who an agent is: its name and what its model gets, from Markdown files in the package."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct

from steersman.records.dialogue import Call


class Persona(Struct, frozen=True):
    """An agent's name, and its instructions as they are sent."""

    name: str
    text: str

    def instructions(self) -> str:
        """What the model gets before anything else; the same bytes every time."""
        return self.text

    def remark(self, call: Call) -> str:
        """Nothing: all there is to know was said before."""
        return ""


def steersman(mode: str, workspace: str, plan: str, added: Sequence[str] = ()) -> Persona:
    """The agent a person talks to; `plan` is the file it may write in plan mode.

    `added` are folders outside the workspace that it may read.
    """
    text = prompt_text("steersman").replace("{workspace}", workspace)
    how = prompt_text(f"mode-{mode}").replace("{plan}", plan)
    also = prompt_text("added").replace("{folders}", "\n".join(f"- {one}" for one in added))
    parts = (text, also, how) if added else (text, how)
    return Persona("steersman", "\n\n".join(parts) + "\n")


@cache
def prompt_text(name: str) -> str:
    """A prompt of the package."""
    return (Path(__file__).parent / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()
