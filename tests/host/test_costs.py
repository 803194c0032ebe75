"""Every request is paid for once: totals, trees of agents, budgets, and models that take over."""

import asyncio
import json

import pytest

from steersman.governance.approvals import Desk
from steersman.governance.budgets import Budget
from steersman.governance.gate import Gate
from steersman.governance.policy import Circumstances
from steersman.identity.persona import Persona
from steersman.intelligence.configured import read_config
from steersman.intelligence.loop import NativeLoop
from steersman.intelligence.models import Models
from steersman.monitoring.cost import bills, requests, total
from steersman.operations.executor import Toolbox
from steersman.operations.tools import standard_tools
from steersman.records.errors import Exit
from steersman.records.limits import NO_LIMITS, Limits
from steersman.records.outcomes import ENDINGS
from steersman.records.settings import Budgets
from steersman.threads.capsule import Capsule, Unsteered
from tests.host.test_capsules import HAND, Tree
from tests.host.test_faults import POLICY, error
from tests.host.wires import RecordingStage, talking
from tests.intelligence.drivers.talking import http, loopback, sse
from tests.world import call

READ = call("workspace_read_file", path="calc.py")
CHEAP = {"input": 1.0, "cached": 0.1, "output": 10.0}  # dollars for a million tokens
DEAR = {"input": 5.0, "cached": 0.5, "output": 50.0}
USED = {"input": 1000, "cached": 400, "output": 50, "reasoning": 20}


def price(rates, usage):
    fresh = usage["input"] - usage.get("cached", 0)
    parts = (fresh, "input"), (usage.get("cached", 0), "cached"), (usage["output"], "output")
    return sum(count * rates[name] for count, name in parts) / 1_000_000


@pytest.fixture
def other():
    """Another model server."""
    stage = RecordingStage()
    yield stage
    stage.close()


def test_every_request_is_one_usage_message_with_its_price(online, workspace, stage, wire):
    model = f"{wire}:m-1"

    async def scenario(line):
        stage.play(
            {"tool_calls": [READ], "usage": USED},
            {"text": "Done.", "usage": USED, "error": {"status": 503, "retry_after": 0}},
        )
        await line.say("go")
        await line.say("again")
        bill = total(bills(requests(line.host.store, line.host.threads()), "model"))
        return line.bodies("usage"), bill, stage.statuses()

    models = {model: {"price": CHEAP}}
    usages, bill, statuses = talking(online, workspace, scenario, model=model, models=models)

    assert statuses.count(200) == len(usages) == bill.requests == 4
    assert {one.model for one in usages} == {model}
    assert [one.input for one in usages] == [1000] * 4
    assert [one.cached for one in usages] == [400] * 4
    assert usages[0].cost == pytest.approx(price(CHEAP, USED))
    assert bill.cost == pytest.approx(sum(one.cost for one in usages))
    assert all(one.ms >= one.first_token_ms >= 0 for one in usages)


def test_an_answer_that_never_came_is_paid_for_as_well(online, workspace, stage, wire):
    async def scenario(line):
        stage.play({"text": "", "usage": USED})
        end = await line.say("go")
        return end, line.bodies("usage")

    end, usages = talking(online, workspace, scenario, model=f"{wire}:m-1")
    assert end.ending == "failed"
    assert [one.input for one in usages] == [1000] * 4


class PaidTree(Tree):
    """The same tree; chief and mate play scripts, the hand is behind HTTP; all have prices."""

    def __init__(self, environ, folder, script, limits=NO_LIMITS):
        names = {name: f"scripted:{folder.parent}/{name}.json" for name in ("chief", "mate")}
        models = {name: {"price": DEAR} for name in names.values()}
        models["openai:m-1"] = {"price": CHEAP}
        self.models = Models(environ, read_config(models))
        self.budget = Budget(limits)
        super().__init__(environ, folder, paying(script), [{"text": "never played"}])

    def capsule(self, name, model, *children):
        if name == "hand":
            model = "openai:m-1"
            where = Circumstances(self.workspace.root, approvals="never")
            self.gate = Gate(where, Desk(attended=False), budget=self.budget)
        tools = [*standard_tools(self.environ, self.processes, self.runs), *children]
        return Capsule(
            identity=Persona(name, f"You are the {name}."),
            governance=self.gate,
            coordination=Unsteered(),
            intelligence=NativeLoop(self.models.open(model), 50, self.models.price),
            operations=Toolbox(tools, self.workspace, self.journal, self.gate),
        )

    async def turn(self):
        try:
            with self.log.watched_by(self.budget.observe):
                return await super().turn()
        finally:
            await self.models.aclose()


