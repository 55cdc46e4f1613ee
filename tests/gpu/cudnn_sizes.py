"""Records the allocations of convolutions, attention and recurrent layers on this GPU, in a forward
and a backward pass, by shape and type. The rules for cuDNN's workspaces in `emulated/libraries` are
derived from a table that this script wrote.

    python3 cudnn_sizes.py OUT.json"""

import gc
import json
import sys

import torch

F = torch.nn.functional

#           batch, in, out, kernel, stride, padding, size, groups
CONVOLUTIONS = [
    (n, *rest)
    for n in (1, 8, 32)
    for rest in (
        (3, 64, 7, 2, 3, 224, 1),
        (64, 64, 1, 1, 0, 56, 1),
        (64, 64, 3, 1, 1, 56, 1),
        (64, 256, 1, 1, 0, 56, 1),
        (128, 128, 3, 2, 1, 56, 1),
        (256, 512, 1, 2, 0, 56, 1),
        (512, 512, 3, 1, 1, 7, 1),
        (3, 768, 16, 16, 0, 224, 1),
        (3, 1024, 14, 14, 0, 224, 1),
        (32, 32, 3, 1, 1, 56, 32),
        (128, 128, 3, 1, 1, 28, 32),
        (4, 320, 3, 1, 1, 64, 1),
        (320, 320, 3, 1, 1, 64, 1),
        (640, 640, 3, 1, 1, 32, 1),
        (1, 32, 3, 1, 0, 28, 1),
        (8, 16, 3, 1, 0, 32, 1),
        (3, 32, 3, 1, 1, 32, 1),
        (5, 7, 3, 1, 1, 33, 1),
        (48, 96, 5, 1, 2, 40, 1),
    )
]

#           batch, heads, key heads, queries, keys, head size, causal, dropout
ATTENTION = [
    (2, 14, 14, 1024, 1024, 64, True, 0.0),
    (2, 14, 2, 1024, 1024, 64, True, 0.0),
    (8, 12, 12, 512, 512, 64, True, 0.1),
    (8, 12, 12, 512, 512, 64, True, 0.0),
    (1, 32, 32, 2048, 2048, 128, True, 0.0),
    (1, 32, 8, 4096, 4096, 128, True, 0.0),
    (16, 16, 16, 197, 197, 64, False, 0.0),
    (4, 16, 16, 512, 512, 64, False, 0.0),
    (2, 8, 8, 1000, 1000, 80, False, 0.0),
    (2, 8, 8, 1000, 1000, 96, True, 0.0),
    (1, 8, 4, 2048, 2048, 256, True, 0.0),
    (1, 8, 8, 4096, 77, 40, False, 0.0),
    (1, 8, 8, 1, 1024, 64, False, 0.0),
    (3, 5, 5, 77, 77, 32, True, 0.0),
    (64, 8, 8, 64, 64, 32, False, 0.1),
]


def allocations():
    traces = [trace for trace in torch.cuda.memory._snapshot()["device_traces"] if trace]
    return [
        [entry["action"], entry["size"]]
        for entry in (traces[0] if traces else [])
        if entry["action"] in ("alloc", "free_completed")
    ]


def recorded(forward, results, name):
    def listen(on):
        torch.cuda.memory._record_memory_history(enabled=None)
        if on:
            torch.cuda.memory._record_memory_history(enabled="all", context=None, max_entries=10000)

    try:
        for warm in (True, False):  # the first call computes heuristics and creates handles
            gc.collect()
            listen(not warm)
            out = forward()
            out = out[0] if isinstance(out, tuple) else out
            torch.cuda.synchronize()
            case = {"forward": [] if warm else allocations()}
            gradient = torch.ones_like(out)
            listen(not warm)
            out.backward(gradient)
            torch.cuda.synchronize()
            case["backward"] = [] if warm else allocations()
            del out, gradient
        results[name] = case
    except Exception as error:  # an error is also a result: the GPU refuses this shape
        results[name] = {"error": f"{type(error).__name__}: {str(error)[:160]}"}
    finally:
        listen(False)


