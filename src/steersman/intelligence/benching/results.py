"""What came of benchmarks: a line of JSON for every task a model tried, kept permanently."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from steersman.records.bench import Result, Row
from steersman.records.errors import StorageProblem


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
    from statistics import fmean, median

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
