"""Runs a program under PyTorch's FakeTensorMode with MemTracker, on fake tensors of the CPU.

    LD_LIBRARY_PATH=build/release/emulated python3 under_fake_tensors.py train.py ARGS...

replan.py compares its time with that of a plan. Without a GPU, autograd cannot run on fake CUDA
tensors. So "cuda" is replaced by "cpu" wherever the program names a device. LD_LIBRARY_PATH is
needed if CUDA's libraries are not installed, because torch does not load without them.
"""

import os
import runpy
import sys

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker
from torch.overrides import TorchFunctionMode


def on_cpu(value):
    cuda = (
        isinstance(value, torch.device)
        and value.type == "cuda"
        or isinstance(value, str)
        and value.split(":")[0] == "cuda"
    )
    return "cpu" if cuda else value


class OnCpu(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(
            *map(on_cpu, args), **{name: on_cpu(value) for name, value in (kwargs or {}).items()}
        )


def main():
    move = torch.nn.Module.to
    torch.Tensor.cuda = torch.nn.Module.cuda = lambda self, *args, **kwargs: self
    torch.nn.Module.to = lambda self, *args, **kwargs: move(
        self, *map(on_cpu, args), **{name: on_cpu(value) for name, value in kwargs.items()}
    )
    sys.argv = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(sys.argv[0]))
    with OnCpu(), FakeTensorMode(), MemTracker():
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
