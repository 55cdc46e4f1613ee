"""Saves whole states of model and optimizer under FullyShardedDataParallel after a step, and loads them
again. FSDP's ranks exchange which states they have, and gather the parts of each parameter."""
import io

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullOptimStateDictConfig, FullStateDictConfig, StateDictType
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.Linear(1024, 256))
for name in "01":
    setattr(model, name, FSDP(getattr(model, name), device_id=torch.cuda.current_device(), use_orig_params=True))
model = FSDP(model, device_id=torch.cuda.current_device(), use_orig_params=True)
optimizer = torch.optim.AdamW(model.parameters())


def step():
    model(torch.randn(8, 256, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()


step()
whole = FullStateDictConfig(offload_to_cpu=True, rank0_only=True), FullOptimStateDictConfig(offload_to_cpu=True, rank0_only=True)
with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT, *whole):
    of_model, of_optimizer = model.state_dict(), FSDP.optim_state_dict(model, optimizer)
if dist.get_rank() == 0:
    assert of_model["0.weight"].shape == (1024, 256) and of_model["0.weight"].device.type == "cpu", of_model
    moments = {name: state["exp_avg"].shape for name, state in of_optimizer["state"].items()}
    assert moments == {name: tensor.shape for name, tensor in of_model.items()}, moments
    torch.save({"model": of_model, "optimizer": of_optimizer}, io.BytesIO())
with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT, FullStateDictConfig(rank0_only=False), FullOptimStateDictConfig(rank0_only=False)):
    of_model, of_optimizer = model.state_dict(), FSDP.optim_state_dict(model, optimizer)
    model.load_state_dict(of_model)
    optimizer.load_state_dict(FSDP.optim_state_dict_to_load(model, optimizer, of_optimizer))
del of_model, of_optimizer
step()
print("saved and loaded")
dist.destroy_process_group()
