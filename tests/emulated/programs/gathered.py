"""Objects that ranks tell each other, through a collective that writes into tensors of which something was known."""
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(rank % torch.cuda.device_count())
torch.nn.Linear(2, 2).cuda()
objects = [None] * dist.get_world_size()
dist.all_gather_object(objects, {"rank": rank, "of it": "x" * (10 + rank)})
assert [entry["rank"] for entry in objects] == list(range(len(objects))), objects
assert [len(entry["of it"]) for entry in objects] == [10 + other for other in range(len(objects))], objects
count = torch.tensor([5], device="cuda")
assert int(count) == 5
dist.all_reduce(count)
assert count.item() == 5 * len(objects), count
dist.destroy_process_group()
print("everybody knows")
