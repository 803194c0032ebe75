"""What can go wrong with a Postgres server, in sentences; no password is ever shown."""

import re
from collections.abc import Callable
from importlib import import_module
from urllib.parse import quote, urlsplit

from steersman.records.errors import StorageProblem, UsageProblem

_SECRETS = re.compile(r"((?:^|[?&\s])(?:password|sslpassword)=)[^&\s]*", re.IGNORECASE)
_FORM = "Set STEERSMAN_STORE to postgresql://USER:PASSWORD@HOST:PORT/DATABASE."
_REACH = (
    "Check the host and port in STEERSMAN_STORE, and that the server runs: `pg_isready -d URL`."
)


def psycopg_or_problem() -> None:
    """Raise where the driver is not installed."""
    try:
        import_module("psycopg")
    except ImportError as error:
        raise StorageProblem(
            "A Postgres store needs a driver that is not installed.",
            f"{error}.",
            "Install it: `pip install 'steersman[postgres]'`.",
        ) from error


def masked(url: str) -> str:
    """A URL without its password."""
    head, at, tail = url.rpartition("@")
    scheme, mark, rest = head.partition("://")
    user, colon, _ = rest.partition(":")
    shown = f"{scheme}{mark}{user}{':****' if colon else ''}{at}{tail}"
    return _SECRETS.sub(r"\1****", shown)


def plain(url: str, text: str) -> str:
    """What a library says, on one line and without the password."""
    try:
        password = urlsplit(url).password or ""
    except ValueError:
        password = ""
    for secret in {password, quote(password)} - {""}:
        text = text.replace(secret, "****")
    text = _SECRETS.sub(r"\1****", text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[0] if lines else "It gave no reason").rstrip(".") + "."


def malformed(url: str) -> UsageProblem:
    """A URL that no driver understands."""
    scheme = url.partition("://")[0]
    return UsageProblem(
        f"The store's URL is malformed: {scheme}://….",
        "A special character in the user name or password must be written in percent form, "
        "such as %40 for @.",
        _FORM,
    )


def unopened(url: str, error: Exception) -> StorageProblem:
    """Why a server could not be used, from what it said when it was called."""
    text = str(error)
    where = masked(url)
    why = plain(url, text.rpartition("FATAL: ")[2] if "FATAL: " in text else text)
    for pattern, sentence in _OPENING:
        if re.search(pattern, text):
            what, try_this = sentence(url)
            return StorageProblem(what, why, try_this)
    return StorageProblem(f"The Postgres server of {where} cannot be reached.", why, _REACH)


def _authentication(url: str) -> tuple[str, str]:
    return (
        f"The Postgres server of {masked(url)} refuses this user.",
        "Check the user name and password in STEERSMAN_STORE, and the server's pg_hba.conf.",
    )


def _database(url: str) -> tuple[str, str]:
    name = urlsplit(url).path.lstrip("/") or "steersman"
    return (
        f"The Postgres server of {masked(url)} has no such database.",
        f"Create it: `createdb {name}`.",
    )


def _crowded(url: str) -> tuple[str, str]:
    return (
        f"The Postgres server of {masked(url)} has no connection left.",
        "Stop other programs that use it, or raise its max_connections.",
    )


_OPENING: tuple[tuple[str, Callable[[str], tuple[str, str]]], ...] = (
    (r"database .* does not exist", _database),
    (r"authentication failed|no pg_hba.conf entry|role .* does not exist|no password supplied"
     r"|permission denied for database|is not permitted to log in", _authentication),
    (r"too many clients|connection slots|too many connections", _crowded),
)  # fmt: skip
LASTING = r"does not exist|authentication failed|no pg_hba|no password|permission denied"


def too_old(url: str, version: int, least: int) -> StorageProblem:
    """A server that lacks what the store needs."""
    return StorageProblem(
        f"The Postgres server of {masked(url)} is too old.",
        f"It is version {version // 10_000}; version {least // 10_000} or newer is needed.",
        "Update the server, or name another one in STEERSMAN_STORE.",
    )


def gone(url: str, seconds: float, error: Exception) -> StorageProblem:
    """A server that did not come back."""
    return StorageProblem(
        f"The connection to {masked(url)} was lost and did not come back.",
        f"Tried for {seconds:g} seconds; the last answer: {plain(url, str(error))}",
        "Continue with `steer resume` when the server runs again; the log so far is kept.",
    )


def refused(url: str, error: Exception, state: str | None) -> StorageProblem:
    """A statement the server did not carry out."""
    where, why = masked(url), plain(url, str(error))
    user = urlsplit(url).username or "USER"
    match (state or "")[:5]:
        case "42501":
            name = urlsplit(url).path.lstrip("/") or user
            return StorageProblem(
                f"The database user may not do what the store needs in {where}.",
                why,
                f"Let the database's owner run: GRANT CREATE ON DATABASE {name} TO {user}; "
                "or give the schema “steersman” to this user.",
            )
        case "53100":
            return StorageProblem(
                "There is no room left to write the log.",
                f"{where}: {why}",
                "Free some disk space on the server and continue with `steer resume`; "
                "the log so far is kept.",
            )
        case "25006":
            return StorageProblem(
                f"The database {where} is read-only.",
                why,
                "Name the primary server in STEERSMAN_STORE.",
            )
        case code if code.startswith("23"):
            return StorageProblem(
                "The new data does not match what is stored.",
                f"{where}: {why}",
                "`steer ledger verify` shows whether a thread is intact.",
            )
    return StorageProblem(f"The database {where} cannot be used.", why, _REACH)
