"""Links that the command line itself makes: what is done below one is done to its target.

Links that exist already are not known here; the gate sees through those.
"""

from typing import TYPE_CHECKING

from steersman.governance.guard.marks import OUT, UNSET, glob_pattern, globbed, unknown
from steersman.governance.guard.paths import FOLDERS, absolute

if TYPE_CHECKING:
    from steersman.governance.guard.call import ProgramCall

_MOST_HOPS = 16
_MOST_LINKS = 32


def followed(path: str, links: dict[str, str], *, last: bool = True) -> str:
    """An absolute path with links taken as their targets; the last part too unless `last` is off.

    A glob that fits a link is taken for it, but only where something is named below."""
    done, hops = "", 0
    todo = path.split("/")
    while todo:
        part = todo.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            done = done.rpartition("/")[0]
            continue
        target = _target(done, part, links, below=bool(todo)) if todo or last else None
        if target is None or hops == _MOST_HOPS:
            done = f"{done}/{part}"
        elif target.startswith("/"):
            hops, done, todo = hops + 1, "", target.split("/") + todo
        else:
            return "/".join([target, *todo])
    return done or "/"


def _target(folder: str, part: str, links: dict[str, str], *, below: bool) -> str | None:
    if not globbed(part):
        return links.get(f"{folder}/{part}")
    if below:
        fits = glob_pattern(part)
        for link, target in links.items():
            head, _, name = link.rpartition("/")
            if head == folder and fits.match(name):
                return target
    return None


def link(call: "ProgramCall", target: str, name: str, base: str | None = None) -> None:
    """Remember that `name` leads to `target`, which is relative to the link unless `base` says
    otherwise."""
    links = call.scene.links
    home = call.place.home
    where = call.path(name, last=False)
    to = absolute(target, base or where.rpartition("/")[0] or "/", home)
    if unknown(to[:1]):
        to = to.replace(UNSET, OUT)
    if len(links) >= _MOST_LINKS:
        call.scene.too_complex("it makes too many links")
    elif to != where:
        links[where] = to


def link_all(call: "ProgramCall", sources: list[str], target: str, *, symbolic: bool) -> None:
    """`ln a b`, `ln a b folder/`: links at a name, or in a folder."""
    base = None if symbolic else call.shell.cwd
    folder = target.endswith("/") or len(sources) > 1 or call.zone(target) in FOLDERS
    for source in sources:
        inside = target.rstrip("/") + "/" + source.rstrip("/").rpartition("/")[2]
        link(call, source, inside if folder else target, base)
