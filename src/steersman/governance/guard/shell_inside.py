"""Commands inside a container or on a node: what they touch is not this machine, except mounts."""

from typing import TYPE_CHECKING

from steersman.governance.guard.scene import ASK, BLOCK, BREAK, Scene
from steersman.records.judgement import CommandPlace

if TYPE_CHECKING:
    from steersman.governance.guard.call import ProgramCall


def read_inside(
    call: "ProgramCall",
    words: list[str],
    mounts: dict[str, str],
    *,
    remote: bool = False,
    lasting: bool = False,
) -> None:
    """Read a command whose `/` is another; paths under mounts are the machine's own."""
    if not words:
        return
    call.scene.plain = False
    place = call.place
    real = [_translated(word, mounts) for word in words]
    scene = Scene(CommandPlace(place.workspace, place.home))
    shell = call.shell.copy()
    shell.scene = scene
    shell.depth += 1
    shell.via = (*shell.via, call.name)
    scene.files = call.scene.files
    if shell.depth <= 8:
        shell.run(real, call.stdin)
    for fact in scene.facts:
        call.scene.fact(fact)
    call.scene.environments += scene.environments
    worst = scene.worst
    if worst is None:
        return
    if (
        real != words
        or remote
        or worst.rule.split(".")[0] in ("exfil", "net", "db", "docker", "secrets")
    ):
        level = min(worst.level, BLOCK) if real == words else worst.level
        call.scene.note(level, worst.rule, worst.reason, worst.instead)
    elif worst.level in (BLOCK, BREAK):
        level = (
            BLOCK
            if lasting or worst.rule in ("fs.root", "fs.top-level", "forkbomb.function")
            else ASK
        )
        call.scene.note(level, "docker.inside", f"Inside the container: {worst.reason}")
    elif worst.rule.split(".")[0] in ("remote", "git", "pkg", "code") and call.name not in (
        "docker",
        "podman",
    ):
        call.scene.note(ASK, worst.rule, worst.reason)


def _translated(word: str, mounts: dict[str, str]) -> str:
    for inside, outside in sorted(mounts.items(), key=lambda item: -len(item[0])):
        if not inside:
            continue
        if word == inside or word.startswith(inside.rstrip("/") + "/"):
            return outside.rstrip("/") + word[len(inside.rstrip("/")) :] or "/"
        if " " in word and inside in word and inside != "/":
            return word.replace(inside.rstrip("/"), outside.rstrip("/") or "")
    return word