def paying(script):
    """Scripts whose every turn uses the same tokens."""
    return lambda *turns, name: script(*({**turn, "usage": USED} for turn in turns), name=name)


def test_one_number_for_a_tree_of_agents(online, workspace, stage, script, steer):
    stage.play({"tool_calls": [READ], "usage": USED}, {"text": "hand: ok", "usage": USED})
    tree = PaidTree(online, workspace, script)
    assert asyncio.run(tree.turn()).ending == "done"

    spent = list(requests(tree.host.store, tree.host.threads()))
    by_agent = {bill.name: bill for bill in bills(spent, "agent")}
    assert {name: bill.requests for name, bill in by_agent.items()} == {
        "chief": 2, "chief/operations/mate": 2, HAND: 2,
    }  # fmt: skip
    whole = total(by_agent.values())
    assert whole.requests == len([m for m in tree.messages() if m.kind == "usage"])
    assert whole.cost == pytest.approx(4 * price(DEAR, USED) + 2 * price(CHEAP, USED))

    tree.host.store.close()
    printed = steer("cost", "--json")
    lines = [json.loads(line) for line in printed.stdout.splitlines()]
    assert sum(line["cost"] for line in lines) == pytest.approx(whole.cost)
    assert sum(line["requests"] for line in lines) == whole.requests
    [hand] = [line for line in lines if line["model"] == "openai:m-1"]
    assert hand["cost"] == pytest.approx(2 * price(CHEAP, USED))


def test_a_budget_is_that_of_the_whole_tree(online, workspace, stage, script):
    stage.play({"tool_calls": [READ], "usage": USED}, {"text": "hand: ok", "usage": USED})
    limit = 2 * price(DEAR, USED) + price(CHEAP, USED)
    tree = PaidTree(online, workspace, script, Limits(cost=limit))
    with pytest.raises(Exception, match="budget of") as spent:
        asyncio.run(tree.turn())
    assert spent.value.exit is Exit.BUDGET_SPENT
    assert len(stage.bodies) == 1, "the hand had its first answer, and nobody a further one"


def test_a_turn_ends_when_its_budget_is_spent(online, workspace, stage, wire):
    model = f"{wire}:m-1"

    async def scenario(line):
        stage.play(*[{"tool_calls": [READ], "usage": USED}] * 9, {"text": "Done."})
        end = await line.say("go")
        return end, line.bodies("usage"), line.bodies("error")

    limits = Limits(cost=1.5 * price(CHEAP, USED))
    settings = {"models": {model: {"price": CHEAP}}, "budget": Budgets(run=limits)}
    end, usages, errors = talking(online, workspace, scenario, model=model, **settings)
    assert (end.ending, ENDINGS[end.ending]) == ("limit", Exit.BUDGET_SPENT)
    assert len(usages) <= 2, "what a request will cost is known about before it is sent"
    assert sum(usage.cost for usage in usages) <= 2 * price(CHEAP, USED)
    assert "--max-cost" in errors[-1].try_this


# --- models that take over --------------------------------------------------------------------


def two(wire, stage, other):
    """Settings with two servers, one behind the other."""
    end = "/v1" if wire.startswith("openai") else ""
    return {
        "model": "a:m-1",
        "providers": {
            "a": {"wire": wire, "base_url": stage.url + end},
            "b": {"wire": wire, "base_url": other.url + end},
        },
        "models": {"a:m-1": {"price": CHEAP}, "b:m-2": {"price": DEAR}},
        "fallback": {"a:m-1": ["b:m-2"]},
    }


