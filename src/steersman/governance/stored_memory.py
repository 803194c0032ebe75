"""Answers kept in the store, for one thread of one folder."""

import os
from collections.abc import Callable, Sequence

from steersman.governance.policy import BLANK, Book
from steersman.governance.remembering import Asked, Kept, Offered
from steersman.governance.rule import Rule
from steersman.records.action import Network
from steersman.records.errors import UsageProblem
from steersman.records.message import Lasting
from steersman.records.wording import requested
from steersman.store.contract import Store


class StoredMemory:
    """What a person answered before in a thread and its folder."""

    def __init__(
        self,
        store: Store,
        workspace: str,
        thread: str,
        *,
        home: str,
        redact: Callable[[str], str],
        also: Sequence[Rule] = (),
        address: str = "",
    ) -> None:
        self._kept_for = address or workspace  # answers about another machine hold only there
        self._resolve: Callable[[str], str] = str if address else os.path.realpath
        self._store = store
        self._workspace = workspace
        self._thread = thread
        self._home = home
        self._redact = redact
        self._also = [rule for rule in also if rule.decision == "allow"]

    def rules(self, turn: int = 0) -> list[Rule]:
        """The answers as rules."""
        from steersman.governance.answers import remembered

        return remembered(self._store, self._kept_for, self._thread, turn)

    def book(self, turn: int = 0) -> Book:
        """The answers that hold now, together with what files allow: either covers its part."""
        if self._store.setting("policy", "answers") is None:
            return BLANK
        from steersman.governance.rules import RuleSet

        return RuleSet([*self._also, *self.rules(turn)], home=self._home, resolve=self._resolve)

    def offer(self, tool: str, asked: Asked, rules: Book, turn: int = 0) -> Offered:
        """What could be answered for longer; for the rest of a turn only within one."""
        from steersman.governance.offers import offers
        from steersman.governance.rules import RuleSet

        made = offers(
            [action for action, _ in asked],
            next((judgement for _, judgement in asked if judgement is not None), None),
            self._workspace,
            rules=rules if isinstance(rules, RuleSet) else None,
            tool=tool,
            redact=self._redact,
        )
        lasting = [
            Lasting(one.name, one.sentences, tuple(s for s in one.scopes if turn or s != "turn"))
            for one in made.choices
        ]
        return Offered(tuple(lasting), made.why_not)

    def keep(self, tool: str, asked: Asked, lasting: str, scope: Kept, turn: int = 0) -> None:
        """Remember the lasting answer of that name, if it was on offer."""
        if scope == "turn" and not turn:
            return  # a call of a person between turns: its answer holds once
        from steersman.governance.offers import offers

        made = offers(
            [action for action, _ in asked],
            next((judgement for _, judgement in asked if judgement is not None), None),
            self._workspace,
            tool=tool,
            redact=self._redact,
        )
        for choice in made.choices:
            meant = choice.name == lasting or scope == "turn"  # one choice at most has that
            if meant and scope in choice.scopes:
                about = requested([action for action, _ in asked])
                self._remember(choice.rules, scope, about, turn)

    def end_turn(self) -> None:
        """Forget what was answered for a turn only."""
        if self._store.setting("policy", "answers") is not None:
            from steersman.governance.answers import forget_turns

            forget_turns(self._store, self._thread)

    def refuse(self, wanted: Network) -> None:
        """Remember for this thread that a host, or all of an installation, must not be reached."""
        host, port = wanted.host, wanted.port
        name = f"[{host}]" if ":" in host else host
        hosts = wanted.registries or (f"{name}:{port}",)
        rules = [Rule("", "deny", domain=one, installs=bool(wanted.registries)) for one in hosts]
        self._remember(tuple(rules), "thread", f"{host}:{port}")

    def _remember(self, rules: tuple[Rule, ...], scope: Kept, request: str, turn: int = 0) -> None:
        from steersman.governance.answers import remember

        try:
            remember(
                self._store, rules, scope, workspace=self._kept_for, thread=self._thread,
                request=request, redact=self._redact, turn=turn,
            )  # fmt: skip
        except UsageProblem:
            return  # too many, or a secret: the answer holds once, as every answer does
