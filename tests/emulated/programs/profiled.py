"""Steps of a transformer on two streams. If an argument names a path, torch.profiler records the last two steps and writes its trace there."""
import contextlib
import sys

import torch
from torch.profiler import ProfilerActivity, profile

model = torch.nn.Sequential(*[torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True) for _ in range(2)]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
side = torch.cuda.Stream()


def step():
    x = torch.randn(8, 32, 64).pin_memory().cuda(non_blocking=True)
    model(x).sum().backward()
    with torch.cuda.stream(side):
        y = torch.zeros(1024, device="cuda")
        y += 1
        y.cpu()
    torch.cuda.current_stream().wait_stream(side)
    optimizer.step()
    optimizer.zero_grad()
    for parameter in model.parameters():
        parameter.detach().clone().copy_(parameter.detach().cpu())


step()
torch.cuda.synchronize()
profiled = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) if len(sys.argv) > 1 else contextlib.nullcontext()
with profiled:
    step()
    step()
    torch.cuda.synchronize()
if len(sys.argv) > 1:
    profiled.export_chrome_trace(sys.argv[1])
