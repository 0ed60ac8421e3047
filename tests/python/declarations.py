"""What ctypes was told of anycq.h is what the C compiler makes of it: sizes and places of all fields,
values of all constants, the parameters of all functions."""
import ctypes
import os
import re
import subprocess
import tempfile
import unittest

from anycq import _abi

SOURCE = os.environ["ACQ_SOURCE"]
HEADER = os.path.join(SOURCE, "include", "anycq.h")


def compiled():
    """What a C program says of the header, line by line."""
    tool = os.path.join(SOURCE, "bindings", "python", "declare")
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    with tempfile.TemporaryDirectory() as folder:
        program = subprocess.run([os.sys.executable, tool, "--check", HEADER], env=environment,
                                 check=True, capture_output=True).stdout
        path = os.path.join(folder, "sizes.c")
        with open(path, "wb") as file:
            file.write(program)
        subprocess.run([os.environ["ACQ_CC"], "-std=c11", "-Wall", "-Werror", "-I", os.path.dirname(HEADER), path,
                        "-o", path[:-2]], env=environment, check=True)
        return subprocess.run([path[:-2]], check=True, capture_output=True, text=True).stdout.splitlines()


class Declarations(unittest.TestCase):
    def test_sizes_places_and_values_are_those_of_the_compiler(self):
        lines = compiled()
        self.assertGreater(len(lines), 400)
        for line in lines:
            name, *numbers = line.split()
            struct, _, field = name.partition(".")
            found = getattr(_abi, struct)
            if field:
                place = getattr(found, field)
                self.assertEqual(numbers, [str(place.offset), str(place.size)], name)
            elif isinstance(found, int):
                self.assertEqual(numbers, [str(found)], name)
            else:
                self.assertEqual(numbers, [str(ctypes.sizeof(found))], name)

    def test_every_function_has_its_parameters(self):
        with open(HEADER, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        found = re.findall(r"^ACQ_API [^;(]*?(\w+)\(([^;]*)\);", text, flags=re.M)
        self.assertEqual(sorted(name for name, _ in found), sorted(_abi.FUNCTIONS))
        for name, parameters in found:
            n = 0 if parameters == "void" else parameters.count(",") + 1
            self.assertEqual(len(_abi.FUNCTIONS[name][1]), n, name)

    def test_texts_flow_in_the_right_direction(self):
        result, parameters = _abi.FUNCTIONS["acq_check"]
        self.assertIs(result, ctypes.c_int)
        self.assertIs(parameters[2], ctypes.POINTER(ctypes.c_char_p))
        self.assertIs(_abi.FUNCTIONS["acq_graph_get_fingerprint"][0], ctypes.c_uint64)
        self.assertIs(_abi.FUNCTIONS["acq_result_get_score"][0], ctypes.c_double)


if __name__ == "__main__":
    unittest.main()
