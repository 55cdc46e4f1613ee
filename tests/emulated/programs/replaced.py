"""A program that trains and then replaces itself with a new run of itself (os.exec*) with a larger model, like programs that restart after a change."""
import os
import sys

import torch

run = int(sys.argv[1]) if len(sys.argv) > 1 else 0
width = 256 * (run + 1)
model = torch.nn.Linear(width, width, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(3):
    model(torch.randn(4, width, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print("run", run, flush=True)
if run < 2:
    try:
        os.execv("/does/not/exist", ["nothing"])  # a failed attempt changes nothing
    except OSError:
        pass
    model(torch.randn(4, width, device="cuda"))
    os.execlp("env", "env", sys.executable, __file__, str(run + 1))
