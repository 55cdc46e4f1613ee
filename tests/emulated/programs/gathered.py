"""Ranks exchange objects and numbers through collectives that overwrite tensors with known contents.
One rank sends a large state to the others, and each rank has a different number of batches."""
import torch
import torch.distributed as dist
from torch.distributed.algorithms.join import Join
from torch.distributed.optim import ZeroRedundancyOptimizer

dist.init_process_group("nccl")
rank, ranks = dist.get_rank(), dist.get_world_size()
torch.cuda.set_device(rank % torch.cuda.device_count())
torch.nn.Linear(2, 2).cuda()
objects = [None] * ranks
dist.all_gather_object(objects, {"rank": rank, "of it": "x" * (10 + rank)})
assert [entry["rank"] for entry in objects] == list(range(ranks)), objects
assert [len(entry["of it"]) for entry in objects] == [10 + other for other in range(ranks)], objects
count = torch.tensor([5], device="cuda")
assert int(count) == 5
dist.all_reduce(count)
assert count.item() == 5 * ranks, count
total = torch.ones(1, device="cuda") if rank else torch.zeros(1, device="cuda")  # filled on the GPU
dist.all_reduce(total)
assert total.item() == ranks - 1, total

model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2048, 2048).cuda())
optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.1)
seen = 0
with Join([model, optimizer]):
    for _ in range(3 + rank):  # Join keeps finished ranks in the collectives of the others
        model(torch.randn(4, 2048, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        seen += 1
assert seen == 3 + rank
optimizer.consolidate_state_dict(to=0)
if rank == 0:
    sizes = [part["exp_avg"].numel() for part in optimizer.state_dict()["state"].values()]
    assert sorted(sizes) == [2048, 2048 * 2048], sizes
dist.barrier()
dist.destroy_process_group()
print("everybody knows")
