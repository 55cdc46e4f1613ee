"""Measures the CPU time of a training step on the emulated GPU, or under FakeTensorMode with
MemTracker. Neither needs a GPU.

    vramscope plan --steps 0 -- python step_time.py qwen2-0.5b         # on the platform
    python step_time.py qwen2-0.5b --fake                              # under FakeTensorMode

    python3 step_time.py --compare --vramscope V --python P [--fake-python Q]      # a table of both

Prints a JSON object with the time until the first tensor was on the GPU, the median CPU and
wall-clock seconds of a step, the peak, and the host memory of the process.
"""

import argparse
import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import time

if "--compare" not in sys.argv:
    import torch


DEVICE = "cuda"


def causal(config_class, model_class, batch, length, **settings):
    import transformers

    config = getattr(transformers, config_class)(**settings)
    model = getattr(transformers, model_class)(config)

    def loss(model, batch):
        return model(**batch).loss

    def data():
        ids = torch.randint(0, config.vocab_size, (batch, length), device=DEVICE)
        return dict(input_ids=ids, labels=ids)

    return model, data, loss


def picture(name, batch, **settings):
    import torchvision

    model = getattr(torchvision.models, name)(**settings)
    criterion = torch.nn.CrossEntropyLoss()

    def loss(model, batch):
        return criterion(model(batch[0]), batch[1])

    def data():
        return torch.randn(batch, 3, 224, 224, device=DEVICE), torch.randint(
            0, 1000, (batch,), device=DEVICE
        )

    return model, data, loss


MODELS = {
    "qwen2-0.5b": lambda: causal(
        "Qwen2Config",
        "Qwen2ForCausalLM",
        2,
        512,
        vocab_size=151936,
        hidden_size=896,
        intermediate_size=4864,
        num_hidden_layers=24,
        num_attention_heads=14,
        num_key_value_heads=2,
        tie_word_embeddings=True,
    ),
    "gpt2": lambda: causal("GPT2Config", "GPT2LMHeadModel", 4, 512),
    "vit-l-16": lambda: picture("vit_l_16", 8),
    "resnet-50": lambda: picture("resnet50", 32),
}


def run(arguments):
    global DEVICE
    if arguments.fake:
        # for a fake tensor on "cuda", autograd would call the driver, which does not exist
        DEVICE = "cpu"
    with contextlib.ExitStack() as stack:
        if arguments.fake:
            from torch._subclasses.fake_tensor import FakeTensorMode
            from torch.distributed._tools.mem_tracker import MemTracker

            stack.enter_context(FakeTensorMode())
        torch.zeros(1, device=DEVICE)
        first = time.time()
        model, data, loss = MODELS[arguments.model]()
        model.train()
        if not arguments.fake:
            model.to(DEVICE)
        if arguments.model == "resnet-50":
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        else:
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
        if arguments.fake:
            tracker = MemTracker()
            tracker.track_external(model, optimizer)
            stack.enter_context(tracker)
        processor, clock = [], []
        for _ in range(arguments.steps):
            if arguments.fake:
                tracker.reset_mod_stats()  # MemTracker only tracks one step at a time
            begun = time.process_time(), time.perf_counter()
            loss(model, data()).backward()
            if arguments.model == "gpt2":  # Hugging Face's Trainer clips gradients
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            processor.append(time.process_time() - begun[0])
            clock.append(time.perf_counter() - begun[1])
        if arguments.fake:
            peak = sum(
                part["Total"]
                for device, part in tracker.get_tracker_snapshot("peak").items()
                if device.type == DEVICE
            )
        else:
            peak = torch.cuda.max_memory_allocated()
    print(
        json.dumps(
            {
                "model": arguments.model,
                "first_tensor_at": first,
                "step_processor_s": statistics.median(processor[1:]),
                "step_s": statistics.median(clock[1:]),
                "peak": peak,
                "host_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            }
        )
    )


def measured(command, **variables):
    begun = time.time()
    done = subprocess.run(
        [*command], capture_output=True, text=True, timeout=1800, env=dict(os.environ, **variables)
    )
    lines = [
        line for line in (done.stdout + done.stderr).splitlines() if line.startswith('{"model"')
    ]
    if not lines:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()[-1000:]}")
    return {
        **json.loads(lines[-1]),
        "first_s": json.loads(lines[-1])["first_tensor_at"] - begun,
        "whole_s": time.time() - begun,
    }


def compare(arguments):
    here = os.path.abspath(__file__)
    plan = [
        arguments.vramscope,
        "plan",
        "--device",
        "a100-80gb",
        "--steps",
        "0",
        "--",
        arguments.python,
        here,
    ]
    print(
        "| program | step, all hooks | history alone | FakeTensorMode, MemTracker | ratio | "
        "first event | | host memory | |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for model in [arguments.model] if arguments.model else MODELS:
        hooked = measured([*plan, model, "--steps", str(arguments.steps)])
        history = measured(
            [*plan, model, "--steps", str(arguments.steps)], VRAMSCOPE_PROGRAM_HOOKS="none"
        )
        fake = measured(
            [arguments.fake_python or arguments.python, here, model, "--fake", "--steps", "3"]
        )
        milliseconds = [
            f"{run['step_processor_s'] * 1000:,.0f} ms" for run in (hooked, history, fake)
        ]
        print(
            f"| {model} | {' | '.join(milliseconds)} | "
            f"{fake['step_processor_s'] / hooked['step_processor_s']:.0f} "
            f"| {hooked['first_s']:.1f} s | {fake['first_s']:.1f} s | "
            f"{hooked['host_bytes'] >> 20} MiB | {fake['host_bytes'] >> 20} MiB |",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", choices=MODELS, nargs="?")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--fake", action="store_true")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--vramscope", default="vramscope")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument(
        "--fake-python",
        help="with --compare: a Python that can import torch without the emulated platform, if "
        "--python cannot",
    )
    arguments = parser.parse_args()
    if arguments.compare:
        compare(arguments)
    elif arguments.model:
        run(arguments)
    else:
        parser.error("a model or --compare")


if __name__ == "__main__":
    main()
