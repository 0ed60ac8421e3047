"""`anycq shell` as somebody at a terminal meets it, and as a script does."""
import os
import pty
import re
import select
import signal
import subprocess
import tempfile
import termios
import time
import unittest

SOURCE = os.environ["ACQ_SOURCE"]
COMMAND = os.environ["ACQ_COMMAND"]
WORLD = os.path.join(SOURCE, "data", "world", "observed.tsv")
PATIENCE = 30  # seconds


class Session:
    """A shell at a terminal of its own."""

    def __init__(self, folder, graph=WORLD, term="dumb"):
        self.text = ""
        self.mark = 0
        environment = {**os.environ, "TERM": term, "XDG_STATE_HOME": os.path.join(folder, "state"),
                       "LC_ALL": "C.UTF-8", "HOME": folder}
        environment.pop("LD_PRELOAD", None)
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.execve(COMMAND, [COMMAND, "shell", graph, "--predictor", "observed"], environment)

    def read(self, seconds):
        ready, _, _ = select.select([self.file], [], [], seconds)
        try:
            piece = os.read(self.file, 65536) if ready else None
        except OSError:  # the other side is closed
            piece = b""
        if piece:
            self.text += piece.decode("utf-8", "replace")
        return piece

    def expect(self, pattern):
        """Waits until what came since the last time has the pattern; gives the match."""
        end = time.monotonic() + PATIENCE
        while (match := re.compile(pattern).search(self.text, self.mark)) is None:
            if self.read(max(0, end - time.monotonic())) in (None, b""):
                raise AssertionError(f"no {pattern!r} in {self.text[self.mark:][-500:]!r}")
        self.mark = match.end()
        return match

    def send(self, text):
        os.write(self.file, text.encode())

    def ask(self, line, pattern):
        self.send(line + "\r")
        return self.expect(pattern)

    def leave(self):
        """The exit code after Ctrl-D at an empty prompt. Before the prompt the terminal would take it."""
        if not self.text.endswith("> "):
            self.expect("> $")
        self.send("\x04")
        while self.read(PATIENCE):
            pass
        return self.wait()

    def wait(self):
        """The exit code; a shell that does not end is killed."""
        end, pid = time.monotonic() + PATIENCE, 0
        while pid == 0 and time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            time.sleep(0.01)
        if pid == 0:
            os.kill(self.pid, signal.SIGKILL)
            status = os.waitpid(self.pid, 0)[1]
        self.pid = 0
        return os.waitstatus_to_exitcode(status)

    def close(self):
        if self.pid != 0:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.file)


class Terminal(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def open(self, graph=WORLD, term="dumb"):
        shell = Session(self.folder, graph, term)
        self.addCleanup(shell.close)
        return shell

    def write(self, facts):
        path = os.path.join(self.folder, "g.tsv")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines("\t".join(fact) + "\n" for fact in facts)
        return path

    def test_questions_over_lines_settings_and_mistakes(self):
        shell = self.open()
        shell.expect("anycq> ")
        shell.ask('capital_of(x,', r"\.\.\.> ")
        shell.ask('"France")', "x = Paris")
        shell.ask(".limit 2", "anycq> ")
        shell.ask('borders(x, "France")', "2 answers")
        shell.ask(".limit", r"\.limit 2")
        shell.ask(".limt 2", r"did you mean \.limit\?")
        shell.ask('capital_off(x, "France")', 'did you mean "capital_of"')
        shell.ask(".sparql on", "sparql> ")
        shell.ask("SELECT ?x { ?x <capital_of> <Italy> }", r"\.\.\.> ")
        shell.ask("", "x = Rome")
        shell.ask(".sparql", "anycq> ")
        shell.ask(".sparql", "sparql> ")
        self.assertEqual(shell.leave(), 0)

    def test_tab_completes_commands_relations_and_entities(self):
        shell = self.open()
        shell.expect("anycq> ")
        shell.ask("capi\t(x, \"Switz\t)", "x = Bern")
        shell.ask(".expl\t on", "anycq> ")
        shell.ask(".explain", r"\.explain on")
        shell.send('capital_of(x, "New \t\t')
        shell.expect("\n  New ")
        shell.send("\x03")
        shell.expect("anycq> ")
        self.assertEqual(shell.leave(), 0)

    def test_names_in_utf_8_and_with_quotes(self):
        shell = self.open(self.write([("Zoë", "knows", 'the "one"'), ("東京", "knows", "Zoë")]))
        shell.expect("anycq> ")
        shell.ask('knows("Zo\t, x)', 'x = the "one"')
        shell.ask('knows(x, "the\t)', "x = Zoë")
        shell.ask('knows("東\t, x)', "x = Zoë")
        self.assertEqual(shell.leave(), 0)

    def test_ctrl_c_right_behind_other_keys_is_never_lost(self):
        shell = self.open()
        shell.expect("anycq> $")
        for _ in range(200):
            shell.send("borders(" * 20)
            shell.send("\x03")
            shell.expect("\n.*anycq> $")
        self.assertEqual(shell.leave(), 0)

    def test_ctrl_c_cancels_what_is_typed_and_what_is_asked(self):
        shell = self.open()
        shell.expect("anycq> ")
        shell.send("borders(x, nonsense")
        shell.expect("nonsense")
        shell.send("\x03")
        shell.expect("anycq> ")
        for line in (".engine random", ".steps 1000000000000", ".time 1000"):
            shell.ask(line, "anycq> ")
        shell.send('Q(x) := capital_of(x, "Oppenheimer")\r')
        time.sleep(0.3)
        shell.send("\x03")
        shell.expect("undecided: interrupt")
        shell.expect("anycq> ")
        shell.ask(".steps off", "anycq> ")
        shell.ask(".engine exact", "anycq> ")
        shell.ask('capital_of(x, "France")', "x = Paris")
        self.assertEqual(shell.leave(), 0)

    def test_the_history_outlives_the_session_and_is_private(self):
        shell = self.open()
        shell.expect("anycq> ")
        shell.ask('capital_of(x, "France")', "x = Paris")
        self.assertEqual(shell.leave(), 0)
        path = os.path.join(self.folder, "state", "anycq", "history")
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        again = self.open()
        again.expect("anycq> ")
        again.ask("\x10", "x = Paris")
        self.assertEqual(again.leave(), 0)

    def test_a_file_that_is_no_history_is_left_alone(self):
        path = os.path.join(self.folder, "state", "anycq", "history")
        os.makedirs(os.path.dirname(path))
        with open(path, "w", encoding="utf-8") as file:
            file.write("Ada\tknows\ttea\n")
        graph = os.path.join(self.folder, "graph.tsv")
        os.link(path, graph)
        shell = self.open(graph)
        shell.expect("anycq> ")
        shell.ask('knows(x, "tea")', "x = Ada")
        self.assertEqual(shell.leave(), 0)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "Ada\tknows\ttea\n")

    def test_names_cannot_command_the_terminal(self):
        evil = "\x1b]0;owned\x07\x1b[31mred"
        shell = self.open(self.write([(evil, "knows", "tea"), ("\x1b[2J", "knows", "tea"),
                                                 ("a\u202eb", "knows", "tea")]))
        shell.expect("anycq> ")
        shell.ask(".all on", "anycq> ")
        shell.ask('knows(x, "tea")', "3 answers[^>]*> ")
        for line, end in ((".find ", "\r"), ('knows("', "\t\t\x03")):
            shell.send(line)
            shell.expect(re.escape(line))
            shell.send("\x16\x1b")  # alone: while the terminal changes its mode, keys get lost
            shell.expect(r"\^\[")
            shell.send(end)
            shell.expect("anycq> ")
        self.assertEqual(shell.leave(), 0)
        for bad in ("\x1b", "\u202e", "\x07" + "\x1b"):
            self.assertNotIn(bad, shell.text.replace("\x07", ""))

    def test_a_request_to_end_leaves_the_terminal_as_it_was(self):
        shell = self.open(term="xterm")
        before = termios.tcgetattr(shell.file)[3]
        shell.expect("anycq> ")
        shell.send("half a line")
        shell.expect("line")
        self.assertNotEqual(termios.tcgetattr(shell.file)[3], before)
        os.kill(shell.pid, signal.SIGTERM)
        self.assertEqual(shell.wait(), 130)
        self.assertEqual(termios.tcgetattr(shell.file)[3], before)


