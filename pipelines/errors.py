"""The errors that users meet. Each says what happened, where, and what can be done about it.

Errors that concern one item (a file, a page, a panel) carry a `kind`, so that a stage can turn them into a failure row.
"""

from __future__ import annotations


class StoryloomError(Exception):
    """Base of all errors that a user can act on.

    `what` says what happened, `where` names the file, table or item, `remedy` what the user can do.
    """

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what, self.where, self.remedy = what, where, remedy
        place = f" ({where})" if where else ""
        super().__init__(f"{what}{place}." + (f" {remedy}" if remedy else ""))

    def __reduce__(self) -> tuple[object, ...]:
        """Keep keyword arguments when the error crosses a process boundary."""
        return _rebuild, (type(self), self.what, self.where, self.remedy, self.__dict__)


def _rebuild(cls: type[StoryloomError], what: str, where: str, remedy: str, state: dict[str, object]) -> StoryloomError:
    error = cls.__new__(cls)
    StoryloomError.__init__(error, what, where=where, remedy=remedy)
    error.__dict__.update(state)
    return error


class SettingsError(StoryloomError):
    """A setting, a profile or a run's configuration is not usable."""


class LibraryError(StoryloomError):
    """The library folder as a whole cannot be read (one bad book is an `ItemError`)."""


class LakeError(StoryloomError):
    """A table or a shard cannot be read or written, or an upstream table is missing."""


class ModelMissingError(StoryloomError):
    """An optional model, its library or its weights are not installed."""


class ServiceError(StoryloomError):
    """A service did not answer, though it was asked again: the shard is not written, and the next run tries it again."""


class StopStage(StoryloomError):
    """The stage cannot go on, whatever its next item is (no budget, no key): it stops, and what is done is kept."""


class LakeStop(LakeError, StopStage):
    """The lake itself is at fault (a full disk, a file that cannot be read): no other shard would fare better."""


class DamagedFile(LakeStop):
    """A file of the lake does not hold what was written; `where` is its path. It is deleted, so that it is made anew."""


class ItemError(StoryloomError):
    """One item cannot be processed; becomes a failure row of that `kind` and the rest goes on.

    `kind` is a short snake_case word that groups alike failures (`corrupt`, `encrypted`, `too_large`, ...).
    """

    def __init__(self, kind: str, what: str, *, where: str = "", remedy: str = "") -> None:
        super().__init__(what, where=where, remedy=remedy)
        self.kind = kind
