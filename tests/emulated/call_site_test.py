"""Tests that host memory is named after the line of the Python program that allocates it through
the emulated CUDA (cupti/call_site.h). Uses the functions of the Python that runs this test.

    call_site_test.py FOLDER     FOLDER contains the platform's libraries"""

import glob
import os
import subprocess
import sys
import tempfile
import unittest

FOLDER = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "."
GPU = (
    "name=Test Card;memory_bytes=8589934592;context_bytes=0;sm_count=20;"
    "max_threads_per_sm=1536;compute_capability=86;"
    "l2_bytes=4194304;bandwidth_bytes_per_s=5e11;bus_bits=256"
)

# Precedes the code of each test: loads the libraries and starts the recording. Calls through `free`
# release the GIL, as PyTorch's operators do; calls through `held` keep it.
PROGRAM = """
import concurrent.futures, ctypes, gc, os, threading
folder = os.environ["FOLDER"]
def library(name, kind=ctypes.CDLL):
    return kind(os.path.join(folder, name))
library("libvramscope-emulated.so"), library("libcupti.so.12")
free, held = library("libcudart.so.12"), library("libcudart.so.12", ctypes.PyDLL)
driver = library("libcuda.so.1")
recorder = library("libvramscope-activities.so")
recorder.vramscope_activities_start()
at = ctypes.c_void_p()
def pin(cuda):
    assert cuda.cudaHostAlloc(ctypes.byref(at), ctypes.c_size_t(1 << 20), 0) == 0
"""


@unittest.skipIf(sys.version_info < (3, 9), "Python 3.8 has no functions for frames")
class CallSites(unittest.TestCase):
    def run_program(self, text):
        """Runs PROGRAM and `text`, and returns the recorded bytes."""
        with tempfile.TemporaryDirectory() as output:
            path = os.path.join(output, "train.py")
            with open(path, "w") as file:
                file.write(PROGRAM + text + "\nrecorder.vramscope_activities_stop()\nos._exit(0)\n")
            environment = dict(
                os.environ,
                FOLDER=FOLDER,
                VRAMSCOPE_EMULATED_GPU=GPU,
                VRAMSCOPE_EMULATED_OUTPUT=output,
                VRAMSCOPE_PROGRAM_OUTPUT=output,
                LD_LIBRARY_PATH=FOLDER,
            )
            for name in (
                "VRAMSCOPE_EMULATED_DEVICES",
                "VRAMSCOPE_PROGRAM_PYTHONPATH",
                "CUDA_INJECTION64_PATH",
            ):
                environment.pop(name, None)
            result = subprocess.run(
                [sys.executable, path], env=environment, capture_output=True, text=True, timeout=120
            )
            self.assertEqual(result.returncode, 0, result.stderr)
            found = glob.glob(os.path.join(output, "process-*", "activities.bin"))
            self.assertEqual(len(found), 1, os.listdir(output))
            with open(found[0], "rb") as file:
                return file.read().replace(os.fsencode(output) + b"/", b"@")

    def line(self, text, what):
        """Returns the number of the line that contains `what` in the program."""
        return (PROGRAM + text).split("\n").index(what) + 1

    def test_pinned_with_and_without_the_lock(self):
        for cuda in ("free", "held"):
            text = "def main():\n    pin(%s)\nmain()" % cuda
            recorded = self.run_program(text)
            self.assertIn(b"@train.py:%d pin" % self.line(text, PROGRAM.split("\n")[-2]), recorded)

    def test_managed_and_the_drivers(self):
        text = (
            "def managed():\n    assert free.cudaMallocManaged(ctypes.byref(at), "
            "ctypes.c_size_t(1 << 20), 1) == 0\n"
            "def of_driver():\n    assert driver.cuMemHostAlloc(ctypes.byref(at), "
            "ctypes.c_size_t(1 << 20), 0) == 0\n"
            "managed()\nof_driver()"
        )
        recorded = self.run_program(text)
        self.assertRegex(recorded, rb"@train.py:\d+ managed")
        self.assertRegex(recorded, rb"@train.py:\d+ of_driver")

    def test_threads_wait_for_each_other(self):
        text = (
            "def worker():\n    for _ in range(200):\n        pin(free)\n"
            "threads = [threading.Thread(target=worker) for _ in range(4)]\n"
            "[t.start() for t in threads]\n[pin(held) for _ in range(200)]\n[t.join() for t in "
            "threads]"
        )
        self.assertRegex(self.run_program(text), rb"@train.py:\d+ pin")

    def test_a_thread_without_the_programs_code(self):
        text = (
            "call = free.cudaHostAlloc\n"
            "with concurrent.futures.ThreadPoolExecutor() as pool:\n"
            "    assert pool.submit(call, ctypes.byref(at), ctypes.c_size_t(1 << 20), "
            "0).result() == 0"
        )
        self.assertRegex(self.run_program(text), rb"concurrent/futures/thread.py:\d+ run")

    def test_an_exception_is_kept(self):
        text = (
            "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    pin(held)\n    assert "
            "'division' in str(error)\nassert gc.isenabled()"
        )
        self.assertRegex(self.run_program(text), rb"@train.py:\d+ pin")

    def test_gpu_memory_has_no_line(self):
        recorded = self.run_program(
            "assert free.cudaMalloc(ctypes.byref(at), ctypes.c_size_t(1 << 20)) == 0"
        )
        self.assertNotIn(b"@train.py:", recorded)


if __name__ == "__main__":
    unittest.main()
