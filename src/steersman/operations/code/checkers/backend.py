"""Checkers as a backend of code intelligence, for diagnostics alone."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from typing import NoReturn

import msgspec

from steersman.operations.code.backend import Ability, Spot, Target, Unable, Wanted
from steersman.operations.code.checkers.parsers import Unreadable
from steersman.operations.code.checkers.running import Ran, run
from steersman.operations.code.checkers.table import Checker, Job, chosen, known
from steersman.operations.code.lsp.positions import to_column
from steersman.operations.code.lsp.reach import Reach, Texts
from steersman.operations.code.records import Diagnostic, Reference, Symbol
from steersman.operations.finding import SearchPlace, list_names
from steersman.operations.running.companions import Companions
from steersman.operations.tool import Bench
from steersman.records.secret_files import SKIPPED

AT_ONCE = 2
MOST_FILES = 60
_LOOKED_AT = 4_000


class Checked(list[Diagnostic]):
    """What checkers say, with who said it and who could not."""

    by: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class CheckerBackend:
    """The checkers of one workspace (a real path)."""

    def __init__(
        self,
        root: str,
        companions: Companions,
        environ: Mapping[str, str],
        checkers: tuple[Checker, ...] = (),
    ) -> None:
        self._root = root
        self._companions = companions
        self._environ = environ
        self._checkers = checkers or known()
        self._texts = Texts()
        self._slots = asyncio.Semaphore(AT_ONCE)

    @property
    def name(self) -> str:
        """What answers say they came from; every diagnostic names its checker."""
        return "checkers"

    def serves(self, ability: Ability, path: str) -> bool:
        """Whether a checker is installed for a file, or for files of a folder."""
        return ability == "diagnostics" and bool(self._jobs((path,)))

    async def diagnostics(self, paths: tuple[str, ...], bench: Bench) -> Checked:
        """What all checkers say that are for these paths; the same thing is reported once."""
        reach = Reach(bench.workspace, paths)
        for path in paths:
            reach.check(path)
        jobs = await asyncio.to_thread(self._jobs, paths)
        if not jobs:
            raise Unable("No checker is installed for these files.")
        answers = await asyncio.gather(
            *(self._checked(job, bench) for job in jobs), return_exceptions=True
        )
        found: dict[tuple[str, int, str], Diagnostic] = {}
        by, failed = [], []
        for job, answer in zip(jobs, answers, strict=True):
            if isinstance(answer, Unable):
                failed.append(str(answer).replace("\n", " "))
            elif isinstance(answer, BaseException):
                raise answer
            else:
                by.append(job.checker.name)
                for said in self._placed(answer, job, paths, reach):
                    found.setdefault((said.path, said.line, said.message), said)
        if not by:
            raise Unable("No checker could check these files.", "\n".join(failed))
        result = Checked(sorted(found.values(), key=lambda one: (one.path, one.line, one.column)))
        result.by = tuple(dict.fromkeys(by))
        result.failed = tuple(failed)
        return result

    async def overview(self, path: str, depth: int, bench: Bench) -> list[Symbol]:
        """Not by checkers."""
        self._only_checks()

    async def find(self, wanted: Wanted, bench: Bench) -> list[Symbol]:
        """Not by checkers."""
        self._only_checks()

    async def declaration(self, spot: Spot, bench: Bench) -> list[Symbol]:
        """Not by checkers."""
        self._only_checks()

    async def references(self, target: Target, bench: Bench) -> list[Reference]:
        """Not by checkers."""
        self._only_checks()

    async def close(self) -> None:
        """Nothing is kept running."""

    def _only_checks(self) -> NoReturn:
        raise Unable("Checkers only check.")

    def _jobs(self, paths: tuple[str, ...]) -> list[Job]:
        has = {path: _ends(path) for path in paths}
        return chosen(paths, self._root, self._environ, has, self._checkers)

    async def _checked(self, job: Job, bench: Bench) -> list[Diagnostic]:
        """What one checker says, paths as it printed them."""
        async with self._slots:
            match job.checker.takes:
                case "project":
                    runs: list[tuple[str, ...]] = [()]
                case "paths":
                    runs = [job.paths]
                case "files":
                    runs = [await self._files(job, bench)]
                case "file":
                    runs = [(path,) for path in await self._files(job, bench)]
            parse = job.checker.parser()
            found: list[Diagnostic] = []
            for paths in runs:
                ran = await run(job, paths, self._companions, self._environ)
                try:
                    said = parse(ran.output)
                except Unreadable as error:
                    raise _failed(job, ran, str(error)) from error
                if not said and ran.code:  # they end so because of what they found
                    raise _failed(job, ran, "")
                found += said
        return found

    async def _files(self, job: Job, bench: Bench) -> tuple[str, ...]:
        """The files of folders that a checker knows, without those that git leaves out."""
        workspace, files = bench.workspace, []
        for path in job.paths:
            if not os.path.isdir(path):
                files.append(path)
                continue
            place = SearchPlace(workspace.root, workspace.below(path), secret=workspace.secret)
            names = (await list_names(place, False, self._environ)).names
            paths = (os.path.join(path, os.fsdecode(name)) for name in names)
            files += [one for one in paths if job.checker.knows(one)]
        return tuple(files[:MOST_FILES])

    def _placed(
        self, said: Iterable[Diagnostic], job: Job, paths: tuple[str, ...], reach: Reach
    ) -> Iterable[Diagnostic]:
        """Those of the paths that were asked for, in our shape."""
        for one in said:
            path = os.path.realpath(os.path.join(job.folder, one.path)) if one.path else ""
            if not path or not any(_below(path, asked) for asked in paths) or not reach.sees(path):
                continue
            text = self._texts.get(path)
            line = text.line(one.line) if text else ""
            column = one.column
            if job.checker.columns != "utf-32" and line:
                column = to_column(line, one.column - 1, job.checker.columns)
            yield msgspec.structs.replace(
                one, path=reach.shown(path), column=column, source=job.checker.name
            )


def _failed(job: Job, ran: Ran, why: str) -> Unable:
    words = ran.errors or ran.output
    last = " ".join(words.strip().splitlines()[-3:])[:500]
    said = last or why or f"exit code {ran.code}"
    return Unable(f"{job.checker.name} could not check.", said)


def _ends(path: str) -> frozenset[str]:
    """The ends of names of a file, or of the files near the top of a folder."""
    if not os.path.isdir(path):
        return frozenset((os.path.splitext(path)[1],))
    found: set[str] = set()
    folders, looked = [path], 0
    for folder in folders:
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    looked += 1
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in SKIPPED:
                            folders.append(entry.path)
                    else:
                        found.add(os.path.splitext(entry.name)[1])
        except OSError:
            continue
        if looked > _LOOKED_AT:
            break
    return frozenset(found)


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
