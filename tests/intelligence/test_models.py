"""Choosing a model: names, configured providers, roles, keys, and sentences for what is wrong."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from steersman.intelligence.configured import Config, read_config, secrets
from steersman.intelligence.models import Models, open_driver
from steersman.records.dialogue import Tokens
from steersman.records.errors import SteersmanError, UsageProblem
from tests.intelligence.asking import asked
from tests.intelligence.model_server.conftest import Stage

KEYS = {
    "OPENAI_API_KEY": "sk-1",
    "ANTHROPIC_API_KEY": "sk-2",
    "GEMINI_API_KEY": "sk-3",
}


@pytest.fixture(scope="module")
def stage():
    """A model server on loopback."""
    stage = Stage()
    stage.play({"text": "Hello."})
    yield stage
    stage.close()


def models(environ=None, **tables):
    return Models(environ or {}, read_config(**tables))


@pytest.mark.parametrize(
    "name",
    ["openai:gpt-5", "openai-chat:gpt-5", "anthropic:claude-opus-5", "gemini:gemini-3.8-flash"],
)
def test_a_model_is_named_by_its_provider(name):
    assert models(KEYS).open(name).model == name


def test_ollama_needs_no_key():
    assert models().open("ollama:qwen3:8b").model == "ollama:qwen3:8b"


@pytest.mark.parametrize(
    ("variable", "path", "name"),
    [
        ("OPENAI_BASE_URL", "/v1", "openai:m"),
        ("OPENAI_BASE_URL", "/v1", "openai-chat:m"),
        ("ANTHROPIC_BASE_URL", "", "anthropic:m"),
        ("GOOGLE_GEMINI_BASE_URL", "", "gemini:m"),
        ("OLLAMA_HOST", "", "ollama:m"),
    ],
)
def test_the_variables_of_the_makers_own_clients_are_honoured(stage, variable, path, name):
    driver = models({**KEYS, variable: stage.url + path}).open(name)

    assert asked(driver).text == "Hello."


def test_a_provider_of_ones_own(stage):
    own = models(
        {"GPU_KEY": "secret-1"},
        providers={"gpu": {"wire": "openai-chat", "base_url": f"{stage.url}/v1",
                           "key_env": "GPU_KEY", "headers": {"X-Team": "blue"}}},
    )  # fmt: skip

    driver = own.open("gpu:llama")

    assert driver.model == "gpu:llama"
    assert asked(driver).text == "Hello."


def test_a_name_of_ones_own_is_what_the_log_carries(stage):
    own = models(
        providers={"gpu": {"wire": "anthropic", "base_url": stage.url}},
        models={"fast": {"provider": "gpu", "model": "qwen3-coder:30b", "context": 40_000,
                         "price": {"input": 1, "output": 2}}},
    )  # fmt: skip

    driver = own.open("fast")

    assert driver.model == "fast"
    assert asked(driver).text == "Hello."
    assert own.facts("fast").context == 40_000
    assert own.facts("gpu:qwen3-coder:30b").context == 262_144
    assert own.price("fast", Tokens(input=1_000_000)) == 1.0


def test_facts_about_a_model_can_be_corrected():
    own = models(models={"openai:gpt-5": {"context": 272_000}})

    assert own.facts("openai:gpt-5").context == 272_000
    assert own.facts("openai:gpt-5").price is not None


def test_what_runs_on_ones_own_machine_costs_nothing_and_what_nobody_knows_is_unknown():
    own = models(
        providers={
            "lab": {"wire": "openai-chat", "base_url": "http://127.0.0.1:8000/v1"},
            "far": {"wire": "openai-chat", "base_url": "http://10.0.0.9:80/v1", "ssh": "ssh://gpu"},
            "shop": {"wire": "openai-chat", "base_url": "https://llm.example/v1"},
        }
    )
    tokens = Tokens(input=1000, output=10)

    assert own.price("ollama:qwen3", tokens) == 0.0
    assert own.price("lab:x", tokens) == 0.0
    assert own.price("far:x", tokens) == 0.0
    assert own.price("shop:x", tokens) is None
    assert own.price("openai:gpt-5", tokens) == pytest.approx(0.00135)
    assert own.estimate(1000, "openai:gpt-5") == pytest.approx(0.01125)


ROLES = {"planner": "openai:gpt-5", "implementer": "ollama:small", "compaction": "ollama:tiny"}


@pytest.mark.parametrize(
    ("name", "role", "chosen"),
    [
        ("ollama:big", "implementer", "ollama:big"),
        ("", "implementer", "ollama:small"),
        ("ollama:big", "planner", "openai:gpt-5"),
        ("ollama:big", "compaction", "ollama:tiny"),
        ("ollama:big", "reviewer", "ollama:big"),
        ("", "completion", ""),
    ],
)
def test_a_role_may_have_a_model_of_its_own(name, role, chosen):
    assert models(roles=ROLES).choose(name, role) == chosen


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nobody:x", "There is no provider “nobody”."),
        ("openai:", "“openai:” names no model."),
        ("scripted:", "“scripted:” names no model."),
        ("gpt-5", "Did you mean openai:gpt-5?"),
        ("claude-opus-5-5", "Did you mean anthropic:claude-opus-5-5?"),
        ("nonsense", '[models."nonsense"]'),
        ("openai:gpt-5", "OPENAI_API_KEY is not set."),
        ("anthropic:claude-opus-5", "ANTHROPIC_API_KEY is not set."),
        ("gemini:gemini-3.8-flash", "GEMINI_API_KEY is not set."),
        ("auto", "steer bench models"),
        ("gpu:m", "GPU_KEY is not set."),
    ],
)
def test_what_cannot_be_opened_is_told_in_a_sentence(name, says):
    own = models(
        providers={"gpu": {"wire": "openai", "base_url": "https://gpu/v1", "key_env": "GPU_KEY"}}
    )

    with pytest.raises(UsageProblem) as refusal:
        own.open(name)
    assert says in str(refusal.value)


def test_without_a_model_the_key_that_was_found_decides():
    assert "claude-" in models({"ANTHROPIC_API_KEY": "k"}).open("").model


def test_a_scripted_model_needs_nothing(script):
    name = script({"text": "Hi."})

    assert asked(open_driver(name)).text == "Hi."
    assert models().price(name, Tokens(input=5)) is None


@pytest.mark.parametrize(
    ("tables", "key", "says"),
    [
        ({"models": {"x": {"contxt": 5}}}, '[models."x"]', "contxt"),
        ({"models": {"x": {"context": 0}}}, '[models."x"]', "`context` must be"),
        ({"models": {"x": {"provider": "y"}}}, '[models."x"] provider', "no provider “y”"),
        ({"models": {"x": {"price": {"input": 1}}}}, '[models."x"]', "output"),
        ({"models": {"auto": {"provider": "openai"}}}, '[models."auto"]', "cannot be the name"),
        ({"providers": {"x": {"base_url": "http://h"}}}, '[providers."x"] wire', "wire format"),
        ({"providers": {"x": {"wire": "grpc"}}}, '[providers."x"]', "`wire` cannot be"),
        ({"providers": {"x": {"wire": "openai"}}}, '[providers."x"] base_url', "no address"),
        ({"providers": {"a:b": {"wire": "openai"}}}, '[providers."a:b"]', "cannot be the name"),
        ({"providers": {"scripted": {"wire": "openai"}}}, '[providers."scripted"]', "cannot be"),
        (
            {"providers": {"x": {"wire": "openai", "base_url": "http://h/v1", "ssh": "gpu"}}},
            '[providers."x"] ssh',
            "“gpu” is not an SSH address.",
        ),
        (
            {"providers": {"x": {"wire": "openai", "base_url": "https://h", "ssh": "ssh://g"}}},
            '[providers."x"] base_url',
            "http://",
        ),
        ({"roles": {"cook": "m"}}, "[roles] cook", "no role “cook”"),
        ({"roles": {"planner": 5}}, "[roles] planner", "name of a model"),
        ({"fallback": {"m": []}}, '[fallback] "m"', "list of models"),
        ({"fallback": {"m": [1]}}, '[fallback] "m"', "list of models"),
    ],
)
def test_a_wrong_setting_is_named_by_its_key(tables, key, says):
    with pytest.raises(UsageProblem) as refusal:
        read_config(**tables)
    assert refusal.value.what == f"{key} in config.toml is not valid."
    assert says in refusal.value.why


def test_nothing_configured_is_nothing():
    assert read_config() == read_config({}, {}, {}, {}) == Config()


def test_keys_and_headers_of_ones_own_are_known_as_secrets():
    own = read_config(
        providers={"x": {"wire": "openai", "base_url": "http://h/v1", "key_env": "MY_X"}},
        models={"y": {"provider": "x", "headers": {"X-Pass": "hush"}, "key_env": "ABSENT"}},
    )

    assert secrets(own, {"MY_X": "s3cret"}) == ["s3cret", "hush"]


@given(some.text() | some.sampled_from(["scripted", "openai", "ollama"]).flatmap(
    lambda provider: some.text().map(lambda name: f"{provider}:{name}")
))  # fmt: skip
@example("scripted:~nobody/x")
@example("scripted:\0")
@example("scripted:.")
def test_any_name_is_a_model_or_a_sentence(name):
    told = "."
    try:
        assert models(KEYS).open(name).model
    except SteersmanError as problem:
        told = problem.what
    assert told.endswith(".")


KEYWORDS = ["x", "wire", "base_url", "ssh", "provider", "price", "input", "planner", "openai"]
words = some.text(max_size=5) | some.sampled_from(["openai", "http://h/v1", "ssh://g", "x"])
json = some.recursive(
    some.none() | some.booleans() | some.integers() | words,
    lambda inner: (
        some.lists(inner, max_size=3)
        | some.dictionaries(some.sampled_from(KEYWORDS), inner, max_size=4)
    ),
    max_leaves=8,
)
tables = some.dictionaries(
    some.sampled_from(["models", "providers", "roles", "fallback"]),
    some.dictionaries(some.sampled_from(KEYWORDS), json, max_size=3),
)


@given(tables)
def test_whatever_is_in_the_settings_is_read_or_refused_in_a_sentence(given_tables):
    told = " in config.toml is not valid."
    try:
        read_config(**given_tables)
    except UsageProblem as problem:
        told = problem.what
    assert told.endswith(" in config.toml is not valid.")
