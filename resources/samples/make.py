#!/usr/bin/env python3
"""Plans the shipped samples (resources/samples/*.trace) with the real worker.

    python3 resources/samples/make.py [VRAMSCOPE]      default: build/release/bin/vramscope

A sample is the default run of a preset with some techniques switched on. Its settings are those
that clicks on the switches set (tests/profiler/setup/samples_test.cpp checks this, and
tests/ui/setup/samples_plan_test.cpp checks that a new plan is the same). Without LibTorch the
window shows these runs, and a switch works if it leads to another sample.
The samples are therefore neighbours: all subsets of CORE, and every other technique alone and
together with each of the first three of CORE.
"""

import itertools
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MOST_BYTES = 4_000_000  # of all samples together

# The techniques of the catalogue, each with the settings that it changes in a default run.
TECHNIQUES = {
    "amp-bf16": ["precision=amp-bf16"],
    "checkpoint-layer": ["checkpointing.mode=layer"],
    "lora": ["lora.kind=lora", "lora.rank=8"],
    "optimizer-8bit": [
        "optimizer.bits=8",
        "optimizer.library=bitsandbytes",
        "optimizer.paged=false",
    ],
    "bf16": ["precision=bf16"],
    "tf32": ["tf32=true"],
    "flash": ["attention=flash"],
    "efficient": ["attention=efficient"],
    "fused-kernels": ["kernels=fused"],
    "chunked-loss": ["loss=chunked"],
    "sgd": ["optimizer.name=sgd", "optimizer.momentum=0"],
    "fused": ["optimizer.impl=fused"],
    "accumulate": ["micro_batches=2"],
    "last-layer": ["trainable=last-layer"],
    "expandable-segments": ["alloc_conf=expandable_segments:True"],
}
CORE = ("amp-bf16", "checkpoint-layer", "lora", "optimizer-8bit")
OTHERS = [t for t in TECHNIQUES if t not in CORE]
# Combinations that the catalogue refuses or that set the same key twice.
IMPOSSIBLE = [
    {"amp-bf16", "bf16"},
    {"lora", "last-layer"},
    {"optimizer-8bit", "sgd"},
    {"optimizer-8bit", "fused"},
]
# Techniques that need one of several others: flash attention needs 16-bit values.
NEEDS = {"flash": {"amp-bf16", "bf16"}}


def possible(techniques):
    chosen = set(techniques)
    return not any(pair <= chosen for pair in IMPOSSIBLE) and all(
        chosen & needed for technique, needed in NEEDS.items() if technique in chosen
    )


def wanted():
    """Returns all samples as (preset, techniques), without duplicates."""
    runs = []
    for size in range(len(CORE) + 1):
        for some in itertools.combinations(CORE, size):
            runs.append(("qwen2-0.5b", some))
    for technique in OTHERS:
        for beside in ((), *((core,) for core in CORE[:3])):
            runs.append(("qwen2-0.5b", (*beside, technique)))
    runs.append(("qwen2-0.5b", ("bf16", "flash")))
    for size in range(3):
        for some in itertools.combinations(CORE[:2], size):
            runs.append(("gpt2", some))
    return [run for run in runs if possible(run[1])]


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else HERE.parents[1] / "build/release/bin/vramscope"
    made = set()
    for preset, techniques in wanted():
        name = "+".join((preset, *techniques)) + ".trace"
        made.add(name)
        command = [program, "plan", "--preset", preset, "-o", HERE / (name + ".new")]
        for technique in techniques:
            for setting in TECHNIQUES[technique]:
                command += ["--set", setting]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"{name}: {done.stderr.strip()}")
        os.replace(HERE / (name + ".new"), HERE / name)
    for old in HERE.glob("*.trace"):
        if old.name not in made:
            old.unlink()
    size = sum(path.stat().st_size for path in HERE.glob("*.trace"))
    print(f"{len(made)} samples, {size} bytes")
    if size > MOST_BYTES:
        sys.exit(f"more than {MOST_BYTES} bytes: leave some out")


if __name__ == "__main__":
    main()
