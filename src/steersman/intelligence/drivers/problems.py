"""What can go wrong between a driver and its provider, each as a sentence that says what to do.

Pure: what happened is given, a `DriverProblem` comes back.
"""

import re
from collections.abc import Mapping

from msgspec import Struct

from steersman.intelligence.drivers.failures import Failure, read_failure, retry_after
from steersman.records.errors import DriverProblem, Trouble
from steersman.records.patterns import pattern

RETRYABLE: frozenset[Trouble] = frozenset(
    {"rate_limit", "overloaded", "server", "timeout", "stall", "dropped", "empty"}
)

_CONTEXT = pattern(
    r"context[ _-]?(length|window|size)|(prompt|input|request) (is )?too (long|large)"
    r"|input token count|too many input tokens|maximum model length",
    re.IGNORECASE,
)
_IMAGE = pattern(
    r"image.*(not (be )?(support|accept|allow)|unsupported|disabled)"
    r"|(not support|unsupported|no endpoints? found|mmproj).*image|not a (multimodal|vision)",
    re.IGNORECASE | re.DOTALL,
)
_MODEL = pattern(r"\bmodels?\b", re.IGNORECASE)
_NO_CREDIT = pattern(
    r"insufficient.(quota|credit|balance)|billing|credit balance|exceeded your current quota",
    re.IGNORECASE,
)
_KEY = pattern(r"api[ _-]?key", re.IGNORECASE)
_REFUSED = pattern(r"content_policy|content_filter|invalid_prompt|safety|usage polic", re.I)
_AGAIN_IN = pattern(r"(?:try again|retry) in (\d+(?:\.\d+)?)\s*(ms|s)\b", re.IGNORECASE)


class Where(Struct, frozen=True):
    """Whom a sentence is about."""

    provider: str
    model: str
    base_url: str
    proxy: str = ""


def of_status(where: Where, status: int, headers: Mapping[str, str], body: bytes) -> DriverProblem:
    """An answer whose status is not 200."""
    failure = read_failure(body)
    if status == 407:
        return proxy_refuses(where, "It needs a user name and a password.")
    if 300 <= status < 400:
        to = headers.get("location", "another address")
        return not_an_api(where, f"It answers with status {status} and redirects to {to}.")
    if failure is None and status not in (401, 403, 408, 409, 429) and status < 500:
        return not_an_api(where, f"It answered with status {status} and {seen(headers, body)}.")
    failure = failure or Failure(_in_a_line(headers, body))
    if status in (404, 405) and kind_of(failure, status) == "bad_request":
        return not_an_api(where, f"It answered with status {status}: {failure.message}")
    again = retry_after(headers)
    failure = Failure(
        failure.message, failure.code, failure.retry_after if again is None else again
    )
    problem = of_failure(where, failure, status)
    wish = headers.get("x-should-retry")
    if wish in ("true", "false"):
        problem.retryable = wish == "true"
    return problem


def of_failure(where: Where, failure: Failure, status: int | None = None) -> DriverProblem:
    """An error that the provider put into words, as an answer or within a stream."""
    kind = kind_of(failure, status)
    again = failure.retry_after
    if again is None and (found := _AGAIN_IN.search(failure.message)):
        again = float(found[1]) / (1000 if found[2].lower() == "ms" else 1)
    said = f"{failure.code} {failure.message}"
    broke = kind == "rate_limit" and again is None and bool(_NO_CREDIT.search(said))
    what, try_this = _sentences(where, kind, status, again)
    if broke:
        what = f"The account at {where.provider} has no credit left."
        try_this = "Add credit there, or choose another model."
    return DriverProblem(
        what,
        failure.message or failure.code,
        try_this,
        status=status,
        retry_after=again,
        retryable=kind in RETRYABLE and not broke,
        kind=kind,
    )


def kind_of(failure: Failure, status: int | None) -> Trouble:
    """The kind of an error; what it says counts before its status, which is often only 400."""
    said = f"{failure.code} {failure.message}"
    rules: tuple[tuple[bool, Trouble], ...] = (
        (status == 429 or "rate_limit" in said or "RESOURCE_EXHAUSTED" in said, "rate_limit"),
        (status == 402 or bool(_NO_CREDIT.search(said)), "rate_limit"),
        (status == 413 or bool(_CONTEXT.search(said)), "context_length"),
        (bool(_IMAGE.search(failure.message)), "unsupported_image"),
        (status in (503, 529) or "overloaded" in said or "UNAVAILABLE" in said, "overloaded"),
        (status in (408, 504) or "timeout" in failure.code, "timeout"),
        (status is not None and (status >= 500 or status == 409), "server"),
        (_auth(failure, status), "auth"),
        (_about_model(failure) and (status == 404 or _missing(failure)), "model_not_found"),
        (bool(_REFUSED.search(said)), "refusal"),
        (status is None and not _is_ours(failure), "server"),
    )
    return next((kind for holds, kind in rules if holds), "bad_request")


def _auth(failure: Failure, status: int | None) -> bool:
    words = ("authentication", "permission", "UNAUTHENTICATED", "PERMISSION_DENIED", "API_KEY")
    named = any(word in failure.code for word in words) or "invalid_api_key" in failure.code
    return status in (401, 403) or named or (status == 400 and bool(_KEY.search(failure.message)))


def _about_model(failure: Failure) -> bool:
    return "model" in failure.code or bool(_MODEL.search(failure.message))


