"""What holds in a folder: the rules of files, remembered answers, and whether it is trusted."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from steersman.governance import folders
from steersman.governance.policy import BLANK, Book, Circumstances
from steersman.governance.rule import BEHIND_HOOKS, Rule
from steersman.governance.rule_files import load_rules, user_file
from steersman.governance.rule_files import project_file as project_rules
from steersman.governance.secret_finder import Finder, exceptions, unreadable
from steersman.governance.stored_memory import StoredMemory
from steersman.identity import mcp_servers
from steersman.identity.places import places
from steersman.identity.settings import config_file, data_folder, project_file
from steersman.identity.token_files import elsewhere
from steersman.records.far import here
from steersman.records.message import Audit
from steersman.records.protection import inside
from steersman.records.secret_files import together
from steersman.records.settings import Settings
from steersman.records.visible import quoted
from steersman.store.contract import Store
from steersman.threads.startups import behind_hooks, files_of, of_hooks, startups

if TYPE_CHECKING:
    from steersman.records.hooks import Hook


class Permissions:
    """One person's permissions, for every folder."""

    def __init__(self, store: Store, environ: Mapping[str, str]) -> None:
        self._store = store
        self._environ = environ
        self._path = environ.get("PATH", "")
        self.home = os.path.realpath(environ.get("HOME") or os.path.expanduser("~"))

    def folder(self, workspace: str) -> folders.Standing:
        """What a folder comes with that would steer the host, and whether the user agreed to it.

        What one on another machine comes with is not looked at, and not used.
        """
        workspace = here(workspace)
        named = places(self._environ, workspace, self.home).mcp_config_files
        own = str(mcp_servers.user_file(self._environ))  # people keep theirs in a repository
        starts = startups(workspace, self._environ)
        hooks = _hooks(workspace, {}, trusted=True)
        found = (*starts.found, *of_hooks(hooks, workspace, self._path))
        stands = folders.standing(self._store, workspace, (*named, own), found, starts.runs)
        stands = folders.with_lines(stands, starts.confined)
        lines = [f"the hook {h.event} runs {quoted(h.command, 200)} in a sandbox" for h in hooks]
        return folders.with_lines(stands, lines, folders.CLAUDE)

    def trust(self, workspace: str, standing: folders.Standing, *, trusted: bool) -> None:
        """Keep the user's decision on what they were shown."""
        folders.record(self._store, workspace, standing.found, trusted=trusted, runs=standing.runs)

    def covers(self, workspace: str, server: str, *, confined: bool) -> bool:
        """Whether the user agreed to what an MCP server of a folder starts, as it is now.

        One that is `confined`, and gets no more than a sandbox gives, may start what it likes.
        """
        stands = self.folder(workspace)
        return stands.loads and (confined or server not in stands.drifted)

    def settings_file(self, workspace: str) -> Path | None:
        """A folder's own settings, where they may be used."""
        path = project_file(here(workspace))
        return path if path.exists() and self.folder(workspace).loads else None

    def exceptions(self, workspace: str) -> tuple[str, ...]:
        """What a folder does not count as secret, as far as the user agreed to it."""
        said = exceptions(here(workspace))
        return said if said and self.folder(workspace).loads else ()

    def rules(self, workspace: str, settings: Settings) -> tuple[Rule, ...]:
        """Every rule that is written down: of the machine, of the user, of a trusted folder."""
        trusted = self.folder(workspace).loads
        return (
            *load_rules(
                workspace=workspace,
                home=self.home,
                user=user_file(config_file(self._environ)),
                project=project_rules(workspace) if trusted else None,
            ),
            *(_domain_rule(domain) for domain in settings.domains),
            *_run_rules(settings),
            *self._hook_rules(_hooks(workspace, settings.hooks, trusted=trusted), workspace),
            *self._own_rules(workspace),
        )

    def _own_rules(self, workspace: str) -> Iterator[Rule]:
        """In a workspace around them, nobody reads what the host keeps: logs, tokens of servers."""
        home, top = data_folder(self._environ), os.path.realpath(workspace)
        for place in map(os.path.realpath, (str(home), *elsewhere(home))):
            if place != top and inside(place, top):
                from steersman.governance.rule_paths import escaped

                path = f"./{escaped(os.path.relpath(place, top))}"
                yield Rule(f"own:{path}", "deny", path=path, reason="Steersman keeps its own there")

    def far_rules(self, root: str, home: str, settings: Settings) -> tuple[Rule, ...]:
        """The rules for a folder of another machine: of this machine, and of the user."""
        own = user_file(config_file(self._environ))
        return (
            *load_rules(workspace=root, home=home, user=own),
            *(_domain_rule(domain) for domain in settings.domains),
            *_run_rules(settings),
        )

    def _hook_rules(self, hooks: "Sequence[Hook]", workspace: str) -> Iterator[Rule]:
        """What is behind hooks is asked about: who changes it, changes what the hooks say."""
        if not hooks:
            return
        from steersman.governance.rule_paths import escaped
        from steersman.records.python_names import HIDING

        files = files_of(hooks, workspace, self._path)
        reasons = {escaped(path): f"a hook runs {path}" for path in files}
        near = behind_hooks(hooks, workspace, self._path)
        for place, script in (*near.folders.items(), *near.patterns.items()):
            runs = f"a hook runs {script}, which may load" if script else "a hook may load"
            if place == HIDING:
                reasons[place] = f"{runs} this in place of a module of Python"
            elif place in near.folders:
                reasons.setdefault(escaped(place), f"{runs} any file in {place}")
            else:
                reasons.setdefault(place, f"{runs} {place}")
        for place, reason in reasons.items():
            if reason.isprintable():
                yield Rule(
                    f"{BEHIND_HOOKS}{place}",
                    "ask",
                    path=f"./{place}",
                    on=("write", "delete"),
                    reason=reason,
                )

    def book(self, rules: Sequence[Rule], home: str = "") -> Book:
        """Rules, ready to decide; with a `home` elsewhere, about paths as written."""
        if not rules:
            return BLANK
        from steersman.governance.rules import RuleSet

        return RuleSet(rules, home=home, resolve=str) if home else RuleSet(rules, home=self.home)

    def memory(
        self, workspace: str, thread: str, redact: Callable[[str], str], rules: Sequence[Rule]
    ) -> StoredMemory:
        """What was answered before in a folder and a thread, beside the rules of files."""
        return StoredMemory(
            self._store, workspace, thread, home=self.home, redact=redact, also=rules
        )

    def far_memory(
        self,
        entered: tuple[str, str, str],
        thread: str,
        redact: Callable[[str], str],
        rules: Sequence[Rule],
    ) -> StoredMemory:
        """The same for a folder of another machine: its address, where that is, whose home."""
        address, root, home = entered
        return StoredMemory(
            self._store, root, thread, home=home, redact=redact, also=rules, address=address
        )

    def answers(self, workspace: str) -> list[tuple[Rule, str]]:
        """Every remembered answer of a folder, and the thread it holds in, if it is only one."""
        from steersman.governance.answers import all_remembered

        kept = all_remembered(self._store)
        return [(one.rule, one.thread) for one in kept if one.workspace == workspace]

    def forget(self, name: str) -> Rule | None:
        """Remove a remembered answer by its id."""
        from steersman.governance.answers import forget

        found = forget(self._store, name)
        return found.rule if found else None

    def forget_thread(self, thread: str) -> None:
        """Remove what was answered for a thread that is no more."""
        if self._store.setting("policy", "answers") is not None:
            from steersman.governance.answers import forget_thread

            forget_thread(self._store, thread)

    def forget_all(self) -> None:
        """Remove every remembered answer, also when they cannot be read."""
        from steersman.governance.answers import forget_all

        forget_all(self._store)

    def resolved(self, workspace: str, settings: Settings) -> Settings:
        """Settings that name the folders added to a workspace by where they really are.

        Raises what is wrong with one of them.
        """
        if not settings.add_dir:
            return settings
        from steersman.governance import added

        own = (str(data_folder(self._environ)), str(config_file(self._environ).parent))
        return replace(
            settings, add_dir=added.resolved(settings.add_dir, workspace, self.home, own)
        )

    def circumstances(self, workspace: str, settings: Settings) -> Circumstances:
        """What decisions in a folder depend on, outside any thread."""
        rules = self.rules(workspace, settings)
        book = self.book(rules)
        also, readable = unreadable(book), self.resolved(workspace, settings).add_dir
        finders = [Finder(workspace, also, self.exceptions(workspace))]
        finders += [Finder(folder, also) for folder in readable]
        return Circumstances(
            workspace=workspace,
            mode=settings.mode,
            trust=settings.trust,
            approvals=settings.approvals,
            home=self.home,
            bare=settings.sandbox == "none",
            safer=settings.safer == "apply",
            guard=settings.guard,
            rules=book,
            answers=self.memory(workspace, "", str, rules).book(),
            secret_files=together(*(finder.find(deep=False)[0] for finder in finders)),
            readable=readable,
        )

    def audits(self, workspace: str) -> tuple[Audit, ...]:
        """What people should know about a folder before work begins in it."""
        told = self.folder(workspace).sentence(workspace)
        if not told:
            return ()
        return (Audit("folder", told, try_this="Review it with `steer policy trust`."),)


def _hooks(workspace: str, own: dict[str, Any], *, trusted: bool) -> "tuple[Hook, ...]":
    """The hooks of a person and of a folder; most have none, and need nothing loaded."""
    if not own and not (trusted and os.path.isdir(os.path.join(workspace, ".claude"))):
        return ()
    from steersman.identity.hooks import find

    return find(workspace, own, trusted=trusted).hooks


def _run_rules(settings: Settings) -> tuple[Rule, ...]:
    """Rules that a run was started with."""
    if not (settings.allow or settings.deny):
        return ()
    from steersman.governance.rule_flags import rules_of

    return (*rules_of(settings.allow, "allow"), *rules_of(settings.deny, "deny"))


def _domain_rule(domain: str) -> Rule:
    from steersman.governance.domains import check_pattern
    from steersman.records.errors import UsageProblem

    if wrong := check_pattern(domain):
        raise UsageProblem(f"The domain “{domain}” in the settings is not valid.", wrong)
    return Rule(f"domain:{domain}", "allow", domain=domain, reason="your settings name it")
