"""Two ranks exchange several objects at once, which PyTorch concatenates on the GPU."""
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(rank)
device = torch.device("cuda", rank)
for size in (1, 5000, 300_000):
    objects = [{"text": "a" * size}, torch.arange(3), size] if rank == 0 else [None] * 3
    dist.broadcast_object_list(objects, 0, device=device)
    assert objects[0] == {"text": "a" * size} and objects[1].tolist() == [0, 1, 2] and objects[2] == size
    torch.randn(100, device="cuda").relu_()
print("exchanged", rank, flush=True)
dist.destroy_process_group()
