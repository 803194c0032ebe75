"""The token a client must show: made once, kept in a file that nobody else can read."""

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_urlsafe

from msgspec import Struct

from steersman.records.errors import UsageProblem

HTTP_TOKEN, MCP_TOKEN = "http-token", "mcp-token"  # in the data folder
VARIABLE = "STEERSMAN_TOKEN"  # has one for a server of someone else
SHORTEST = 16
MOST = 4096


class Token(Struct, frozen=True):
    """A token and its file; `made`: it did not exist before."""

    text: str
    path: str
    made: bool = False


def token_at(path: Path) -> Token:
    """The token in a file, which is written when there is none."""
    try:
        return Token(_read(path), str(path))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UsageProblem(f"{path} cannot be read.", error.strerror or "") from error
    text = token_urlsafe(32)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return Token(_read(path), str(path))  # another server has just made it
    except OSError as error:
        raise UsageProblem(f"{path} cannot be written.", error.strerror or "") from error
    with os.fdopen(handle, "w") as file:
        file.write(f"{text}\n")
    return Token(text, str(path), made=True)


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
    """The tokens that servers keep in a data folder, as far as there are any."""
    found = set()
    for name in (HTTP_TOKEN, MCP_TOKEN):
        with suppress(OSError, UsageProblem):
            found.add(_read(folder / name))
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
