"""Tokens are counted by the provider's tokenizer where it is at hand, and estimated elsewhere."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.intelligence.tokens import Counter, counter_for
from steersman.records.dialogue import (
    AssistantItem,
    Call,
    Image,
    ProviderState,
    ResultItem,
    ToolSpec,
    UserItem,
)

# Counted with o200k_base and with the tokenizer that Anthropic once published.
MEASURED = [
    (
        "prose",
        "The steersman holds the course; the crew rows. Everything that happens is written down "
        "in one log, and everyone who wants to know reads that log. Nothing else is the truth.",
        38,
        38,
    ),
    (
        "code",
        "def find_thread(store: Store, wanted: str) -> Thread:\n    found = store.thread(wanted)\n"
        "    if found is not None:\n        return found\n    matches = store.matching(wanted)\n"
        "    if len(matches) == 1:\n        return matches[0]\n",
        57,
        60,
    ),
    (
        "JSON",
        '{"seq":17,"time":"2026-05-01T10:00:00.000Z","turn":2,"kind":"tool_result","corr":"c_9",'
        '"body":{"tool":"workspace_read_file","status":"ok","output":{"total_lines":120}}}',
        58,
        61,
    ),
    ("Chinese", "舵手掌握航向，船员划桨。发生的一切都写在一本日志里，想知道的人就去读它。", 32, 41),
    ("Russian", "Рулевой держит курс, команда гребёт. Всё, что происходит, записано.", 20, 37),
]


@pytest.mark.parametrize(("what", "text", "openai", "anthropic"), MEASURED)
def test_an_estimate_is_near_what_real_tokenizers_count(what, text, openai, anthropic):
    assert Counter("openai").count(text) == pytest.approx(openai, rel=0.3)
    assert Counter("anthropic").count(text) == pytest.approx(anthropic, rel=0.3)


@given(st.text())
def test_any_text_can_be_counted(text):
    count = Counter().count(text)
    assert (count == 0) if not text else (0 < count <= 5 * len(text.encode(errors="replace")) + 1)


def test_half_a_character_does_not_hurt():
    assert Counter().count("\ud800 and \udfff") > 0


def test_of_a_very_long_text_samples_are_counted_and_come_near_the_whole():
    lines = [f"{n}\tvalue_{n % 97} = compute({n}, name='{n % 13}')\n" for n in range(40_000)]
    counter = Counter()
    whole = sum(counter.units("".join(lines[a:b])) for a, b in pairwise(range(0, 40_001, 100)))
    assert counter.units("".join(lines)) == pytest.approx(whole, rel=0.05)


def test_reports_of_the_provider_correct_the_estimate():
    counter = Counter()
    text = "some words of no great weight " * 500
    first = counter.count(text)
    counter.calibrate(first, round(1.3 * first))  # too few is believed at once
    assert counter.count(text) == pytest.approx(1.3 * first, rel=0.01)
    for _ in range(20):
        counter.calibrate(counter.count(text), first)  # too many, little by little
    assert counter.count(text) == pytest.approx(first, rel=0.02)


@given(st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**7))))
def test_whatever_is_reported_the_correction_stays_sane(reports):
    counter = Counter()
    for estimated, reported in reports:
        counter.calibrate(estimated, reported)
        assert 0.4 <= counter.ratio <= 3.0


def test_units_do_not_move_when_the_correction_does():
    counter = Counter()
    units = counter.units("hello there")
    counter.calibrate(1_000, 2_000)
    assert counter.units("hello there") == units
    assert counter.count("hello there") == counter.tokens(units)


def test_everything_that_is_sent_counts():
    counter = Counter()
    call = Call("c", "read", {"path": "a.py"})
    state = ProviderState("p", "m", ({"signature": "x" * 400},))
    bare = counter.of_item(AssistantItem("Looking.", "", (call,)))
    assert bare > counter.of_item(AssistantItem("Looking.", "", ()))
    assert counter.of_item(AssistantItem("Looking.", "hm " * 50, (call,), state)) > bare + 50
    assert counter.of_item(UserItem("see", images=(Image("image/png", ""),))) > 1_000
    assert counter.of_item(ResultItem("c", "two words")) > counter.units("two words")
    assert counter.of_frame("You are.", (ToolSpec("t", "d", {"type": "object"}),)) > 15


FAMILIES = [
    ("openai:gpt-5.2", "openai"),
    ("gpt-4o-mini", "openai"),
    ("openrouter:openai/o4-mini", "openai"),
    ("anthropic:claude-opus-4-5", "anthropic"),
    ("openrouter:anthropic/claude-3.7-sonnet", "anthropic"),
    ("gemini:gemini-3-pro", "other"),
    ("ollama:qwen3:8b", "other"),
    ("scripted:/some/file.json", "other"),
    ("", "other"),
]


@pytest.mark.parametrize(("model", "family"), FAMILIES)
def test_a_model_is_counted_by_its_family(model, family, tmp_path):
    assert counter_for(model, {"TIKTOKEN_CACHE_DIR": str(tmp_path)}).family == family


def test_a_vocabulary_that_would_have_to_be_fetched_is_not_used(tmp_path):
    counter = counter_for("openai:gpt-5.2", {"TIKTOKEN_CACHE_DIR": str(tmp_path)})
    assert counter.count("hello") >= 1
    assert not list(tmp_path.iterdir())
