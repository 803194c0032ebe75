"""Where a model is reached: the environment of the providers' own clients is understood."""

import pytest

from steersman.intelligence.drivers import open_endpoint
from steersman.intelligence.drivers.endpoint import Timeouts, endpoint_for
from steersman.records.errors import UsageProblem


@pytest.mark.parametrize(
    ("provider", "environ", "base_url", "key", "headers"),
    [
        ("openai", {"OPENAI_API_KEY": "k"}, "https://api.openai.com/v1", "k", {}),
        ("openai-chat", {"OPENAI_API_KEY": " k\n"}, "https://api.openai.com/v1", "k", {}),
        ("openai", {"OPENAI_BASE_URL": "http://x/v1/"}, "http://x/v1", "", {}),
        (
            "openai",
            {"OPENAI_API_KEY": "k", "OPENAI_ORG_ID": "o", "OPENAI_PROJECT_ID": "p"},
            "https://api.openai.com/v1",
            "k",
            {"OpenAI-Organization": "o", "OpenAI-Project": "p"},
        ),
        ("anthropic", {"ANTHROPIC_API_KEY": "k"}, "https://api.anthropic.com", "k", {}),
        (
            "anthropic",
            {"ANTHROPIC_AUTH_TOKEN": "t"},
            "https://api.anthropic.com",
            "",
            {"Authorization": "Bearer t"},
        ),
        (
            "anthropic",
            {"ANTHROPIC_AUTH_TOKEN": "t", "ANTHROPIC_API_KEY": "k"},
            "https://api.anthropic.com",
            "k",
            {},
        ),
        ("anthropic", {"ANTHROPIC_BASE_URL": "http://x"}, "http://x", "", {}),
        (
            "gemini",
            {"GEMINI_API_KEY": "a", "GOOGLE_API_KEY": "b"},
            "https://generativelanguage.googleapis.com",
            "b",
            {},
        ),
        ("gemini", {"GOOGLE_GEMINI_BASE_URL": "http://x"}, "http://x", "", {}),
        ("ollama", {}, "http://127.0.0.1:11434/v1", "", {}),
        ("ollama", {"OLLAMA_HOST": "0.0.0.0"}, "http://127.0.0.1:11434/v1", "", {}),
        ("ollama", {"OLLAMA_HOST": ":8000"}, "http://127.0.0.1:8000/v1", "", {}),
        ("ollama", {"OLLAMA_HOST": "gpu:8000"}, "http://gpu:8000/v1", "", {}),
        ("ollama", {"OLLAMA_HOST": "gpu"}, "http://gpu:11434/v1", "", {}),
        ("ollama", {"OLLAMA_HOST": "https://gpu.example/"}, "https://gpu.example/v1", "", {}),
        ("ollama", {"OLLAMA_HOST": "http://gpu:8000"}, "http://gpu:8000/v1", "", {}),
    ],
)
def test_the_environment(provider, environ, base_url, key, headers) -> None:
    endpoint = endpoint_for(provider, environ)
    assert (endpoint.base_url, endpoint.key, endpoint.headers) == (base_url, key, headers)


def test_settings_come_before_the_environment() -> None:
    environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://env/v1", "MY_KEY": "mine"}
    endpoint = endpoint_for(
        "openai",
        environ,
        {
            "base_url": "http://set/v1",
            "key_env": "MY_KEY",
            "headers": {"X-Team": "a"},
            "timeouts": {"first_token": 5},
            "effort": "high",
        },
    )
    assert (endpoint.base_url, endpoint.key) == ("http://set/v1", "mine")
    assert endpoint.headers == {"X-Team": "a"}
    assert endpoint.timeouts == Timeouts(first_token=5)
    assert endpoint.effort == "high"


def test_a_provider_of_ones_own() -> None:
    endpoint = endpoint_for("house", {}, {"base_url": "http://127.0.0.1:8080/v1"})
    assert open_endpoint("openai-chat", "qwen", endpoint).model == "house:qwen"


def test_no_key_is_ever_shown() -> None:
    assert "hunter2" not in repr(endpoint_for("openai", {"OPENAI_API_KEY": "hunter2"}))


@pytest.mark.parametrize(
    ("provider", "environ", "settings", "words"),
    [
        ("openai", {}, {}, "There is no key for OpenAI."),
        ("openai", {}, {}, "set OPENAI_API_KEY; keys are made at https://platform.openai.com"),
        ("anthropic", {"ANTHROPIC_API_KEY": ""}, {}, "There is no key for Anthropic."),
        ("gemini", {}, {}, "set GEMINI_API_KEY"),
        ("house", {}, {}, "The provider “house” has no base_url."),
        ("house", {}, {"base_url": "http://x", "key_env": "MY_KEY"}, "MY_KEY is not set."),
        ("openai", {}, {"base_url": "localhost:8080"}, "is not an address"),
        ("openai", {}, {"base_url": "http://x:port"}, "is not an address"),
        ("openai", {}, {"base_url": "http://"}, "is not an address"),
        (
            "openai",
            {"OPENAI_API_KEY": "sk-…"},
            {},
            "contains a character that is not allowed in a header",
        ),
        ("openai", {"OPENAI_API_KEY": "a\nb"}, {}, "contains a character"),
        ("openai", {"OPENAI_API_KEY": "k"}, {"effrot": "high"}, "There is no `effrot`"),
        (
            "openai",
            {"OPENAI_API_KEY": "k"},
            {"timeouts": {"connect": "x"}},
            "`timeouts.connect` must be a number",
        ),
    ],
)
def test_what_is_missing_or_wrong_is_said(provider, environ, settings, words) -> None:
    with pytest.raises(UsageProblem) as caught:
        endpoint_for(provider, environ, settings)
    assert words in str(caught.value)


def test_an_unknown_provider_is_no_traceback() -> None:
    with pytest.raises(UsageProblem, match="no provider “opneai”"):
        open_endpoint("opneai", "m", endpoint_for("x", {}, {"base_url": "http://x"}))
