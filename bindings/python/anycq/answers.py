"""Queries, and what comes out of a question: answers, verdicts, streams of answers."""
from __future__ import annotations

import ctypes
import math
import os
import tempfile
import threading
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union, overload

from . import _abi
from ._library import Handle, Watch, call, decode, encode, encode_path, lib, read_struct
from .errors import UsageError
from .tables import (MOST_LINES, MOST_SHOWN, Fact, Facts, html_picture, html_table, make_frame, text_table,
                     visible)

if TYPE_CHECKING:
    from .graph import Graph, Predictor

_OUTCOMES = ("answered", "none", "undecided")
_VERDICTS = ("yes", "no", "undecided")
_KINDS = ("observed", "predicted", "absent", "equality")


def draw(query: str) -> str:
    """A picture of a query as SVG: free variables are large discs, existential ones small discs,
    constants squares; negated atoms are dashed. No graph is read."""
    text = encode(query, "the query")
    number, path = tempfile.mkstemp(suffix=".svg")
    os.close(number)
    try:
        call(lib.acq_draw, text, encode_path(path))
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    finally:
        os.unlink(path)


def to_sql(query: str) -> str:
    """The query as one SQL statement over facts(head, relation, tail), for SQLite and DuckDB."""
    pieces: List[bytes] = []

    def put(_context: Any, piece: Any, length: int, _error: Any) -> int:
        pieces.append(ctypes.string_at(piece, length))
        return _abi.ACQ_OK

    callback = _abi.acq_put_fn(put)
    call(lib.acq_sql_translate, encode(query, "the query"), callback, None)
    return b"".join(pieces).decode("utf-8", "surrogateescape")


class Query:
    """A query, its names looked up in a graph: made by `graph.query(text)`."""

    def __init__(self, graph: "Graph", text: str) -> None:
        out = ctypes.c_void_p()
        with graph._handle as pointer:
            call(lib.acq_query_new, pointer, encode(text, "the query"), ctypes.byref(out))
            self._handle = Handle("query", out.value or 0, lib.acq_query_free, [graph._handle])
        self.graph = graph
        self.text = text
        with self._handle as query:
            n, n_free = lib.acq_query_get_n_variables(query), lib.acq_query_get_n_free(query)
            names = tuple(decode(lib.acq_query_get_variable(query, i)) for i in range(n))
            self.hint: str = decode(lib.acq_query_get_hint(query))
            self.limit: int = lib.acq_query_get_limit(query)
            # SPARQL that gives solutions twice, orders or skips them: graph.solve is for it
            self.needs_solve: bool = lib.acq_query_needs_solve(query)
        self.variables: Tuple[str, ...] = names[:n_free]  # whose values are asked for
        self.witnesses: Tuple[str, ...] = names[n_free:]  # of which it is said that there are some

    def close(self) -> None:
        """Forbids further use; what was asked with it stays."""
        self._handle.close()

    def __enter__(self) -> "Query":
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Query({visible(self.text)!r})"

    def _repr_svg_(self) -> str:
        return draw(self.text)


def _read_facts(result: int, i: int) -> Facts:
    out = ctypes.c_void_p()
    call(lib.acq_result_explain, result, i, ctypes.byref(out))
    try:
        get = lib.acq_evidence_list_get
        rows = [_read_fact(get(out, j).contents) for j in range(lib.acq_evidence_list_get_n(out))]
        return Facts(rows, lib.acq_evidence_list_is_observed(out))
    finally:
        lib.acq_evidence_list_free(out)


def _read_fact(fact: _abi.acq_fact) -> Fact:
    return Fact(text=decode(fact.text), kind=_KINDS[fact.kind], head=decode(fact.head),
                relation=decode(fact.relation), tail=decode(fact.tail), inverse=fact.is_inverse,
                negated=fact.is_negated, link=fact.link, score=fact.score, used=fact.is_used)


