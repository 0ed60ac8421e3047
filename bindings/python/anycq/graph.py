"""Graphs, predictors, and the questions that are asked of them."""
from __future__ import annotations

import csv
import ctypes
import json
import math
import os
import tempfile
import threading
import warnings
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from . import _abi
from ._library import (Handle, PathLike, ProgressFunction, Watch, call, decode, encode, encode_path, lib,
                       make_params, read_struct, texts)
from .answers import Answers, Query, Stream, Verdict
from .errors import AnycqWarning, UnknownNameError, UsageError
from .tables import (Evaluation, Prediction, Predictions, Reason, Reasons, Solution, Solutions, Suggestion, Suggestions,
                     visible)

NO_ID = 2**32 - 1
MOST_LEFT_OUT = 10  # lines that are named in a warning


class _Reading:
    """Parameters of reading a text, and what became of its lines."""

    def __init__(self, options: Dict[str, Any], watch: Watch) -> None:
        self.params = make_params(_abi.acq_graph_params, lib.acq_graph_params_init_sized, options, "reading")
        self.report = _abi.acq_read_report(size=ctypes.sizeof(_abi.acq_read_report))
        self.messages: List[str] = []
        self._note = _abi.acq_left_out_fn(self._keep)
        self.params.left_out = self.params.note = self._note
        self.params.report = ctypes.pointer(self.report)
        self.params.progress = watch.callback

    def _keep(self, _context: Any, error: Any) -> None:
        if len(self.messages) < MOST_LEFT_OUT:
            found = error.contents
            place = ":".join(str(part) for part in (decode(found.file), found.line, found.column) if part)
            self.messages.append(f"{place}: {decode(found.message)}" if place else decode(found.message))

    def finish(self) -> Dict[str, Any]:
        """What became of the lines; warns of those that were left out."""
        self._note = None
        if self.messages:
            rest = self.report.bad - len(self.messages)
            more = f"\nand {rest} more" if rest > 0 else ""
            warnings.warn("\n".join(visible(one) for one in self.messages) + more, AnycqWarning, stacklevel=4)
        return {**read_struct(self.report), "messages": tuple(self.messages)}


class Predictor:
    """What is believed: every link with a score. Made by `graph.predictor(spec)`."""

    def __init__(self, graph: "Graph", spec: str, options: Dict[str, Any]) -> None:
        params = make_params(_abi.acq_predictor_params, lib.acq_predictor_params_init_sized, options, "predictor")
        report = _abi.acq_predictor_report(size=ctypes.sizeof(_abi.acq_predictor_report))
        params.report = ctypes.pointer(report)
        if graph.path is not None:
            params.graph_path = os.fsencode(graph.path)
        out = ctypes.c_void_p()
        with graph._handle as pointer:
            call(lib.acq_predictor_new, pointer, encode(spec, "the predictor"), ctypes.byref(params), ctypes.byref(out))
            self._handle = Handle("predictor", out.value or 0, lib.acq_predictor_free, [graph._handle])
        self.graph, self.spec = graph, spec
        with self._handle as own:
            self.name: str = decode(lib.acq_predictor_get_name(own))  # what auto came to
            self.note: str = decode(lib.acq_predictor_get_note(own))
            self.is_calibrated: bool = lib.acq_predictor_is_calibrated(own)
            self.floor: float = lib.acq_predictor_get_floor(own)
        self.report = read_struct(report)
        if report.is_outdated:
            warnings.warn(f"{self.name} was made from other facts of the same entities; fit it again",
                          AnycqWarning, stacklevel=3)

    def quality(self, relation: str) -> Optional[Dict[str, float]]:
        """What links of a relation with p >= 0.5 were worth on facts that were held out: {"held",
        "said", "right"}; None where it is not known."""
        found = _abi.acq_relation_quality(size=ctypes.sizeof(_abi.acq_relation_quality))
        number = self.graph._relation(relation)
        with self._handle as own:
            known = lib.acq_predictor_get_quality(own, number, ctypes.byref(found))
        return read_struct(found) if known else None

    def complete(self, path: PathLike, *, progress: Optional[ProgressFunction] = None, **options: Any) -> None:
        """Writes all links, for the predictor "completion:PATH". Options: floor, part, of_parts."""
        watch = Watch(progress)
        params = make_params(_abi.acq_complete_params, lib.acq_complete_params_init_sized, options, "complete")
        params.progress = watch.callback
        with self._handle as own:
            watch.run_long(lambda: call(lib.acq_complete, own, encode_path(path), ctypes.byref(params)))

    def close(self) -> None:
        """Forbids further use; results that were made with it stay."""
        self._handle.close()

    def __enter__(self) -> "Predictor":
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Predictor({visible(self.name)!r})"


