"""A server's own token: made once, kept in a file that nobody else can read.

Further tokens, with fewer rights, are in `tokens.py`."""

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_urlsafe

from msgspec import Struct

from steersman.identity.token_files import HTTP_TOKEN as HTTP_TOKEN
from steersman.identity.token_files import MCP_TOKEN as MCP_TOKEN
from steersman.identity.token_files import files, note
from steersman.records.errors import UsageProblem

VARIABLE = "STEERSMAN_TOKEN"  # has one for a server of someone else
SHORTEST = 16
MOST = 4096


class ServerToken(Struct, frozen=True):
    """A token and its file; `made`: it did not exist before."""

    text: str
    path: str
    made: bool = False


def own_token(chosen: str | None, folder: Path, name: str) -> ServerToken:
    """The token of a server: in the file that was chosen, or under a name in the data folder."""
    found = token_at(Path(chosen or folder / name))
    if chosen:
        note(folder, Path(chosen))
    return found


def token_at(path: Path) -> ServerToken:
    """The token in a file, which is written when there is none."""
    try:
        return ServerToken(_read(path), str(path))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UsageProblem(f"{path} cannot be read.", error.strerror or "") from error
    text = token_urlsafe(32)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return ServerToken(_read(path), str(path))  # another server has just made it
    except OSError as error:
        raise UsageProblem(f"{path} cannot be written.", error.strerror or "") from error
    with os.fdopen(handle, "w") as file:
        file.write(f"{text}\n")
    return ServerToken(text, str(path), made=True)


def token_for(path: str | None, environ: Mapping[str, str]) -> str:
    """The token for a server of someone else: in a file, else in `STEERSMAN_TOKEN`."""
    if not path:
        text = environ.get(VARIABLE, "").strip()
        if text:
            return _token(text, VARIABLE, "Set it to a token of the server.")
        raise UsageProblem(
            "A token is needed to connect.", try_this=f"Set {VARIABLE}, or pass --token-file FILE."
        )
    try:
        return _read(Path(path), "Write a token of the server into it.")
    except OSError as error:
        raise UsageProblem(f"{path} cannot be read.", error.strerror or "") from error


def tokens_in(folder: Path) -> set[str]:
    """The tokens that servers with this data folder have, as far as there are any."""
    found = set()
    for path in files(folder):
        with suppress(OSError, UsageProblem):
            found.add(_read(path))
    return found


def _read(path: Path, instead: str = "Remove the file; a new token is made.") -> str:
    with path.open("rb") as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        if mode & 0o077:
            raise UsageProblem(
                f"Others can read the token in {path}.",
                f"Its mode is {mode:o}.",
                f"Run chmod 600 {path}, and change the token if someone may have seen it.",
            )
        text = file.read(MOST).decode("utf-8", "replace").strip()
    return _token(text, str(path), instead)


def _token(text: str, where: str, instead: str) -> str:
    if len(text) < SHORTEST or not (text.isascii() and text.isprintable()) or " " in text:
        raise UsageProblem(
            f"{where} contains no token.",
            f"A token has at least {SHORTEST} characters and no spaces.",
            instead,
        )
    return text
