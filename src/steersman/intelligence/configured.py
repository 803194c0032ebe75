"""What `config.toml` says about models: `[models]`, `[providers]`, `[roles]` and `[fallback]`.

Settings carry these tables as they are; here they become records, or a sentence that names the key
which is wrong.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

from steersman.intelligence.table import Price, Size
from steersman.records import validation
from steersman.records.errors import UsageProblem

Wire = Literal["openai", "openai-chat", "anthropic", "gemini"]
Role = Literal["planner", "implementer", "reviewer", "compaction", "completion"]
ROLES: tuple[Role, ...] = get_args(Role)
# The names in `providers.json`, here so that whoever only asks for a name reads no file.
OURS = ("openai", "openai-chat", "anthropic", "gemini", "openrouter", "ollama", "lm-studio",
        "llama-cpp", "mlx", "vllm")  # fmt: skip
RESERVED = ("auto", "scripted")


class Patience(Struct, frozen=True, forbid_unknown_fields=True):
    """Seconds to wait: for a connection, for the first token, for each that follows."""

    connect: float = 10.0
    first_token: float = 300.0
    between_tokens: float = 300.0


class ProviderTable(Struct, frozen=True, forbid_unknown_fields=True):
    """`[providers.NAME]`: a server, or other settings for one that is known.

    `wire` is the format it speaks, `key_env` the variable that holds its key, `ssh` the machine it
    is reached through; `base_url` is then its address as seen from there. No more than
    `requests_per_minute` and `tokens_per_minute` are asked of it.
    """

    wire: Wire | None = None
    base_url: str = ""
    key_env: str = ""
    headers: dict[str, str] = {}
    ssh: str = ""
    timeouts: Patience | None = None
    extra: dict[str, Any] = {}
    requests_per_minute: Size | None = None
    tokens_per_minute: Size | None = None


class ModelTable(Struct, frozen=True, forbid_unknown_fields=True):
    """`[models."NAME"]`: facts about a model, or a name of one's own for one.

    With `provider` the key is a name of one's own; `model` is then the provider's name for it.
    """

    provider: str = ""
    model: str = ""
    base_url: str = ""
    key_env: str = ""
    headers: dict[str, str] = {}
    ssh: str = ""
    effort: str = ""
    context: Size | None = None
    max_output: Size | None = None
    price: Price | None = None
    images: bool | None = None
    reasoning: bool | None = None
    parallel_tools: bool | None = None
    structured: bool | None = None
    tokenizer: str | None = None
    timeouts: Patience | None = None
    extra: dict[str, Any] = {}


class Config(Struct, frozen=True):
    """All four tables, checked."""

    models: dict[str, ModelTable] = {}
    providers: dict[str, ProviderTable] = {}
    roles: dict[Role, str] = {}
    fallback: dict[str, tuple[str, ...]] = {}


NOTHING = Config()


def read_config(
    models: Mapping[str, Any] | None = None,
    providers: Mapping[str, Any] | None = None,
    roles: Mapping[str, Any] | None = None,
    fallback: Mapping[str, Any] | None = None,
) -> Config:
    """The tables as records."""
    if not (models or providers or roles or fallback):
        return NOTHING
    config = Config(
        {name: _entry("models", name, said, ModelTable) for name, said in (models or {}).items()},
        {
            name: _entry("providers", name, said, ProviderTable)
            for name, said in (providers or {}).items()
        },
        {_role(name): _model("roles", name, said) for name, said in (roles or {}).items()},
        {name: _models("fallback", name, said) for name, said in (fallback or {}).items()},
    )
    _check(config)
    return config


def secrets(config: Config, environ: Mapping[str, str]) -> list[str]:
    """What must never be logged: keys under names of one's own, and headers that carry one."""
    found: list[str] = []
    tables: list[ProviderTable | ModelTable] = [*config.providers.values(), *config.models.values()]
    for said in tables:
        found += [environ.get(said.key_env, ""), *said.headers.values()]
    return [value for value in found if value]


def _entry(table: str, name: str, said: Any, kind: type[Any]) -> Any:
    try:
        return msgspec.convert(said, kind)
    except msgspec.ValidationError as error:
        fields = ", ".join(kind.__struct_fields__)
        raise _wrong(
            f'[{table}."{name}"]', validation.sentence(error), f"It may have: {fields}."
        ) from error


def _role(name: str) -> Role:
    for role in ROLES:
        if role == name:
            return role
    raise _wrong(f"[roles] {name}", f"There is no role “{name}”.", f"Roles: {', '.join(ROLES)}.")


def _model(table: str, name: str, said: Any) -> str:
    if isinstance(said, str) and said:
        return said
    raise _wrong(f"[{table}] {name}", "It must be the name of a model.", 'Such as "openai:gpt-5".')


def _models(table: str, name: str, said: Any) -> tuple[str, ...]:
    given = [said] if isinstance(said, str) else said
    if isinstance(given, list) and given and all(isinstance(one, str) and one for one in given):
        return tuple(given)
    raise _wrong(
        f'[{table}] "{name}"',
        "It must be a list of models, the next one first.",
        '"anthropic:claude-opus-5-5" = ["openai:gpt-5.6-sol"]',
    )


def _check(config: Config) -> None:
    """What is wrong between keys."""
    for name, provider in config.providers.items():
        where = f'[providers."{name}"]'
        if ":" in name or name in RESERVED:
            raise _wrong(where, f"“{name}” cannot be the name of a provider.", "Choose another.")
        if provider.wire is None and name not in OURS:
            wires = ", ".join(get_args(Wire))
            raise _wrong(f"{where} wire", "It has no wire format.", f"One of: {wires}.")
        if not provider.base_url and name not in OURS:
            raise _wrong(
                f"{where} base_url", "It has no address.", "Such as http://127.0.0.1:8080/v1."
            )
        _check_ssh(where, provider.ssh, provider.base_url)
    for name, model in config.models.items():
        where = f'[models."{name}"]'
        if model.provider and model.provider not in (*OURS, *config.providers):
            known = ", ".join((*OURS, *config.providers))
            raise _wrong(
                f"{where} provider", f"There is no provider “{model.provider}”.", f"Known: {known}."
            )
        if model.provider and name in RESERVED:
            raise _wrong(where, f"“{name}” cannot be the name of a model.", "Choose another.")
        behind = config.providers.get(model.provider or name.partition(":")[0])
        _check_ssh(where, model.ssh, model.base_url or (behind.base_url if behind else ""))


def _check_ssh(where: str, ssh: str, base_url: str) -> None:
    if not ssh:
        return
    from steersman.intelligence.tunnel import read_address

    try:
        read_address(ssh)
    except UsageProblem as problem:
        raise _wrong(f"{where} ssh", problem.what, problem.try_this) from problem
    if not base_url.startswith("http://"):
        raise _wrong(
            f"{where} base_url",
            "Through a tunnel it is the server's http:// address as seen from that machine.",
            "Such as http://127.0.0.1:8000/v1; the tunnel is encrypted already.",
        )


def _wrong(key: str, why: str, try_this: str) -> UsageProblem:
    return UsageProblem(f"{key} in config.toml is not valid.", why, try_this)