class FitReport(Dict[str, Any]):
    """What a fit learnt, as a dictionary: held, covered, candidates, links, seconds, link_table,
    answer_table, ..."""

    def __repr__(self) -> str:
        return (f"{self['links']} links of {self['candidates']} candidates, "
                f"{self['held']} facts held out, {self['seconds']:.1f} s")


class Graph:
    """Observed facts with their names: made by `anycq.open`.

    Questions may be asked from any number of threads. Where a predictor is wanted, give a spec
    ("auto", "observed", "completion:FILE", "perfect:GRAPH", ...) or a Predictor; those of specs are
    made once and kept.
    """

    def __init__(self, handle: Handle, path: Optional[str], report: Dict[str, Any]) -> None:
        self._handle, self.path, self.report = handle, path, report
        self._lock = threading.RLock()
        self._predictors: Dict[str, Predictor] = {}

    # ---- what is in it ----

    @property
    def n_entities(self) -> int:
        """Entities."""
        with self._handle as graph:
            return lib.acq_graph_get_n_entities(graph)

    @property
    def n_facts(self) -> int:
        """Facts, inverses not counted."""
        with self._handle as graph:
            return lib.acq_graph_get_n_facts(graph)

    @property
    def fingerprint(self) -> str:
        """Equal for equal graphs, wherever they are kept."""
        with self._handle as graph:
            return f"{lib.acq_graph_get_fingerprint(graph):016x}"

    def relations(self) -> List[str]:
        """The names of the relations."""
        with self._handle as graph:
            n = lib.acq_graph_get_n_relations(graph)
            return [decode(lib.acq_graph_get_relation_name(graph, i)) for i in range(n)
                    if lib.acq_graph_is_named(graph, i)]

    def entities(self, prefix: str = "", most: Optional[int] = None) -> List[str]:
        """Names and keys of entities that begin so, at most `most` of them, in byte order."""
        found: List[str] = []

        def visit(_context: Any, _entity: int, name: Any, length: int) -> bool:
            text = decode(ctypes.string_at(name, length))
            if not found or found[-1] != text:
                found.append(text)
            return most is None or len(found) < most

        begin = encode(prefix, "the prefix")
        if most is not None and most < 1:
            return []
        callback = _abi.acq_name_fn(visit)
        with self._handle as graph:
            call(lib.acq_graph_each_name, graph, begin, len(begin), callback, None)
        return found

    def _entity(self, name: str) -> int:
        return self._find(name, "entity", lib.acq_graph_find_entity, lib.acq_graph_suggest_entity)

    def _relation(self, name: str) -> int:
        return self._find(name, "relation", lib.acq_graph_find_relation, lib.acq_graph_suggest_relation)

    def _find(self, name: str, what: str, find: Any, suggest: Any) -> int:
        text = encode(name, f"the {what}")
        with self._handle as graph:
            found = find(graph, text, len(text))
            if found != NO_ID:
                return int(found)
            near = suggest(graph, text, len(text))
        hint = f'; did you mean "{decode(near)}"?' if near else ""
        raise UnknownNameError(f'the graph has no {what} "{name}"{hint}')

    def key(self, name: str) -> str:
        """What tells an entity from all others: the IRI, blank node or literal of RDF, else its name."""
        number = self._entity(name)
        with self._handle as graph:
            return decode(lib.acq_graph_get_entity_key(graph, number))

    def count(self, relation: str) -> Dict[str, int]:
        """How often a relation is observed: {"facts", "heads", "tails"}."""
        counts = _abi.acq_relation_counts(size=ctypes.sizeof(_abi.acq_relation_counts))
        number = self._relation(relation)
        with self._handle as graph:
            call(lib.acq_graph_count_relation, graph, number, ctypes.byref(counts))
        return read_struct(counts)

    def __contains__(self, fact: object) -> bool:
        """Is (head, relation, tail) observed?"""
        if not isinstance(fact, tuple) or len(fact) != 3:
            raise TypeError("a fact is a tuple of head, relation and tail")
        try:
            head, relation, tail = self._entity(fact[0]), self._relation(fact[1]), self._entity(fact[2])
        except UnknownNameError:
            return False
        with self._handle as graph:
            return lib.acq_graph_has_fact(graph, head, relation, tail)

    def __repr__(self) -> str:
        if self._handle.is_closed:
            return "<closed graph>"
        return (f"<graph {visible(self.path or 'of facts')}: {self.n_facts} facts, {self.n_entities} entities, "
                f"{len(self.relations())} relations>")

    # ---- life ----

    def close(self) -> None:
        """Forbids further use. Memory is freed when results that were made with it are gone too."""
        with self._lock:
            predictors, self._predictors = self._predictors, {}
        for predictor in predictors.values():
            predictor.close()
        self._handle.close()

    def __enter__(self) -> "Graph":
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()

    # ---- predictors and queries ----

    def predictor(self, spec: str = "auto", **options: Any) -> Predictor:
        """What is believed. Options: direction, scaling, rows, tails, floor, memory_bytes, threads. Without
        options the same object is given again."""
        if options:
            return Predictor(self, spec, options)
        with self._lock:
            found = self._predictors.get(spec)
            if found is None or found._handle.is_closed:
                found = self._predictors[spec] = Predictor(self, spec, {})
            return found

    def _believed(self, predictor: Union[str, Predictor]) -> Predictor:
        if isinstance(predictor, Predictor):
            return predictor
        return self.predictor(predictor)

    def query(self, text: str) -> Query:
        """A query whose names are looked up here, in the text syntax or SPARQL."""
        return Query(self, text)

    def _asked(self, query: Union[str, Query]) -> Query:
        return query if isinstance(query, Query) else Query(self, query)

    # ---- questions ----

    def ask(self, query: Union[str, Query], *, predictor: Union[str, Predictor] = "auto",
            limit: Optional[int] = None, min_p: Optional[float] = None, seconds: Optional[float] = None,
            progress: Optional[ProgressFunction] = None, **options: Any) -> Answers:
        """Which tuples answer the query?

        limit     this many best answers; 0: all; None: LIMIT of SPARQL, else 1
        min_p     least probability of an answer; 0.5
        seconds   time limit; 60
        options   engine, threshold, binarize, negation_threshold, new_only, prior, seed, ...:
                  the members of acq_ask_params in anycq.h
        """
        q, p, watch = self._asked(query), self._believed(predictor), Watch(progress)
        chosen = (q.limit or 1) if limit is None else limit
        params = _ask_params(watch, limit=chosen, min_p=min_p, seconds=seconds, **options)
        out = ctypes.c_void_p()
        with q._handle as asked, p._handle as believed:
            watch.run(lambda: call(lib.acq_ask, asked, believed, ctypes.byref(params), ctypes.byref(out)))
            return Answers(q, p, out.value or 0)

    def stream(self, query: Union[str, Query], *, predictor: Union[str, Predictor] = "auto",
               limit: int = 0, progress: Optional[ProgressFunction] = None, **options: Any) -> Stream:
        """The answers of `ask`, each as soon as it is found: those that facts give come first."""
        q, p, watch = self._asked(query), self._believed(predictor), Watch(progress, keep=True)
        return Stream(q, p, _ask_params(watch, limit=limit, **options), watch)

    def check(self, query: Union[str, Query], *values: str, predictor: Union[str, Predictor] = "auto",
              progress: Optional[ProgressFunction] = None, **options: Any) -> Verdict:
        """Is this tuple an answer? One entity for each free variable."""
        q, p, watch = self._asked(query), self._believed(predictor), Watch(progress)
        params = _ask_params(watch, **options)
        names = texts(encode(value, "a value") for value in values)
        out = ctypes.c_void_p()
        with q._handle as asked, p._handle as believed:
            watch.run(lambda: call(lib.acq_check, asked, believed, names, len(values), ctypes.byref(params),
                                   ctypes.byref(out)))
            return Verdict(q, p, out.value or 0)

    def solve(self, sparql: str, *, predictor: Optional[Union[str, Predictor]] = "auto", most: int = 0,
              progress: Optional[ProgressFunction] = None, **options: Any) -> Solutions:
        """Solutions of a SPARQL query as its standard has it, predicted ones among them; predictor
        None: facts only. At most `most`, 0: all. options are those of `ask`."""
        watch, out = Watch(progress), ctypes.c_void_p()
        ask = _ask_params(watch, **options)
        params = make_params(_abi.acq_solve_params, lib.acq_solve_params_init_sized, {"most": most}, "solve")
        params.ask = ctypes.pointer(ask)
        believed = self._believed("observed" if predictor is None else predictor)
        text = encode(sparql, "the query")
        with self._handle as graph, believed._handle as p:
            _require_same(self, believed)
            watch.run(lambda: call(lib.acq_solve, graph, text, p if predictor is not None else None,
                                   ctypes.byref(params), ctypes.byref(out)))
            try:
                return _read_solutions(graph, out)
            finally:
                lib.acq_solutions_free(out)

    # ---- links ----

    def predict(self, relation: str, *, head: Optional[str] = None, tail: Optional[str] = None,
                predictor: Union[str, Predictor] = "auto", top: Optional[int] = 10,
                seconds: Optional[float] = None, progress: Optional[ProgressFunction] = None) -> Predictions:
        """The tails of relation(head, ?), or the heads of relation(?, tail), most likely first."""
        if (head is None) == (tail is None):
            raise UsageError("predict takes a head or a tail, one of them")
        end, number = self._entity(head if tail is None else tail), self._relation(relation)  # type: ignore[arg-type]
        number ^= tail is not None
        believed, watch = self._believed(predictor), Watch(progress)
        params = make_params(_abi.acq_predict_params, lib.acq_predict_params_init_sized, {"seconds": seconds}, "predict")
        params.progress = watch.callback
        out = ctypes.c_void_p()
        with self._handle as graph, believed._handle as p:
            _require_same(self, believed)
            watch.run(lambda: call(lib.acq_predict_within, p, end, number, ctypes.byref(params), ctypes.byref(out)))
            try:
                n = lib.acq_predictions_get_n(out)
                n = n if top is None else min(n, top)
                rows = [lib.acq_predictions_get(out, i).contents for i in range(n)]
                calibrated = lib.acq_predictor_is_calibrated(p)
                return Predictions([_read_prediction(graph, one, calibrated) for one in rows])
            finally:
                lib.acq_predictions_free(out)

    def reasons(self, head: str, relation: str, tail: str, *,
                predictor: Union[str, Predictor] = "auto") -> Reasons:
        """The evidence for a predicted link and against it."""
        ids = self._entity(head), self._relation(relation), self._entity(tail)
        believed, out = self._believed(predictor), ctypes.c_void_p()
        with self._handle as graph, believed._handle as p:
            _require_same(self, believed)
            call(lib.acq_reasons_find, p, *ids, ctypes.byref(out))
            try:
                n = lib.acq_reasons_get_n(out)
                rows = [_read_reason(graph, lib.acq_reasons_get(out, i).contents) for i in range(n)]
                return Reasons(rows, decode(lib.acq_reasons_get_note(out)))
            finally:
                lib.acq_reasons_free(out)

    def suggest(self, relation: Optional[str] = None, *, predictor: Union[str, Predictor] = "auto", top: int = 10,
                min_p: float = 0.0, seconds: float = 60.0, progress: Optional[ProgressFunction] = None) -> Suggestions:
        """The likeliest facts that the graph lacks."""
        watch, believed, out = Watch(progress), self._believed(predictor), ctypes.c_void_p()
        params = make_params(_abi.acq_suggest_params, lib.acq_suggest_params_init_sized,
                             {"top": top, "min_p": min_p, "seconds": seconds}, "suggest")
        params.relation = NO_ID if relation is None else self._relation(relation)
        params.progress = watch.callback
        report = _abi.acq_suggest_report(size=ctypes.sizeof(_abi.acq_suggest_report))
        with self._handle as graph, believed._handle as p:
            _require_same(self, believed)
            watch.run_long(lambda: call(lib.acq_suggest, p, ctypes.byref(params), ctypes.byref(out)))
            try:
                lib.acq_suggestions_get_report(out, ctypes.byref(report))
                n = lib.acq_suggestions_get_n(out)
                rows = [_read_suggestion(graph, lib.acq_suggestions_get(out, i).contents) for i in range(n)]
            finally:
                lib.acq_suggestions_free(out)
        return Suggestions(rows, report.found, report.expected, decode(report.spent))

    # ---- learning and judging ----

    def completion_path(self) -> str:
        """Where "auto" looks for the completion of this graph."""
        if self.path is None:
            raise UsageError("a graph that was not read from a file has no place for a completion; name one")
        room = ctypes.create_string_buffer(4096)
        call(lib.acq_completion_find_path, encode_path(self.path), room, len(room))
        return os.fsdecode(room.value)

    def fit(self, path: Optional[PathLike] = None, *, seconds: Optional[float] = None,
            progress: Optional[ProgressFunction] = None, resume: bool = False,
            earlier: Optional["Graph"] = None, **options: Any) -> FitReport:
        """Learns links and their probabilities from the graph's own facts, minutes to hours, and writes
        them to `path`; without one, to where "auto" finds them. Ctrl-C, or a progress function that
        returns False, leaves PATH.fit, with which `resume` goes on.

        options   models, hold_share, epochs, rank, floor, seed, threads, hold, top, rows, tails,
                  ultra, svg, ...: the members of acq_fit_completion_params in anycq.h
        """
        target = self.completion_path() if path is None else os.fspath(path)
        watch = Watch(progress)
        params = make_params(_abi.acq_fit_completion_params, lib.acq_fit_completion_params_init_sized,
                             {"seconds": seconds, "resume": resume, **options}, "fit")
        report = _abi.acq_fit_completion_report(size=ctypes.sizeof(_abi.acq_fit_completion_report))
        params.report, params.progress = ctypes.pointer(report), watch.callback
        with self._handle as graph, (earlier or self)._handle as before:
            if earlier is not None:
                params.earlier = before
            watch.run_long(lambda: call(lib.acq_fit_completion, graph, encode_path(target), ctypes.byref(params)))
        with self._lock:
            self._predictors.pop("auto", None)
        return FitReport(read_struct(report))

    def evaluate(self, task: str, files: Union[PathLike, Sequence[PathLike]], *,
                 predictor: Union[str, Predictor], truth: Optional[PathLike] = None, atoms: Optional[str] = None,
                 first: int = 0, threads: int = 0, seconds: Optional[float] = None,
                 progress: Optional[ProgressFunction] = None, **options: Any) -> Evaluation:
        """An engine and a predictor judged on query files of the AnyCQ benchmark. task is "qac"
        (classification) or "qar" (retrieval); truth is the complete graph, for qar; options are
        those of `ask`."""
        tasks = {"qac": _abi.ACQ_TASK_QAC, "qar": _abi.ACQ_TASK_QAR}
        if task not in tasks:
            raise UsageError(f'the task is "qac" or "qar", not {task!r}')
        watch, out = Watch(progress), ctypes.c_void_p()
        names = [files] if isinstance(files, (str, bytes, os.PathLike)) else list(files)
        paths = texts(encode_path(name) for name in names)
        params = make_params(_abi.acq_evaluate_params, lib.acq_evaluate_params_init_sized,
                             {"atoms": atoms, "first": first, "threads": threads, "seconds": seconds}, "evaluate")
        ask = make_params(_abi.acq_ask_params, lib.acq_ask_params_init_sized, options, "evaluate")
        params.ask, params.progress = ctypes.pointer(ask), watch.callback
        believed = self._believed(predictor)
        judge = believed if truth is None else self.predictor("perfect:" + os.fspath(truth))
        with believed._handle as p, judge._handle as j:
            if truth is not None:
                params.truth = j
            watch.run_long(lambda: call(lib.acq_evaluate, p, tasks[task], paths, len(names), ctypes.byref(params),
                                        ctypes.byref(out)))
            try:
                n = lib.acq_evaluation_get_n(out)
                rows = [json.loads(lib.acq_evaluation_get_json(out, i)) for i in range(n)]
                return Evaluation(rows, decode(lib.acq_evaluation_get_table(out)))
            finally:
                lib.acq_evaluation_free(out)

    def evaluate_links(self, truth: PathLike, *, predictor: Union[str, Predictor], first: int = 0, threads: int = 0,
                       progress: Optional[ProgressFunction] = None) -> Dict[str, Any]:
        """Link prediction judged on the facts of `truth`, a complete graph, that this one lacks:
        filtered mrr, hits1, hits3, hits10, and a table of how true the probabilities are; the same
        in `cases`, by what the graph shows: 0 neither end is seen, 1 the head is, 2 the tail, 3 both."""
        watch = Watch(progress)
        params = make_params(_abi.acq_evaluate_links_params, lib.acq_evaluate_links_params_init_sized,
                             {"first": first, "threads": threads}, "evaluate_links")
        params.progress = watch.callback
        report = _abi.acq_links_report(size=ctypes.sizeof(_abi.acq_links_report))
        believed, judge = self._believed(predictor), self.predictor("perfect:" + os.fspath(truth))
        with believed._handle as p, judge._handle as j:
            watch.run_long(lambda: call(lib.acq_evaluate_links, p, j, ctypes.byref(params), ctypes.byref(report)))
        return read_struct(report)


