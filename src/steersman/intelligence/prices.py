"""What a request costs, and what it is likely to cost before it is sent. Pure."""

from steersman.intelligence.table import Price, Rates
from steersman.records.dialogue import Tokens

MILLION = 1_000_000
USUAL_OUTPUT = 1_000  # tokens an answer with a tool call or two takes, when nobody knows better


def cost(price: Price | None, tokens: Tokens) -> float | None:
    """Dollars for the tokens of one request; None when the model has no price.

    What was read from the provider's cache, and what was put into it, has prices of its own.
    """
    if price is None:
        return None
    rates = rates_for(price, tokens.input)
    cached = rates.input if rates.cached is None else rates.cached
    put = rates.input if rates.written is None else rates.written
    kept = min(tokens.cached, tokens.input)
    fresh = tokens.input - kept
    written = min(tokens.written, fresh)
    return (
        (fresh - written) * rates.input
        + written * put
        + kept * cached
        + tokens.output * rates.output
    ) / MILLION


def estimate(
    price: Price | None, prompt_tokens: int, *, cached: int = 0, output: int = USUAL_OUTPUT
) -> float | None:
    """Dollars a prompt of so many tokens is likely to cost; None when the model has no price."""
    return cost(price, Tokens(input=prompt_tokens, cached=cached, output=output))


def rates_for(price: Price, prompt_tokens: int) -> Rates:
    """The rates that hold for a prompt of this length."""
    if price.above is not None and price.long is not None and prompt_tokens > price.above:
        return price.long
    return price
