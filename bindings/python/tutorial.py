# %% [markdown]
# # anycq in a notebook
#
# Each `# %%` begins a cell: Jupyter (with jupytext), VS Code, PyCharm and Spyder open this file as a
# notebook. It reads the table of docs/tutorial/company.csv, facts about people in a company.
# Run it from the folder of the sources. The tests run every cell.

# %% Facts become a graph: a file, a store, RDF, or tuples such as the rows of a data frame
import csv

import anycq

with open("docs/tutorial/company.csv", encoding="utf-8", newline="") as file:
    rows = [row for row in csv.reader(file) if row[:1] != ["head"]]
graph = anycq.from_facts(tuple(row) for row in rows)
graph

# %% What is in it
{name: graph.count(name)["facts"] for name in graph.relations()}

# %% A question about observed facts. The picture shows x, which is asked for, large
observed = graph.ask('Q(x) := exists y. lives_in(x, y) & in_country(y, "Italy")', predictor="observed", limit=5)
observed

# %% Observed facts do not say where Gina lives, so this has no answer: proved, and this is why
none = graph.ask('Q(x) := exists y. lives_in("Gina", y) & in_country(y, x)', predictor="observed")
print(none.outcome, none.conflict())

# %% What the graph would say if it were complete. At first use anycq learns from the graph itself
answers = graph.ask('Q(x) := exists y. lives_in("Gina", y) & in_country(y, x)')
answers

# %% What the answer rests on: an observed fact, and a predicted one with its probability
answers[0].explain()

# %% Why the link is predicted
graph.reasons("Gina", "lives_in", answers[0]["y"])

# %% Can its relation be trusted? Of the links with p >= 0.5, so many were right on hidden facts
graph.predictor().quality("lives_in")

# %% The likeliest facts that the graph lacks
suggestions = graph.suggest(top=5)
suggestions

# %% As a data frame, where pandas is installed
try:
    table = suggestions.to_frame()
except ImportError:
    table = suggestions.to_dicts()
table

# %% Is a tuple an answer? Yes or no, with p
verdict = graph.check("Q(x) := lives_in(\"Gina\", x)", answers[0]["y"])
print(verdict, verdict.p)

# %% A mistake is an exception that says what to do
try:
    graph.ask('lives_on("Gina", x)')
except anycq.UnknownNameError as error:
    print(error)
