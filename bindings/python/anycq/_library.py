"""The shared library: finding it, calling it, and the handles that it gives out.

A handle is freed when nobody uses it: `close` only forbids further use, and what was made of a graph
keeps the graph until it is gone itself. So no order of closing, and no thread, frees what another
still reads.
"""
from __future__ import annotations

import ctypes
import os
import signal
import threading
from typing import Any, Callable, Iterable, Mapping, Optional, Union

from . import _abi
from .errors import ClosedError, StoppedError, UsageError, make_error

PathLike = Union[str, "os.PathLike[str]"]


def _load() -> ctypes.CDLL:
    """The library beside this file, as a wheel brings it, else that of the system."""
    soname = "libanycq.so." + ".".join(_abi.ACQ_VERSION.split(".")[:2])
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_lib", soname)
    try:
        library = _abi.bind(ctypes.CDLL(beside if os.path.exists(beside) else soname))
    except (OSError, AttributeError) as error:
        raise ImportError(f"anycq {_abi.ACQ_VERSION} needs its library {soname}: {error}") from None
    return library


lib = _load()
# Calls that only read a field of a handle are shorter than handing over the interpreter's lock.
_inside = threading.local()  # .depth: progress functions under way in this thread


def decode(text: Optional[bytes]) -> str:
    """A name of the library; bytes that are no UTF-8 come back as they are when given again."""
    return "" if text is None else text.decode("utf-8", "surrogateescape")


def encode(text: str, what: str) -> bytes:
    """The bytes of a text for the library."""
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a string, not {type(text).__name__}")
    if "\0" in text:
        raise UsageError(f"a zero character in {what}")
    return text.encode("utf-8", "surrogateescape")


def encode_path(path: PathLike, what: str = "the path") -> bytes:
    """The bytes of a file's name."""
    name = os.fsencode(path)
    if b"\0" in name:
        raise UsageError(f"a zero character in {what}")
    return name


def texts(values: Iterable[bytes]) -> Any:
    """An array of C strings."""
    items = list(values)
    return (ctypes.c_char_p * len(items))(*items)


