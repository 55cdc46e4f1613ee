"""Runs six configurations, and calls each operator of a list once. Writes PyTorch's own counters
for each configuration and operator. `vramscope doctor --gpu` runs this script twice: as a plan, and
on the GPU.

    python doctor.py OUT.json"""

import gc
import json
import sys
import time

import torch

F = torch.nn.functional
DEVICE = "cuda"


def mlp():
    return torch.nn.Sequential(
        torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 512)
    ).to(DEVICE), (64, 512)


def transformer():
    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).to(DEVICE), (
        8,
        64,
        256,
    )


def convolutions():
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3, padding=1),
        torch.nn.BatchNorm2d(32),
        torch.nn.ReLU(),
        torch.nn.Conv2d(32, 32, 3, padding=1),
    ).to(DEVICE), (8, 3, 32, 32)


def train(make, optimizer, steps=2, autocast=False, accumulate=1, gradients=True):
    model, shape = make()
    stepper = optimizer(model.parameters()) if gradients else None
    times = []
    for _ in range(steps):
        begun = time.perf_counter()
        for _ in range(accumulate):
            with torch.set_grad_enabled(gradients), torch.autocast(
                DEVICE, torch.bfloat16, enabled=autocast
            ):
                loss = model(torch.zeros(shape, device=DEVICE)).float().sum()
            if gradients:
                loss.backward()
        if gradients:
            stepper.step()
            stepper.zero_grad()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begun)
    return sorted(times)[len(times) // 2]


CONFIGURATIONS = {
    "perceptron, SGD": lambda: train(mlp, lambda p: torch.optim.SGD(p, 0.1, momentum=0.9)),
    "transformer, AdamW": lambda: train(transformer, torch.optim.AdamW),
    "transformer, autocast": lambda: train(transformer, torch.optim.AdamW, autocast=True),
    "transformer, two micro-batches": lambda: train(transformer, torch.optim.AdamW, accumulate=2),
    "convolutions, Adam": lambda: train(convolutions, torch.optim.Adam),
    "inference": lambda: train(transformer, None, gradients=False),
}


def zeros(*shape):
    return torch.zeros(shape, device=DEVICE, requires_grad=True)


OPERATORS = {
    "linear": lambda: F.linear(zeros(64, 256), zeros(512, 256)),
    "matmul": lambda: zeros(8, 64, 32) @ zeros(8, 32, 64),
    "add": lambda: zeros(1 << 20) + zeros(1 << 20),
    "gelu": lambda: F.gelu(zeros(1 << 20)),
    "silu": lambda: F.silu(zeros(1 << 20)),
    "softmax": lambda: F.softmax(zeros(256, 1024), -1),
    "layer_norm": lambda: F.layer_norm(zeros(256, 1024), (1024,)),
    "dropout": lambda: F.dropout(zeros(1 << 20), 0.1),
    "embedding": lambda: F.embedding(
        torch.zeros(64, dtype=torch.long, device=DEVICE), zeros(1000, 256)
    ),
    "cross_entropy": lambda: F.cross_entropy(
        zeros(64, 1000), torch.zeros(64, dtype=torch.long, device=DEVICE)
    ),
    "attention": lambda: F.scaled_dot_product_attention(
        zeros(2, 4, 64, 32), zeros(2, 4, 64, 32), zeros(2, 4, 64, 32)
    ),
    "conv2d": lambda: F.conv2d(zeros(4, 8, 32, 32), zeros(16, 8, 3, 3)),
    "max_pool2d": lambda: F.max_pool2d(zeros(4, 8, 32, 32), 2),
    "cat": lambda: torch.cat([zeros(1000, 64), zeros(1000, 64)]),
    "sum": lambda: zeros(1 << 20).sum(),
}


def counted(call):
    """Returns the bytes and the number of allocations of the call, and its result. Releases cached
    memory before the call."""
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_stats()
    seconds = call()
    torch.cuda.synchronize()
    after = torch.cuda.memory_stats()
    peak = {
        "allocated": after["allocated_bytes.all.peak"] - before["allocated_bytes.all.current"],
        "reserved": after["reserved_bytes.all.peak"] - before["reserved_bytes.all.current"],
        "requests": after["allocation.all.allocated"] - before["allocation.all.allocated"],
    }
    return peak, seconds


def backward(call):
    call().sum().backward()


def main():
    # Makes libraries allocate their workspaces now, so that these do not count for the first
    # configuration.
    torch.zeros(64, 64, device=DEVICE) @ torch.zeros(64, 64, device=DEVICE)
    answer = {"torch": torch.__version__, "configurations": {}, "operators": {}}
    for name, call in CONFIGURATIONS.items():
        answer["configurations"][name] = counted(call)[0]
    for name, call in OPERATORS.items():
        answer["operators"][name] = counted(lambda call=call: backward(call))[0]
    answer["step_seconds"] = train(transformer, torch.optim.AdamW, steps=40)
    gc.collect()
    kept = [torch.zeros(3 << 20, device=DEVICE), torch.zeros(100, device=DEVICE)]
    torch.cuda.synchronize()
    answer["memory_allocated"] = torch.cuda.memory_allocated()
    answer["memory_reserved"] = torch.cuda.memory_reserved()
    answer["blocks"] = sorted(
        [block["address"] if "address" in block else 0, block["size"]]
        for segment in torch.cuda.memory._snapshot()["segments"]
        for block in segment["blocks"]
        if block["state"] == "active_allocated"
    )
    with open(sys.argv[1], "w") as file:
        json.dump(answer, file)
    return kept  # kept until the history has been written


if __name__ == "__main__":
    KEPT = main()
