"""Graphs, questions, links and texts through the bindings, on the built-in world."""
import json
import math
import os
import subprocess
import tempfile
import unittest
import warnings
import xml.etree.ElementTree as xml

import anycq

SOURCE = os.environ["ACQ_SOURCE"]
WORLD = os.path.join(SOURCE, "data", "world", "observed.tsv")
FULL = os.path.join(SOURCE, "data", "world", "world.tsv")
HOSTILE = ["<script>alert(1)</script>", "\x1b[31mred\x1b[0m", '"><img src=x onerror=alert(1)>', "a\u202eb",
           "=HYPERLINK(\"http://x\")", "\x07bell", "a&b", "-->"]


def queries():
    """The queries of the built-in world."""
    with open(os.path.join(SOURCE, "data", "world", "queries.txt"), encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


class World(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = anycq.open(WORLD)

    def test_the_graph_tells_what_is_in_it(self):
        self.assertEqual(self.graph.n_facts, 5853)
        self.assertIn("borders", self.graph.relations())
        self.assertIn(("Paris", "capital_of", "France"), self.graph)
        self.assertNotIn(("Paris", "capital_of", "Nowhere"), self.graph)
        self.assertEqual(self.graph.count("capital_of")["facts"], self.graph.count("capital_of")["heads"])
        self.assertEqual(self.graph.entities("Oppenh"), ["Oppenheimer"])
        self.assertEqual(len(self.graph.entities(most=7)), 7)
        self.assertEqual(self.graph.fingerprint, anycq.open(WORLD).fingerprint)

    def test_answers_are_those_of_the_command(self):
        n = 0
        for predictor in ("observed", "perfect:" + FULL):
            for text in queries():
                wanted = json.loads(subprocess.run(
                    [os.environ["ACQ_COMMAND"], "ask", WORLD, text, "--predictor", predictor, "--all", "--json"],
                    capture_output=True, check=False).stdout)
                found = self.graph.ask(text, predictor=predictor, limit=0)
                self.assertEqual(found.outcome, wanted["outcome"], text)
                rows = [[one["values"][name] for name in found.query.variables] for one in wanted["answers"]]
                self.assertEqual(sorted(list(one.values.values()) for one in found), sorted(rows), text)
                n += len(rows)
        self.assertGreater(n, 50)

    def test_a_stream_gives_what_ask_finds(self):
        for text in queries():
            with self.graph.stream(text, predictor="observed") as stream:
                found = [tuple(one.values.values()) for one in stream]
                self.assertTrue(stream.is_over)
            wanted = [tuple(one.values.values()) for one in self.graph.ask(text, predictor="observed", limit=0)]
            self.assertEqual(sorted(found), sorted(wanted), text)

    def test_an_answer_says_what_it_rests_on(self):
        text = 'Q(x) := exists y. directed(y, "Oppenheimer") & born_in(y, x)'
        found = self.graph.ask(text, predictor="perfect:" + FULL)
        self.assertEqual((found[0]["x"], found[0]["y"]), ("London", "Christopher Nolan"))
        facts = found[0].explain()
        self.assertEqual([fact.kind for fact in facts], ["observed", "predicted"])
        self.assertEqual(facts[1].text, 'born_in("Christopher Nolan", "London")')
        self.assertFalse(found[0].observed)
        self.assertEqual(self.graph.ask(text, predictor="observed").outcome, "none")

    def test_check_says_yes_or_no_and_why(self):
        text = 'Q(x) := borders(x, "France") & !currency(x, "Euro")'
        yes = self.graph.check(text, "Switzerland", predictor="observed")
        no = self.graph.check(text, "Spain", predictor="observed")
        self.assertTrue(yes)
        self.assertEqual((yes.outcome, no.outcome, bool(no)), ("yes", "no", False))
        self.assertEqual(no.conflict(), ['!currency(x, "Euro")'])
        self.assertEqual(len(yes.explain()), 2)

    def test_links_of_both_ends(self):
        tails = self.graph.predict("capital_of", head="Paris", predictor="observed")
        heads = self.graph.predict("capital_of", tail="France", predictor="observed")
        self.assertEqual([one.entity for one in tails], ["France"])
        self.assertEqual([one.entity for one in heads], ["Paris"])
        self.assertTrue(heads[0].observed and math.isnan(heads[0].p))

    def test_errors_have_a_place_and_a_remedy(self):
        with self.assertRaises(anycq.UnknownNameError) as caught:
            self.graph.ask('Q(x) := capital_off(x, "France")')
        self.assertEqual((caught.exception.line, caught.exception.column), (1, 9))
        self.assertIn('did you mean "capital_of"?', str(caught.exception))
        with self.assertRaises(anycq.ParseError):
            self.graph.ask("Q(x) := capital_of(x")
        with self.assertRaises(LookupError):
            self.graph.predict("capital_of", head="Pariss")
        with self.assertRaises(anycq.InputError) as missing:
            anycq.open("/nowhere/graph.tsv")
        self.assertIn("/nowhere/graph.tsv", str(missing.exception))

    def test_pictures_and_statements(self):
        text = 'Q(x) := exists y. directed(y, "Oppenheimer") & born_in(y, x)'
        xml.fromstring(self.graph.query(text)._repr_svg_())
        self.assertIn("SELECT", anycq.to_sql(text))
        self.assertEqual(self.graph.query(text).witnesses, ("y",))

    def test_frames_where_pandas_is_installed(self):
        found = self.graph.ask('Q(x) := borders(x, "France")', predictor="observed", limit=0)
        try:
            import pandas  # pylint: disable=import-outside-toplevel
        except ImportError:
            with self.assertRaisesRegex(ImportError, "to_dicts"):
                found.to_frame()
            return
        frame = found.to_frame()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(list(frame["x"]), [one["x"] for one in found])
        self.assertEqual(list(frame.columns), ["x", "score"])


class Texts(unittest.TestCase):
    def test_a_graph_of_tuples_keeps_any_name(self):
        facts = [("a", "r", "b"), ('x"y', "r s", "tab\tname"), ("new\nline", "r", "é"), (" a ", "r", "")]
        graph = anycq.from_facts(facts[:3])
        for fact in facts[:3]:
            self.assertIn(fact, graph)

    def test_lines_left_out_are_a_warning(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "g.tsv")
            with open(path, "w", encoding="utf-8") as file:
                file.write("a\tr\tb\nbroken\nc\tr\td\n")
            with self.assertWarnsRegex(anycq.AnycqWarning, "g.tsv:2"):
                graph = anycq.open(path)
            self.assertEqual((graph.n_facts, graph.report["bad"]), (2, 1))
            with self.assertRaises(anycq.ParseError) as caught:
                anycq.open(path, strict=True)
            self.assertEqual((caught.exception.file, caught.exception.line), (path, 2))

    def test_a_store_is_made_changed_and_opened(self):
        with tempfile.TemporaryDirectory() as folder:
            path, seen = os.path.join(folder, "g.acq"), []
            graph = anycq.import_facts(WORLD, path, progress=lambda now: seen.append(now.phase))
            self.assertEqual(graph.n_facts, 5853)
            with anycq.edit(path) as store:
                self.assertEqual(store.add([("Ada", "knows", "Bo"), ("Ada", "knows", "Bo")])["changed"], 1)
                self.assertEqual(store.remove([("Paris", "capital_of", "France")])["changed"], 1)
            self.assertIn(("Paris", "capital_of", "France"), graph)  # a snapshot
            now = anycq.open(path)
            self.assertNotIn(("Paris", "capital_of", "France"), now)
            self.assertIn(("Ada", "knows", "Bo"), now)

    def test_hostile_names_change_no_page_and_no_terminal(self):
        graph = anycq.from_facts([(name, "likes", "tea") for name in HOSTILE])
        found = graph.ask('Q(x) := likes(x, "tea")', predictor="observed", limit=0)
        self.assertEqual({one["x"] for one in found}, set(HOSTILE))
        page, text = found._repr_html_(), repr(found) + repr(found[0])
        for bad in ("<script", "<img src=x"):
            self.assertNotIn(bad, page)
        for bad in ("\x1b", "\x07", "\u202e"):
            self.assertNotIn(bad, page + text)
        for name in HOSTILE:
            quoted = name.replace("\\", "\\\\").replace('"', '\\"')
            svg = anycq.draw(f'Q(x) := likes("{quoted}", x)')
            xml.fromstring(svg)
            self.assertNotIn("<script", svg)
            self.assertNotIn("\x1b", svg)
            self.assertNotIn("\x1b", repr(graph.query(f'Q(x) := likes("{quoted}", x)')))
        self.assertNotIn("<script", graph.predict("likes", tail="tea", predictor="observed")._repr_html_())


if __name__ == "__main__":
    warnings.simplefilter("error", ResourceWarning)
    unittest.main()