class _Result:
    """A result of the library with the query and the predictor that it was made of."""

    def __init__(self, query: Query, predictor: "Predictor", pointer: int) -> None:
        self._handle = Handle("result", pointer, lib.acq_result_free,
                              [query._handle, predictor._handle])
        self.query, self.predictor = query, predictor
        with self._handle as result:
            self._outcome = lib.acq_result_get_outcome(result)
            self.complete: bool = lib.acq_result_is_complete(result)
            self.spent: str = decode(lib.acq_result_get_spent(result))
            self.note: str = decode(lib.acq_result_get_note(result))
            self.has_p: bool = lib.acq_result_has_probabilities(result)
            self.p: float = lib.acq_result_get_whole_probability(result)
            self.best_p: float = lib.acq_result_get_best_probability(result)

    @property
    def stats(self) -> Dict[str, Any]:
        """What it took: seconds, nodes, threshold, n_candidates, facts (the outcome of observed facts
        alone, a number), ..."""
        stats = _abi.acq_result_stats(size=ctypes.sizeof(_abi.acq_result_stats))
        with self._handle as result:
            lib.acq_result_get_stats(result, ctypes.byref(stats))
        return read_struct(stats)

    def conflict(self, seconds: float = 1.0) -> List[str]:
        """Why there is none: conditions that cannot hold together, of which none can be left out.
        Empty unless "none" is proved."""
        out = ctypes.c_void_p()
        with self._handle as result:
            call(lib.acq_result_find_conflict, result, seconds, ctypes.byref(out))
            try:
                n = lib.acq_conflict_get_n(out)
                return [decode(lib.acq_conflict_get_text(out, i)) for i in range(n)]
            finally:
                lib.acq_conflict_free(out)


class Answer:
    """One answer: `answer["x"]` is the value of x, free or a witness.

    values  of the free variables, by their names
    p       the probability that it is one; NaN without a calibrated predictor
    score   the least score of its links
    """

    __slots__ = ("_source", "_i", "values", "witness", "p", "p_if_answered", "p_prior", "score", "keys")

    def __init__(self, source: Any, result: int, i: int, query: Query,
                 number: Optional[int] = None) -> None:
        self._source, self._i = source, i if number is None else number
        get = lib.acq_result_get_value_at
        n = len(query.variables)
        self.values: Dict[str, str] = {
            name: decode(get(result, i, j)) for j, name in enumerate(query.variables)}
        self.witness: Dict[str, str] = {
            name: decode(get(result, i, n + j)) for j, name in enumerate(query.witnesses)}
        self.p: float = lib.acq_result_get_probability(result, i)
        self.p_if_answered: float = lib.acq_result_get_probability_if_answered(result, i)
        self.p_prior: float = lib.acq_result_get_prior_probability(result, i)
        self.score: float = lib.acq_result_get_score(result, i)
        self.keys: Tuple[int, ...] = tuple(lib.acq_result_get_entity(result, i, j) for j in range(n))

    def __getitem__(self, variable: str) -> str:
        found = self.values.get(variable)
        return self.witness[variable] if found is None else found

    def explain(self) -> Facts:
        """What each atom of the query rests on."""
        return self._source._explain(self._i)

    @property
    def observed(self) -> bool:
        """No prediction takes part."""
        return self.explain().observed

    def __repr__(self) -> str:
        values = ", ".join(f"{name} = {visible(value)}" for name, value in self.values.items())
        number = f"score {self.score:.4g}" if math.isnan(self.p) else f"p {self.p:.4g}"
        return f"<{values or 'yes'}  {number}>"


