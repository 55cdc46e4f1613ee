"""Measures a process's GPU memory outside PyTorch's allocator after the first use of each library,
and the durations of copies, matrix products and passes over memory.

    python3 facts.py OUT.json"""

import json
import os
import sys

import torch

F = torch.nn.functional
GROWTH, TIMES = [], {}


def process_used():
    """Returns how many bytes NVML reports for this process on the GPU, or None if it reports
    nothing."""
    try:
        import pynvml

        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        for process in pynvml.nvmlDeviceGetComputeRunningProcesses(handle):
            if process.pid == os.getpid() and process.usedGpuMemory is not None:
                return process.usedGpuMemory
    except Exception:
        pass
    return None


def used(what):
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    reserved = torch.cuda.memory_reserved()
    GROWTH.append([what, total - free, process_used(), reserved, total - free - reserved])


def first_uses():
    torch.cuda.init()
    used("init")
    x = torch.zeros(1024, 1024, device="cuda")
    used("fill")
    x + x
    used("add")
    x @ x
    used("sgemm")
    half = x.bfloat16()
    half @ half
    used("bf16 gemm")
    F.linear(half, half, half[0])
    used("cublasLt bias")
    F.layer_norm(x, (1024,))
    F.softmax(x, -1)
    x.sum()
    F.dropout(x, 0.1)
    used("norm, softmax, sum, dropout")
    table = torch.zeros(1000, 64, device="cuda", requires_grad=True)
    F.embedding(torch.zeros(64, dtype=torch.long, device="cuda"), table).sum().backward()
    used("embedding backward")
    image = torch.zeros(8, 16, 32, 32, device="cuda", requires_grad=True)
    weight = torch.zeros(32, 16, 3, 3, device="cuda", requires_grad=True)
    out = F.conv2d(image, weight)
    used("conv2d")
    out.sum().backward()
    used("conv2d backward")
    q = torch.zeros(2, 8, 512, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    F.scaled_dot_product_attention(q, q, q, is_causal=True).sum().backward()
    used("attention, bf16")
    q = torch.zeros(2, 8, 512, 64, device="cuda", requires_grad=True)
    F.scaled_dot_product_attention(q, q, q).sum().backward()
    used("attention, fp32")
    parameters = [torch.nn.Parameter(torch.zeros(1 << 20, device="cuda"))]
    parameters[0].grad = torch.zeros_like(parameters[0])
    torch.optim.AdamW(parameters).step()
    torch.optim.AdamW(parameters, fused=True).step()
    used("adamw")
    torch.linalg.cholesky(torch.eye(64, device="cuda"))
    used("cusolver")
    torch.fft.fft(x)
    used("cufft")


def time_of(name, call, count=20):
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(count):
        call()
    end.record()
    torch.cuda.synchronize()
    TIMES[name] = begin.elapsed_time(end) / count


def times():
    for n in (1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 27):
        source = torch.randn(n, device="cuda")
        to = torch.empty_like(source)
        time_of(f"copy_f32_{n}", lambda: to.copy_(source))
        time_of(f"add_f32_{n}", lambda: torch.add(source, source, out=to))
        time_of(f"gelu_f32_{n}", lambda: F.gelu(source))
        time_of(f"sum_f32_{n}", lambda: source.sum())
        time_of(f"zero_f32_{n}", lambda: to.zero_())
    for n in (256, 1024, 2048, 4096, 8192):
        count = 5 if n > 4000 else 20
        for dtype in (torch.bfloat16, torch.float16, torch.float32):
            a = torch.randn(n, n, device="cuda", dtype=dtype)
            time_of(f"mm_{str(dtype)[6:]}_{n}", lambda: a @ a, count)
        torch.backends.cuda.matmul.allow_tf32 = True
        time_of(f"mm_tf32_{n}", lambda: a @ a, count)
        torch.backends.cuda.matmul.allow_tf32 = False
    for n in (1 << 12, 1 << 20, 1 << 26):
        pageable, pinned = (
            torch.zeros(n, dtype=torch.uint8),
            torch.zeros(n, dtype=torch.uint8).pin_memory(),
        )
        there = torch.zeros(n, dtype=torch.uint8, device="cuda")
        time_of(f"h2d_pageable_{n}", lambda: there.copy_(pageable))
        time_of(f"h2d_pinned_{n}", lambda: there.copy_(pinned, non_blocking=True))
        time_of(f"d2h_pinned_{n}", lambda: pinned.copy_(there, non_blocking=True))
        time_of(f"d2h_pageable_{n}", lambda: pageable.copy_(there))
    for tokens in (512, 1024, 4096):
        q = torch.randn(4, 16, tokens, 64, device="cuda", dtype=torch.bfloat16)
        time_of(
            f"attention_bf16_{tokens}",
            lambda: F.scaled_dot_product_attention(q, q, q, is_causal=True),
        )


def main():
    first_uses()
    times()
    properties = torch.cuda.get_device_properties(0)
    told = {
        name: str(getattr(properties, name))
        for name in dir(properties)
        if not name.startswith("_") and name not in ("uuid", "pci_bus_id")
    }
    answer = {
        "growth": GROWTH,
        "times": TIMES,
        "properties": told,
        "cudnn": torch.backends.cudnn.version(),
        "nccl": list(torch.cuda.nccl.version()),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
    }
    with open(sys.argv[1], "w") as file:
        json.dump(answer, file, indent=1)


if __name__ == "__main__":
    main()
