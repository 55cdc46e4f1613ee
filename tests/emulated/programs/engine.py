"""Backward passes that call autograd's engine directly, as Megatron's pipeline schedules do."""
import torch
from torch.autograd.variable import Variable

model = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(4)]).cuda()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    output = model(torch.randn(512, 512, device="cuda"))
    Variable._execution_engine.run_backward(tensors=(output,), grad_tensors=(torch.ones_like(output),), keep_graph=False, create_graph=False, inputs=(),
                                            allow_unreachable=True, accumulate_grad=True)
    optimizer.step()
    optimizer.zero_grad()
