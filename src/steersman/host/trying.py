"""A model tried with a tiny request, and what that cost, in words."""

from msgspec import Struct

from steersman.intelligence.models import Models
from steersman.intelligence.trial import try_model
from steersman.records.counting import counted
from steersman.records.errors import DriverProblem

# The key is accepted, and the model is there: only not now.
_LATER = ("rate_limit", "overloaded", "server", "stall", "dropped", "empty", "refusal")

NO_CALL = "It did not call the tool of the test; if it never calls tools, choose another model."


class Attempt(Struct, frozen=True):
    """What came of it, in a sentence; `works` when it does with tools."""

    works: bool
    told: str


async def attempt(models: Models, model: str) -> Attempt:
    """Ask a model to call a tool.

    Raises `DriverProblem` when the key is refused, there is no such model, or nobody answers.
    """
    try:
        tried = await try_model(models.open(model))
    except DriverProblem as problem:
        if problem.kind not in _LATER:
            raise
        return Attempt(False, f"{problem.what} {problem.why}".strip())
    finally:
        await models.aclose()
    price = models.price(model, tried.tokens)
    cost = "" if price is None else f", ${price:.4f}" if price else ", free"
    tokens = counted(tried.tokens.input + tried.tokens.output, "token")
    used = f"{tried.seconds:g} s, {tokens}{cost}"
    if tried.refused:
        why = " ".join(tried.refused.split())[:200]
        return Attempt(False, f"It answered ({used}). It refused a test with a tool: {why}")
    if not tried.calls:
        return Attempt(False, f"It answered ({used}). {NO_CALL}")
    return Attempt(True, f"It answered and called a tool ({used}).")
