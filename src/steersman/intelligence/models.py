"""Which driver a model's name means; each driver is imported only when it is asked for."""

from collections.abc import AsyncGenerator, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from steersman.intelligence.configured import NOTHING, OURS, Config, ModelTable, Role
from steersman.intelligence.prices import cost, estimate
from steersman.intelligence.table import Facts, corrected, table
from steersman.records.dialogue import Driver, Event, Prompt, Tokens
from steersman.records.errors import UsageProblem

if TYPE_CHECKING:
    from steersman.intelligence.drivers.endpoint import Endpoint
    from steersman.intelligence.tunnel import Tunnel

AUTO = "auto"
ANY = "*"


def open_driver(model: str) -> Driver:
    """The driver for `provider:name`, with nothing configured and an empty environment."""
    return Models({}).open(model)


class Meant(Struct, frozen=True):
    """What a model's name stands for: `wire` at `provider`, under the provider's own `name`."""

    asked: str
    provider: str
    name: str
    wire: str
    said: ModelTable


class Models:
    """Every model that can be named, by a person's settings and environment.

    Keeps what it opens until `aclose`. `results` is the file of `steer bench models`; `kept` gives
    the key that the user logged in with at a provider, by its name and address. `effort` is how
    hard models think that can, whatever their tables say; empty for what those say.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        config: Config = NOTHING,
        results: Path | None = None,
        kept: Callable[[str, str], str] = lambda provider, base_url: "",
        effort: str = "",
    ) -> None:
        self._environ = environ
        self._kept = kept
        self._config = config
        self._results = results
        self._effort = effort
        self._opened: list[Driver] = []
        self._tunnels: dict[tuple[str, tuple[str, int]], Tunnel] = {}

    # Opening

    def open(self, name: str, role: Role = "implementer", task: str = "") -> Driver:
        """The driver for a model, with those that take over when it fails.

        `role` may have a model of its own in `[roles]`; the implementer's is `name` itself, if
        there is one. `task` is what `auto` goes by.
        """
        chosen = self.choose(name, role, task) or self._keyed()
        if not chosen:
            raise no_model(self._environ)
        others = self.fallbacks(chosen)
        if not others:
            return self._one(chosen)
        from steersman.intelligence.fallback import Choice, FallbackDriver

        return FallbackDriver([Choice(one, partial(self._one, one)) for one in (chosen, *others)])

    def choose(self, name: str, role: Role = "implementer", task: str = "") -> str:
        """The name of the model for a role; empty when there is none."""
        own = self._config.roles.get(role, "")
        chosen = (name or own) if role == "implementer" else (own or name)
        if chosen == AUTO:
            from steersman.intelligence.auto import pick

            return pick(self._results, task)
        return chosen

    def _keyed(self) -> str:
        """The recommended model of the first provider whose key is in the environment."""
        from steersman.intelligence.discovery import key_variable

        known = table().recommended.items()
        held = (f"{one}:{model}" for one, model in known if key_variable(one, self._environ))
        return next(held, "")

    def fallbacks(self, name: str) -> tuple[str, ...]:
        """The models that take over from this one, in order."""
        lists = self._config.fallback
        others = lists.get(name, lists.get(ANY, ()))
        return tuple(dict.fromkeys(other for other in others if other != name))

    def _one(self, name: str) -> Driver:
        if name.startswith("scripted:") and len(name) > len("scripted:"):
            return _scripted(name.partition(":")[2])
        meant = self.meant(name)
        driver = self._reach(meant)
        self._opened.append(driver)
        said = self._config.providers.get(meant.provider)
        if said is not None and (said.requests_per_minute or said.tokens_per_minute):
            from steersman.intelligence.pacing import PacedDriver, pace_of

            limits = said.requests_per_minute or 0, said.tokens_per_minute or 0
            return PacedDriver(driver, pace_of(meant.provider, *limits))
        return driver

    def meant(self, name: str) -> Meant:
        """What a name stands for."""
        said = self._config.models.get(name, ModelTable())
        if said.provider:
            provider, own = said.provider, said.model or name
        else:
            provider, _, own = name.partition(":")
        configured = self._config.providers.get(provider)
        if not own or (configured is None and provider not in OURS):
            raise self._unknown(name, provider)
        return Meant(name, provider, own, self._wire(provider), said)

    def _wire(self, provider: str) -> str:
        configured = self._config.providers.get(provider)
        if configured is not None and configured.wire is not None:
            return configured.wire
        from steersman.intelligence.providers import providers

        return providers()[provider].wire

    def _reach(self, meant: Meant) -> Driver:
        from steersman.intelligence.drivers import open_endpoint
        from steersman.intelligence.drivers.endpoint import endpoint_for

        overrides = self._overrides(meant)
        ssh = str(overrides.pop("ssh", ""))
        named = f"{meant.provider}:{meant.name}"

        def make(base_url: str = "") -> Driver:
            said = overrides | ({"base_url": base_url} if base_url else {})
            endpoint = endpoint_for(meant.provider, self._environ, said, self._kept)
            return open_endpoint(meant.wire, meant.name, endpoint)

        if ssh:
            from steersman.intelligence.tunnel import TunnelDriver

            base_url = str(overrides.get("base_url", ""))
            make()  # what is missing is reported now, not in the middle of the first turn
            return TunnelDriver(meant.asked, base_url, self._tunnel(ssh, base_url), make)
        driver = make()
        return driver if meant.asked == named else Named(driver, meant.asked)

    def endpoint(self, provider: str, **given: Any) -> tuple[str, "Endpoint"]:
        """The format and the address of a provider, by the settings; `given` counts more.

        Raises where one cannot go there without a model: through a tunnel, or without a key.
        """
        from steersman.intelligence.drivers.endpoint import endpoint_for

        meant = self.meant(f"{provider}:any")
        over = self._overrides(meant) | given
        if over.pop("ssh", ""):
            raise UsageProblem(f"The models of {provider} cannot be listed through its tunnel.")
        return meant.wire, endpoint_for(provider, self._environ, over, self._kept)

    @property
    def providers(self) -> tuple[str, ...]:
        """The names of the providers in the settings."""
        return tuple(self._config.providers)

    def _tunnel(self, ssh: str, base_url: str) -> "Tunnel":
        """The tunnel to a server; models of one server share it."""
        from steersman.intelligence.tunnel import Tunnel, read_address, target

        where = ssh, target(base_url)
        if where not in self._tunnels:
            self._tunnels[where] = Tunnel(read_address(ssh), where[1], self._environ)
        return self._tunnels[where]

    def _overrides(self, meant: Meant) -> dict[str, Any]:
        """What the settings and the table say about an endpoint; a model's settings over its
        provider's."""
        over: dict[str, Any] = {}
        for said in (self._config.providers.get(meant.provider), meant.said):
            for field in ("base_url", "key_env", "headers", "ssh", "effort", "extra"):
                if value := getattr(said, field, None):
                    both = isinstance(value, dict) and field in over
                    over[field] = over[field] | value if both else value
            if patience := getattr(said, "timeouts", None):
                over["timeouts"] = msgspec.to_builtins(patience)
        facts = self.facts(meant.asked)
        over["sees"] = facts.images
        over["thinks"] = facts.reasoning
        if self._effort and self.takes_effort(meant.asked):
            over["effort"] = self._effort
        over["max_output"] = meant.said.max_output  # unless the user sets it, the driver's own
        return {field: value for field, value in over.items() if value is not None}

    def _unknown(self, name: str, provider: str) -> UsageProblem:
        known = ", ".join((*OURS, "scripted", *self._config.providers))
        if ":" not in name:
            return UsageProblem(
                f"There is no model “{name}”.",
                f"A model is named provider:name, with one of {known}; or `auto`.",
                _nearest(name) or f'Or define it in config.toml: [models."{name}"].',
            )
        if provider in (*OURS, "scripted", *self._config.providers):
            example = "FILE" if provider == "scripted" else "NAME"
            return UsageProblem(f"“{name}” names no model.", try_this=f"Say {provider}:{example}.")
        return UsageProblem(
            f"There is no provider “{provider}”.",
            f"Known providers: {known}.",
            f"Define it in config.toml: [providers.{provider}] with wire and base_url.",
        )

    # Facts and money

    def facts(self, name: str) -> Facts:
        """What is known about a model: the user's settings over the table's."""
        provider, _, own = name.partition(":")
        said = self._config.models.get(name)
        if said is not None and said.provider:
            provider, own = said.provider, said.model or name
        found = Facts() if provider == "scripted" else table().facts(provider, own)
        for more in (self._config.models.get(f"{provider}:{own}"), said):
            if more is not None:
                fields = more.__struct_fields__
                found = corrected(found, {field: getattr(more, field) for field in fields})
        return found

    def price(self, name: str, tokens: Tokens) -> float | None:
        """Dollars one request cost: nothing for a model of one's own, None when nobody knows."""
        if name.startswith("scripted:") and name not in self._config.models:
            return None
        price = self.facts(name).price
        return 0.0 if price is None and self._is_own(name) else cost(price, tokens)

    def estimate(self, prompt_tokens: int, name: str, *, cached: int = 0) -> float | None:
        """Dollars a prompt is likely to cost; None when the model has no price."""
        return estimate(self.facts(name).price, prompt_tokens, cached=cached)

    def takes_effort(self, name: str) -> bool:
        """Whether a model has such a choice; a server of one's own may not know it."""
        if name.startswith("scripted:") and name not in self._config.models:
            return False
        thinks = self.facts(name).reasoning
        return not self._is_own(name) if thinks is None else thinks

    def _is_own(self, name: str) -> bool:
        """Whether a model runs on a machine of the user's, this one or one behind a tunnel."""
        said = self._config.models.get(name, ModelTable())
        provider = said.provider or name.partition(":")[0]
        configured = self._config.providers.get(provider)
        if said.ssh or (configured and configured.ssh):
            return True
        url = said.base_url or (configured.base_url if configured else "") or _usual_url(provider)
        return url.startswith(("http://127.", "http://localhost", "http://[::1]"))

    async def aclose(self) -> None:
        """Close every connection and every tunnel."""
        from steersman.intelligence.tunnel import close_driver

        opened, self._opened = self._opened, []
        for driver in opened:
            await close_driver(driver)
        for tunnel in self._tunnels.values():
            await tunnel.close()


