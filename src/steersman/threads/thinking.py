"""What a thread uses: a model with its window and price, and what the model gets."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path

from msgspec.structs import replace

from steersman.identity import skills, styles
from steersman.identity.instructions import Instructions, render
from steersman.identity.persona import steersman
from steersman.intelligence.compaction import Compactor, Summarise
from steersman.intelligence.loop import NativeLoop, Pause, usage_of
from steersman.intelligence.models import Models
from steersman.intelligence.tokens import counter_for
from steersman.records.dialogue import Call, Completed, Driver, Prompt, UserItem
from steersman.records.errors import DriverProblem, UsageProblem
from steersman.records.far import NOWHERE
from steersman.records.secret_files import SecretFiles
from steersman.records.settings import Settings
from steersman.store.contract import Store
from steersman.store.log import Lane


class Mind:
    """One open thread's model, with those that are behind it."""

    def __init__(
        self,
        models: Models,
        driver: Driver,
        settings: Settings,
        environ: Mapping[str, str],
        pause: Pause = asyncio.sleep,
    ) -> None:
        self.driver = driver
        self.loop = NativeLoop(driver, settings.max_steps, models.price, self._switched, pause)
        self._models = models
        self._settings = settings
        self.scripted = driver.model.startswith("scripted:")
        counter = counter_for(driver.model, environ)
        self.compactor = Compactor(self.window(), counter, self._summary())
        self._left: list[Models] = []  # of models that may still be answering

    def _summary(self) -> Summarise | None:
        """A scripted model has no words of its own; the outline that needs none does for it."""
        return None if self.scripted else self._summarise

    def window(self) -> int | None:
        """How many tokens the model that answers now can take; None when nobody knows."""
        facts = None if self.scripted else self._models.facts(self.driver.model)
        known = [facts.context] if facts is not None else []
        if self._settings.window is not None:
            known.append(self._settings.window)
        return min(known) if known else None

    def estimate(self, tokens: int) -> float | None:
        """About what a prompt of so many tokens will cost, in dollars."""
        return self._models.estimate(tokens, self.driver.model)

    def check_sight(self) -> None:
        """Raise when the model is known to see no images."""
        facts = self._models.facts(self.driver.model)
        if facts.images is False:
            raise UsageProblem(
                f"The model {self.driver.model} cannot see images.",
                "Nothing was sent.",
                "Choose another model with --model, or describe the image in words.",
            )

    def _switched(self) -> None:
        self.compactor.window = self.window()

    async def become(self, other: "Mind") -> None:
        """Use another's model from the next model call on; this takes over all it has open."""
        self._left.append(self._models)
        self.driver, self.scripted = other.driver, other.scripted
        self._models, self._settings = other._models, other._settings
        self.loop.use(other.loop)
        self.compactor.use(self.window(), other.compactor.counter, self._summary())
        if not self.loop.asking:
            await self._let_go()

    async def close(self) -> None:
        """Let go of connections and tunnels."""
        await self._let_go()
        await self._models.aclose()

    async def _let_go(self) -> None:
        left, self._left = self._left, []
        for models in left:
            await models.aclose()

    async def _summarise(self, text: str, lane: Lane) -> str:
        """A digest by the model of the role “compaction”."""
        helper = self._models.open(self._settings.model, role="compaction")
        return await self._say(helper, Prompt(_brief(), (), [UserItem(text)]), lane)

    async def aside(self, system: str, text: str, lane: Lane) -> str:
        """An answer of the thread's own model that is not a part of the conversation."""
        return await self._say(self.driver, Prompt(system, (), [UserItem(text)]), lane)

    async def _say(self, driver: Driver, prompt: Prompt, lane: Lane) -> str:
        """One answer; what it costs is logged."""
        async with aclosing(driver.stream(prompt)) as events:
            async for event in events:
                if isinstance(event, Completed):
                    used = usage_of(driver.model, event.tokens, self._models.price)
                    await lane.append(replace(used, aside=True))
                    return event.text
        raise DriverProblem("The answer ended before it was complete.")


def _brief() -> str:
    return Path(__file__).parents[1].joinpath("intelligence", "compaction.md").read_text("utf-8")


class Briefing:
    """What the model of a thread is reported besides the conversation.

    Making one reads files: not on the event loop. Where the workspace is on another machine, its
    instructions were `brought` from there.
    """

    def __init__(
        self,
        settings: Settings,
        workspace: str,
        plan: str,
        *,
        environ: Mapping[str, str],
        secret_files: SecretFiles,
        store: Store,
        trusted: bool,
        brought: str | None = None,
    ) -> None:
        kept, files = settings.skill_meta_file, workspace if brought is None else NOWHERE
        self.shelf = skills.find(files, environ, trusted=trusted, kept=kept)
        self._disabled = skills.disabled(store, self.shelf)
        self._instructions = Instructions(files, environ, secret_files)
        self._workspace = workspace
        self._plan = plan
        self._styles = styles.find(files, environ, trusted=trusted)
        self._brought = render(self._instructions.beginning()) + (brought or "")
        self.name = "steersman"
        self.turn_to(settings)

    def turn_to(self, settings: Settings) -> None:
        """Instruct the model for another mode, style or skills from its next answer on."""
        self.disabled = self._disabled.union(settings.skills_off)
        how = styles.section(self._styles.get(settings.output_style))
        own = steersman(settings.mode, self._workspace, self._plan, settings.add_dir).text
        told = (
            own, self._brought, skills.listing(self.shelf, self.disabled), how,
            settings.instructions,
        )  # fmt: skip
        self._text = "\n".join(part.strip() + "\n" for part in told if part.strip())

    def instructions(self) -> str:
        """What the model gets before anything else; the same bytes while the settings are."""
        return self._text

    def remark(self, call: Call) -> str:
        """Instruction files of the folders a call touches, each once."""
        found = [file for path in touched(call) for file in self._instructions.nested(path)]
        return render(found)

    async def attached(self, text: str) -> tuple[str, ...]:
        """The skills that a person names with `$name`."""
        named = skills.mentioned(text, self.shelf, self.disabled) if "$" in text else []
        return await asyncio.to_thread(lambda: tuple(map(skills.load, named))) if named else ()

    def load(self, name: str, file: str) -> str:
        """A skill that the model asks for; one that is disabled is as if it were not there."""
        usable = tuple(one for one in self.shelf.skills if one.name not in self.disabled)
        return skills.load(skills.Shelf(usable).get(name), file)

    @property
    def has_skills(self) -> bool:
        """True when there is a skill to ask for, or can be before the thread is closed."""
        return bool(skills.listing(self.shelf, self._disabled))


def touched(call: Call) -> list[str]:
    """The files a call names, as tools name them."""
    match call.arguments:
        case {"path": str(path)}:
            return [path]
        case {"files": list(files)}:
            return [
                str(file["path"]) for file in files if isinstance(file, dict) and "path" in file
            ]
        case _:
            return []
