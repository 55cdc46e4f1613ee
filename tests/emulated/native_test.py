"""Tests the native part of Python's hooks (cupti/python_marks.cpp) with classes that look like
PyTorch's: native_test.py LIBRARY"""

import gc
import json
import os
import sys
import tempfile
import types
import unittest

os.environ["VRAMSCOPE_PROGRAM_TAIL"] = sys.argv.pop(1)
sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "emulated", "python")
)
from vramscope.native import Native  # noqa: E402


class Tensor:
    def __init__(self, address=0, is_cuda=True, grad=None, grad_fn=None):
        self.address, self.is_cuda, self.grad, self.grad_fn = address, is_cuda, grad, grad_fn

    def data_ptr(self):
        if self.address < 0:
            raise RuntimeError("it has no storage")
        return self.address

    def detach(self):
        return Tensor(self.address, self.is_cuda)

    def get_device(self):
        return 0


class Parameter(Tensor):
    pass


class Other(Tensor):
    """A tensor class that the program defines."""


class Module:
    def __init__(self, parameters=(), buffers=(), modules=()):
        self._parameters, self._buffers, self._modules = (
            dict(enumerate(part)) for part in (parameters, buffers, modules)
        )


class Scripted:
    """Like a TorchScript module, this class has no dictionaries of parameters, buffers and
    submodules."""

    _parameters = _buffers = _modules = ()

    def parameters(self):
        return iter([Parameter(71)])

    def buffers(self):
        return iter([Tensor(72)])


REQUESTS = [0]
TORCH = types.SimpleNamespace(
    Tensor=Tensor,
    nn=types.SimpleNamespace(Parameter=Parameter),
    _C=types.SimpleNamespace(_cuda_getDevice=lambda: 0),
    cuda=types.SimpleNamespace(device_count=lambda: 1),
)


class NativeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "marks.jsonl")
        self.native = Native()
        REQUESTS[0] = 5
        self.native.begin(
            self.path, None, TORCH, lambda device: REQUESTS[0], lambda tensor: 4000 + tensor.address
        )
        self.addCleanup(self.native.end)

    def lines(self):
        """Returns each mark as [kind, requests, arguments...]."""
        with open(self.path, "rb") as file:
            rows = [json.loads(line) for line in file.read().rstrip(b"\0").decode().splitlines()]
        return [row[:1] + row[2:3] + row[5:] for row in rows if row[0] not in "Tn"]

    def test_marks_have_their_place(self):
        self.native.mark("F", 3, 1, 0)
        REQUESTS[0] = 9
        self.native.mark("f")
        self.native.mark("G", -1)
        self.native.mark("k", (1 << 63) + 5)  # addresses can be that large
        self.native.mark_at("O", 0, 2, 77)
        self.native.text(b'["n",0,"a name"]')
        lines = self.lines()
        self.assertEqual(lines[:3], [["F", 5, 3, 1, 0], ["f", 9], ["G", 9, -1]])
        self.assertEqual(lines[3][2] % (1 << 64), (1 << 63) + 5)
        self.assertEqual(lines[4], ["O", 2])
        self.assertEqual(self.native.requests(), 9)
        with self.assertRaises(TypeError):
            self.native.mark("F", "no number")

    def test_modules_of_a_thread(self):
        self.native.enter(4)
        self.native.enter(-1)
        self.native.leave()
        self.native.leave()
        self.native.leave()  # one call too many
        self.assertEqual(self.lines(), [["M", 5, 4], ["m", 5]])

    def test_saved_tensors_are_reported_at_the_next_mark(self):
        self.native.enter(7)
        tensor = Tensor(4096)
        key = self.native.pack(tensor)
        gone = self.native.pack(Tensor(8192))
        on_the_host = self.native.pack(Tensor(9, is_cuda=False))
        del gone
        self.native.leave()
        self.native.mark("B")
        back = self.native.unpack(key)
        self.assertIsNot(back, tensor)
        self.assertEqual(back.address, 4096)
        self.native.unpack(key)  # within the same module: no new mark
        del key, on_the_host
        self.native.mark("b")
        number = self.lines()[1][3]
        self.assertEqual(
            self.lines(),
            [
                ["M", 5, 7],
                ["s", 5, 4096, number],
                ["m", 5],
                ["B", 5],
                ["G", 5, 7],
                ["r", 5, number],
                ["b", 5],
            ],
        )

    def test_a_saved_tensor_lives_as_long_as_its_key(self):
        tensor = Tensor(4096)
        references = sys.getrefcount(tensor)
        kept = []
        tensor.detach = lambda: kept.append(Tensor(1)) or kept[-1]
        key = self.native.pack(tensor)
        self.assertEqual(sys.getrefcount(tensor), references)
        held = sys.getrefcount(kept[0])
        del key
        self.assertEqual(sys.getrefcount(kept[0]), held - 1)

    def test_tensors_in_lists_and_dictionaries(self):
        value = [
            Tensor(10),
            {"a": (Parameter(20), "text", 3, None, 1.5), "b": Other(30)},
            Tensor(40, is_cuda=False),
            Tensor(-1),
        ]
        self.native.tag(4, value)
        self.assertEqual(self.lines(), [["t", 5, 4, 10], ["t", 5, 4, 20], ["t", 5, 4, 4030]])
        # an input that a module computed (it has a grad_fn) is not tagged
        self.native.tag(6, (Tensor(50, grad_fn=object()), Tensor(60)))
        self.assertEqual(self.lines()[3:], [["t", 5, 6, 60]])
        deep = Tensor(70)
        for _ in range(9):
            deep = [deep]
        self.native.tag(4, deep)
        self.assertEqual(len(self.lines()), 4)

    def test_tensors_of_a_module(self):
        shared = Module([Parameter(30, grad=Tensor(31)), None], [Tensor(40), None])
        module = Module(
            [Parameter(10, grad=Tensor(11)), Parameter(20)],
            [],
            [shared, None, shared, Module(modules=[Scripted()])],
        )
        self.native.tag_module(module, False)
        self.assertEqual(
            [line[2:] for line in self.lines()],
            [[1, 10], [1, 20], [1, 30], [2, 40], [1, 71], [2, 72]],
        )
        self.native.tag_module(module, True)
        self.native.tag_gradients([Parameter(50, grad=Tensor(51)), Parameter(60)])
        self.assertEqual([line[2:] for line in self.lines()[6:]], [[3, 11], [3, 31], [3, 51]])

    def test_no_object_that_the_collector_counts(self):
        tensors = [Parameter(i) for i in range(1, 50)]
        module = Module(tensors)
        gc.collect()
        gc.disable()
        try:
            self.native.mark("A", 1)
            before = gc.get_count()[0]
            for _ in range(100):
                self.native.mark("A", 1)
                self.native.enter(3)
                self.native.tag(4, tensors)
                self.native.tag_module(module, False)
                self.native.leave()
            self.assertLessEqual(gc.get_count()[0] - before, 2)
        finally:
            gc.enable()

    def test_nothing_is_appended_after_the_end(self):
        self.native.mark("F", 1, 1, 1)
        self.native.end()
        self.native.mark("f")
        self.native.tag(4, [Tensor(10)])
        self.assertEqual(self.native.unpack(self.native.pack(Tensor(4096))).address, 4096)
        with open(self.path, "rb") as file:
            self.assertEqual(file.read()[-2:], b"]\n")
        self.assertEqual(len(self.lines()), 1)


if __name__ == "__main__":
    unittest.main()
