"""Devices as a planned PyTorch program sees them: from the table, as MIG slices, from device files
and from options; and the error if PyTorch has no kernels for a GPU.

    VRAMSCOPE_TEST_PYTHONPATH=... python3 device_properties_test.py VRAMSCOPE

Skipped if neither VRAMSCOPE_TEST_PYTHONPATH nor this interpreter has a CUDA build of torch."""

import json
import re
import subprocess

import torch_program
from torch_program import ENVIRONMENT, PYTHON, VRAMSCOPE, Program

# Maximum shared memory per multiprocessor and per block in KiB, by compute capability, from the
# CUDA C++ programming guide.
SHARED = {
    "7.5": (64, 64),
    "8.0": (164, 163),
    "8.6": (100, 99),
    "8.7": (164, 163),
    "8.9": (100, 99),
    "9.0": (228, 227),
    "10.0": (228, 227),
    "10.3": (228, 227),
    "11.0": (228, 227),
    "12.0": (100, 99),
    "12.1": (100, 99),
    "6.0": (64, 48),
    "7.0": (96, 96),
}

ASK = """
import json, sys, torch
p = torch.cuda.get_device_properties(0)
free, total = torch.cuda.mem_get_info()
print(json.dumps({
  "name": p.name, "capability": "%d.%d" % torch.cuda.get_device_capability(),
  "memory": p.total_memory, "sms": p.multi_processor_count,
  "threads": p.max_threads_per_multi_processor, "l2": p.L2_cache_size,
  "integrated": p.is_integrated, "total": total, "free": free,
  "shared": p.shared_memory_per_multiprocessor, "shared_of_block": p.shared_memory_per_block_optin,
  "registers": p.regs_per_multiprocessor, "bus": p.memory_bus_width, "clock": p.clock_rate,
  "kernels": torch.cuda.get_arch_list()}))
sys.stdout.flush()
"""
MULTIPLY = (
    ASK
    + """
a = torch.ones(64, 64, device="cuda")
b = a @ a
torch.cuda.synchronize()
"""
)


