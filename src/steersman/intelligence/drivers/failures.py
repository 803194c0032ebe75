"""Errors as providers send them: bodies of many shapes, and when to try again."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

LONGEST_WAIT = 24 * 3600.0


class Failure(Struct, frozen=True):
    """An error in a provider's own words: `code` is every word of it that is made for machines."""

    message: str = ""
    code: str = ""
    retry_after: float | None = None


class _Words(Struct):
    message: str = ""
    type: str | None = None
    code: str | int | None = None
    status: str | None = None


class _Body(Struct):
    error: _Words | str | None = None
    message: str | None = None
    detail: str | None = None


def read_failure(body: bytes) -> Failure | None:
    """An error body, in any of the shapes in use; None when it is none of them."""
    try:
        found = msgspec.json.decode(body, type=_Body | list[_Body])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if isinstance(found, list):  # Gemini wraps it in a list when it is not asked for events
        found = found[0] if found else _Body()
    error = found.error
    if isinstance(error, _Words):
        codes = (error.code, error.type, error.status)
        reasons = re.findall(r'"reason":\s*"(\w+)"', body.decode("utf-8", "replace"))
        delay = re.search(rb'"retryDelay":\s*"(\d+(?:\.\d+)?)s"', body)
        return Failure(
            error.message,
            " ".join([*(str(code) for code in codes if code), *reasons]),
            float(delay[1]) if delay else None,
        )
    said = error or found.message or found.detail
    return Failure(said) if said else None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """How many seconds a provider asks us to wait."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            seconds = float(value) / unit
        except ValueError:
            try:
                from email.utils import parsedate_to_datetime

                seconds = (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
            except (ValueError, TypeError):
                continue
        if seconds < LONGEST_WAIT:  # neither nan nor inf
            return max(seconds, 0.0)
    return None