def _require_same(graph: Graph, predictor: Predictor) -> None:
    """Ids of one graph mean nothing in another."""
    if predictor.graph._handle is not graph._handle:
        raise UsageError("this predictor belongs to another graph; make one with graph.predictor(...)")


def _ask_params(watch: Watch, **options: Any) -> _abi.acq_ask_params:
    params = make_params(_abi.acq_ask_params, lib.acq_ask_params_init_sized, options, "ask")
    params.progress = watch.callback
    return params


def _name(graph: int, entity: int) -> str:
    return decode(lib.acq_graph_get_entity_name(graph, entity))


def _read_prediction(graph: int, found: _abi.acq_prediction, is_calibrated: bool) -> Prediction:
    return Prediction(entity=_name(graph, found.entity), p=found.score if is_calibrated else math.nan,
                      score=found.score, observed=found.is_observed,
                      key=decode(lib.acq_graph_get_entity_key(graph, found.entity)))


def _read_suggestion(graph: int, found: _abi.acq_suggestion) -> Suggestion:
    return Suggestion(_name(graph, found.head), decode(lib.acq_graph_get_relation_name(graph, found.relation)),
                      _name(graph, found.tail), found.p)


def _read_reason(graph: int, found: _abi.acq_reason) -> Reason:
    rules = tuple(decode(found.rules[i].body) for i in range(found.n_rules))
    entities = tuple(_name(graph, found.entities[i]) for i in range(found.n_entities))
    return Reason(decode(found.kind), decode(found.text), found.weight, rules, entities)


