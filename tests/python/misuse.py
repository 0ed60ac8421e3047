"""Wrong use raises and never crashes; memory stays flat."""
import gc
import os
import tempfile
import threading
import unittest

import anycq

FACTS = [("a", "r", "b"), ("b", "r", "c"), ("c", "r", "a"), ("a", "s", "c")]
QUERY = "Q(x) := exists y. r(x, y) & r(y, \"a\")"
N_ASKS = int(os.environ.get("ACQ_ASKS", "5000"))


def resident():
    """Memory of this process, in kB."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024


class Misuse(unittest.TestCase):
    def setUp(self):
        self.graph = anycq.from_facts(FACTS)

    def test_a_closed_graph_is_refused_everywhere(self):
        query, predictor = self.graph.query(QUERY), self.graph.predictor("observed")
        answers = self.graph.ask(query, predictor=predictor)
        self.graph.close()
        self.graph.close()
        calls = (
            lambda: self.graph.ask(QUERY), lambda: self.graph.check(QUERY, "b"), lambda: self.graph.stream(QUERY),
            lambda: self.graph.predict("r", head="a"), lambda: self.graph.suggest(), lambda: self.graph.relations(),
            lambda: self.graph.fit("/nowhere/x"), lambda: self.graph.n_facts, lambda: self.graph.entities(),
            lambda: self.graph.query(QUERY), lambda: self.graph.reasons("a", "r", "b"),
            lambda: ("a", "r", "b") in self.graph, lambda: self.graph.predictor("observed"),
            lambda: self.graph.ask(query, predictor=predictor))
        for call in calls:
            self.assertRaises(anycq.ClosedError, call)
        self.assertEqual(answers[0]["x"], "b")  # what was found stays, and can be explained
        self.assertEqual(len(answers[0].explain()), 2)
        self.assertEqual(repr(self.graph), "<closed graph>")

    def test_closing_in_any_order_frees_nothing_in_use(self):
        answers = self.graph.ask(QUERY, predictor="observed")
        self.graph.close()
        query = answers.query
        query.close()
        self.graph = None
        gc.collect()
        self.assertEqual(answers[0].explain()[0].kind, "observed")
        self.assertRaises(anycq.ClosedError, lambda: answers.query.graph.ask(query))

    def test_another_graphs_predictor_and_query_are_refused(self):
        other = anycq.from_facts(FACTS)
        believed, query = other.predictor("observed"), other.query(QUERY)
        calls = (
            lambda: self.graph.ask(QUERY, predictor=believed), lambda: self.graph.ask(query, predictor="observed"),
            lambda: self.graph.check(QUERY, "b", predictor=believed), lambda: self.graph.suggest(predictor=believed),
            lambda: self.graph.stream(QUERY, predictor=believed),
            lambda: self.graph.predict("r", head="a", predictor=believed),
            lambda: self.graph.reasons("a", "r", "c", predictor=believed))
        for call in calls:
            self.assertRaises(anycq.UsageError, call)

    def test_arguments_of_the_wrong_kind_are_refused(self):
        calls = (
            (TypeError, lambda: self.graph.ask(7)), (TypeError, lambda: self.graph.ask(QUERY, colour=1)),
            (anycq.UsageError, lambda: self.graph.ask(QUERY + "\0")),
            (anycq.UsageError, lambda: self.graph.ask(QUERY, limit=-1)),
            (anycq.UsageError, lambda: self.graph.ask(QUERY, limit=2**64)),
            (anycq.UsageError, lambda: self.graph.ask(QUERY, predictor="telepathy")),
            (anycq.UsageError, lambda: self.graph.ask(QUERY, engine="warp")),
            (TypeError, lambda: self.graph.ask(QUERY, paper=1)), (TypeError, lambda: self.graph.ask(QUERY, progress=1)),
            (TypeError, lambda: self.graph.ask(QUERY, context=1)), (TypeError, lambda: self.graph.check(QUERY, 7)),
            (anycq.UsageError, lambda: self.graph.check(QUERY)),
            (anycq.UsageError, lambda: self.graph.check(QUERY, "a", "b")),
            (anycq.UsageError, lambda: self.graph.predict("r")),
            (anycq.UsageError, lambda: self.graph.evaluate("qaz", "x", predictor="observed")),
            (anycq.UsageError, self.graph.fit), (TypeError, lambda: anycq.open(None)),
            (anycq.UsageError, lambda: anycq.open("a\0b")), (TypeError, lambda: ("a", "r") in self.graph))
        for kind, call in calls:
            self.assertRaises(kind, call)
        with self.assertRaises((anycq.UsageError, ValueError)):
            anycq.from_facts([("a", "r")])

    def test_many_threads_ask_while_one_closes(self):
        failures, found = [], []

        def ask():
            try:
                while True:
                    found.append(len(self.graph.ask(QUERY, predictor="observed", limit=0)))
            except anycq.ClosedError:
                pass
            except BaseException as error:  # pylint: disable=broad-except
                failures.append(error)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        while len(found) < 40 and not failures:
            pass
        self.graph.close()
        for thread in threads:
            thread.join()
        self.assertEqual((failures, set(found)), ([], {1}))

    def test_a_stream_is_for_one_thread(self):
        stream = self.graph.stream(QUERY, predictor="observed")
        failures = []
        with stream._lock:  # as long as another thread reads
            def read():
                try:
                    next(stream)
                except anycq.UsageError as error:
                    failures.append(str(error))
            thread = threading.Thread(target=read)
            thread.start()
            thread.join()
        self.assertEqual(len(failures), 1)
        answer = next(stream)
        self.assertEqual(answer["x"], "b")
        self.assertEqual(len(answer.explain()), 2)
        self.assertEqual(list(stream), [])
        self.assertRaises(anycq.UsageError, answer.explain)
        stream.close()
        self.assertRaises(StopIteration, lambda: next(stream))

    def test_a_progress_function_may_raise_and_may_not_ask(self):
        def ask(_now):
            self.graph.ask(QUERY, predictor="observed")

        def fail(_now):
            raise ZeroDivisionError

        films = anycq.open(os.path.join(os.environ["ACQ_SOURCE"], "tests", "cli", "data", "films.tsv"))
        with tempfile.TemporaryDirectory() as folder:
            for kind, progress in ((anycq.UsageError, ask), (ZeroDivisionError, fail)):
                with self.assertRaises(kind):
                    films.fit(os.path.join(folder, kind.__name__), progress=progress, models="complex", rank=4)

    @unittest.skipIf("ACQ_SANITIZED" in os.environ, "sanitizers keep what is freed")
    def test_memory_stays_flat(self):
        query = self.graph.query(QUERY)
        for _ in range(N_ASKS // 10):
            self.graph.ask(query, predictor="observed").to_dicts()
        before = resident()
        for _ in range(N_ASKS):
            self.graph.ask(query, predictor="observed")[0].explain()
        grown = resident() - before
        self.assertLess(grown, 1500, f"{N_ASKS} asks took {grown} kB")


if __name__ == "__main__":
    unittest.main()
