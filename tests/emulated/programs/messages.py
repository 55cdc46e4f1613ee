"""Two ranks that exchange objects and numbers: large objects in messages, a receive in a batch, and functions of autograd."""
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional

dist.init_process_group("nccl")
rank, ranks = dist.get_rank(), dist.get_world_size()
torch.cuda.set_device(rank)
dev = torch.device("cuda", rank)

for size in (10, 70_000, 1_000_000):
    gathered = [None] * ranks if rank == 0 else None
    dist.gather_object({"text": "a" * (size + rank)}, gathered, 0)
    scattered = [None]
    dist.scatter_object_list(scattered, [{"text": "b" * size}, {"text": "c" * size}] if rank == 0 else None, 0)
    if rank == 0:
        assert [len(one["text"]) for one in gathered] == [size, size + 1]
    assert scattered[0]["text"] == "bc"[rank] * size

number, zeros = torch.tensor([42 + rank], device=dev), torch.zeros(1, dtype=torch.int64, device=dev)
for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, number, 1 - rank), dist.P2POp(dist.irecv, zeros, 1 - rank)]):
    work.wait()
assert zeros.item() == 43 - rank, zeros.item()

sizes = torch.zeros(ranks, dtype=torch.int64, device=dev)
parts = [sizes[i].unsqueeze(0) for i in range(ranks)]
dist.all_gather(parts, torch.tensor([rank + 1], device=dev))
assert [int(part) for part in parts] == [1, 2] and int(max(parts)) == 2
assert functional.all_reduce(number, "sum", dist.group.WORLD).item() == 85
print("exchanged", rank, flush=True)
dist.destroy_process_group()