class Answers(_Result, Sequence[Answer]):
    """The answers to a question, best first.

    outcome   "answered", "none" (proved, or p too low: see best_p) or "undecided"
    complete  these are proved to be the best ones, or all
    spent     what ended the search early: "time", "memory", "rows", ...; else ""
    note      a sentence that the user should see, or ""
    p         how likely there is any answer; best_p that of the likeliest candidate
    """

    def __init__(self, query: Query, predictor: "Predictor", pointer: int) -> None:
        super().__init__(query, predictor, pointer)
        with self._handle as result:
            n = lib.acq_result_get_n_answers(result)
            self._answers = tuple(Answer(self, result, i, query) for i in range(n))

    @property
    def outcome(self) -> str:
        return _OUTCOMES[self._outcome]

    def _explain(self, i: int) -> Facts:
        with self._handle as result:
            return _read_facts(result, i)

    def __len__(self) -> int:
        return len(self._answers)

    @overload
    def __getitem__(self, i: int) -> Answer: ...

    @overload
    def __getitem__(self, i: slice) -> Tuple[Answer, ...]: ...

    def __getitem__(self, i: Union[int, slice]) -> Any:
        return self._answers[i]

    @property
    def columns(self) -> Tuple[str, ...]:
        """The names of the free variables, then p, or score where there is no p."""
        return (*self.query.variables, "p" if self.has_p else "score")

    def _rows(self, most: int) -> List[List[Any]]:
        return [[*one.values.values(), one.p if self.has_p else one.score] for one in self._answers[:most]]

    def to_dicts(self) -> List[Dict[str, Any]]:
        """A dictionary for each answer."""
        return [dict(zip(self.columns, row)) for row in self._rows(len(self))]

    def to_frame(self) -> Any:
        """A pandas.DataFrame, where pandas is installed."""
        return make_frame(self.columns, self._rows(len(self)))

    def _summary(self) -> str:
        if not self._answers:
            why = f", out of {self.spent}" if self.spent and self.outcome == "undecided" else ""
            if self.outcome == "none" and not math.isnan(self.best_p):
                why = f"; the likeliest candidate has p {self.best_p:.4g}"
            return self.outcome + why
        if not self.query.variables:
            return "yes" + (f"  p {self._answers[0].p:.4g}" if self.has_p else "")
        return ""

    def __repr__(self) -> str:
        return self._summary() or text_table(self.columns, self._rows(MOST_LINES), len(self))

    def _repr_html_(self) -> str:
        picture = html_picture(draw(self.query.text), self.query.text)
        summary = self._summary()
        if summary:
            return f"{picture}<p>{summary}</p>"
        return picture + html_table(self.columns, self._rows(MOST_SHOWN), len(self))


class Verdict(_Result):
    """Is the tuple an answer?  `outcome` is "yes", "no" or "undecided"; p says how likely it is. It
    is true as a condition when the outcome is "yes"."""

    @property
    def outcome(self) -> str:
        return _VERDICTS[self._outcome]

    def __bool__(self) -> bool:
        return self._outcome == _abi.ACQ_RESULT_ANSWERED

    def explain(self) -> Facts:
        """What each atom rests on, for the likeliest way to an answer; empty where there is none."""
        with self._handle as result:
            if lib.acq_result_get_n_answers(result) > 0:
                return _read_facts(result, 0)
            if math.isnan(self.best_p):
                return Facts([], False)
            return _read_facts(result, _abi.ACQ_LIKELIEST)

    def __repr__(self) -> str:
        return self.outcome + ("" if math.isnan(self.p) else f"  p {self.p:.4g}")


class Stream(Iterator[Answer]):
    """Answers as they are found: those that facts give first, before anything is predicted. One
    thread at a time may read it."""

    def __init__(self, query: Query, predictor: "Predictor", params: _abi.acq_ask_params,
                 watch: Watch) -> None:
        self.query, self.predictor = query, predictor
        self._watch, self._params = watch, params
        self._lock = threading.Lock()
        self._number = 0  # of the last answer
        self._current: Optional[int] = None  # that answer, as long as the library has it
        self._is_over = False
        out = ctypes.c_void_p()
        with query._handle as q, predictor._handle as p:
            call(lib.acq_cursor_open, q, p, ctypes.byref(params), ctypes.byref(out))
            self._handle = Handle("stream", out.value or 0, lib.acq_cursor_free,
                                  [query._handle, predictor._handle])

    def _next(self) -> Optional[Answer]:
        out = ctypes.c_void_p()
        with self._handle as cursor:
            self._watch.run(lambda: call(lib.acq_cursor_next, cursor, ctypes.byref(out)))
            self._number += 1
            self._current = out.value
            if not out.value:
                return None
            return Answer(self, out.value, 0, self.query, self._number)

    def __next__(self) -> Answer:
        if not self._lock.acquire(blocking=False):
            raise UsageError("another thread reads this stream; give each thread its own")
        try:
            answer = None if self._is_over else self._next()
            self._is_over = answer is None
        finally:
            self._lock.release()
        if answer is None:
            raise StopIteration
        return answer

    def _explain(self, number: int) -> Facts:
        with self._lock, self._handle:
            if number != self._number or not self._current:
                raise UsageError("this answer of a stream has passed; explain it before the next one")
            return _read_facts(self._current, 0)

    @property
    def is_over(self) -> bool:
        """Were all answers handed out?"""
        return self._is_over

    def close(self) -> None:
        """Ends the search."""
        self._watch.stop = True
        self._handle.close()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()
