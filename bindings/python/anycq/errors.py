"""What the library refuses, as exceptions: its message, and the place in the text where it knows one."""
from __future__ import annotations

from typing import Optional

from . import _abi


class AnycqError(Exception):
    """The base of all exceptions here.

    message  one sentence of the library, with the remedy
    file     the file that is to blame, or ""
    line     in that file or in the query, from 1; 0: not known
    column   in that line, from 1, in bytes; 0: not known
    """

    def __init__(self, message: str, file: str = "", line: int = 0, column: int = 0) -> None:
        place = ":".join(str(part) for part in (file, line, column) if part)
        super().__init__(f"{place}: {message}" if place else message)
        self.message, self.file, self.line, self.column = message, file, line, column

    def __str__(self) -> str:
        return str(self.args[0])


class UsageError(AnycqError, ValueError):
    """An argument or option is wrong."""


class ClosedError(UsageError):
    """The graph, query or predictor was closed before."""


class ParseError(AnycqError, ValueError):
    """A query or another text cannot be read; line and column say where."""


class InputError(AnycqError, ValueError):
    """The content of a file is wrong."""


class UnknownNameError(AnycqError, LookupError):
    """The graph has no such entity or relation."""


class LimitError(AnycqError):
    """A stated limit is exceeded."""


class FileAccessError(AnycqError, OSError):
    """The system could not read or write."""


class OutOfMemoryError(AnycqError, MemoryError):
    """Out of memory."""


class InternalError(AnycqError):
    """A bug of the library: please report it."""


class StoppedError(AnycqError):
    """A progress function returned False."""


class AnycqWarning(UserWarning):
    """What was read, but not as it stands: lines left out, an outdated completion."""


_CLASSES = {
    _abi.ACQ_ERR_USAGE: UsageError,
    _abi.ACQ_ERR_PARSE: ParseError,
    _abi.ACQ_ERR_INPUT: InputError,
    _abi.ACQ_ERR_NAME: UnknownNameError,
    _abi.ACQ_ERR_LIMIT: LimitError,
    _abi.ACQ_ERR_IO: FileAccessError,
    _abi.ACQ_ERR_MEMORY: OutOfMemoryError,
    _abi.ACQ_ERR_INTERNAL: InternalError,
    _abi.ACQ_ERR_INTERRUPTED: StoppedError,
}


def make_error(error: _abi.acq_error, file: Optional[str] = None) -> AnycqError:
    """The exception for what the library described."""
    named = error.file.decode("utf-8", "backslashreplace")
    message = error.message.decode("utf-8", "backslashreplace")
    kind = _CLASSES.get(error.code, AnycqError)
    return kind(message, named or file or "", error.line, error.column)
