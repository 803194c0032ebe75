"""Several models as one: when one is out of order or refuses, the next takes over, and says so.

A switch is reported by raising `Switched`: what the first model had begun to say is void, the loop
writes the reason down and asks again, and the next model answers from the beginning.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from steersman.records.dialogue import Completed, Driver, Event, Prompt, Tokens, Unanswered
from steersman.records.errors import DriverProblem, SteersmanError, Trouble

# Another model may do what this one cannot. What is wrong with the request itself stays wrong.
ELSEWHERE: frozenset[Trouble] = frozenset(
    {"auth", "model_not_found", "rate_limit", "overloaded", "server", "network", "timeout",
     "stall", "dropped", "refusal", "not_an_api", "unsupported_image", "empty"}
)  # fmt: skip
TRIES = 2  # of a model that may recover, before the next one is asked
LONGEST_WAIT = 30.0  # seconds; a model that wants to be left alone longer is out of order


class Switched(DriverProblem):
    """Another model takes over: `model` from now on. `tokens` are what the one before it used."""

    def __init__(
        self, problem: SteersmanError, before: str, model: str, tokens: Tokens | None = None
    ) -> None:
        why = " ".join(part for part in (problem.what, problem.why) if part)
        kind = problem.kind if isinstance(problem, DriverProblem) else "auth"
        super().__init__(
            f"{before} cannot continue; {model} takes over.",
            why,
            retryable=True,
            retry_after=0.0,
            kind=kind,
        )
        self.before = before
        self.model = model
        self.tokens = tokens


class Choice:
    """A model by its name, opened when it is needed."""

    def __init__(self, name: str, opener: Callable[[], Driver]) -> None:
        self.name = name
        self._opener = opener
        self._driver: Driver | None = None

    def driver(self) -> Driver:
        """The driver; raises when it cannot be opened."""
        if self._driver is None:
            self._driver = self._opener()
        return self._driver


class FallbackDriver:
    """The first of several models that works. The one in use stays in use."""

    def __init__(self, choices: Sequence[Choice], tries: int = TRIES) -> None:
        self._choices = list(choices)
        self._tries = tries
        self._failures = 0
        self._now = self._choices[0].driver()

    @property
    def model(self) -> str:
        """The model that answers now."""
        return self._now.model

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Event, None]:
        """One answer of the model in use, or `Switched`, or its problem when it was the last."""
        try:
            async with aclosing(self._now.stream(prompt)) as events:
                async for event in events:
                    if isinstance(event, Completed):
                        self._check_refusal(event)
                        self._failures = 0
                    yield event
        except Switched:
            raise
        except DriverProblem as problem:
            self._failures += 1
            if self._is_over(problem):
                tokens = problem.tokens if isinstance(problem, Unanswered) else None
                raise self._switch(problem, tokens) from problem
            raise

    def _check_refusal(self, answer: Completed) -> None:
        """A bare refusal is not an answer while there are other models to ask."""
        if answer.stop not in ("refusal", "content_filter") or answer.calls:
            return
        if len(self._choices) > 1:
            what = "The model refused to answer."
            refused = DriverProblem(what, answer.text[:200], kind="refusal")
            switched = self._switch(refused, answer.tokens)
            if isinstance(switched, Switched):
                raise switched

    def _is_over(self, problem: DriverProblem) -> bool:
        if problem.kind not in ELSEWHERE:
            return False
        again = problem.retryable and (problem.retry_after or 0.0) <= LONGEST_WAIT
        return not again or self._failures >= self._tries

    def _switch(self, problem: DriverProblem, tokens: Tokens | None = None) -> DriverProblem:
        """Take the next model that can be opened; the problem itself when there is none."""
        before, reason = self._now.model, [problem.what]
        while len(self._choices) > 1:
            self._choices.pop(0)
            try:
                self._now = self._choices[0].driver()
            except SteersmanError as closed:
                reason.append(f"{self._choices[0].name}: {closed.what}")
                continue
            self._failures = 0
            switched = Switched(problem, before, self._now.model, tokens)
            switched.why = " ".join((switched.why, *reason[1:]))
            return switched
        problem.why = " ".join(part for part in (problem.why, *reason[1:]) if part)
        return problem
