"""How hard a model is to think, in each provider's words; what a name shows about a model.

Newer models take a level, older ones a budget of tokens, and some cannot be asked at all.
"""

from typing import Any

from steersman.intelligence.drivers.endpoint import Endpoint
from steersman.records.patterns import pattern

CLAUDE_BUDGETS = {"low": 2048, "medium": 8192, "high": 16384, "xhigh": 24576, "max": 30000}
GEMINI_BUDGETS = {"none": 0, "minimal": 512, "low": 1024, "medium": 8192, "high": 24576}
GEMINI_LEVELS = {"none": "minimal", "xhigh": "high", "max": "high"}
_OPENAI = pattern(r"(o\d|gpt-([5-9]|\d\d)|codex)")
_OLD_CLAUDE = pattern(r"claude-(3|instant|2|\w+-4(-[0-5])?(-\d{8}|@|$))")
_OLD_GEMINI = pattern(r"(models/)?gemini-(1|2)\b")


def openai_thinks(name: str, endpoint: Endpoint) -> bool:
    """Whether a model reasons; asking another one to is an error."""
    if endpoint.thinks is not None:
        return endpoint.thinks
    return endpoint.effort is not None or bool(_OPENAI.match(name) and "-chat" not in name)


def anthropic_thinking(name: str, effort: str, limit: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields `thinking` and `output_config`; `limit` is all that may be said."""
    if effort == "none":
        return {"type": "disabled"}, {}
    effort = "low" if effort == "minimal" else effort
    if _OLD_CLAUDE.match(name):
        budget = max(min(CLAUDE_BUDGETS.get(effort, 8192), limit - 1024), 1024)
        return {"type": "enabled", "budget_tokens": budget}, {}
    return {"type": "adaptive", "display": "summarized"}, {"effort": effort}


def gemini_thinking(name: str, effort: str | None) -> dict[str, Any]:
    """The field `thinkingConfig`."""
    config: dict[str, Any] = {"includeThoughts": True}
    if effort is None:
        return config
    if _OLD_GEMINI.match(name):
        return config | {"thinkingBudget": GEMINI_BUDGETS.get(effort, GEMINI_BUDGETS["high"])}
    return config | {"thinkingLevel": GEMINI_LEVELS.get(effort, effort).upper()}
