"""Commands as rules name them: read loosely to keep one from happening, strictly to allow it."""

from collections.abc import Sequence

from steersman.records.judgement import Fact
from steersman.records.patterns import pattern
from steersman.records.protection import inside

Word = str | tuple[str, ...]
Prefix = tuple[Word, ...]

# Wrappers that change nothing about what a command does; leave looks through these and no others.
_HARMLESS = frozenset({"builtin", "command", "nice", "nohup", "stdbuf", "time", "timeout"})
# Where a program of the system lies; `git` in any other folder is not the git a person means.
_SYSTEM = frozenset({
    "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin",
    "/opt/homebrew/bin",
})  # fmt: skip
# Options before a subcommand whose value is the next word.
_VALUED = {
    "git": "-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix",
    "docker": "-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey",
    "podman": "-H --url -c --connection --identity --log-level --root --runroot",
    "kubectl": "-n --namespace --context --kubeconfig --cluster --user -s --server --token --as",
    "helm": "-n --namespace --kube-context --kubeconfig",
    "npm": "--prefix -w --workspace --registry --userconfig --loglevel -C",
    "pnpm": "-C --dir -F --filter --loglevel",
    "yarn": "--cwd --use-yarnrc",
    "cargo": "-C -Z --config --color",
    "gh": "-R --repo",
    "make": "-C -f -j -I --directory --file",
    "pip": "--python --proxy --cache-dir --log",
    "uv": "--directory --project --config-file --cache-dir --color",
    "systemctl": "-H --host -M --machine --root",
    "apt": "-o -c -t",
    "apt-get": "-o -c -t",
    "aws": "--profile --region --endpoint-url --output",
    "gcloud": "--project --account --configuration --format",
    "terraform": "-chdir",
}
_OPTIONS = {program: frozenset(options.split()) for program, options in _VALUED.items()}
_OPERATORS = frozenset({
    "&&", "||", "|", "|&", ";", ";;", "&", ">", ">>", "<", "<<", "<<<", ">&", "&>",
    "(", ")", "{", "}", "!",
})  # fmt: skip
_ASSIGNMENT = pattern(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


def check_command(words: Prefix) -> None:
    """Raise ValueError with a sentence when the words cannot begin a simple command."""
    if not words:
        raise ValueError("the command is empty")
    for word in words:
        if not word:
            raise ValueError("a word has no alternatives")
        for choice in (word,) if isinstance(word, str) else word:
            _check_word(choice)
    first = (words[0],) if isinstance(words[0], str) else words[0]
    if any(map(_ASSIGNMENT.match, first)):
        raise ValueError("a command begins with its program, not with a variable")
    if "" in first:
        raise ValueError("the program has no name")


def _check_word(word: str) -> None:
    if word in _OPERATORS or "$(" in word or "`" in word:
        raise ValueError(f"a command is one simple command, and `{word}` joins or changes several")
    if "*" in word and word != "*":
        raise ValueError(f"`*` only matches a whole word, not a part of one as in `{word}`")


def spelled_out(words: Prefix) -> bool:
    """True when every word of a rule is just that word."""
    return all(isinstance(word, str) and word != "*" for word in words)


def begins(words: Prefix, fact: Fact, *, whole: bool) -> bool:
    """Strictly, to allow: the fact's words begin with these, its program is the system's own."""
    if len(fact.words) < len(words) or (whole and len(fact.words) != len(words)):
        return False
    for want, word in zip(words[1:], fact.words[1:], strict=False):
        if want != word and not _is(want, word):
            return False
    program, first = fact.words[0], words[0]
    if program != first:
        folder, slash, base = program.rpartition("/")
        if slash and folder not in _SYSTEM and "*" in first:
            return False
        if not _is(first, program) and not (folder in _SYSTEM and _is(first, base)):
            return False
    return all(_base(wrapper) in _HARMLESS for wrapper in fact.via)


def stays(fact: Fact, workspace: str) -> bool:
    """True for a `cd` that does not leave the workspace: it needs no permission."""
    if len(fact.words) != 2 or fact.words[0] != "cd" or fact.via or not fact.known:
        return False
    place = fact.words[1]
    if place.startswith("/"):
        return inside(place.rstrip("/"), workspace) and ".." not in place.split("/")
    return place[:1] not in ("", "~", "-", "+") and ".." not in place.split("/")


def only_redirects(fact: Fact) -> bool:
    """True for redirects of a group of commands, or of none: nothing is started for them."""
    return fact.words == (":",) and fact.known


def mentions(words: Prefix, fact: Fact, *, whole: bool) -> bool:
    """Loosely, to keep something from happening: also past options, wrappers and folders."""
    if all(map(_is_option, words[1:])) and any(_is(words[0], _base(name)) for name in fact.via):
        return True  # nobody keeps the options of wrappers
    forms = [fact.words, *((*fact.via[at:], *fact.words) for at in range(len(fact.via)))]
    return any(_aligned(words, form, whole=whole) for form in forms if form)


def _aligned(words: Prefix, found: Sequence[str], *, whole: bool) -> bool:
    """True when the words occur in order; options between them, and values of some, are passed.

    An option that follows another word of the rule may be anywhere after it.
    """
    program = _base(found[0])
    if not _is(words[0], found[0]) and not _is(words[0], program):
        return False
    if whole and len(found) != len(words):
        return False
    valued = _OPTIONS.get(program, frozenset())
    at, arguments = 1, False
    for want in words[1:]:
        if arguments and _is_option(want):
            if not any(_is_such_option(want, word) for word in found[at:]):
                return False
            continue
        while at < len(found) and not _is_such_option(want, found[at]):
            if not found[at].startswith(("-", "+")):
                return False
            at += 2 if found[at] in valued else 1
        if at >= len(found):
            return False
        at, arguments = at + 1, arguments or not _is_option(want)
    return True


def _is(want: Word, word: str) -> bool:
    if isinstance(want, tuple):
        return word in want or "*" in want
    return want in ("*", word)


def _is_option(want: Word) -> bool:
    return all(choice.startswith("-") for choice in ((want,) if isinstance(want, str) else want))


def _is_such_option(want: Word, word: str) -> bool:
    """The word itself, or a long option with its value."""
    return _is(want, word) or (word.startswith("--") and _is(want, word.partition("=")[0]))


def _base(program: str) -> str:
    return program.rpartition("/")[2]


def programs(words: Prefix) -> frozenset[str] | None:
    """The names a rule's program may have; None when it may have any."""
    first = (words[0],) if isinstance(words[0], str) else words[0]
    return None if "*" in first else frozenset(map(_base, first))


def started(facts: Sequence[Fact]) -> frozenset[str]:
    """The names of all programs in a line, wrappers included."""
    found = {_base(fact.words[0]) for fact in facts if fact.words}
    return frozenset(found.union(*(map(_base, fact.via) for fact in facts)))