class Handle:
    """One object of the library, with the number of calls and objects that use it."""

    def __init__(self, what: str, pointer: int, free: Callable[[int], None],
                 parents: Iterable["Handle"] = ()) -> None:
        self._what, self._pointer, self._free = what, pointer, free
        self._lock = threading.Lock()
        self._users, self._closed = 1, False
        self._parents = tuple(parents)
        for parent in self._parents:
            parent._retain()

    def _retain(self) -> None:
        with self._lock:
            self._users += 1

    def _release(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users > 0:
                return
        self._free(self._pointer)
        for parent in self._parents:
            parent._release()

    def __enter__(self) -> int:
        with self._lock:
            if self._closed:
                raise ClosedError(f"this {self._what} is closed; open or make it again")
            self._users += 1
        return self._pointer

    def __exit__(self, *ignored: object) -> None:
        self._release()

    @property
    def is_closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._release()

    def __del__(self) -> None:
        if hasattr(self, "_parents"):
            self.close()


def call(function: Any, *arguments: Any, file: Optional[str] = None) -> None:
    """Calls a function that has a status and an error; raises what it describes."""
    if getattr(_inside, "depth", 0) > 0:
        raise UsageError("no question can be asked inside a progress function; return from it first")
    error = _abi.acq_error()
    if function(*arguments, ctypes.byref(error)) != _abi.ACQ_OK:
        raise make_error(error, file)


class Progress:
    """How far a long call is.

    phase  "reading", "training", "searching", ...
    done   of total, in whatever unit the phase has; total is 0 where it is not known
    text   a sentence for people, or ""
    facts  reading: so far
    loss   training: of the last epoch or step
    """

    __slots__ = ("phase", "done", "total", "facts", "loss", "text")

    def __init__(self, now: _abi.acq_progress) -> None:
        self.phase, self.text = decode(now.phase), decode(now.text)
        self.done, self.total = int(now.done), int(now.total)
        self.facts, self.loss = int(now.facts), float(now.loss)

    def __repr__(self) -> str:
        return f"Progress({self.phase!r}, {self.done} of {self.total or 'unknown'}, {self.text!r})"


ProgressFunction = Callable[[Progress], Optional[bool]]


class Watch:
    """Tells a progress function how a call goes and stops the call: when the function returns False
    or raises, and at Ctrl-C."""

    def __init__(self, progress: Optional[ProgressFunction] = None, keep: bool = False) -> None:
        if progress is not None and not callable(progress):
            raise TypeError("progress must be a function")
        self.progress = progress
        self.stop = False
        self.keep = keep  # the callback is used by more than one call
        self.interrupt: Any = None  # (signal, frame) of a Ctrl-C
        self.raised: Optional[BaseException] = None
        self.callback: Any = _abi.acq_progress_fn(self._tell)

    def _tell(self, _context: Any, now: Any) -> bool:
        if self.stop or self.progress is None:
            return not self.stop
        _inside.depth = getattr(_inside, "depth", 0) + 1
        try:
            if self.progress(Progress(now.contents)) is False:
                self.stop = True
        except BaseException as error:  # pylint: disable=broad-except
            self.raised, self.stop = error, True
        finally:
            _inside.depth -= 1
        return not self.stop

    def _note(self, number: int, frame: Any) -> None:
        self.interrupt, self.stop = (number, frame), True

    def run(self, work: Callable[[], Any]) -> Any:
        """The result of work, a call that was given our callback. Ctrl-C is noted in the meantime
        and raised by the handler that was there before, once the library has stopped."""
        before = None
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
        if not callable(before):  # not the main thread, or somebody ignores Ctrl-C
            return self._finish(work, None)
        signal.signal(signal.SIGINT, self._note)
        try:
            return self._finish(work, before)
        finally:
            signal.signal(signal.SIGINT, before)

    def _finish(self, work: Callable[[], Any], handler: Any) -> Any:
        failure: Optional[BaseException] = None
        result = None
        try:
            result = work()
        except StoppedError as error:
            failure = error
        finally:
            if not self.keep:
                self.callback = None  # which knows this object, as this object knows it
        if self.raised is not None:
            raise self.raised
        if self.interrupt is not None:
            signal.signal(signal.SIGINT, handler)
            handler(*self.interrupt)
        if failure is not None:
            raise failure
        return result

    def run_long(self, work: Callable[[], Any]) -> Any:
        """The same for work whose callback may come from any thread of the library: it has a thread
        of its own here, so that the main thread is free to hear of Ctrl-C."""
        if threading.current_thread() is not threading.main_thread():
            return self.run(work)
        box: dict = {}

        def target() -> None:
            try:
                box["result"] = work()
            except BaseException as error:  # pylint: disable=broad-except
                box["error"] = error

        def wait() -> Any:
            thread = threading.Thread(target=target, name="anycq")
            thread.start()
            thread.join()
            if "error" in box:
                raise box["error"]
            return box.get("result")

        return self.run(wait)


_RANGES = {
    ctypes.c_uint: (0, 2**32 - 1),
    ctypes.c_uint32: (0, 2**32 - 1),
    ctypes.c_uint64: (0, 2**64 - 1),
    ctypes.c_size_t: (0, 2**64 - 1),
}


def _check(name: str, kind: Any, value: Any) -> Any:
    """A value as a field of this C type takes it."""
    if kind is ctypes.c_bool:
        if not isinstance(value, bool):
            raise TypeError(f"{name} must be True or False, not {value!r}")
        return value
    if kind is ctypes.c_char_p:
        return encode(os.fspath(value), name)
    if kind is ctypes.c_double:
        if isinstance(value, (bool, str)):
            raise TypeError(f"{name} must be a number, not {value!r}")
        return float(value)
    low, high = _RANGES[kind]
    number = value if isinstance(value, int) else value.__index__()
    if isinstance(value, bool) or not low <= number <= high:
        raise UsageError(f"{name} must be a whole number from {low} to {high}, not {value!r}")
    return number


def make_params(struct: Any, init: Any, options: Mapping[str, Any], what: str) -> Any:
    """Parameters with their defaults, and the options over them; None is the default."""
    params = struct()
    init(ctypes.byref(params), ctypes.sizeof(struct))
    set_params(params, options, what)
    return params


_HIDDEN = {"size", "progress", "context", "report", "read", "policy", "trace", "ask", "truth", "earlier",
           "relation", "relation_context", "filter", "negatives", "left_out", "note", "begin", "seconds_before"}


def set_params(params: Any, options: Mapping[str, Any], what: str) -> None:
    """Sets fields by their names; None leaves the default."""
    kinds = {name: kind for name, kind in params._fields_ if name not in _HIDDEN}
    for name, value in options.items():
        if name not in kinds:
            raise TypeError(f"{what} has no option {name!r}; there are: {', '.join(sorted(kinds))}")
        if value is not None:
            setattr(params, name, _check(name, kinds[name], value))


def read_struct(struct: Any) -> dict:
    """A struct that the library filled, as plain Python values."""
    found = {}
    for name, kind in struct._fields_:
        value = getattr(struct, name)
        if name == "size" or name.startswith("context"):
            continue
        if isinstance(value, bytes):
            value = decode(value)
        elif isinstance(value, ctypes.Array):
            value = [read_struct(one) for one in value]
        elif isinstance(value, ctypes.Structure):
            value = read_struct(value)
        elif value is None and kind is ctypes.c_char_p:
            value = ""
        found[name] = value
    return found
