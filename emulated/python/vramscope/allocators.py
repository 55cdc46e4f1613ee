"""Replaces allocators that keep no history. A plan needs the history of PyTorch's caching allocator, so that allocator
replaces them in a plan, and an assumption reports this. On a GPU the program's allocators are kept, and their memory is
not recorded."""
from vramscope.known import place

CACHELESS = "PYTORCH_NO_CUDA_MEMORY_CACHING"


def said(process, name):
    """Reports the settings that `inject/sitecustomize.py` removed from the environment because they
    select other allocators."""
    what = "PyTorch's allocator records a history only with its cache enabled; the plan therefore uses the cache" if name == CACHELESS else \
        "cudaMallocAsync records no history; the plan therefore uses PyTorch's own allocator"
    process.assume(what + ", which reserves memory differently", name)


def install(process, torch):
    def change_current_allocator(allocator):
        process.assume("the program's own allocator records no history; the plan therefore uses PyTorch's allocator, which reserves memory differently", place())

    for module in (torch.cuda.memory, torch.cuda):
        if hasattr(module, "change_current_allocator"):
            module.change_current_allocator = change_current_allocator
