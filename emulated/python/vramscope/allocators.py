"""Replaces allocators that keep no history. A plan needs the history of PyTorch's caching
allocator. So in a plan, the caching allocator replaces the program's other allocators, and an
assumption reports this. On a GPU the program's allocators are kept, and their memory is not
recorded."""

from vramscope.known import place

CACHELESS = "PYTORCH_NO_CUDA_MEMORY_CACHING"


def said(process, name):
    """Reports the settings that `inject/sitecustomize.py` removed from the environment because they
    select other allocators."""
    what = (
        "the program disables the cache of PyTorch's allocator, which records no history without "
        "a cache. The plan therefore uses the cache"
        if name == CACHELESS
        else "cudaMallocAsync records no history. The plan therefore uses PyTorch's own allocator"
    )
    process.assume(what + ", and its reserved memory differs from the program's", name)


def install(process, torch):
    def change_current_allocator(allocator):
        process.assume(
            "the program's own allocator records no history. The plan therefore uses PyTorch's "
            "allocator, and its reserved memory differs from the program's",
            place(),
        )

    for module in (torch.cuda.memory, torch.cuda):
        if hasattr(module, "change_current_allocator"):
            module.change_current_allocator = change_current_allocator
