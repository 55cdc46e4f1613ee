#!/usr/bin/env python3
"""Makes all recordings of a GPU: `doctor --gpu`, then training runs with PyTorch's own history
(gpu_record.py), runs and programs with vramscope, sizes and times. The output has the layout of the
folders in tests/golden/gpu. Run it on the computer with the GPU:

    python3 record.py OUT --vramscope build/release/bin/vramscope [--seconds 500] [--only REGEX]
    python3 record.py --list

Several processes run at the same time, but only one at a time uses the GPU; meanwhile, the others
import packages or write files. Needs torch with CUDA. Some entries also need transformers 4.57,
peft 0.17 or torchvision; if a package is missing, OUT/summary.json states that."""

import argparse
import fcntl
import gc
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time

import gpu_record

HERE = os.path.dirname(os.path.abspath(__file__))
LOCK = os.path.join(tempfile.gettempdir(), "vramscope-record.lock")
WORKERS = 6

PRESETS = {
    "run_gpt2": "gpt2 batch=4 seq=512",
    "run_qwen2-0_5b": "qwen2-0.5b batch=2 seq=512",
    "run_vit-l-16": "vit-l-16 batch=8",
    "run_bert-base-uncased": "bert-base-uncased precision=amp-bf16",
    "run_basics-medium": "basics-medium",
    "run_handmade-transformer-512": "handmade-transformer-512",
    "run_gpt2_techniques": "gpt2 batch=8 seq=512 precision=amp-bf16 checkpointing.mode=layer "
    "optimizer.impl=fused",
    "run_gpt2_offload": "gpt2 batch=4 seq=512 offload.activations=cpu",
}


def run_arguments(name):
    """Returns the --preset and --set arguments of a run in PRESETS."""
    preset, *settings = PRESETS[name].split()
    return ["--preset", preset] + [
        word for setting in settings + ["steps=3"] for word in ("--set", setting)
    ]