class Named:
    """A driver under a name of the user's own, which the log and the bill then carry."""

    def __init__(self, driver: Driver, name: str) -> None:
        self.model = name
        self._driver = driver

    def stream(self, prompt: Prompt) -> AsyncGenerator[Event, None]:
        """One answer."""
        return self._driver.stream(prompt)

    async def aclose(self) -> None:
        """Close what the driver keeps open."""
        from steersman.intelligence.tunnel import close_driver

        await close_driver(self._driver)


def _usual_url(provider: str) -> str:
    """Where one of ours is unless someone says otherwise."""
    from steersman.intelligence.providers import providers

    known = providers().get(provider)
    return known.base_url if known else ""


def _scripted(file: str) -> Driver:
    from steersman.intelligence.scripted.driver import ScriptedDriver
    from steersman.intelligence.scripted.script import load

    try:
        path = Path(file).expanduser().absolute()
        return ScriptedDriver(load(path), f"scripted:{path}")
    except (ValueError, RuntimeError) as error:  # a NUL, or a home of nobody
        raise UsageProblem(f"“{file}” is not a path.", f"{error}.") from error


def _nearest(name: str) -> str:
    """Someone who forgets the provider means the maker's own."""
    provider = table().provider_of(name)
    return f"Did you mean {provider}:{name}?" if provider else ""


def no_model(environ: Mapping[str, str]) -> UsageProblem:
    """No model was chosen: offer what there is."""
    from steersman.intelligence.discovery import look, offers

    return UsageProblem(
        "No model was chosen.",
        offers(look(environ)),
        "Log in with `steer login`, or pass --model provider:name. `steer demo` needs no model.",
    )
