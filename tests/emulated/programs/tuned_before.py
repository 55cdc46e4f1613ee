"""Asks torch.compile's cache for the fastest kernel of an earlier run, which it contains. Needs no triton."""
import os
import types

import torch
from torch._inductor.runtime.autotune_cache import AutotuneCache

torch.zeros(1, device="cuda")
kernel = types.SimpleNamespace(kwargs={"XBLOCK": 256}, num_warps=4, num_stages=1)
cache = AutotuneCache("hash")
cache._read = lambda: {"configs_hash": "hash", "XBLOCK": 256, "num_warps": 4, "num_stages": 1}
print("found", cache.read_best({}, [kernel]) is kernel, "in", os.environ["TORCHINDUCTOR_CACHE_DIR"])
