"""Non-reentrant checkpointing ends the recomputation of a layer with an exception, in an operator that is freeing memory."""
import torch
from torch.utils.checkpoint import checkpoint

linear, dropout = torch.nn.Linear(64, 64, device="cuda"), torch.nn.Dropout(0.1)
for _ in range(2):
    x = torch.randn(8, 64, device="cuda", requires_grad=True)
    checkpoint(lambda x: dropout(linear(x)), x, use_reentrant=False).sum().backward()
    linear.zero_grad()
print("both steps done")
