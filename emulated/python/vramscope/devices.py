"""Makes CUDA_VISIBLE_DEVICES choose among the plan's GPUs. The variable names GPUs of the computer
on which the program trains, for example the last of eight. The plan has as many GPUs as --devices
states, and they are all alike. So only the number of listed GPUs counts."""

import functools
import os
import sys

VARIABLE = "CUDA_VISIBLE_DEVICES"


def install(torch):
    """Replaces what torch.cuda.is_available() and device_count() call."""
    count = torch._C._cuda_getDeviceCount
    parse = torch.cuda._parse_visible_devices
    last = []  # as in CUDA, a change of the variable after the initialization has no effect

    def among(all_gpus):
        def visible():
            if not last or not torch.cuda.is_initialized():
                gpus = all_gpus()
                if gpus < 0:
                    return gpus  # NVML does not answer, and PyTorch asks the runtime
                listed = parse() if VARIABLE in os.environ else range(gpus)
                last[:] = [min(len(listed), gpus)]
                if gpus and not listed:
                    _say()
            return last[0]

        return visible

    torch._C._cuda_getDeviceCount = functools.wraps(count)(among(count))
    if hasattr(torch.cuda, "_device_count_nvml"):
        # The runtime's count would keep forked children from using CUDA. That of NVML does not.
        in_nvml = getattr(torch.cuda, "_raw_device_count_nvml", count)
        nvml = torch.cuda._device_count_nvml
        torch.cuda._device_count_nvml = functools.wraps(nvml)(among(in_nvml))


@functools.lru_cache(maxsize=None)
def _say():
    print(
        "vramscope: the program sees no GPU, because %s is %r" % (VARIABLE, os.environ[VARIABLE]),
        file=sys.stderr,
        flush=True,
    )
