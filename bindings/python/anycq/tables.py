"""Lists of rows that a notebook shows as a table and pandas takes as a frame."""
from __future__ import annotations

import base64
import dataclasses
import html
import unicodedata
from typing import Any, Dict, Generic, Iterator, List, Sequence, Tuple, TypeVar, Union, overload

Row = TypeVar("Row")
MOST_SHOWN = 100  # rows of a table in a notebook
MOST_LINES = 20  # of one that is printed


def visible(text: str) -> str:
    """Text that changes nothing but itself: characters that control a terminal, turn the writing
    direction or are no text at all are written as \\x1b or \\u202e."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if unicodedata.category(c)[0] != "C" and c not in "\u2028\u2029"
        else c.encode("unicode_escape").decode("ascii")
        for c in text
    )


def show_value(value: Any) -> str:
    """A cell: numbers short, text visible."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "" if value != value else f"{value:.4g}"
    return visible(str(value)) if value is not None else ""


def html_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], total: int) -> str:
    """Rows, of which there are `total`, as HTML."""
    head = "".join(f"<th>{html.escape(visible(name))}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(show_value(value))}</td>" for value in row) + "</tr>"
        for row in rows
    )
    rest = f"<p>and {total - len(rows)} more</p>" if total > len(rows) else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def html_picture(svg: str, description: str) -> str:
    """A picture that shares neither styles nor scripts with the page around it."""
    data = base64.b64encode(svg.encode("utf-8", "replace")).decode("ascii")
    alt = html.escape(visible(description), quote=True)
    return f'<img alt="{alt}" style="max-width:100%" src="data:image/svg+xml;base64,{data}">'


def text_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], total: int) -> str:
    """Rows, of which there are `total`, in columns of a terminal."""
    lines = [[visible(name) for name in columns], *([show_value(value) for value in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
    if total > len(rows):
        text.append(f"and {total - len(rows)} more")
    return "\n".join(text)


def make_frame(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Any:
    """A pandas.DataFrame."""
    try:
        import pandas  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise ImportError("to_frame needs pandas; install it, or use to_dicts()") from None
    return pandas.DataFrame(list(rows), columns=list(columns))


class Table(Sequence[Row], Generic[Row]):
    """A list that does not change: rows with the same fields."""

    def __init__(self, rows: Sequence[Row], columns: Sequence[str]) -> None:
        self._rows: Tuple[Row, ...] = tuple(rows)
        self.columns: Tuple[str, ...] = tuple(columns)

    def _cells(self, row: Row) -> List[Any]:
        return [getattr(row, name) for name in self.columns]

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, i: int) -> Row: ...

    @overload
    def __getitem__(self, i: slice) -> Tuple[Row, ...]: ...

    def __getitem__(self, i: Union[int, slice]) -> Any:
        return self._rows[i]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self._rows == other._rows

    __hash__ = None  # type: ignore[assignment]

    def to_dicts(self) -> List[Dict[str, Any]]:
        """One dictionary for each row."""
        return [dict(zip(self.columns, self._cells(row))) for row in self._rows]

    def to_frame(self) -> Any:
        """A pandas.DataFrame, where pandas is installed."""
        return make_frame(self.columns, [self._cells(row) for row in self._rows])

    def __repr__(self) -> str:
        if not self._rows:
            return f"no {type(self).__name__.lower()}"
        rows = [self._cells(row) for row in self._rows[:MOST_LINES]]
        return text_table(self.columns, rows, len(self._rows))

    def _repr_html_(self) -> str:
        rows = [self._cells(row) for row in self._rows[:MOST_SHOWN]]
        return html_table(self.columns, rows, len(self._rows))


@dataclasses.dataclass(frozen=True)
class Fact:
    """One atom of an answer, and what it rests on.

    kind      "observed", "predicted", "absent" or "equality"
    link      the predictor's score of the link itself; calibrated: its probability
    score     what the atom, with its negation, contributes
    negated   the query negates it
    used      False: a branch of an `or` that the answer does not need
    text      as the query language has it
    """

    text: str
    kind: str
    head: str
    relation: str
    tail: str
    inverse: bool
    negated: bool
    link: float
    score: float
    used: bool


class Facts(Table[Fact]):
    """Why an answer holds: one fact for each atom, in the order of the query."""

    def __init__(self, rows: Sequence[Fact], observed: bool) -> None:
        super().__init__(rows, ("text", "kind", "negated", "link", "used"))
        self.observed = observed  # no prediction takes part


@dataclasses.dataclass(frozen=True)
class Prediction:
    """A link of one entity. p is the probability of the link where the predictor is calibrated,
    else NaN; score is the predictor's own number."""

    entity: str
    p: float
    score: float
    observed: bool
    key: str


class Predictions(Table[Prediction]):
    """Links, most likely first."""

    def __init__(self, rows: Sequence[Prediction]) -> None:
        super().__init__(rows, ("entity", "p", "score", "observed"))


@dataclasses.dataclass(frozen=True)
class Suggestion:
    """A fact that the graph lacks, and how likely it is true."""

    head: str
    relation: str
    tail: str
    p: float


class Suggestions(Table[Suggestion]):
    """The likeliest missing facts.

    expected  how many of them are true, by their probabilities
    found     links with at least min_p, of which these are the best
    spent     what ended the search before all rows were done: "time", "interrupt"; else ""
    """

    def __init__(self, rows: Sequence[Suggestion], found: int, expected: float, spent: str) -> None:
        super().__init__(rows, ("head", "relation", "tail", "p"))
        self.found, self.expected, self.spent = found, expected, spent


@dataclasses.dataclass(frozen=True)
class Reason:
    """One part of what the probability of a predicted link was made of: weight is its change of the
    log-odds, above 0 for the link."""

    kind: str
    text: str
    weight: float
    rules: Tuple[str, ...]
    entities: Tuple[str, ...]


class Reasons(Table[Reason]):
    """The evidence for a predicted link, strongest first, and against it, last. note says why there
    are none."""

    def __init__(self, rows: Sequence[Reason], note: str) -> None:
        super().__init__(rows, ("kind", "text", "weight"))
        self.note = note


@dataclasses.dataclass(frozen=True)
class Solution:
    """A solution of a SPARQL query: the names of what its variables have, unbound ones left out, and
    the keys, which tell entities apart."""

    values: Dict[str, str]
    keys: Dict[str, str]
    p: float
    predicted: bool


class Solutions(Table[Solution]):
    """Solutions of a SPARQL query, in its order. form is "rows", "boolean" or "statements"; of ASK
    there is one solution, without values, or none."""

    def __init__(self, rows: Sequence[Solution], variables: Sequence[str], form: str, spent: str, note: str) -> None:
        super().__init__(rows, (*variables, "p"))
        self.form, self.spent, self.note = form, spent, note

    def _cells(self, row: Solution) -> List[Any]:
        return [*(row.values.get(name) for name in self.columns[:-1]), row.p]


class Evaluation(Table[Dict[str, Any]]):
    """A row for each query file, with the members that `anycq eval --json` prints, the total last."""

    def __init__(self, rows: Sequence[Dict[str, Any]], table: str) -> None:
        names: List[str] = []
        for row in rows:
            names += [name for name in row if name not in names]
        super().__init__(rows, names)
        self.table = table  # as the command prints it

    def _cells(self, row: Dict[str, Any]) -> List[Any]:
        return [row.get(name) for name in self.columns]

    @property
    def total(self) -> Dict[str, Any]:
        """All files together."""
        return self[-1]

    def __repr__(self) -> str:
        return self.table
