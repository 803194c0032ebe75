"""What waits for a person's answer, above the composer: requests and questions, one at a time.

The widget only shows and asks; the answer goes to whoever gets `Approvals.Answered`. Nothing can
be answered before it has been on the screen long enough to be seen, so that a key meant for
something else allows nothing; only a plain yes, with nothing half written, needs no Enter.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, Literal

from textual import events, on
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Static

from steersman.ports.tui.diff_pane import DiffScreen
from steersman.ports.tui.drawing.lines import clean_line
from steersman.ports.tui.forms import EditForm, WordsForm
from steersman.ports.tui.letters import Letters
from steersman.records.message import Answer, ConfirmResponse
from steersman.views import requests
from steersman.views.blocks import Asked, Request, Work
from steersman.views.hunks import Part, answer, files_of, narrowed
from steersman.views.questions import chosen
from steersman.views.waiting import Waiting

TOO_EARLY = "That was too quick: nothing is answered. Read it, then press the key again."
NONE_CHOSEN = "Nothing is chosen yet: Space chooses what is marked, Enter then sends it."
NOT_ALL_SEEN = "Not all are seen: enlarge the window for that."
NOT_THE_SAME = "What is asked has changed meanwhile: answer here."
NO_WORDS = "The answer is empty: type one, or press esc twice to decline."
ENDED = "No longer asked: what wanted to know has ended."
MEANWHILE = "This was answered meanwhile."
CONTEXT = 1  # lines around a change; the diff over the whole screen has more


class Approvals(Letters, can_focus=True):
    """A queue of requests and questions. `show` says what waits; it is empty until then."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "allow", "approve", id="ask_once", show=False),
        Binding("u", "lasting('u')", "the like in this turn", id="ask_turn", show=False),
        Binding("t", "lasting('t')", "in this thread", id="ask_thread", show=False),
        Binding("A", "lasting('A')", "always here", id="ask_always", show=False),
        Binding("w", "lasting('w')", "all edits in this thread", id="ask_edits", show=False),
        Binding("W", "lasting('W')", "all edits here", id="ask_edits_here", show=False),
        Binding("n", "deny", "deny", id="ask_deny", show=False),
        Binding("d", "deny_host", "deny in this thread", id="ask_deny_thread", show=False),
        Binding("Y", "all('allow')", "approve all", id="ask_all", show=False),
        Binding("N", "all('deny')", "deny all", id="ask_none", show=False),
        Binding("g", "guide", "deny and say why", id="ask_guide", show=False),
        Binding("e", "edit", "edit", id="ask_edit", show=False),
        Binding("D", "diff", "diff", id="ask_diff", show=False),
        Binding("o", "other", "another answer", id="ask_other", show=False),
        Binding("question_mark", "more", "all answers", id="ask_more", show=False),
        Binding("enter", "choose", "choose", show=False),
        Binding("down,j", "down(1)", "down", show=False),
        Binding("up,k", "down(-1)", "up", show=False),
        Binding("escape", "decline", "decline", show=False),
        Binding("space", "mark", "choose", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("right,l", "sideways(1)", "right", show=False),
        Binding("left,h", "sideways(-1)", "left", show=False),
        Binding("tab,right_square_bracket", "next(1)", "next request", id="ask_next", show=False),
        Binding("shift+tab,left_square_bracket", "next(-1)", "previous request", show=False),
        *(Binding(str(digit), f"option({digit})", show=False) for digit in range(1, 10)),
    ]
    DEFAULT_CSS = """
    Approvals { height: auto; max-height: 60%; display: none; border-top: solid $warning; }
    Approvals > * { padding: 0 1; height: auto; }
    Approvals > DiffView { height: 1; background: $background; scrollbar-size-vertical: 1; }
    Approvals:focus-within { border-top: heavy $warning; }
    Approvals:focus { border-top: heavy $warning; }
    Approvals.small { border-top: none; }
    Approvals.gone > * { display: none; }
    Approvals.gone > #ask-head { display: block; }
    Approvals.folded > #ask-body, Approvals.folded > #ask-foot { display: none; }
    """

    class Answered(Message):
        """The user has answered: `corr` says what."""

        def __init__(self, corr: str, answer: ConfirmResponse | Answer) -> None:
            super().__init__()
            self.corr = corr
            self.answer = answer

    class Emptied(Message):
        """Nothing waits any more, and the keys went here until now."""

    _grabbed = ""
    _last: Waiting | None = None  # that was shown
    _opened: DiffScreen | None = None

    # The queue.

    def show(
        self, waiting: Sequence[Waiting], running: Sequence[Work] = (), *, grab: bool = False
    ) -> None:
        """What waits now, and the calls it is about.

        With `grab` the keys go here, once for each thing asked: who leaves it is not called back.
        """
        self._queue.take(waiting, running)
        self._go_on(grab=grab)

    def reopen(self, corr: str) -> None:
        """An answer did not arrive: it can be given again with the next `show`."""
        self._queue.reopen(corr)

    def _go_on(self, *, grab: bool = False) -> None:
        """Show what is asked now, if it is not what is shown already."""
        block, had, lost = self.current, self._focused(), self._queue.lost
        known, self._known = self._known, self._offer_now
        if self._queue.changed(sudden=grab or had):
            self._disarm()
            self._note, self._more = "", False
            self._leave_screen()
            self._leave_form()
            files = files_of(block.request.actions) if isinstance(block, Request) else ()
            self._view.show([narrowed(file, CONTEXT) for file in files], above=self._about)
        elif known != self._known:  # others are asked with it: what is marked stays that answer
            self._disarm()
            marked = known[1][self._queue.option : self._queue.option + 1]
            stays = {*marked} & {*self._known[1]} and marked[0].key not in "YN"
            self._mark(marked[0].key if stays else "")
        if block is None and (self._gone is not None or (lost and had and self._queue.patience)):
            self._say_gone()
            return
        self._stay_no_longer()
        self.display = self.can_focus = block is not None
        if block is None:
            self._grabbed = ""
            if had:
                self.call_later(self._tell_empty)
            return
        self._last = block
        self._fit()
        if grab and not had and block.corr != self._grabbed:
            self._queue.surprise()
            self.take_keys()
        if grab or had:
            self._grabbed = block.corr
        self.fold()

    def _say_gone(self) -> None:
        """Stay for as long as keys may be on their way, so that they become no message."""
        if self._gone is None and self._last is not None:
            told = ENDED if self._last.state == "cancelled" else MEANWHILE
            self.query_one("#ask-head", Static).update(told)
            self.add_class("gone")
            self._let_go()
            self._gone = self.set_timer(2 * self._queue.patience, self._go_away)

    def _go_away(self) -> None:
        self._let_go()
        self._stay_no_longer()
        self._go_on()

    def _stay_no_longer(self) -> None:
        if self._gone is not None:
            self._gone.stop()
            self._gone, self._fitted = None, ()
            self.remove_class("gone")

    def _tell_empty(self) -> None:
        """Something new may have come in the meantime, and the keys with it."""
        if self.current is None:
            self.post_message(self.Emptied())

    def take_keys(self) -> None:
        """Let the keys go here; to the field, where a question has nothing but one."""
        if isinstance(self.current, Asked) and not self.current.question.options:
            self.action_other()
        else:
            self.focus()

    def fold(self) -> None:
        """While keys go elsewhere, what waits is one line that says how to come back."""
        self._folded = not self._has_keys() and self._opened is None
        if self._folded:
            self._disarm()
            self._let_go()
        if self.current is not None:
            self._fit()

    def on_focus(self) -> None:
        """All of it is shown again."""
        self._prose = False
        self.fold()

    def on_blur(self) -> None:
        """Words have come to where they belong."""
        self._prose = False

    def _has_keys(self) -> bool:
        return self.display and self._focused()

    def _focused(self) -> bool:
        """Whether keys come here, or would: for a moment after the last answer nothing is shown."""
        focused = self.screen.focused
        return focused is not None and self in focused.ancestors_with_self

    # Answers.

    def _answer(self, said: ConfirmResponse | Answer) -> None:
        """Say it, and continue to the next."""
        corr = self._queue.answered(back=isinstance(said, Answer) and said.by == "back")
        if not corr:
            self.tell(TOO_EARLY)
            return
        had = self._has_keys()
        self.post_message(self.Answered(corr, said))
        self._go_on()
        if had and self.current is not None and not self._has_keys():
            self.take_keys()

    def action_allow(self) -> None:
        """Yes, this once."""
        if isinstance(self.current, Request):
            yes = partial(self._answer, ConfirmResponse("allow"))
            if self._drafting():
                self._arm("y", "approve", yes)
            else:
                yes()
        elif self._drafting():
            self._arm("y", "yes", partial(self._choose, "yes"))
        else:
            self._choose("yes")

    def action_lasting(self, key: str) -> None:
        """Yes, for longer, where that is offered; Enter confirms it."""
        self._offer(key, self._lasting)

    def action_all(self, decision: Literal["allow", "deny"]) -> None:
        """The same to everything that is asked together; Enter confirms a yes."""
        if not self._all_seen:
            self.tell(NOT_ALL_SEEN)
        elif decision == "allow":
            self._offer("Y", lambda _: self._answer_all("allow"))
        elif "N" in (one.key for one in self._answers):
            self._answer_all("deny")

    def _offer(self, key: str, then: Callable[[str], None]) -> None:
        """Say what an answer covers, and let Enter give it."""
        found = next((one for one in self._answers if one.key == key), None)
        if found is not None and found.lasts:
            self._arm(key, found.covers, partial(then, key))

    def _lasting(self, key: str) -> None:
        if isinstance(self.current, Request):
            name, scope, _ = requests.lasting_keys(self.current.request)[key]
            self._answer(ConfirmResponse("allow", scope=scope, lasting=name))

    def _answer_all(self, decision: Literal["allow", "deny"]) -> None:
        had, answered = self._has_keys(), self._queue.all_answered()
        for corr in answered:
            self.post_message(self.Answered(corr, ConfirmResponse(decision)))
        if not answered:
            self.tell(TOO_EARLY)
            return
        self._go_on()
        if had and self.current is not None:
            self.take_keys()

    def action_deny_host(self) -> None:
        """No, for all commands of the thread."""
        if isinstance(self.current, Request) and requests.of_host(self.current.request):
            self._answer(ConfirmResponse("deny", scope="thread"))

    def action_deny(self) -> None:
        """No."""
        if isinstance(self.current, Request):
            self._answer(ConfirmResponse("deny"))
        else:
            self._choose("no")

    def _choose(self, option: str) -> None:
        if isinstance(self.current, Asked) and option in self.current.question.options:
            self._answer(Answer(option))

    def action_guide(self) -> None:
        """No, and what to do instead."""
        if isinstance(self.current, Request):
            self._write("what to do instead", "deny with these words")

    def action_other(self) -> None:
        """An answer in one's own words."""
        self._write_answer("")

    def _write_answer(self, text: str) -> None:
        if isinstance(self.current, Asked):
            default = self.current.question.default
            hint = f"answer (empty: {clean_line(default)})" if default else "answer"
            self._write(hint, "answer", text)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Esc declines only what can be declined; elsewhere it is the application's."""
        return self._form is None and self._queue.declinable if action == "decline" else True

    def action_decline(self) -> None:
        """No answer; whoever asked learns that."""
        self._answer(Answer("", by="declined"))

    def action_mark(self) -> None:
        """Choose the marked answer, or no longer, where several may be; else a page down."""
        if isinstance(self.current, Asked) and self.current.question.multiple:
            self._pick(self._queue.option)
        else:
            self.action_page(1)

    def _pick(self, at: int, *, seen: bool = False) -> None:
        """Give an answer of the list, or begin to write it.

        One that lasts, and of which the line shows a part, is said whole and marked first, unless
        it was `seen` like that; who has words half written confirms every yes.
        """
        rows = self._answers
        if isinstance(self.current, Asked):
            self._choose_at(at)
        elif at < len(rows) and self._list.display:
            row, seen = rows[at], seen or self._list.whole(at)
            if not row.words:
                self.tell(NOT_ALL_SEEN)
                return
            self._mark(row.key)
            if row.lasts and not self._drafting() and seen:
                self._answer_all("allow") if row.key == "Y" else self._lasting(row.key)
            else:
                self.press(row.key)

    def press(self, key: str) -> None:
        """Do what the key of an answer does."""
        match key:
            case "y":
                self.action_allow()
            case "n":
                self.action_deny()
            case "d":
                self.action_deny_host()
            case "g":
                self.action_guide()
            case "Y" | "N":
                self.action_all("allow" if key == "Y" else "deny")
            case _:
                self.action_lasting(key)

    def _choose_at(self, at: int) -> None:
        """A choice of a question, or the field for one's own words below them."""
        if not isinstance(self.current, Asked) or at >= len(self._answers):
            return
        question = self.current.question
        if at == len(question.options):
            self.action_other()
        elif question.multiple:
            self._queue.toggle(at)
            self._view.lay_out()
        else:
            self._answer(Answer(question.options[at]))

    def action_edit(self) -> None:
        """Change the call before it is allowed."""
        block, call = self.current, self._queue.call
        if isinstance(block, Request) and call and requests.editable(block.request, call):
            self._form = self.query_one(EditForm)
            self._form.begin(requests.edited_text(call), command=requests.by_command(call))
            self._fit()

    def action_diff(self) -> None:
        """All of the diff, and where it can be, a choice of its hunks."""
        block = self.current
        if not isinstance(block, Request):
            return
        files = files_of(block.request.actions)
        if not files:
            return
        whole, offered = self._queue.why_whole, self._offer_now

        def decided(said: frozenset[Part] | str | None) -> None:
            self._opened = None
            if said is None or self.current is not block:
                return
            if not isinstance(said, str):
                self._answer(answer(block.request, said))
            elif self._offer_now != offered:
                self.tell(NOT_THE_SAME)
            elif said.isdecimal():
                self._pick(int(said) - 1)
            else:
                self.press(said)

        self._opened = DiffScreen(
            files,
            title=requests.wish(block),
            choosing=not whole,
            why_whole=whole,
            answers=self._answers,
        )
        self.app.push_screen(self._opened, decided)

    def action_option(self, digit: int) -> None:
        """An answer that is offered, by its number."""
        self._pick(digit - 1)

    def action_choose(self) -> None:
        """What waits for Enter, or the answer that is marked."""
        if self._confirm():
            return
        option = self._queue.option
        if not isinstance(self.current, Asked):
            self._pick(option, seen=True)
            return
        question = self.current.question
        if not question.options:
            self.action_other()
        elif not question.multiple or option == len(question.options):
            self._pick(option)
        elif self._queue.chosen:
            self._answer(chosen(question, self._queue.chosen))
        else:
            self.tell(NONE_CHOSEN)

    def on_click(self, event: events.Click) -> None:
        """An option can be clicked on, and so can the line of what waits."""
        view = self._view
        if self._folded and self.current is not None:
            self.take_keys()
            return
        if event.widget is self._list:
            at = self._list.at(event.screen_y - self._list.content_region.y)
            if at is not None:
                self._pick(at)
        if not isinstance(self.current, Asked) or event.widget is not view:
            return
        row = event.screen_y - view.content_region.y
        if view.covered(row):
            view.action_page(1)
            return
        row += view.scroll_offset.y
        below = [at for at, first in enumerate(self._option_rows) if first <= row]
        if below and row < view.height_at(view.size.width):
            self._pick(below[-1])

    # Moving.

    def action_down(self, by: int) -> None:
        """The next answer; of a question without any, a row down."""
        rows = self._answers
        if not rows or not (self._list.display or isinstance(self.current, Asked)):
            self._view.action_scroll_by(by)
            return
        self._queue.move_option(by, len(rows))
        while not rows[self._queue.option].words:  # the first and the last have some
            self._queue.move_option(by, len(rows))
        if isinstance(self.current, Asked):
            self._view.lay_out()
            at, starts = self._queue.option, [*self._option_rows, self._view.virtual_size.height]
            self._view.reveal(starts[at] if at else 0, starts[at + 1])
        else:
            self.tell("")
            row = rows[self._queue.option]
            if row.lasts and not self._list.whole(self._queue.option):
                self.tell(f"“{row.key}”: {row.covers}.")

    def action_more(self) -> None:
        """Every answer and what it covers, and why it is asked; or what it is about again."""
        if isinstance(self.current, Request):
            self._more = not self._more
            self._view.lay_out()
            self._fit()
            self._view.scroll_home(animate=False)

    def action_page(self, by: int) -> None:
        """A page down or up."""
        self._view.action_page(by)

    def action_sideways(self, by: int) -> None:
        """To the right or left, where lines are long; left of a question is the one before."""
        if by < 0 and self._queue.goes_back:
            self._answer(Answer("", by="back"))
        else:
            self._view.action_sideways(by)

    def action_next(self, by: int) -> None:
        """The next request or the one before."""
        if by < 0 and self._queue.goes_back:
            self.action_sideways(by)
        else:
            self._queue.move(by)
            self._go_on()

    # Forms.

    def _write(self, hint: str, does: str, text: str = "") -> None:
        self._form = self.query_one(WordsForm)
        self._form.begin(hint, does, text)
        self._fit()

    def _leave_form(self) -> None:
        if self._form is not None:
            had = self._has_keys()
            self._form.display = False
            self._form = None
            if had:
                self.focus()

    def _leave_screen(self) -> None:
        """What it asked about is answered, or gone."""
        if self._opened is not None and self._opened.is_active:
            self._opened.dismiss(None)
        self._opened = None

    @on(WordsForm.Said)
    def _words_said(self, event: WordsForm.Said) -> None:
        event.stop()
        block = self.current
        if isinstance(block, Asked):
            text = event.text.strip()
            picked = self._queue.chosen
            made = chosen(block.question, picked, text) if picked else Answer(text)
            if made.text or block.question.default or not block.question.call:
                self._answer(made if made.text else Answer(block.question.default))
            else:
                self.tell(NO_WORDS)
        elif isinstance(block, Request):
            self._answer(ConfirmResponse("deny", event.text.strip()))

    @on(EditForm.Edited)
    def _call_edited(self, event: EditForm.Edited) -> None:
        event.stop()
        call = self._queue.call
        if call is None:
            return
        made = requests.edited_arguments(call, event.text)
        if isinstance(made, str):
            self.tell(made)
        else:
            self._answer(ConfirmResponse("allow", arguments=made))

    @on(WordsForm.Left)
    @on(EditForm.Left)
    def _form_left(self, event: Message) -> None:
        event.stop()
        self._leave_form()
        self._note = ""
        self._fit()
