"""Answers to questions over incomplete knowledge graphs.

    import anycq

    with anycq.open("world.tsv") as graph:
        for answer in graph.ask('Q(x) := borders(x, "France")', limit=0):
            print(answer["x"], answer.p)

What a question finds is a result, never an exception: its outcome is "answered", "none" or
"undecided". Exceptions come from anycq.AnycqError and say what to do.
"""
from ._abi import ACQ_VERSION as __version__
from ._library import Progress
from .answers import Answer, Answers, Query, Stream, Verdict, draw, to_sql
from .errors import (AnycqError, AnycqWarning, ClosedError, FileAccessError, InputError, InternalError, LimitError,
                     OutOfMemoryError, ParseError, StoppedError, UnknownNameError, UsageError)
from .graph import (FitReport, Graph, Predictor, Store, edit, engines, from_facts, import_facts, open)
from .tables import (Evaluation, Fact, Facts, Prediction, Predictions, Reason, Reasons, Solution, Solutions,
                     Suggestion, Suggestions)

__all__ = [name for name in dir() if not name.startswith("_") and name not in ("answers", "errors", "graph", "tables")]