def _read_solutions(graph: int, out: Any) -> Solutions:
    n = lib.acq_solutions_get_n_variables(out)
    variables = [decode(lib.acq_solutions_get_variable(out, i)) for i in range(n)]
    rows = [_read_solution(graph, out, i, variables) for i in range(lib.acq_solutions_get_n(out))]
    form = ("rows", "boolean", "statements")[lib.acq_solutions_get_form(out)]
    sentences = (lib.acq_solutions_get_warning(out), lib.acq_solutions_get_note(out))
    note = " ".join(decode(one) for one in sentences if one)
    return Solutions(rows, variables, form, decode(lib.acq_solutions_get_spent(out)), note)


def _read_solution(graph: int, out: Any, row: int, variables: Sequence[str]) -> Solution:
    values, keys = {}, {}
    for i, name in enumerate(variables):
        term = lib.acq_solutions_get_term(out, row, i)
        if term.kind != _abi.ACQ_RDF_UNBOUND:
            keys[name] = decode(term.key)
            values[name] = decode(term.key) if term.entity == NO_ID else _name(graph, term.entity)
    return Solution(values, keys, lib.acq_solutions_get_probability(out, row),
                    lib.acq_solutions_is_predicted(out, row))


# ---- the way in ----


def open(path: PathLike, *, progress: Optional[ProgressFunction] = None,  # pylint: disable=redefined-builtin
         **options: Any) -> Graph:
    """Opens a store, or reads triples (.tsv, .txt, .csv), RDF (.nt, .ttl, .nq, .trig), any of these
    compressed (.gz), or the folder of a benchmark. Lines that cannot be read are left out with a
    warning, unless strict=True.

    options   split, format, strict, base, literals, no_header, threads
    """
    watch, out = Watch(progress), ctypes.c_void_p()
    reading = _Reading(options, watch)
    watch.run_long(lambda: call(lib.acq_graph_open, encode_path(path), ctypes.byref(reading.params),
                                ctypes.byref(out), file=os.fsdecode(path)))
    handle = Handle("graph", out.value or 0, lib.acq_graph_free)
    return Graph(handle, os.fsdecode(path), reading.finish())