def tensor(*shape, dtype, channels_last=False):
    made = torch.randn(shape, device="cuda", dtype=dtype)
    if channels_last:
        made = made.contiguous(memory_format=torch.channels_last)
    return made.requires_grad_()


def main():
    results = {}
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        for tf32 in (True, False) if dtype == torch.float32 else (True,):
            torch.backends.cudnn.allow_tf32 = tf32
            for last in (False, True) if tf32 and dtype != torch.float16 else (False,):
                for case in CONVOLUTIONS:
                    n, c, k, kernel, stride, padding, size, groups = case
                    x = tensor(n, c, size, size, dtype=dtype, channels_last=last)
                    w = tensor(k, c // groups, kernel, kernel, dtype=dtype, channels_last=last)
                    recorded(
                        lambda: F.conv2d(x, w, None, stride, padding, 1, groups),
                        results,
                        f"conv2d {str(dtype)[6:]} tf32={tf32} last={last} {case}",
                    )
    torch.backends.cudnn.allow_tf32 = True
    for dtype in (torch.float32, torch.bfloat16):
        x, w = tensor(4, 80, 3000, dtype=dtype), tensor(512, 80, 3, dtype=dtype)
        recorded(
            lambda: F.conv1d(x, w, None, 1, 1),
            results,
            f"conv1d {str(dtype)[6:]} (4, 80, 512, 3, 1, 1, 3000)",
        )
        x, w = tensor(4, 64, 28, 28, dtype=dtype), tensor(64, 32, 2, 2, dtype=dtype)
        recorded(
            lambda: F.conv_transpose2d(x, w, None, 2),
            results,
            f"conv_transpose2d {str(dtype)[6:]} (4, 64, 32, 2, 2, 0, 28)",
        )
        x, w = tensor(2, 16, 8, 32, 32, dtype=dtype), tensor(32, 16, 3, 3, 3, dtype=dtype)
        recorded(
            lambda: F.conv3d(x, w, None, 1, 1),
            results,
            f"conv3d {str(dtype)[6:]} (2, 16, 32, 3, 1, 1, 8x32x32)",
        )
        for kind in ("LSTM", "GRU"):
            layer = getattr(torch.nn, kind)(256, 512, 2, batch_first=True).to("cuda", dtype)
            layer.flatten_parameters()
            x = tensor(16, 100, 256, dtype=dtype)
            recorded(
                lambda: layer(x), results, f"{kind} {str(dtype)[6:]} (16, 100, 256, 512, 2 layers)"
            )
        norm = torch.nn.BatchNorm2d(64).cuda()
        x = tensor(8, 64, 56, 56, dtype=dtype)
        recorded(lambda: norm(x), results, f"batch_norm {str(dtype)[6:]} (8, 64, 56)")
    from torch.nn.attention import SDPBackend, sdpa_kernel

    backends = {
        "cudnn": SDPBackend.CUDNN_ATTENTION,
        "flash": SDPBackend.FLASH_ATTENTION,
        "efficient": SDPBackend.EFFICIENT_ATTENTION,
    }
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        for backend, kind in backends.items():
            if dtype == torch.float32 and backend != "efficient":
                continue
            for case in ATTENTION:
                batch, heads, key_heads, queries, keys, size, causal, dropout = case
                q = tensor(batch, heads, queries, size, dtype=dtype)
                k, v = (tensor(batch, key_heads, keys, size, dtype=dtype) for _ in range(2))

                def call():
                    with sdpa_kernel([kind]):
                        return F.scaled_dot_product_attention(
                            q,
                            k,
                            v,
                            is_causal=causal,
                            dropout_p=dropout,
                            enable_gqa=heads != key_heads,
                        )

                recorded(call, results, f"attention {backend} {str(dtype)[6:]} {case}")
    answer = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "cudnn": torch.backends.cudnn.version(),
        "cases": results,
    }
    with open(sys.argv[1], "w") as file:
        json.dump(answer, file, indent=0)
    print(len(results), "cases,", sum("error" in case for case in results.values()), "refused")


if __name__ == "__main__":
    main()