def _missing(failure: Failure) -> bool:
    said = f"{failure.code} {failure.message}".lower()
    return any(word in said for word in ("not found", "not_found", "not exist", "unknown model"))


def _is_ours(failure: Failure) -> bool:
    return "invalid_request" in failure.code or "INVALID_ARGUMENT" in failure.code


SENTENCES: dict[Trouble, tuple[str, str]] = {
    "auth": (
        "{name} does not accept the key{at}.",
        "Log in again with `steer login`. `steer doctor` checks the key.",
    ),
    "model_not_found": (
        "{name} has no model “{model}”.",
        "Check the name, or whether your account may use it.",
    ),
    "rate_limit": ("{name} is limiting requests{at}.", "Try again {later}."),
    "overloaded": ("{name} is overloaded{at}.", "Try again {later}, or choose another model."),
    "timeout": ("{name} timed out{at}.", "Try again {later}."),
    "server": ("{name} has an internal problem{at}.", "Try again {later}."),
    "context_length": (
        "The conversation is too long for {model}.",
        "Make it shorter with /compact, or choose a model with a larger window.",
    ),
    "unsupported_image": (
        "{model} cannot see this image.",
        "Describe it in words, give it as PNG or JPEG, or choose a model that accepts images.",
    ),
    "refusal": ("{name} refused the request.", "Rephrase it, or choose another model."),
    "bad_request": ("{name} does not understand the request{at}.", "Check the model's settings."),
}


def _sentences(
    where: Where, kind: Trouble, status: int | None = None, again: float | None = None
) -> tuple[str, str]:
    """What happened, and what to do about it."""
    facts = {
        "name": where.provider,
        "model": where.model,
        "at": f" (status {status})" if status else "",
        "later": f"in {again:g} s" if again else "later",
    }
    what, try_this = SENTENCES[kind]
    return what.format(**facts), try_this.format(**facts)


def _in_a_line(headers: Mapping[str, str], body: bytes) -> str:
    """What a body that is no API's error says, on one line."""
    if _is_page(body):
        return f"It answered with {seen(headers, body)}."
    return " ".join(body[:300].decode("utf-8", "replace").split())


def _is_page(body: bytes) -> bool:
    start = body[:2000].lower()
    return b"<html" in start or b"<!doctype" in start or b"<head" in start or b"<body" in start


def seen(headers: Mapping[str, str], body: bytes) -> str:
    """What came in place of an answer, in a few words."""
    if _is_page(body):
        title = re.search(rb"<(?:title|h1)[^>]*>([^<]{1,100})", body, re.IGNORECASE)
        words = " ".join(title[1].decode("utf-8", "replace").split()) if title else ""
        named = f" (“{words}”)" if words else ""
        return f"a web page{named}"
    kind = headers.get("content-type", "").partition(";")[0]
    said = " ".join(body[:120].decode("utf-8", "replace").split())
    return f"{kind or 'something'} that begins with “{said}”" if said else "nothing"


def not_an_api(where: Where, why: str) -> DriverProblem:
    """The address is not one where this provider's format is spoken."""
    return DriverProblem(
        f"{where.base_url} is not an API of {where.provider}.",
        why,
        "Check the address (base_url)."
        if where.base_url.endswith("/v1") or where.provider in ("Anthropic", "Gemini")
        else "Check the address (base_url): for most servers it ends in /v1.",
        kind="not_an_api",
    )


def no_first_token(where: Where, seconds: float) -> DriverProblem:
    """Nothing came in time."""
    return DriverProblem(
        f"{where.model} did not start to answer within {seconds:g} s.",
        f"{where.base_url} accepted the request and sent nothing.",
        "Try again, or raise timeouts.first_token; a local model may still be loading.",
        retryable=True,
        kind="timeout",
    )


def stalled(where: Where, seconds: float, place: str) -> DriverProblem:
    """The answer stopped on its way."""
    return DriverProblem(
        f"{where.model} stopped answering {place}.",
        f"Nothing came for {seconds:g} s.",
        "Try again, or raise timeouts.between_tokens.",
        retryable=True,
        kind="stall",
    )


def dropped(where: Where, place: str, why: str = "") -> DriverProblem:
    """The connection broke."""
    return DriverProblem(
        f"The connection to {where.provider} was cut {place}.",
        why or "The stream ended before the answer was complete.",
        "Try again.",
        retryable=True,
        kind="dropped",
    )


def unreadable(where: Where, data: bytes, why: str) -> DriverProblem:
    """An event of the stream is not what the format says."""
    said = data[:120].decode("utf-8", "replace")
    return DriverProblem(
        f"The stream of {where.provider} cannot be read.",
        f"{why.rstrip('.')}: “{said}”.",
        "Try again; if it happens again, the server does not speak this provider's format.",
        retryable=True,
        kind="server",
    )


def proxy_refuses(where: Where, why: str) -> DriverProblem:
    """The proxy said no."""
    named = f" {where.proxy}" if where.proxy else ""
    return DriverProblem(
        f"The proxy{named} refused the connection to {where.base_url}.",
        why,
        "Fix HTTPS_PROXY or HTTP_PROXY, or name the host in NO_PROXY.",
        kind="network",
    )


def blind(where: Where) -> DriverProblem:
    """An image for a model that is known not to see."""
    return DriverProblem(
        f"{where.model} cannot see images.",
        "The conversation contains one.",
        "Describe it in words, or choose a model that accepts images.",
        kind="unsupported_image",
    )