def from_facts(facts: Iterable[Tuple[str, str, str]]) -> Graph:
    """A graph of (head, relation, tail) tuples, as of `frame.itertuples(index=False)`."""
    number, path = tempfile.mkstemp(suffix=".csv")
    try:
        with os.fdopen(number, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            writer = csv.writer(file)
            for fact in facts:
                head, relation, tail = fact
                writer.writerow([head, relation, tail])
        graph = open(path, no_header=True, strict=True)
    finally:
        os.unlink(path)
    graph.path = None
    return graph


def import_facts(sources: Union[PathLike, Sequence[PathLike]], path: PathLike, *, replace: bool = False,
                 memory_bytes: int = 0, progress: Optional[ProgressFunction] = None, **options: Any) -> Graph:
    """Everything that `open` reads, merged into a new store at `path`, which is then opened. The file
    appears when it is complete."""
    watch = Watch(progress)
    reading = _Reading(options, watch)
    params = make_params(_abi.acq_store_params, lib.acq_store_params_init_sized,
                         {"replace": replace, "memory_bytes": memory_bytes}, "import_facts")
    params.read = ctypes.pointer(reading.params)
    names = [sources] if isinstance(sources, (str, bytes, os.PathLike)) else list(sources)
    paths = texts(encode_path(name) for name in names)
    watch.run_long(lambda: call(lib.acq_store_create, paths, len(names), encode_path(path), ctypes.byref(params)))
    report = reading.finish()
    graph = open(path)
    graph.report = report
    return graph


class Store:
    """A store that is written: made by `anycq.edit`. Each call is done wholly or not at all; what
    returned survives a power failure. An open graph goes on as it was: open it anew."""

    def __init__(self, path: PathLike) -> None:
        out = ctypes.c_void_p()
        call(lib.acq_store_writer_open, encode_path(path), ctypes.byref(out), file=os.fsdecode(path))
        self._handle = Handle("store", out.value or 0, lib.acq_store_writer_free)
        self._lock = threading.Lock()  # a writer is for one thread at a time

    def _change(self, function: Any, facts: Iterable[Tuple[str, str, str]]) -> Dict[str, Any]:
        items = [tuple(encode(part, "a fact") for part in fact) for fact in facts]
        if any(len(item) != 3 for item in items):
            raise UsageError("a fact is a tuple of head, relation and tail")
        rows = (_abi.acq_store_fact * len(items))(*items)
        report = _abi.acq_store_report(size=ctypes.sizeof(_abi.acq_store_report))
        with self._lock, self._handle as writer:
            call(function, writer, rows, len(items), ctypes.byref(report), None)
        return read_struct(report)

    def add(self, facts: Iterable[Tuple[str, str, str]]) -> Dict[str, Any]:
        """Adds (head, relation, tail) tuples; new names become entities and relations."""
        return self._change(lib.acq_store_add, facts)

    def remove(self, facts: Iterable[Tuple[str, str, str]]) -> Dict[str, Any]:
        """Removes (head, relation, tail) tuples."""
        return self._change(lib.acq_store_remove, facts)

    def close(self) -> None:
        """Lets others write."""
        self._handle.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()


def edit(path: PathLike) -> Store:
    """Opens a store for changes: `with anycq.edit("world.acq") as store: store.add([...])`."""
    return Store(path)


def engines() -> List[str]:
    """The names of the engines."""
    found: List[str] = []
    while (name := lib.acq_get_engine(len(found))) is not None:
        found.append(decode(name))
    return found
