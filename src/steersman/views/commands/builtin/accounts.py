"""`/login`, `/logout`: keys for providers. What they use is imported when someone does."""

import asyncio

from steersman.records.errors import UsageProblem
from steersman.views.commands.registry import Choice, Command
from steersman.views.commands.stage import Row, Stage
from steersman.views.commands.turns import change


async def login(stage: Stage, arguments: str) -> None:
    """Log in at a provider, and use its model."""
    from steersman.views.login import Given, log_in

    model = await log_in(stage, stage.environ, Given(provider=arguments.strip()))
    if model:
        await change(stage, model=model)


async def logout(stage: Stage, arguments: str) -> None:
    """Forget the key of a provider."""
    from steersman.host import login as logins

    provider: str | None = arguments.strip()
    if not provider:
        known = await asyncio.to_thread(logins.logins, stage.environ)
        if not known:
            raise UsageProblem("You are not logged in anywhere.")
        rows = [Row(one.provider, one.provider, one.base_url) for one in known]
        provider = await stage.pick("Log out", rows)
    if provider:
        done = await asyncio.to_thread(logins.log_out, provider, stage.environ)
        stage.tell(f"Logged out of {done.provider}. The key is forgotten.")


def _providers(stage: Stage, _: str) -> list[Choice]:
    from steersman.host import login as logins

    return [Choice(one.provider, one.name) for one in logins.choices()]


def _logged_in(stage: Stage, _: str) -> list[Choice]:
    from steersman.host import login as logins

    return [Choice(one.provider, one.base_url) for one in logins.logins(stage.environ)]


COMMANDS = (
    Command(
        "login",
        "Log in with the key of a provider.",
        login,
        usage="[PROVIDER]",
        more="The key is kept in your system's keyring, or in a file that only you can read.",
        complete=_providers,
    ),
    Command(
        "logout",
        "Forget the key of a provider.",
        logout,
        usage="[PROVIDER]",
        complete=_logged_in,
        while_working=True,
    ),
)