class Device(Program):
    def program(self, code):
        path = self.path("ask.py")
        with open(path, "w") as file:
            file.write(code)
        return path

    def run_on(self, code, *options, status=0):
        command = [
            VRAMSCOPE,
            "plan",
            "--steps",
            "0",
            "--writable",
            self.folder,
            *options,
            "--",
            PYTHON,
            self.program(code),
        ]
        result = subprocess.run(
            command, env=ENVIRONMENT, capture_output=True, text=True, timeout=300
        )
        self.assertEqual(result.returncode, status, result.stderr[-4000:])
        self.stderr, self.stdout = result.stderr, result.stdout
        lines = [line for line in result.stdout.splitlines() if line.startswith("{")]
        return json.loads(lines[0]) if lines else None

    def said(self, device):
        result = subprocess.run(
            [VRAMSCOPE, "devices", device, "--json"], capture_output=True, text=True, timeout=60
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)["devices"][0]

    def compare(self, device, seen):
        said = self.said(device)
        self.assertEqual(seen["capability"], said["compute_capability"])
        self.assertEqual(seen["memory"], said["memory"])
        self.assertEqual(seen["total"], said["memory"])
        self.assertLess(seen["free"], said["memory"])
        self.assertGreaterEqual(seen["free"], said["memory"] - said["context"])
        self.assertEqual(seen["sms"], said["sm_count"])
        self.assertEqual(seen["threads"], said["max_threads_per_sm"])
        self.assertEqual(seen["l2"], said["l2"])
        self.assertEqual(seen["bus"], said["memory_bus_bits"])
        self.assertEqual(seen["clock"], said["boost_mhz"] * 1000)
        self.assertEqual(bool(seen["integrated"]), said["integrated"])
        self.assertEqual(seen["registers"], 65536)
        self.assertEqual(
            (seen["shared"] // 1024, seen["shared_of_block"] // 1024),
            SHARED[said["compute_capability"]],
        )
        return said

    def test_a_program_sees_the_figures(self):
        for device, name in [
            ("gtx-1650", "NVIDIA GeForce GTX 1650"),
            ("rtx-3070-laptop", "NVIDIA GeForce RTX 3070 Laptop GPU"),
            ("t4", "Tesla T4"),
            ("jetson-orin-nano-8gb", "Orin"),
            ("b300", "NVIDIA B300 SXM6 AC"),
            ("gb10", "NVIDIA GB10"),
            ("a100-sxm-80gb:1g.10gb", "NVIDIA A100-SXM4-80GB MIG 1g.10gb"),
        ]:
            with self.subTest(device):
                seen = self.run_on(ASK, "--device", device)
                self.assertEqual(seen["name"], name)
                self.compare(device, seen)

    def test_a_file_and_other_memory(self):
        path = self.path("my_gpu.json")
        with open(path, "w") as file:
            json.dump(
                {
                    "name": "Lab GPU",
                    "memory": "24GiB",
                    "compute_capability": 8.6,
                    "multiprocessors": 28,
                    "l2": "3MiB",
                    "clock": 1700,
                    "memory_bus": 192,
                },
                file,
            )
        seen = self.run_on(ASK, "--device", path)
        self.assertEqual(
            (seen["name"], seen["memory"], seen["sms"], seen["l2"], seen["clock"], seen["bus"]),
            ("Lab GPU", 24 << 30, 28, 3 << 20, 1700000, 192),
        )
        self.compare(path, seen)
        seen = self.run_on(ASK, "--device", path, "--gpu-memory", "8GiB")
        self.assertEqual((seen["memory"], seen["total"], seen["sms"]), (8 << 30, 8 << 30, 28))
        seen = self.run_on(ASK, "--device", "rtx-4090", "--gpu-memory", "8GiB")
        self.assertEqual((seen["name"], seen["memory"]), ("NVIDIA GeForce RTX 4090", 8 << 30))

    def test_wrong_figures_are_refused_before_the_program_starts(self):
        self.run_on(
            ASK, "--device", "memory=24GiB,compute_capability=8.5,multiprocessors=28", status=3
        )
        self.assertIn('compute_capability: "8.5" is not allowed', self.stderr)
        self.run_on(ASK, "--device", self.path("none.json"), status=3)
        self.assertIn("none.json", self.stderr)
        self.run_on(ASK, "--gpu-memory", "1MiB", status=3)
        self.assertIn("memory", self.stderr)

    def test_the_list_of_kernels_is_that_of_this_torch(self):
        """RunsOnLibTorch() lists the architectures of LibTorch 2.11 for CUDA 13.0. If that version
        of torch is installed, it must have the same architectures."""
        seen = self.run_on(ASK, "--device", "rtx-4090")
        has = {name for name in seen["kernels"] if name.startswith("sm_")}
        version = subprocess.run(
            [
                PYTHON,
                "-c",
                "import os, runpy, importlib.util as u; v = "
                "runpy.run_path(os.path.join(os.path.dirname("
                "u.find_spec('torch').origin), 'version.py')); print(v['__version__'], v['cuda'])",
            ],
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
        ).stdout
        if not re.match(r"2\.11\S* 13\.0", version):
            self.skipTest("another torch: " + version)
        self.assertEqual(has, {"sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"})

    def test_no_kernels_for_it(self):
        """If PyTorch has no kernels for an old GPU, the program must fail as it does on the real
        GPU."""
        seen = self.run_on(ASK, "--device", "p100-pcie-16gb")
        if any(name in seen["kernels"] for name in ("sm_60", "sm_61")):
            self.skipTest("this torch has kernels for it")
        self.run_on(MULTIPLY, "--device", "p100-pcie-16gb", status=3)
        self.assertIn("no kernel image", self.stderr)
        for device in ("gtx-1650", "gb10", "b300", "jetson-orin-nx-16gb"):
            with self.subTest(device):
                self.run_on(MULTIPLY, "--device", device)

    def test_cublas_workspaces(self):
        """PyTorch derives the size of cuBLAS's workspace from the compute capability. The plan must
        contain an allocation of that size, which the device table states."""
        for device in (
            "gtx-1650",
            "rtx-3070-laptop",
            "h20",
            "gb200",
            "b300",
            "rtx-pro-4000",
            "gb10",
        ):
            with self.subTest(device):
                trace = self.path("out.trace")
                self.run_on(MULTIPLY, "--device", device, "-o", trace)
                rows = subprocess.run(
                    [VRAMSCOPE, "requests", trace], capture_output=True, text=True, timeout=60
                ).stdout
                self.assertIn(str(self.said(device)["blas_workspace"]), rows)


if __name__ == "__main__":
    torch_program.main()
