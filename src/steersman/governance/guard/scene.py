"""What is gathered while a command line is read: findings, facts, and how far the reading went."""

from msgspec import Struct

from steersman.governance.guard.marks import blur, shown
from steersman.records.judgement import CommandPlace, Fact

ALLOW, ASK, BLOCK, BREAK = 0, 1, 2, 3
MAX_STEPS = 600
MAX_DEPTH = 8
MAX_FACTS = 200
MAX_TEXT = 20_000  # letters of one text that the line makes
MAX_LETTERS = 200_000  # of all of them
SHORT = 100  # letters, of a text that stays known beyond that
A_NODE = 20  # letters that reading a part of the line counts for


class Finding(Struct, frozen=True):
    """One reason to stop or to ask."""

    level: int
    rule: str
    reason: str
    instead: str = ""


class Scene:
    """One judgement in the making; shared by all shells inside one command line."""

    def __init__(self, place: CommandPlace) -> None:
        self.place = place
        self.worst: Finding | None = None
        self.facts: list[Fact] = []
        self.files: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.printed: set[str] = set()  # what substitutions gave, and who the user is if asked
        self.plain = True
        self.steps = 0
        self.letters = 0
        self.prose = False
        self.facts_seen: set[Fact] = set()
        self.hook_dirs: list[str] = []
        self.environments: list[Finding] = []  # printed, unless a filter keeps the names only

    def note(self, level: int, rule: str, reason: str, instead: str = "") -> None:
        """Remember a finding; the gravest is the one that counts, the first of equals."""
        if self.worst is None or level > self.worst.level:
            self.worst = Finding(level, rule, reason, instead)

    def fact(self, fact: Fact) -> None:
        """Remember a simple command."""
        if fact in self.facts_seen:
            return
        if len(self.facts) >= MAX_FACTS:
            self.too_complex(f"it has more than {MAX_FACTS} commands")
            return
        self.facts_seen.add(fact)
        self.facts.append(fact)

    def step(self) -> bool:
        """Count one command; False when the line is too long to follow."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            self.too_complex("too many commands")
            return False
        return True

    def fit(self, text: str) -> str:
        """A text that the line makes; beyond what is followed, only where its parts come from."""
        self.letters += len(text)
        if len(text) <= (MAX_TEXT if self.letters <= MAX_LETTERS else SHORT):
            return text
        self.too_complex("it puts texts together that are too long")
        return blur(text)

    def continues(self) -> bool:
        """Count one part of the line; False when loops and functions repeat too many."""
        self.letters += A_NODE
        if self.letters <= 2 * MAX_LETTERS:
            return True
        self.too_complex("it repeats too much")
        return False

    def too_complex(self, what: str) -> None:
        """The line is beyond what is followed: nobody can say it is safe."""
        self.plain = False
        self.note(
            ASK,
            "shape.too-complex",
            f"The command is too complex to follow: {what}.",
            "Split it into smaller commands.",
        )


def sentence(words: list[str]) -> str:
    """A command as it is named in a reason."""
    return shown(" ".join(words), 80)
