"""The 100 queries of tests/server/doors.c, on a made-up company with facts hidden: Python gives the
tuples and the p of the command."""
import json
import os
import subprocess
import tempfile
import unittest

import anycq

LIMIT, MIN_P = 5, 0.1


def rows_of(answers):
    return sorted((sorted(one.values.items()), one.p) for one in answers)


class Doors(unittest.TestCase):
    def test_a_hundred_queries_have_the_answers_of_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([os.environ["ACQ_DOORS"], "--queries", os.environ["ACQ_MAKE_WORLD"], folder], check=True,
                           capture_output=True, env={**os.environ, "LD_PRELOAD": ""})
            store = os.path.join(folder, "g.acq")
            if not os.path.exists(store):
                anycq.import_facts(os.path.join(folder, "observed.tsv"), store).close()
            path = os.path.join(folder, "queries.txt")
            command = subprocess.run(
                [os.environ["ACQ_COMMAND"], "ask", store, "--queries", path, "--json", "--limit", str(LIMIT),
                 "--min-p", str(MIN_P)], check=False, capture_output=True, text=True,
                env={**os.environ, "LD_PRELOAD": ""})
            wanted = [json.loads(line) for line in command.stdout.splitlines()]
            with open(path, encoding="utf-8") as file:
                queries = [line.rstrip("\n") for line in file]
            self.assertEqual((len(queries), len(wanted)), (100, 100))
            with anycq.open(store) as graph:
                n_answers, n_predicted = self.compare(graph, queries, wanted)
            self.assertGreater(n_answers, 100)
            self.assertGreater(n_predicted, 10)

    def compare(self, graph, queries, wanted):
        n_answers = n_predicted = 0
        for text, object_ in zip(queries, wanted):
            if text.startswith("SELECT") and graph.query(text).needs_solve:
                found = graph.solve(text, min_p=MIN_P, most=LIMIT)
            else:
                found = graph.ask(text, limit=LIMIT, min_p=MIN_P)
                again = graph.stream(text, limit=LIMIT, min_p=MIN_P)
                self.assertEqual(rows_of(again), rows_of(found), text)
            ours = rows_of(found)
            theirs = sorted((sorted(one["values"].items()), one["p"]) for one in object_["answers"])
            self.assertEqual([row for row, _ in ours], [row for row, _ in theirs], text)
            for (_, mine), (_, other) in zip(ours, theirs):
                self.assertEqual(float(f"{mine:.6g}"), other, text)  # the command prints six digits
            n_answers += len(ours)
            n_predicted += sum(p < 1 for _, p in ours)
        return n_answers, n_predicted


if __name__ == "__main__":
    unittest.main()
