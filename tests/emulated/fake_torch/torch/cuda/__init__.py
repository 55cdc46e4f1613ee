import types

import torch

from torch.cuda import memory  # noqa: F401

_initialized = False


def _lazy_call(call):
    if _initialized:
        call()
    else:
        torch._waiting.append(call)


def init():
    global _initialized
    if not _initialized:
        _initialized = True
        for call in torch._waiting:
            call()


def get_device_properties(device):
    return types.SimpleNamespace(name="NVIDIA A10", total_memory=23696375808, multi_processor_count=72, major=8, minor=6)


def device_count():
    return 1


def _parse_visible_devices():
    return [0]


def is_current_stream_capturing():
    return False


def is_initialized():
    return _initialized


def _is_in_bad_fork():
    return False
