"""The cells of bindings/python/tutorial.py run, and what a notebook would show of each is there."""
import ast
import contextlib
import io
import os
import re
import unittest

SOURCE = os.environ["ACQ_SOURCE"]
PATH = os.path.join(SOURCE, "bindings", "python", "tutorial.py")


def cells():
    """(title, code) of each cell."""
    with open(PATH, encoding="utf-8") as file:
        parts = re.split(r"^# %% ?(.*)\n", file.read(), flags=re.M)
    return [(title, code) for title, code in zip(parts[1::2], parts[2::2]) if title != "[markdown]"]


def run(code, names):
    """Runs a cell; gives what it prints and the value of its last expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, PATH, "exec"), names)  # pylint: disable=exec-used
        value = None if last is None else eval(  # pylint: disable=eval-used
            compile(ast.Expression(last.value), PATH, "eval"), names)
    return printed.getvalue(), value


class Tutorial(unittest.TestCase):
    def test_every_cell_runs_and_shows_something(self):
        os.chdir(SOURCE)
        names, shown = {}, []
        for title, code in cells():
            printed, value = run(code, names)
            page = value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)
            self.assertTrue(printed or (value is not None and page), title)
            shown.append(printed or page)
        everything = "\n".join(shown)
        self.assertGreaterEqual(len(shown), 12)
        self.assertIn("none ['lives_in(", everything)
        self.assertIn("data:image/svg+xml", everything)
        self.assertIn("Italy", everything)
        self.assertIn('did you mean "lives_in"?', everything)
        self.assertEqual(names["answers"].outcome, "answered")
        self.assertEqual(len(names["suggestions"]), 5)
        self.assertEqual(names["verdict"].outcome, "yes")


if __name__ == "__main__":
    unittest.main()
