"""Several models as one: when the next takes over, when it does not, and what is told."""

import asyncio

import msgspec
import pytest

from steersman.intelligence.configured import read_config
from steersman.intelligence.fallback import Choice, FallbackDriver, Switched
from steersman.intelligence.loop import NativeLoop
from steersman.intelligence.models import Models
from steersman.records.dialogue import Completed, Tokens
from steersman.records.errors import DriverProblem, UsageProblem
from steersman.records.message import Error, UsageReport
from tests.host.test_capsules import Tree
from tests.intelligence.asking import Fixed, asked


def trouble(kind, **how):
    return DriverProblem(f"It is {kind}.", "Because.", kind=kind, **how)


def chain(*drivers, **how):
    return FallbackDriver([Choice(d.model, lambda d=d: d) for d in drivers], **how)


@pytest.mark.parametrize(
    "kind", ["auth", "model_not_found", "not_an_api", "unsupported_image", "refusal", "network"]
)
def test_what_will_not_pass_is_left_at_once(kind):
    driver = chain(Fixed("a:1", trouble(kind)), Fixed("b:2", "Hello."))

    with pytest.raises(Switched) as told:
        asked(driver)

    assert told.value.what == "a:1 cannot continue; b:2 takes over."
    assert told.value.why == f"It is {kind}. Because."
    assert (told.value.retryable, told.value.retry_after) == (True, 0.0)
    assert (driver.model, told.value.before, told.value.model) == ("b:2", "a:1", "b:2")
    assert asked(driver).text == "Hello."


@pytest.mark.parametrize("kind", ["overloaded", "server", "timeout", "stall", "dropped", "empty"])
def test_what_may_pass_is_tried_again_first(kind):
    driver = chain(Fixed("a:1", trouble(kind, retryable=True)), Fixed("b:2", "Hello."))

    with pytest.raises(DriverProblem) as first:
        asked(driver)
    assert not isinstance(first.value, Switched)
    assert driver.model == "a:1"
    with pytest.raises(Switched):
        asked(driver)
    assert asked(driver).text == "Hello."


def test_a_model_that_recovers_is_kept():
    shaky = trouble("overloaded", retryable=True)
    driver = chain(Fixed("a:1", shaky, "Better.", shaky, "Again."), Fixed("b:2", "Hello."))

    for said in ("Better.", "Again."):
        with pytest.raises(DriverProblem, match="overloaded"):
            asked(driver)
        assert asked(driver).text == said
    assert driver.model == "a:1"


def test_a_model_that_wants_to_be_left_alone_for_long_is_left():
    busy = trouble("rate_limit", retryable=True, retry_after=3600.0)

    with pytest.raises(Switched):
        asked(chain(Fixed("a:1", busy), Fixed("b:2", "Hello.")))


@pytest.mark.parametrize("kind", ["context_length", "bad_request"])
def test_what_is_wrong_with_the_request_stays_wrong(kind):
    driver = chain(Fixed("a:1", trouble(kind)), Fixed("b:2", "Hello."))

    with pytest.raises(DriverProblem) as told:
        asked(driver)
    assert not isinstance(told.value, Switched)
    assert driver.model == "a:1"


def test_an_answer_that_is_only_a_refusal_goes_to_the_next_and_is_still_paid_for():
    refusal = Completed("I cannot help.", tokens=Tokens(input=9, output=3), stop="refusal")
    driver = chain(Fixed("a:1", refusal), Fixed("b:2", refusal))

    with pytest.raises(Switched) as told:
        asked(driver)
    assert told.value.tokens == Tokens(input=9, output=3)
    assert told.value.why == "The model refused to answer. I cannot help."
    assert asked(driver) == refusal, "the last word of the last model is an answer"


def test_the_last_problem_is_told_as_it_is():
    driver = chain(Fixed("a:1", trouble("auth")), Fixed("b:2", trouble("model_not_found")))

    with pytest.raises(Switched):
        asked(driver)
    with pytest.raises(DriverProblem, match="model_not_found") as told:
        asked(driver)
    assert not isinstance(told.value, Switched)


def test_a_model_that_cannot_even_be_opened_is_passed_over_and_named():
    def closed():
        raise UsageProblem("There is no key for OpenAI.")

    choices = [Fixed("a:1", trouble("auth")), Fixed("c:3", "Hello.")]
    first, last = (Choice(d.model, lambda d=d: d) for d in choices)
    driver = FallbackDriver([first, Choice("b:2", closed), last])

    with pytest.raises(Switched) as told:
        asked(driver)
    assert told.value.model == "c:3"
    assert "b:2: There is no key for OpenAI." in told.value.why


def test_lists_are_configured_by_model_or_for_all(script):
    first, second = script({"text": "1"}, name="1.json"), script({"text": "2"}, name="2.json")
    models = Models({}, read_config(fallback={first: [second, first], "*": "ollama:x"}))

    assert models.fallbacks(first) == (second,)
    assert models.fallbacks(second) == ("ollama:x",)
    assert models.fallbacks("ollama:x") == ()
    assert isinstance(models.open(first), FallbackDriver)
    assert models.open(first).model == first


def test_a_scripted_outage_is_survived(script):
    broken = script({"error": {"status": 401, "times": 9}}, name="broken.json")
    models = Models({}, read_config(fallback={broken: [script({"text": "I am here."})]}))

    driver = models.open(broken)

    with pytest.raises(DriverProblem) as told:
        asked(driver)
    assert told.value.retryable
    assert asked(driver).text == "I am here."


def test_in_a_turn_the_log_says_who_took_over_and_why(environ, workspace, script):
    broken = script(
        {"error": {"status": 401, "message": "bad key", "times": 9}}, name="broken.json"
    )
    works = script({"text": "I am here."}, name="works.json")
    driver = Models({}, read_config(fallback={broken: [works]})).open(broken)
    tree = Tree(environ, workspace, script, [{"text": "."}])
    tree.chief = msgspec.structs.replace(tree.chief, intelligence=NativeLoop(driver, 50))

    assert asyncio.run(tree.turn()).ending == "done"

    told = [m.body for m in tree.messages() if isinstance(m.body, Error | UsageReport)]
    assert [getattr(body, "what", "") for body in told] == [
        f"{broken} cannot continue; {works} takes over.",
        "",
    ]
    assert told[0].why == "The model answered with status 401. bad key"
    assert told[0].retry_in == 0.0
    assert told[1].model == works
