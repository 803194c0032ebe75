"""What an agent accepts over HTTPS: its own settings and profiles, never wider than they are."""

import pytest

from steersman.records.action import ChangeMany, Delete, Execute, Network, Verdict, Write
from steersman.records.errors import Denied
from steersman.records.profile import Profile
from steersman.records.settings import Settings
from steersman.threads.remote.bounds import (
    NEVER,
    as_judged,
    profile_within,
    refused,
    settings_within,
)

SERVER = {"mine": {"command": ["evil"]}}


def test_settings_of_the_host_only_narrow() -> None:
    own = Settings(domains=("ours.example",), max_file=2_000_000, nice=5)
    wide = Settings(
        trust="untrusted", sandbox="none", approvals="never", add_dir=("/",), domains=("*",),
        environment=("TOKEN",), sockets=("/run/docker.sock",), language_servers=SERVER,
        code_backends=("mine",), max_file=9_000_000, nice=0, hooks={"Stop": []}, allow=("Bash(*)",),
    )  # fmt: skip
    assert settings_within(own, wide) == own
    tight = Settings(trust="restricted", max_file=1_000_000, nice=9, tools=("Read",))
    got = settings_within(own, tight)
    assert (got.trust, got.max_file, got.nice, got.tools) == ("restricted", 1_000_000, 9, ("Read",))


def test_what_this_machine_lets_its_user_do_it_does_not_let_a_token_do() -> None:
    loose = Settings(trust="untrusted", sandbox="none", add_dir=("/srv",))
    assert settings_within(loose, Settings()) == Settings()


def test_hooks_that_can_say_no_are_not_left_out() -> None:
    with pytest.raises(Denied, match="hooks that can say no"):
        settings_within(Settings(hooks={"PreToolUse": [{}]}), Settings())


def test_a_profile_of_the_host_only_narrows() -> None:
    own = Profile(
        writable=("/cache",), hidden=("/h/.ssh",), network="door", nearby=("a:1", "b:1"),
        sockets=("/s",), environ={"PATH": "/bin"},
    )  # fmt: skip
    wide = Profile(
        sandbox=False, writable=("/",), granted=("/",), given=("/",), readable=("/",),
        network="host", nearby=("a:1", "evil:1"), reaches=("evil:1",), registries=("evil:1",),
        sockets=("/run/docker.sock",), environ={"LD_PRELOAD": "x"}, escalate="anything", retry=True,
    )  # fmt: skip
    assert profile_within(own, wide) == Profile(
        writable=("/cache",), hidden=("/h/.ssh",), network="door", nearby=("a:1",),
        sockets=("/s",), environ={"PATH": "/bin"},
    )  # fmt: skip
    tight = profile_within(own, Profile(files="read", hidden=("/w/x",)))
    assert (tight.files, tight.network, tight.hidden) == ("read", "none", ("/h/.ssh", "/w/x"))


ASK = Verdict("ask", "approvals.on-request", "a change of a file")
ALLOW = Verdict("allow", "user:1", "a rule")


@pytest.mark.parametrize(
    ("action", "own", "no"),
    [
        (Execute("x", "/w"), ALLOW, ""),
        (Execute("x", "/w", outside=True), ALLOW, NEVER),
        (Execute("x", "/w", online=True), ALLOW, NEVER),
        (Execute("x", "/w", writes=("/v",)), ALLOW, NEVER),
        (Execute("x", "/w", reaches=("a:1",)), ALLOW, NEVER),
        (Execute("x", "/w", direct=True), ALLOW, NEVER),
        (Execute("git push", "/w"), Verdict("ask", "git.push", "a change elsewhere"), NEVER),
        (Write("/w/a"), ASK, ""),
        (Write("/w/a"), Verdict("ask", "user:2", "a rule"), NEVER),
        (Write("/w/.git/hooks/x"), Verdict("ask", "paths.protected", "a hook"), NEVER),
        (Write("/v"), Verdict("deny", "paths.outside", "outside"), "paths.outside"),
        (ChangeMany("/w", 0, 0, 9), Verdict("ask", "effects.loss", "9 files"), ""),
        (Network("a", 1), Verdict("ask", "network.unknown", "a host"), NEVER),
        (Network("a", 1), ALLOW, ""),
    ],
)
def test_what_the_host_may_answer(
    action: Execute | Write | ChangeMany | Network, own: Verdict, no: str
) -> None:
    said = refused(action, own)
    assert (said.rule if said else "") == no


def test_that_the_user_undoes_something_is_not_believed() -> None:
    assert as_judged(Write("/w/a", origin="person")) == Write("/w/a", origin="command")
    assert as_judged(Delete("/w/a", origin="past")) == Delete("/w/a", origin="command")
    assert as_judged(Write("/w/a", origin="tool")) == Write("/w/a", origin="tool")