class Script(unittest.TestCase):
    def run_lines(self, text, *arguments):
        return subprocess.run([COMMAND, "shell", WORLD, *arguments], input=text, capture_output=True, text=True,
                              check=False)

    def test_the_exit_code_is_the_worst(self):
        good = 'capital_of(x, "France")\n'
        none = "Q(x) := capital_of(x, \"Oppenheimer\")\n"
        for text, code in ((good, 0), (good + none, 1), ("nonsense(\n" + good, 2), (".nonsense\n", 2), ("", 0),
                           ("# a comment\n\n" + good + ".quit\n" + none, 0)):
            done = self.run_lines(text, "--predictor", "observed")
            self.assertEqual(done.returncode, code, text)
            self.assertNotIn("anycq>", done.stdout)

    def test_a_zero_byte_never_cuts_a_question_short(self):
        good = 'capital_of(x, "France")'
        for text in (good + "\0 & nonsense\n", good + " &\n\0\n", ".limit\0 5\n", "\0\n"):
            done = self.run_lines(text + good + "\n", "--predictor", "observed")
            self.assertEqual(done.returncode, 2, text)
            self.assertEqual(done.stdout.count("x = Paris"), 1, text)
            self.assertIn("zero byte", done.stderr)

    def test_words_that_people_try_first_need_no_dot(self):
        done = self.run_lines("help\nquit\nnonsense(\n", "--predictor", "observed")
        self.assertEqual(done.returncode, 0)
        self.assertIn(".schema", done.stdout)
        self.assertEqual(self.run_lines("help(x, \"France\")\n", "--predictor", "observed").returncode, 2)

    def test_what_is_printed_is_what_ask_prints(self):
        query = 'Q(x) := borders(x, "France") & !currency(x, "Euro")'
        for settings, options in (("", []), (".explain on\n", ["--explain"]), (".json on\n.all on\n", ["--json", "--all"])):
            shell = self.run_lines(settings + query + "\n", "--predictor", "observed").stdout
            ask = subprocess.run([COMMAND, "ask", WORLD, query, "--predictor", "observed", *options],
                                 capture_output=True, text=True, check=True).stdout
            number = re.compile(r'"(ms|memory)":[0-9.]+|[0-9.]+ ms')
            self.assertEqual(number.sub("", shell), number.sub("", ask))

    def test_a_wrong_graph_or_predictor_is_refused_at_once(self):
        self.assertEqual(self.run_lines("", "--predictor", "telepathy").returncode, 2)
        self.assertEqual(subprocess.run([COMMAND, "shell", "/nowhere"], stdin=subprocess.DEVNULL, check=False,
                                        capture_output=True).returncode, 2)


if __name__ == "__main__":
    unittest.main()
