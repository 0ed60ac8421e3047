"""Fits: probabilities, progress, Ctrl-C and going on; evaluation by what was learnt."""
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import anycq

SOURCE = os.environ["ACQ_SOURCE"]
FILMS = os.path.join(SOURCE, "tests", "cli", "data", "films.tsv")
SMALL = {"rank": 4, "epochs": 3.0, "hold_share": 0.2, "models": "complex", "threads": 1}
CHILD = f"""
import sys, anycq
graph = anycq.open({FILMS!r})
try:
    graph.fit(sys.argv[1], progress=lambda now: print(now.phase, flush=True), **{SMALL!r})
except KeyboardInterrupt:
    print("interrupted", flush=True)
    print(len(graph.ask("Q(x, y) := directed(x, y)", predictor="observed", limit=0)))
"""


class Fits(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "films.completion")
        self.graph = anycq.open(FILMS)

    def test_a_fit_gives_probabilities(self):
        phases = []
        report = self.graph.fit(self.path, progress=lambda now: phases.append(now.phase), **SMALL)
        self.assertGreater(report["links"], 0)
        self.assertEqual(len(report["link_table"]["bins"]), 13)
        self.assertGreater(len(phases), 0)
        believed = self.graph.predictor("completion:" + self.path)
        self.assertTrue(believed.is_calibrated)
        relation = self.graph.relations()[0]
        found = self.graph.suggest(predictor=believed, top=5)
        self.assertEqual(len(found), 5)
        self.assertAlmostEqual(found.expected, sum(one.p for one in found))
        best = found[0]
        self.assertNotIn((best.head, best.relation, best.tail), self.graph)
        query = 'Q(x) := {}("{}", x)'.format(best.relation, best.head)
        check = self.graph.check(query, best.tail, predictor=believed)
        self.assertAlmostEqual(check.p, best.p, places=9)
        row = self.graph.predict(best.relation, head=best.head, predictor=believed, top=None)
        self.assertIn(best.tail, [one.entity for one in row])
        self.assertGreater(len(self.graph.reasons(best.head, best.relation, best.tail, predictor=believed)), 0)
        self.assertTrue(math.isfinite(self.graph.ask(query, predictor=believed, min_p=0.0)[0].p))
        self.assertIsInstance(relation, str)

    def test_ctrl_c_leaves_a_fit_that_goes_on(self):
        child = subprocess.Popen([sys.executable, "-c", CHILD, self.path], stdout=subprocess.PIPE, text=True)
        while not os.path.exists(self.path + ".fit"):
            self.assertIsNone(child.poll(), "the fit ended before it was interrupted")
            time.sleep(0.001)
        child.send_signal(signal.SIGINT)
        output = child.communicate(timeout=300)[0]
        self.assertEqual(child.returncode, 0)
        self.assertIn("interrupted\n", output)
        self.assertTrue(os.path.exists(self.path + ".fit"))
        self.assertFalse(os.path.exists(self.path))
        with self.assertRaisesRegex(anycq.AnycqError, "not ended"):
            self.graph.fit(self.path, **SMALL)
        self.graph.fit(self.path, resume=True, **SMALL)
        whole = os.path.join(self.folder.name, "whole")
        self.graph.fit(whole, **SMALL)
        with open(whole, "rb") as one, open(self.path, "rb") as other:
            self.assertEqual(one.read(), other.read())

    def test_a_progress_function_can_stop_a_fit(self):
        with self.assertRaises(anycq.StoppedError):
            self.graph.fit(self.path, progress=lambda now: False, **SMALL)

    def test_ctrl_c_ends_a_long_question(self):
        graph = anycq.from_facts((f"e{i}", "r", f"e{j}") for i in range(60) for j in range(60))
        before = signal.getsignal(signal.SIGINT)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
        with self.assertRaises(KeyboardInterrupt):
            graph.ask("Q(x, y, z, w) := r(x, y) & r(y, z) & r(z, w)", predictor="observed", limit=0)
        self.assertIs(signal.getsignal(signal.SIGINT), before)


if __name__ == "__main__":
    unittest.main()