def commands(vramscope, out):
    """Returns all commands as {name: (command line, additional environment variables)}."""
    file = lambda name: os.path.join(out, name)
    program = lambda name: [sys.executable, os.path.join(HERE, "programs", name + ".py")]
    record = lambda name, *flags: [
        vramscope,
        "record",
        *flags,
        "-o",
        file(name + ".trace"),
        "--json",
        "--",
    ]
    all_commands = {
        "facts": ([sys.executable, os.path.join(HERE, "facts.py"), file("facts.json")], {}),
        "cudnn_sizes": (
            [sys.executable, os.path.join(HERE, "cudnn_sizes.py"), file("cudnn_sizes.json")],
            {},
        ),
    }
    for name in PRESETS:
        all_commands[name] = (
            [
                vramscope,
                "run",
                *run_arguments(name),
                "--backend",
                "cuda",
                "--python",
                sys.executable,
                "-o",
                file(name + ".trace"),
                "--json",
            ],
            {},
        )
    for name in ("gpt2", "resnet50", "ranks"):
        all_commands["record_" + name] = (record("record_" + name) + program(name), {})
    all_commands["record_gpt2_operators"] = (
        record("record_gpt2_operators", "--operators") + program("gpt2"),
        {},
    )
    all_commands["record_gpt2_expandable"] = (
        record("record_gpt2_expandable") + program("gpt2"),
        {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
    )
    return all_commands


class Card:
    """A lock that lets only one process at a time use the GPU."""

    def __init__(self):
        self.file = open(LOCK, "w")

    def __enter__(self):
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        fcntl.flock(self.file, fcntl.LOCK_UN)


def fill_quickly():
    """Fills large CPU tensors by repeating a million random numbers, so that a model is initialised
    in a tenth of the time. The values do not affect allocations on the GPU."""
    import torch

    def quick(original):
        def fill(self, *arguments, **named):
            block_size = 1 << 20
            if (
                self.device.type != "cpu"
                or self.numel() < 2 * block_size
                or not self.is_contiguous()
            ):
                return original(self, *arguments, **named)
            block = original(torch.empty(block_size, dtype=self.dtype), *arguments, **named)
            flat = self.detach().view(-1)
            whole = flat.numel() // block_size * block_size
            flat[:whole].view(-1, block_size).copy_(block)
            flat[whole:].copy_(block[: flat.numel() - whole])
            return self

        return fill

    torch.Tensor.normal_ = quick(torch.Tensor.normal_)
    torch.Tensor.uniform_ = quick(torch.Tensor.uniform_)


def one(name, out):
    """Runs one entry of gpu_record.py in a separate process."""
    import torch

    for package in ("transformers", "peft", "torchvision"):
        try:
            __import__(package)
        except ImportError as error:
            print(error)
    from facts import process_used

    fill_quickly()
    if name == "ops":
        result = gpu_record.record_ops(out, None)
    else:
        card, runs, last = Card(), [], {}
        card.__enter__()
        of_card, snapshot, made = (
            torch.cuda.mem_get_info,
            torch.cuda.memory._snapshot,
            gpu_record.Run.__init__,
        )

        # only counts this process, because others may not have freed their memory yet
        def of_process():
            free, total = of_card()
            mine = process_used()
            return (free, total) if mine is None else (total - mine, total)

        def remembered(self, *arguments, **named):
            runs.append(self)
            made(self, *arguments, **named)

        def final():
            torch.cuda.synchronize()
            last["process_used"] = process_used()
            taken = snapshot()
            for run in runs:
                run.model = run.opt = run.batch = run.loss = run.evaluate = None
            gc.collect()
            torch.cuda.empty_cache()
            card.__exit__()
            return taken

        torch.cuda.mem_get_info, torch.cuda.memory._snapshot, gpu_record.Run.__init__ = (
            of_process,
            final,
            remembered,
        )
        result = gpu_record.one(name, out)
        result.update(last)
    with open(os.path.join(out, name + ".result.json"), "w") as file:
        json.dump(result, file)


def doctor(vramscope, out):
    import torch

    libraries = os.path.join(
        os.path.dirname(os.path.dirname(torch.__file__)), "nvidia", "cu13", "lib"
    )
    told = dict(
        os.environ,
        LD_LIBRARY_PATH=os.pathsep.join(
            filter(None, [libraries, os.environ.get("LD_LIBRARY_PATH")])
        ),
    )
    done = subprocess.run(
        [vramscope, "doctor", "--gpu", "--python", sys.executable],
        env=told,
        capture_output=True,
        text=True,
    )
    print(done.stdout + done.stderr[-2000:], flush=True)
    with open(os.path.join(out, "doctor.txt"), "w") as file:
        file.write(done.stdout)


def do(name, command, out, left):
    if command is None:
        done = subprocess.run(
            [sys.executable, os.path.abspath(__file__), out, "--one", name],
            capture_output=True,
            text=True,
            timeout=left,
        )
        path = os.path.join(out, name + ".result.json")
        if done.returncode == 0 and os.path.exists(path):
            with open(path) as file:
                return json.load(file)
    else:
        with Card():
            done = subprocess.run(
                command[0],
                capture_output=True,
                text=True,
                timeout=max(left, 1),
                env=dict(os.environ, **command[1]),
            )
        with open(os.path.join(out, name + ".log"), "w") as file:
            file.write(done.stdout + "\n" + done.stderr)
        if done.returncode == 0:
            return {}
    return {"error": (done.stdout + done.stderr)[-600:]}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", nargs="?")
    parser.add_argument("--vramscope", default="vramscope")
    parser.add_argument("--seconds", type=float, default=500)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        return one(arguments.one, arguments.out)
    ours = commands(arguments.vramscope, arguments.out or "")
    names = ["doctor", "ops", *ours, *gpu_record.RUNS]
    names = [name for name in names if re.search(arguments.only, name)]
    if arguments.list or arguments.out is None:
        return print("\n".join(names))
    os.makedirs(arguments.out, exist_ok=True)
    deadline, summary, mutex, waiting = (
        time.time() + arguments.seconds,
        {},
        threading.Lock(),
        queue.Queue(),
    )
    if "doctor" in names:  # runs alone, because it measures times
        doctor(arguments.vramscope, arguments.out)
        names.remove("doctor")
    for name in names:
        waiting.put(name)

    def work():
        while True:
            try:
                name = waiting.get_nowait()
            except queue.Empty:
                return
            begun, left = time.time(), deadline - time.time()
            try:
                result = (
                    do(name, ours.get(name), arguments.out, left)
                    if left > 10
                    else {"error": "no time left"}
                )
            except subprocess.TimeoutExpired:
                result = {"error": "no time left"}
            print(
                name,
                round(time.time() - begun, 1),
                "s",
                result.get("error", "done")[-200:].replace("\n", " "),
                flush=True,
            )
            with mutex:
                summary[name] = result
                with open(os.path.join(arguments.out, "summary.json"), "w") as file:
                    json.dump(summary, file, indent=1, sort_keys=True)

    threads = [threading.Thread(target=work) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
