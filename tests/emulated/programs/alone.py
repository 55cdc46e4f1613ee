"""A rank that runs alone exchanges objects, uses CPU collectives, and writes a distributed checkpoint."""
import os
import threading
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as checkpoint
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.fsdp import CPUOffloadPolicy, fully_shard

dist.init_process_group()  # gloo for the CPU, NCCL for the GPU
askers = set()
for store in dist.Store.__subclasses__():
    if store.__module__.startswith("vramscope"):
        store.check = lambda self, keys, check=store.check: askers.add(threading.get_ident()) or check(self, keys)
rank, ranks = dist.get_rank(), dist.get_world_size()
processors = dist.new_group(backend="gloo")
dist.barrier(processors)
objects = [None] * ranks
dist.all_gather_object(objects, {"rank": rank}, group=processors)
assert len(objects) == ranks and objects[rank] == {"rank": rank}, objects
seed = ["mine" if rank == 0 else None]
dist.broadcast_object_list(seed)
part = [None]
dist.scatter_object_list(part, [{"of": other} for other in range(ranks)] if rank == 0 else None)
assert rank != 0 or (seed, part) == (["mine"], [{"of": 0}]), (seed, part)

model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.Linear(1024, 256))
for layer in (*model, model):
    fully_shard(layer, offload_policy=CPUOffloadPolicy())
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    model(torch.randn(8, 256, device="cuda")).sum().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # of gradients on the CPU
    optimizer.step()
    optimizer.zero_grad()
for way in (checkpoint.save, checkpoint.load):
    of_model, of_optimizer = get_state_dict(model, optimizer)
    way({"model": of_model, "optimizer": of_optimizer}, checkpoint_id=os.environ["CHECKPOINTS"])
set_state_dict(model, optimizer, model_state_dict=of_model, optim_state_dict=of_optimizer)
time.sleep(1.5)  # longer than NCCL's heartbeat interval; the heartbeat thread must not call Python, because it still runs while the interpreter shuts down
assert askers <= {threading.get_ident()}, askers
print("went on alone")
