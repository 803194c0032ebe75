"""A scripted model behind the HTTP interfaces of the model providers."""

from collections.abc import Callable
from pathlib import Path

from steersman.records.errors import SteersmanError

Say = Callable[[str], None]


def serve(file: Path, *, host: str, port: int, log: Path | None, ready: Say, complain: Say) -> None:
    """Play a script to clients until the process ends; `ready` gets the address."""
    try:
        from steersman.intelligence.scripted.server import serve as play
    except ModuleNotFoundError as error:
        if error.name != "h11":
            raise
        raise SteersmanError(
            "The model server needs the package h11.",
            "It is not installed.",
            'Install it: pip install "steersman[model-server]"',
        ) from error
    play(file, host=host, port=port, log=log, ready=ready, complain=complain)
