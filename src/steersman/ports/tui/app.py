"""The terminal application: a conversation over a seat, with panes around it.

It holds no logic of its own. Everything it shows comes from the log through the story; everything
a person does goes to the seat. What a screen of a size shows is worked out in `layout.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.driver import Driver
from textual.notifications import SeverityLevel
from textual.screen import ModalScreen
from textual.worker import Worker

from steersman.host.settings import state_folder
from steersman.ports.tui.acting import Acting
from steersman.ports.tui.composer import Composer
from steersman.ports.tui.following import Follower
from steersman.ports.tui.keys import NAMES as KEY_NAMES
from steersman.ports.tui.keys import PATIENCE, SEEN, TABLE, load_keys
from steersman.ports.tui.memory import PANES, Memory
from steersman.ports.tui.naming import Names
from steersman.ports.tui.order import InOrder
from steersman.ports.tui.panes.footer import Keys
from steersman.ports.tui.panes.mentioned import Mentioned
from steersman.ports.tui.panes.passing import Passing
from steersman.ports.tui.panes.queued import Queued
from steersman.ports.tui.panes.review import Review
from steersman.ports.tui.panes.side import Side
from steersman.ports.tui.panes.status import StatusBar, StatusPane, Title
from steersman.ports.tui.panes.strip import TodoStrip
from steersman.ports.tui.panes.tasklog import TaskLog
from steersman.ports.tui.panes.welcome import Welcome
from steersman.ports.tui.reader import colourless
from steersman.ports.tui.reviewing import Reviewing
from steersman.ports.tui.showing import APPROVALS, BEAT, PROSE, WATCH, Showing
from steersman.ports.tui.staging import AppStage
from steersman.ports.tui.steering import Steering
from steersman.ports.tui.themes import NAMES, first_theme, theme
from steersman.ports.tui.transcript import Transcript
from steersman.views.commands.registry import Registry
from steersman.views.facts import Gathering
from steersman.views.seat import Seat
from steersman.views.text import advised, safe

if TYPE_CHECKING:
    from steersman.ports.tui.approvals import Approvals

T = TypeVar("T")
Left = Literal["", "detached"]
ALWAYS = {"leave", "quit_now", "suspend"}  # also heard while a question is over the screen


class SteersmanApp(InOrder[Left]):
    """The application. `first` is done once the screen is there: to trust, to resume, to say.

    It returns "detached" when a turn continues without it.
    """

    CSS_PATH = "steersman.tcss"
    TITLE = "steersman"
    ENABLE_COMMAND_PALETTE = False  # ours is a picker like all others
    patience: float = PATIENCE  # seconds before something new can be answered
    seen: float = SEEN  # seconds before a request for permission can be
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            ",".join(key.keys), f"key('{key.name}')", key.about, show=False,
            priority=key.where == "always" and key.name != "stop", id=key.name,
        )
        for key in TABLE
    ]  # fmt: skip

    def __init__(
        self,
        seat: Seat,
        environ: Mapping[str, str],
        first: Callable[[AppStage], Coroutine[Any, Any, None]] | None = None,
        driver: type[Driver] | None = None,
    ) -> None:
        bare = colourless(environ)
        super().__init__(driver_class=driver, ansi_color=True if bare else None)
        self.seat = seat
        self.environ = environ
        self.memory = Memory(state_folder(environ))
        self.keymap_ = load_keys(environ)
        self.stage = AppStage(self)
        self.defect: Exception | None = None
        self._first = first
        self._commands_here: tuple[str, Registry] | None = None
        self._completed = Names(self)
        self.steering = Steering(seat, self.tell, self.spawn, self._give_back)
        self.showing = Showing(self, Gathering(seat, environ))
        self.reviewing = Reviewing(self)
        self.acting = Acting(self)
        self.follower = Follower(seat, self.showing.news, self.tell, self.spawn)
        for name in NAMES:
            self.register_theme(theme(name))
        self.theme = first_theme(environ, self.memory.now.theme)
        self.set_keymap(self.keymap_.changed())

    def compose(self) -> ComposeResult:
        """The conversation in the middle, what continues around it, the composer below."""
        yield Title(id="title")
        with Horizontal(id="middle"):
            yield TaskLog(id="left-pane")
            with Vertical(id="talk"):
                yield Welcome(id="welcome")
                yield Transcript(id="transcript")
            with Side(id="side"):
                yield StatusPane(id="status-pane")
                yield TaskLog(id="log-pane")
        yield TodoStrip(id="todo")
        yield Review(self.keymap_.of("approvals_now"), id="review")
        yield Queued(self.keymap_.of("queued"), id="queued")
        yield Passing(id="passing")
        yield Composer(
            self.seat.folder, state_folder(self.environ), environ=self.environ,
            commands=self._completed.commands, skills=self._completed.skills,
            arguments=self._completed.arguments, id="composer",
        )  # fmt: skip
        yield Mentioned(self.keymap_.of("mentioned"), id="mentioned")
        yield StatusBar(id="statusbar")
        yield Keys(id="keys")

    def on_mount(self) -> None:
        """Begin: the composer is ready before anything else is looked at."""
        self.query_one(Composer).focus()
        self.query_one(Transcript).window.keys = f"{self.keymap_.of('read')} Enter"
        self.moved(anew=True)
        self.set_interval(BEAT, self.showing.beat)
        self.set_interval(WATCH, lambda: self.spawn(self.showing.watch()))
        self.watch(self.screen, "focused", self._focus_moved, init=False)
        self.screen_change_signal.subscribe(self, lambda _: self.showing.keys(), immediate=True)
        for problem in self.keymap_.problems:
            self.call_after_refresh(self.tell, problem)
        if self._first is not None:
            self.spawn(self._first(self.stage))

    # What others ask of the application.

    def spawn(self, work: Coroutine[Any, Any, Any]) -> Worker[Any]:
        """Begin work that ends with the application."""
        return self.run_worker(work, exit_on_error=True)

    def tell(self, text: str, advice: str = "") -> None:
        """Say one thing in passing."""
        self.say_for(safe(advised(text, advice)), 8)

    def say_for(self, text: str, seconds: float | None, style: str = "$accent") -> int:
        """Say something for so many seconds, or until it is withdrawn by the number returned."""
        if not self.is_running or self.showing.note(text, seconds):
            return 0
        return self.query_one(Passing).say(text, seconds, style)

    def withdraw(self, said: int) -> None:
        """What was announced has ended."""
        if self.is_running:
            self.query_one(Passing).withdraw(said)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Whoever says something in passing covers nothing: it has lines of its own."""
        style = "$accent" if severity == "information" else "$warning"
        self.say_for(message, timeout or 5, style)

    async def answered(self, screen: ModalScreen[T]) -> T | None:
        """What a person answers on a screen."""
        return await self.push_screen_wait(screen)

    def write(self, text: str) -> None:
        """Put text into the composer."""
        self.query_one(Composer).set_text(text)

    def _give_back(self, words: str) -> None:
        """Words that could not be said are not lost, unless others are written meanwhile."""
        if not self.query_one(Composer).text:
            self.write(words)

    def moved(self, *, anew: bool = False) -> None:
        """The seat may be at another thread: follow it."""
        if anew:
            self.follower.start()
        if anew or self.follower.moved():
            self.showing.begin(self.follower.story)
        else:
            self.showing.everything()

    def use_theme(self, name: str) -> None:
        """Change the theme, from now on."""
        self.theme = name
        self.memory.use_theme(name)

    def open_named(self, name: str) -> bool:
        """Open a pane or a screen by its name."""
        if name in PANES:
            self.acting.pane(name, toggle=False)
        elif name == "keys":
            self.show_help()
        elif name == "editor":
            self.run_worker(self.query_one(Composer).open_editor(), group="editor", exclusive=True)
        else:
            return False
        return True

    def show_help(self) -> None:
        """Keys and commands, over everything."""
        from steersman.ports.tui.screens.reading import Reading, help_lines

        commands = [(one.line, one.about) for one in self.registry.available(self.stage)]
        self.push_screen(Reading("Keys and commands", help_lines(self.keymap_, commands)))

    @property
    def registry(self) -> Registry:
        """The commands there are; read again in another folder."""
        if self._commands_here is None or self._commands_here[0] != self.seat.folder:
            self._commands_here = (self.seat.folder, Registry.at(self.stage))
        return self._commands_here[1]

    @property
    def attention(self) -> Literal["writing", "asking", "reading", "elsewhere"]:
        """Where keys go."""
        focused = self.screen_stack[0].focused if self.screen_stack else None
        if isinstance(focused, Composer):
            return "writing"
        above = focused.ancestors_with_self if focused is not None else ()
        if any(one.id == APPROVALS for one in above):
            return "asking"
        return "reading" if isinstance(focused, Transcript) else "elsewhere"

    # What the widgets say.

    @on(Composer.Said)
    def _said(self, event: Composer.Said) -> None:
        self.query_one(Transcript).follow()  # whoever speaks wants to see the answer
        self.steering.say(event.text, event.images)

    @on(Composer.Changed)
    def _wrote(self, event: Composer.Changed) -> None:
        if not event.text_area.is_attached:
            return  # the application is closing
        self.acting.wrote()
        if event.text_area.text:
            self.showing.closed = False
        self.showing.keys()

    @on(Composer.Left)
    def _left(self) -> None:
        self.acting.go()

    @on(Composer.Unsure)
    def _unsure(self) -> None:
        self.acting.remind()

    @on(Transcript.Unfolded)
    def _unfolded(self, event: Transcript.Unfolded) -> None:
        self.spawn(self.stage.unfold(event.block))

    @on(Composer.Hastened)
    def _hastened(self) -> None:
        self.steering.hasten(self.follower.story.queued())

    @on(Composer.NewestWithdrawn)
    def _withdraw_newest(self) -> None:
        self.acting.withdraw_newest()

    @on(Composer.Queued)
    def _queued(self, event: Composer.Queued) -> None:
        self.steering.queue(event.text)

    @on(Composer.Shell)
    def _shell(self, event: Composer.Shell) -> None:
        self.query_one(Transcript).follow()
        self.steering.run(event.command)

    @on(Composer.Command)
    def _command(self, event: Composer.Command) -> None:
        self.spawn(self.command(event.line))

    async def command(self, line: str) -> None:
        """Carry out a line that begins with `/`."""
        if not await self.registry.run(self.stage, line):
            self.steering.say(line)
        self.moved()

    def on_approvals_answered(self, event: Approvals.Answered) -> None:
        """The user answered what waited."""
        self.steering.answer(event.corr, event.answer, self.showing.reopen)

    def on_letters_prose(self, event: Approvals.Prose) -> None:
        """Words were typed where answers are given: they are words."""
        composer = self.query_one(Composer)
        composer.focus()
        composer.insert_text(event.text)

    def on_approvals_emptied(self) -> None:
        """Nothing waits any more."""
        self.showing.emptied()

    def on_app_focus(self) -> None:
        """The user looks at this terminal."""
        self.showing.notices.focus(True)
        self.call_after_refresh(self._have_keys_somewhere)

    def on_app_blur(self) -> None:
        """The user looks elsewhere."""
        self.showing.notices.focus(False)

    def on_unmount(self) -> None:
        """Leave the terminal as it was."""
        self.showing.notices.leave()

    @on(Queued.Chosen)
    def _withdrawn(self, event: Queued.Chosen) -> None:
        then = (lambda: self.write(event.text)) if event.edit else None
        self.acting.withdraw(event.corr, then)

    @on(Mentioned.Dropped)
    def _dropped(self, event: Mentioned.Dropped) -> None:
        self.drop(event.file)

    def drop(self, file: str) -> None:
        """Take a file out of context."""
        composer = self.query_one(Composer)
        composer.mentions = composer.mentions.remove(file)
        if not composer.mentions.files:
            composer.focus()
        self.showing.everything()

    @on(Review.Decided)
    def _reviewed(self, event: Review.Decided) -> None:
        self.query_one(Composer).focus()
        self.reviewing.do(event.what)

    def on_descendant_focus(self) -> None:
        """Other keys are of use now."""
        self.showing.closed = self.showing.closed and self.attention != "asking"
        self.showing.fold()
        self.showing.keys()

    def _focus_moved(self) -> None:
        self.call_after_refresh(self._have_keys_somewhere)

    def _have_keys_somewhere(self) -> None:
        """What had the keys is gone or hidden: one writes."""
        if self.is_running and self.app_focus and self.screen_stack[0].focused is None:
            self.query_one(Composer).focus()

    def on_resize(self, event: events.Resize) -> None:
        """Another size."""
        self.call_after_refresh(self.showing.everything)

    # What the keys do.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys of the application rest while a question is over it, letters unless one reads."""
        if action != "key" or not parameters:
            return True
        name = str(parameters[0])
        if isinstance(self.screen, ModalScreen):
            return name in ALWAYS
        if name == "mode":  # a question has the key for going to the one before
            return self.attention != "asking"
        if name == "detach" and self.attention == "writing":  # in a draft it moves the cursor
            return not self.query_one(Composer).text
        if name in ("page_up", "page_down"):
            return self.attention in ("writing", "elsewhere")
        return KEY_NAMES[name].where == "always" or self.attention == "reading"

    async def _on_key(self, event: events.Key) -> None:
        """A letter that is not a command where the keys go is prose: it is written."""
        lost = not isinstance(self.screen, ModalScreen) and self.attention in PROSE
        if not event.is_printable or not lost:
            return
        event.prevent_default()  # else the key would be looked up twice
        if not await self._check_bindings(event.key):
            composer = self.query_one(Composer)
            composer.focus()
            await composer._on_key(event)

    def typed(self, key: str) -> None:
        """After any other key, the one that quits must be pressed twice again."""
        if key not in self.keymap_.keys_of("leave"):
            self.acting.stay()

    def action_key(self, name: str) -> None:
        """A key of the table was pressed."""
        self.acting.do(name)

    def detach(self) -> None:
        """End, and let a turn that runs here continue; one that is about to begin begins first."""
        if self.steering.saying and self.seat.doing != "working":
            self.set_timer(BEAT, self.detach)
            return
        self.exit("detached" if self.carries else "")

    @property
    def carries(self) -> bool:
        """Whether a turn runs here, in this process."""
        return self.seat.here and self.seat.doing == "working"

    def hang_up(self) -> None:
        """The terminal is gone."""
        if self.seat.settings.on_hangup == "detach":
            self.detach()
        else:
            self.exit()

    async def action_quit(self) -> None:
        """End; the thread is kept."""
        self.exit()

    def _fatal_error(self) -> None:
        """A mistake of ours: end, and leave it to the command line to say so in a sentence."""
        error = sys.exc_info()[1]
        self.defect = error if isinstance(error, Exception) else self._exception
        self._close_messages_no_wait()
