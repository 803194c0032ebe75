"""What came of benchmarks: a line of JSON for every task a model tried, kept for good."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from statistics import fmean, median

import msgspec
from msgspec import Struct

from steersman.intelligence.benching.tasks import Kind
from steersman.records.errors import StorageProblem


class Result(Struct, frozen=True, omit_defaults=True):
    """One task tried by one model. `cost` is None when nobody knows the price.

    `first_token_ms` is the median over the requests, `why` what the checks or the turn said when
    it did not pass.
    """

    model: str
    task: str
    kind: Kind
    passed: bool
    time: datetime
    thread: str = ""
    ending: str = ""
    why: str = ""
    seconds: float = 0.0
    first_token_ms: float = 0.0
    requests: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    cost: float | None = None


class Row(Struct, frozen=True):
    """A model over its tasks; the middle columns are means for one task."""

    model: str
    passed: int
    tried: int
    seconds: float
    first_token_ms: float
    input: float
    cached: float
    output: float
    cost: float | None

    @property
    def share(self) -> float:
        """The part of the tasks that passed."""
        return self.passed / self.tried


def results_file(home: Path) -> Path:
    """Where results are kept, in a data folder."""
    return home / "bench" / "models.jsonl"


def keep(path: Path, result: Result) -> None:
    """Add a result."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(msgspec.json.encode(result) + b"\n")
    except OSError as error:
        raise StorageProblem(
            f"The result cannot be kept in {path}.", error.strerror or str(error)
        ) from error


def kept(path: Path) -> list[Result]:
    """Every result, the oldest first; a line that was cut off is passed over."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        try:
            found.append(msgspec.json.decode(line, type=Result))
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
    return found


def newest(results: Iterable[Result]) -> list[Result]:
    """The last result of every model in every task."""
    return list({(result.model, result.task): result for result in results}.values())


def summary(results: Iterable[Result]) -> list[Row]:
    """A row for every model, the best first."""
    by_model: dict[str, list[Result]] = {}
    for result in results:
        by_model.setdefault(result.model, []).append(result)
    return sorted((_row(model, tried) for model, tried in by_model.items()), key=_rank)


def _row(model: str, tried: list[Result]) -> Row:
    costs = [result.cost for result in tried if result.cost is not None]
    return Row(
        model=model,
        passed=sum(result.passed for result in tried),
        tried=len(tried),
        seconds=fmean(result.seconds for result in tried),
        first_token_ms=median(result.first_token_ms for result in tried),
        input=fmean(result.input for result in tried),
        cached=fmean(result.cached for result in tried),
        output=fmean(result.output for result in tried),
        cost=fmean(costs) if len(costs) == len(tried) else None,
    )


def _rank(row: Row) -> tuple[float, bool, float, float]:
    """What passes more is better; then what is cheaper, an unknown price being the dearest."""
    return -row.share, row.cost is None, row.cost or 0.0, row.seconds
