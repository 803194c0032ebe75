"""An error as a record, on its way to another process."""

from msgspec import Struct

from steersman.records import errors
from steersman.records.errors import Exit, SteersmanError


class Problem(Struct, frozen=True, omit_defaults=True):
    """What happened, why, what to do; `kind` names the error it was."""

    what: str
    why: str = ""
    try_this: str = ""
    kind: str = "SteersmanError"
    exit: int = 1

    @classmethod
    def of(cls, error: SteersmanError) -> "Problem":
        """The record of an error."""
        kind = next(k.__name__ for k in type(error).__mro__ if hasattr(errors, k.__name__))
        return cls(error.what, error.why, error.try_this, kind, int(error.exit))

    def error(self) -> SteersmanError:
        """The error again, of the same kind where it is one that travels."""
        kind = getattr(errors, self.kind, SteersmanError)
        plain = kind.__init__ is SteersmanError.__init__
        found: SteersmanError = (kind if plain else SteersmanError)(
            self.what, self.why, self.try_this
        )
        found.exit = Exit(self.exit)
        return found
