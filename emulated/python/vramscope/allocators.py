"""Allocators that keep no history. What is planned is PyTorch's caching allocator, whose history tells of every request: in a plan it takes their
place, which is said. On a GPU they are the program's, and nothing is told of their memory."""
from vramscope.known import place

CACHELESS = "PYTORCH_NO_CUDA_MEMORY_CACHING"


def said(process, name):
    """Of what `inject/sitecustomize.py` took out of the environment before PyTorch read it."""
    what = "without its cache PyTorch's allocator keeps no history: the cache is on" if name == CACHELESS else \
        "cudaMallocAsync keeps no history: PyTorch's own allocator takes its place"
    process.assume(what + ", which reserves in another way", name)


def install(process, torch):
    def change_current_allocator(allocator):
        process.assume("an allocator of the program's keeps no history: PyTorch's own stays, which reserves in another way", place())

    for module in (torch.cuda.memory, torch.cuda):
        if hasattr(module, "change_current_allocator"):
            module.change_current_allocator = change_current_allocator
