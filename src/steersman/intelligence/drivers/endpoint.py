"""Where a model is reached and how it is asked; pure: the environment is given, nothing is opened.

The variables are those of the providers' own clients, so that what works with them works here.
"""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from steersman.intelligence.providers import Provider, account_of, providers
from steersman.records import validation
from steersman.records.errors import UsageProblem

# The key that a person logged in with, by the provider's name and address; empty for none.
Kept = Callable[[str, str], str]


def no_key_kept(provider: str, base_url: str) -> str:
    """What there is where nobody logged in."""
    return ""


class Timeouts(Struct, frozen=True, forbid_unknown_fields=True):
    """Seconds of patience: for a connection, for the first token, for each that follows."""

    connect: float = 10.0
    first_token: float = 300.0
    between_tokens: float = 300.0


class Endpoint(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An address and how to ask there.

    `thinks`, `sees` and `official` are what the model and its server can do, None where only
    their names tell. `version` is that of the provider's API, where it is not the usual one.
    `extra` are fields put into every request as they are.
    """

    provider: str
    base_url: str
    key: str = ""
    headers: dict[str, str] = {}
    timeouts: Timeouts = Timeouts()
    effort: str | None = None
    max_output: int | None = None
    cache_key: str = ""
    thinks: bool | None = None
    sees: bool | None = None
    official: bool | None = None
    version: str = ""
    extra: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"Endpoint({self.provider!r}, {self.base_url!r}, key={'…' if self.key else ''!r})"

    @property
    def label(self) -> str:
        """The provider's name in sentences."""
        known = providers().get(self.provider)
        return known.name if known else self.provider

    @property
    def host(self) -> str:
        """The name of the machine."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def local(self) -> bool:
        """True when it is this machine."""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")

    @property
    def wanted_effort(self) -> str | None:
        """How hard to think; nothing for a model that is known not to."""
        return None if self.thinks is False else self.effort

    def belongs_to(self, domain: str) -> bool:
        """Whether the provider itself is behind it, not someone who speaks its format."""
        if self.official is not None:
            return self.official
        return self.host == domain or self.host.endswith(f".{domain}")


def endpoint_for(
    provider: str,
    environ: Mapping[str, str],
    overrides: Mapping[str, Any] | None = None,
    kept: Kept = no_key_kept,
) -> Endpoint:
    """The endpoint of a provider: what `overrides` say, then the environment, then the usual.

    `overrides` has the fields of `Endpoint`, and `key_env`, the name of a variable with the key.
    `kept` is asked where nothing else brings a key. A provider that is not one of ours must bring
    its `base_url`.
    """
    given = dict(overrides or {})
    key_env = str(given.pop("key_env", ""))
    known = providers().get(provider)
    usual = known.base_url if known else ""
    base_url = str(given.pop("base_url", "") or _url(provider, known, environ) or usual)
    base_url = _checked_url(provider, base_url)
    headers = _headers(known, environ) | dict(given.pop("headers", {}))
    names = (key_env,) if key_env else known.keys if known else ()
    key = str(given.pop("key", "") or _first(environ, names)).strip()
    token = environ.get("ANTHROPIC_AUTH_TOKEN", "").strip()
    if provider == "anthropic" and not key and token:
        headers = {"Authorization": f"Bearer {token}"} | headers
    authorized = any(name.lower() in ("authorization", "x-api-key") for name in headers)
    if not key and not authorized:
        key = kept(account_of(provider), base_url)
    needed = key_env or (usual.startswith("https:") and base_url == usual)
    if not key and not authorized and needed:
        raise _no_key(provider, known, names)
    _check_text(provider, key, headers)
    version = environ.get("GOOGLE_GENAI_API_VERSION", "") if provider == "gemini" else ""
    given = {"version": version} | given
    given |= {"provider": provider, "base_url": base_url, "key": key, "headers": headers}
    try:
        return msgspec.convert(given, Endpoint)
    except msgspec.ValidationError as error:
        raise UsageProblem(
            f"The settings of the provider “{provider}” cannot be used.",
            validation.sentence(error),
            "Fix them in config.toml.",
        ) from error


def _first(environ: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((value for name in names if (value := environ.get(name, ""))), "")


def _url(provider: str, known: Provider | None, environ: Mapping[str, str]) -> str:
    if provider == "ollama":
        return _ollama(environ.get("OLLAMA_HOST", "").strip())
    return _first(environ, known.urls).strip() if known else ""


def _ollama(host: str) -> str:
    """Ollama's own variable may be a host, a port, both, or a URL; a server's 0.0.0.0 is here."""
    if not host:
        return ""
    scheme, found, rest = host.partition("://")
    name, colon, port = (rest if found else host).rstrip("/").rpartition(":")
    if not colon or not port.isdigit():
        name, port = rest if found else host, "" if found else "11434"
    name = name.rstrip("/") or "127.0.0.1"
    name = "127.0.0.1" if name == "0.0.0.0" else name
    return f"{scheme if found else 'http'}://{name}{':' if port else ''}{port}/v1"


def _headers(known: Provider | None, environ: Mapping[str, str]) -> dict[str, str]:
    pairs = reversed(known.headers.items()) if known else ()
    return {header: environ[name] for name, header in pairs if environ.get(name)}


def _checked_url(provider: str, url: str) -> str:
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1)
    except ValueError:
        fine = False
    if not fine:
        raise UsageProblem(
            f"The base_url “{url}” of {provider} is not an address."
            if url
            else f"The provider “{provider}” has no base_url.",
            "It must start with http:// or https:// and name a host.",
            "Set base_url in config.toml, such as http://127.0.0.1:8080/v1.",
        )
    return url.rstrip("/")


def _no_key(provider: str, known: Provider | None, variables: tuple[str, ...]) -> UsageProblem:
    made = f"; keys are made at {known.keys_at}." if known and known.keys_at else "."
    return UsageProblem(
        f"There is no key for {known.name if known else provider}.",
        f"{' or '.join(variables)} is not set.",
        f"Log in with `steer login {account_of(provider)}`, or set {variables[-1]}{made}",
    )


def _check_text(provider: str, key: str, headers: Mapping[str, str]) -> None:
    """What goes into a header must be plain text; a pasted key often is not."""
    for name, value in {"key": key, **headers}.items():
        if not (value.isascii() and value.isprintable()):
            raise UsageProblem(
                f"The {name} of {provider} contains a character that is not allowed in a header.",
                "It may have been copied with a line break, a quote mark or an ellipsis.",
                "Copy it again.",
            )