def test_the_next_model_takes_over_in_an_outage(online, workspace, stage, other, wire):
    async def scenario(line):
        stage.play({"tool_calls": [READ], "usage": USED}, error(503, "down", times=50))
        other.play({"tool_calls": [READ]}, {"text": "Here.", "usage": USED}, {"text": "Still."})
        ends = [(await line.say("go")).ending, (await line.say("on")).ending]
        return ends, line.bodies("error"), line.bodies("usage"), await line.last_words()

    ends, errors, usages, words = talking(online, workspace, scenario, **two(wire, stage, other))
    assert (ends, words) == (["done", "done"], "Still.")
    assert [one.what for one in errors] == [
        "a is overloaded (status 503).", "a:m-1 cannot continue; b:m-2 takes over.",
    ]  # fmt: skip
    assert "down" in errors[-1].why
    assert [one.model for one in usages] == ["a:m-1", "b:m-2", "b:m-2"]
    assert usages[0].cost == pytest.approx(price(CHEAP, USED))
    assert usages[1].cost == pytest.approx(price(DEAR, USED))
    assert stage.statuses() == [200, 503, 503], "the one that is down is left alone afterwards"


@pytest.mark.parametrize("status", [401, 404])
def test_the_next_model_takes_over_when_one_cannot_be_used(
    online, workspace, stage, other, wire, status
):
    async def scenario(line):
        stage.play(error(status, "The model `m-1` does not exist", times=50))
        other.play({"text": "Here."})
        end = await line.say("go")
        return end, line.bodies("error")

    end, errors = talking(online, workspace, scenario, **two(wire, stage, other))
    assert end.ending == "done"
    assert [one.what for one in errors] == ["a:m-1 cannot continue; b:m-2 takes over."]


def test_the_next_model_takes_over_after_a_refusal(online, workspace, stage, other, wire):
    async def scenario(line):
        stage.play(error(400, POLICY, times=50))
        other.play({"text": "Gladly."})
        end = await line.say("go")
        return end, line.bodies("error"), line.bodies("usage"), await line.last_words()

    end, errors, usages, words = talking(online, workspace, scenario, **two(wire, stage, other))
    assert (end.ending, words) == ("done", "Gladly.")
    assert POLICY in errors[0].why
    assert [one.model for one in usages] == ["b:m-2"]


def refused(*words):
    """An answer of Anthropic that stops as a refusal, after so many words."""
    said = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}
        for word in words
    ]
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}
    return sse(
        {"type": "message_start", "message": {"usage": {"input_tokens": 1000}}},
        *([block, *said, {"type": "content_block_stop", "index": 0}] if said else []),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "refusal"},
            "usage": {"output_tokens": 50},
        },
        {"type": "message_stop"},
    )


@pytest.mark.parametrize("words", [(), ("I ", "may not.")])
def test_a_refusal_is_billed_to_the_model_that_refused(online, workspace, other, words):
    async def scenario(line):
        other.play({"text": "Gladly.", "usage": USED})
        end = await line.say("go")
        return end, line.bodies("usage"), await line.last_words()

    async def whole():
        async with loopback(http(refused(*words))) as server:
            settings = two("anthropic", server, other)
            return await asyncio.to_thread(talking, online, workspace, scenario, **settings)

    end, usages, said = asyncio.run(whole())
    assert (end.ending, said) == ("done", "Gladly.")
    assert [(one.model, one.input, one.output) for one in usages] == [
        ("a:m-1", 1000, 50), ("b:m-2", 1000, 50),
    ]  # fmt: skip
    assert usages[0].cost == pytest.approx(price(CHEAP, {"input": 1000, "output": 50}))


def test_when_nobody_is_left_the_last_problem_is_told(online, workspace, stage, other, wire):
    async def scenario(line):
        stage.play(error(401, "no", times=50))
        other.play(error(401, "neither", times=50))
        end = await line.say("go")
        other.play({"text": "Back."})
        return end, line.bodies("error"), (await line.say("now?")).ending

    end, errors, after = talking(online, workspace, scenario, **two(wire, stage, other))
    assert end.ending == "failed"
    assert [one.retry_in for one in errors] == [0.0, None]
    assert "does not accept the key" in errors[-1].what
    assert after == "done"
