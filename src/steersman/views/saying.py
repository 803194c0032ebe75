"""What written words are: said, queued, a command, or for the shell; and what goes along. Pure,
but for the looks that tell whether a file is there."""

import os
import shlex
from typing import Literal
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from steersman.records.errors import UsageProblem
from steersman.views.attachments import Attachments, Mentions, is_picture, mentioned
from steersman.views.commands.registry import is_command
from steersman.views.interactive import check_terminal
from steersman.views.seat import Doing

LONGEST_DROP = 4_000


class Meaning(Struct, frozen=True):
    """Words, understood: `text` is what is sent, `pictures` are files, `files` those named."""

    kind: Literal["said", "queued", "command", "shell"]
    text: str
    pictures: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class BaseFolder(Struct, frozen=True):
    """The folder that names are relative to."""

    folder: str

    def path(self, name: str) -> str:
        """Where a name leads."""
        return os.path.join(self.folder, os.path.expanduser(name))

    def has(self, name: str) -> bool:
        """Whether something is there."""
        try:
            return os.path.exists(self.path(name))
        except (OSError, ValueError):
            return False

    def shown(self, path: str) -> str:
        """A path as one writes it in this folder."""
        return path.removeprefix(os.path.realpath(self.folder).rstrip("/") + "/")


def meaning(
    text: str,
    attachments: Attachments,
    mentions: Mentions,
    place: BaseFolder,
    *,
    doing: Doing,
    queued: bool,
) -> Meaning:
    """What a text is; raises when it cannot be sent now."""
    if text.startswith("!") and text[1:].strip():
        command = attachments.expanded(text[1:].strip())
        check_terminal(command)
        return Meaning("shell", command)
    if is_command(text):
        return Meaning("command", attachments.expanded(text))
    return spoken(text, attachments, mentions, place, doing=doing, queued=queued)


def spoken(
    text: str,
    attachments: Attachments,
    mentions: Mentions,
    place: BaseFolder,
    *,
    doing: Doing,
    queued: bool = False,
) -> Meaning:
    """Words for the model, whatever they begin with, and what goes along with them."""
    named = mentioned(text, place.has)
    shown = [*attachments.pictures(text), *(one for one in named if is_picture(one))]
    if shown and (queued or doing == "working"):
        raise UsageProblem(
            "Images can only start a turn; they cannot be added to a running one.",
            try_this="Send them when the turn has ended, or stop it with Esc.",
        )
    whole = mentions.applied(attachments.expanded(text))
    pictures = tuple(dict.fromkeys(place.path(one) for one in shown))
    files = tuple(one for one in named if not is_picture(one))
    return Meaning("queued" if queued else "said", whole, pictures, files)


def dropped_paths(text: str) -> list[str]:
    """The files that a text names when it is nothing but their paths, as terminals paste them."""
    line = text.strip()
    begins = line.startswith(("/", "'/", '"/', "file://", "~/"))
    if not begins or "\n" in line or len(line) > LONGEST_DROP:
        return []
    try:
        words = shlex.split(line)
        paths = [unquote(urlsplit(one).path) if one.startswith("file://") else one for one in words]
    except ValueError:
        return []
    paths = [os.path.expanduser(path) for path in paths]
    whole = all(os.path.isabs(path) and "\0" not in path for path in paths)
    return paths if whole and all(os.path.isfile(path) for path in paths) else []
