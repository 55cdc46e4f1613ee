import os

import torch


def _record_memory_history(enabled="all", context="all", stacks="all", max_entries=1, clear_history=False, skip_actions=None):
    if os.environ.get("FAKE_TORCH_ALLOCATOR"):
        raise RuntimeError(os.environ["FAKE_TORCH_ALLOCATOR"] + " does not yet support recordHistory")
    torch._skipped[:] = skip_actions or []
    if clear_history:
        torch._entries.clear()


def _snapshot():
    blocks = [{"address": address, "total_size": size, "allocated_size": size, "active_size": size, "stream": 0, "device": 0,
               "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": [],
               "blocks": [{"address": address, "size": size, "requested_size": size, "state": "active_allocated", "frames": []}]}
              for address, size in torch._blocks]
    return {"segments": blocks, "device_traces": [list(torch._entries)], "allocator_settings": {}}
