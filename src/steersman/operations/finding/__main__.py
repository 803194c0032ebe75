"""The search in Python as a program: a job comes in, what was found goes out."""

import sys

import msgspec

from steersman.operations.finding.scan import REFUSED, Job, names, search
from steersman.records.errors import ToolProblem


def main() -> None:
    """Do the job of the standard input; a refusal is reported in its three sentences."""
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    try:
        found = names(job.place, job.ignored) if job.query is None else search(job.place, job.query)
    except ToolProblem as problem:
        said = (problem.what, problem.why, problem.try_this)
        sys.stdout.buffer.write(msgspec.json.encode(said))
        sys.exit(REFUSED)
    sys.stdout.buffer.write(msgspec.json.encode(found))


if __name__ == "__main__":
    main()
