"""vramscope inside the program that it watches: PyTorch's own memory history, and beside it marks that say what the program was
doing. Nothing here computes on the GPU, allocates on it, or keeps a tensor alive.

    python -m vramscope train.py --batch 8       # as `vramscope plan -- python train.py --batch 8`
"""

__version__ = "0.2.0"  # as CMakeLists.txt says (tests/packaging)


def start(torch):
    """Called once, when torch has been imported, in every process that `vramscope plan --` or `record --` starts."""
    from vramscope import watch

    watch.start(torch)
