"""Records readings of PyTorch's memory counters by the program. Each reading is a mark, so that a
report shows the program's own figure next to its peak."""

import functools

COUNTERS = ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved")
MOST = 4096  # readings of one counter that are recorded: a program may read it at every operator


def install(process):
    torch = process.torch
    index = torch.cuda.memory._get_device_index
    _watch(process, index, torch.cuda.memory, torch.cuda, "torch.cuda.")
    accelerator = getattr(torch, "accelerator", None)
    memory = getattr(accelerator, "memory", None)
    if memory is not None:
        _watch(process, index, memory, accelerator, "torch.accelerator.")


def _watch(process, index, module, package, prefix):
    for name in COUNTERS:
        real = getattr(module, name, None)
        if real is None:
            continue
        watched = _watched(process, index, real, prefix + name)
        setattr(module, name, watched)
        if getattr(package, name, None) is real:
            setattr(package, name, watched)


def _watched(process, index, real, name):
    told = 0

    @functools.wraps(real)
    def read(*args, **kwargs):
        nonlocal told
        value = real(*args, **kwargs)
        recorder = process.recorder
        if recorder.recording:
            told += 1
            if told <= MOST:
                device = args[0] if args else kwargs.get("device", kwargs.get("device_index"))
                recorder.mark("R", recorder.name(name), int(value), index(device, optional=True))
            elif told == MOST + 1:
                process.assume("%s(): only the first %d readings are recorded" % (name, MOST))
        return value

    return read
