"""Python's hooks report host work to the platform (emulated/python/vramscope/host.py).

host_test.py FOLDER     FOLDER contains the platform's libraries"""

import ctypes
import json
import os
import sys
import tempfile
import threading
import types
import unittest

FOLDER = sys.argv.pop(1)
OUTPUT = tempfile.TemporaryDirectory()
os.environ["VRAMSCOPE_EMULATED_OUTPUT"] = OUTPUT.name  # before the platform exists
sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "emulated", "python")
)
from vramscope import host  # noqa: E402


def optimizer(trained, frozen=0, state=0):
    """Returns an optimizer with these numbers of trained and frozen parameters, and with `state`
    state tensors for each trained parameter."""
    parameters = [
        types.SimpleNamespace(requires_grad=number < trained) for number in range(trained + frozen)
    ]
    return types.SimpleNamespace(
        param_groups=[{"params": parameters}],
        state={number: dict.fromkeys(range(state)) for number in range(trained)},
    )


class Host(unittest.TestCase):
    def setUp(self):
        self.host = host.Platform(FOLDER)
        self.now = ctypes.CDLL(
            os.path.join(FOLDER, "libvramscope-emulated.so")
        ).vramscope_emulated_now_ns
        self.now.restype = ctypes.c_uint64

    def takes(self, function, *arguments):
        before = self.now()
        function(*arguments)
        return self.now() - before

    def step(self, *arguments, first=False):
        return self.takes(self.host.optimizer_step, optimizer(*arguments), first)

    def test_a_call_of_a_module_takes_time(self):
        self.assertGreater(self.takes(self.host.module_called), 0)

    def test_the_time_of_a_step_depends_on_the_trained_parameters(self):
        self.assertGreater(self.step(100), self.step(10))
        self.assertGreater(self.step(100, 0, 3), self.step(100, 0, 1))
        self.assertEqual(self.step(10, 90), self.step(10))
        self.assertGreater(self.step(10, first=True), self.step(10))

    def test_the_loops_host_times_only_the_first_step(self):
        loop = host.Loop(FOLDER)
        self.assertEqual(self.takes(loop.module_called), 0)
        self.assertEqual(self.takes(loop.gradients_cleared, optimizer(100)), 0)
        self.assertEqual(self.takes(loop.optimizer_step, optimizer(100), False), 0)
        self.assertGreater(self.takes(loop.optimizer_step, optimizer(100), True), 0)
        self.assertEqual(loop.runs(host.PYTHON), host.ENGINE)

    def test_the_time_of_zero_grad_depends_on_the_parameters(self):
        self.assertGreater(
            self.takes(self.host.gradients_cleared, optimizer(100)),
            self.takes(self.host.gradients_cleared, optimizer(10)),
        )

    def test_optimizer_state_that_is_not_a_dictionary_is_ignored(self):
        odd = optimizer(1)
        odd.state["global"] = 3
        self.assertEqual(self.takes(self.host.optimizer_step, odd, False), self.step(1))

    def test_threads_have_the_kind_of_work_that_they_reported(self):
        self.host.runs(host.PYTHON)
        self.assertEqual(self.host.runs(host.OPTIMIZER), host.PYTHON)
        answers = []
        thread = threading.Thread(target=lambda: answers.append(self.host.runs(host.PYTHON)))
        thread.start()
        thread.join()
        self.assertEqual(answers, [host.ENGINE])
        self.assertEqual(self.host.runs(host.PYTHON), host.OPTIMIZER)

    def test_it_is_stated_as_an_assumption(self):
        self.host.runs(host.PYTHON)
        ctypes.CDLL(os.path.join(FOLDER, "libvramscope-emulated.so")).vramscope_emulated_flush()
        with open(os.path.join(OUTPUT.name, "platform-%d.json" % os.getpid())) as file:
            texts = [
                assumption["what"]
                for assumption in json.load(file)["assumptions"]
                if assumption["where"] == "host times"
            ]
        self.assertEqual(len(texts), 1)
        self.assertIn("recorded on another computer", texts[0])

    def test_a_real_gpu_gets_no_reports(self):
        nobody = host.Nobody()
        nobody.module_called()
        nobody.optimizer_step(None, True)
        nobody.gradients_cleared(None)
        self.assertEqual(nobody.runs(host.PYTHON), host.ENGINE)


if __name__ == "__main__":
    passed = unittest.main(exit=False).result.wasSuccessful()
    OUTPUT.cleanup()
    # without the exit handlers, in which the platform would write to the folder again
    os._exit(0 if passed else 1)
