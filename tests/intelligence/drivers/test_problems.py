"""Errors as providers really word them, and what they mean."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from steersman.intelligence.drivers.failures import read_failure, retry_after
from steersman.intelligence.drivers.problems import Where, of_status

WHERE = Where("OpenAI", "gpt-9", "https://api.openai.com/v1")


def told(status: int, body: Any, **headers: str) -> Any:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return of_status(WHERE, status, given, json.dumps(body).encode())


@pytest.mark.parametrize(
    ("status", "kind", "retryable", "error"),
    [
        (
            401,
            "auth",
            False,
            {"message": "Incorrect API key provided: sk-x.", "code": "invalid_api_key"},
        ),
        (
            400,
            "auth",
            False,
            {
                "code": 400,
                "message": "API key not valid.",
                "details": [{"reason": "API_KEY_INVALID"}],
            },
        ),
        (
            404,
            "model_not_found",
            False,
            {"message": "The model `gpt-9` does not exist", "code": "model_not_found"},
        ),
        (404, "model_not_found", False, {"type": "not_found_error", "message": "model: claude-9"}),
        (
            404,
            "model_not_found",
            False,
            {"message": "models/gemini-9 is not found for API version v1"},
        ),
        (404, "model_not_found", False, {"message": "model 'qwen9' not found"}),
        (404, "not_an_api", False, {"message": "Invalid URL (POST /responses)"}),
        (400, "context_length", False, {"message": "Too long.", "code": "context_length_exceeded"}),
        (
            400,
            "context_length",
            False,
            {"message": "prompt is too long: 210000 tokens > 200000 maximum"},
        ),
        (
            400,
            "context_length",
            False,
            {"message": "The input token count (1200000) exceeds the maximum"},
        ),
        (
            400,
            "context_length",
            False,
            {"message": "the request exceeds the available context size."},
        ),
        (400, "bad_request", False, {"message": "max_tokens is too large: 99999."}),
        (
            404,
            "unsupported_image",
            False,
            {"message": "No endpoints found that support image input"},
        ),
        (
            400,
            "unsupported_image",
            False,
            {"message": "image input is not supported; see the mmproj option"},
        ),
        (
            500,
            "unsupported_image",
            False,
            {"message": "image input is not supported - hint: mmproj"},
        ),
        (500, "context_length", False, {"message": "the input exceeds the context size"}),
        (500, "server", True, {"message": "context deadline exceeded"}),
        (429, "rate_limit", True, {"message": "Rate limit reached", "code": "rate_limit_exceeded"}),
        (
            429,
            "rate_limit",
            False,
            {"message": "You exceeded your current quota", "code": "insufficient_quota"},
        ),
        (402, "rate_limit", False, {"message": "Insufficient credits"}),
        (400, "rate_limit", False, {"message": "Your credit balance is too low"}),
        (529, "overloaded", True, {"type": "overloaded_error", "message": "Overloaded"}),
        (503, "overloaded", True, {"message": "The model is overloaded.", "status": "UNAVAILABLE"}),
        (
            400,
            "refusal",
            False,
            {"message": "Invalid prompt: against our usage policy", "code": "invalid_prompt"},
        ),
    ],
)
def test_the_words_of_providers(status, kind, retryable, error) -> None:
    problem = told(status, {"error": error})
    assert (problem.kind, problem.retryable) == (kind, retryable)
    assert problem.why
    assert problem.try_this
    assert ("steer login" in problem.try_this) is (kind == "auth")


def test_a_quota_that_comes_back_is_worth_waiting_for() -> None:
    error = {
        "code": 429,
        "message": "You exceeded your current quota, please check your plan and billing details.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"}],
    }
    problem = told(429, {"error": error})
    assert (problem.retryable, problem.retry_after) == (True, 37)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "99999999"}, None),
        ({}, None),
    ],
)
def test_when_to_try_again(headers, seconds) -> None:
    assert retry_after(headers) == seconds


def test_when_to_try_again_as_a_date() -> None:
    then = datetime.now(UTC) + timedelta(seconds=100)
    seconds = retry_after({"retry-after": format_datetime(then, usegmt=True)})
    assert seconds is not None
    assert 50 < seconds <= 100


def test_a_provider_may_say_that_trying_again_is_useless() -> None:
    body = {"error": {"message": "no"}}
    assert told(500, body, x_should_retry="false").retryable is False
    assert told(400, body, x_should_retry="true").retryable is True


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": "model is required"}', "model is required"),
        (b'{"message": "Unauthorized"}', "Unauthorized"),
        (b'{"detail": "Not Found"}', "Not Found"),
        (b'[{"error": {"code": 400, "message": "bad"}}]', "bad"),
        (b'{"object": "error", "message": "bad", "code": 40303}', "bad"),
        (b"{}", None),
        (b"[]", None),
        (b"<html>", None),
        (b"\xff", None),
    ],
)
def test_the_shapes_of_errors(body, message) -> None:
    failure = read_failure(body)
    assert (failure.message if failure else None) == message


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("<html>\n<head><title>502 Bad\n Gateway</title></head>\n<body>\n<hr>nginx\n</body></html>",
         "It answered with a web page (“502 Bad Gateway”)."),
        ("<!DOCTYPE html>\n<p>x", "It answered with a web page."),
        ("upstream\n  failed", "upstream failed"),
    ],
)  # fmt: skip
def test_a_body_that_is_no_api_s_error_is_one_line(body: str, why: str) -> None:
    assert of_status(WHERE, 502, {"content-type": "text/html"}, body.encode()).why == why
