"""Triton autotunes a kernel over several configurations and caches the result."""
import torch
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": block}, num_warps=warps) for block in (256, 512, 1024) for warps in (2, 4)], key=["count"],
                 cache_results=True)
@triton.jit
def double(x, y, count, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + places, 2 * tl.load(x + places, mask=places < count), mask=places < count)


def main():
    x = torch.randn(1 << 16, device="cuda")
    y = torch.empty_like(x)
    double[lambda meta: (triton.cdiv(len(x), meta["BLOCK"]),)](x, y, len(x))
    (kernels,) = double.fn.device_caches.values()
    print("compiled:", len(kernels[0]))
    print("block:", double.best_config.kwargs["BLOCK"])


if __name__ == "__main__":
    main()
