"""Chooses GPUs with CUDA_VISIBLE_DEVICES before it imports torch, as on a computer with eight."""

import os
import sys

os.environ["CUDA_VISIBLE_DEVICES"] = sys.argv[1]
import torch  # noqa: E402

assert torch.cuda.device_count() == int(sys.argv[2]), torch.cuda.device_count()
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.zeros(1 << 20, device=device)
os.environ["CUDA_VISIBLE_DEVICES"] = ""  # too late
assert torch.cuda.device_count() == int(sys.argv[2]), torch.cuda.device_count()
assert x.is_cuda == torch.cuda.is_available() == (sys.argv[2] != "0")
