"""Three ranks pass numbers around a ring. Each rank posts its receive before its send. First, both are in a batch. Then they are separate and use communicators of two ranks that exist already,
because a separate receive that creates its communicator waits for the other rank, on a GPU as well."""
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank, ranks = dist.get_rank(), dist.get_world_size()
torch.cuda.set_device(rank)
after, before = (rank + 1) % ranks, (rank - 1) % ranks

number, received = torch.full((4,), rank, device="cuda"), torch.zeros(4, dtype=torch.int64, device="cuda")
for turn in range(1, ranks + 1):
    for work in dist.batch_isend_irecv([dist.P2POp(dist.irecv, received, before), dist.P2POp(dist.isend, number, after)]):
        work.wait()
    number = received.clone()
    assert number.tolist() == [(rank - turn) % ranks] * 4, number.tolist()

for first in range(ranks):  # creates the communicators
    if rank == first:
        dist.send(number, after)
    elif rank == (first + 1) % ranks:
        dist.recv(received, before)
for turn in range(1, ranks + 1):
    receive = dist.irecv(received, before)
    torch.randn(100, device="cuda").relu_()
    send = dist.isend(number, after)
    receive.wait()
    send.wait()
    number = received + 0  # its values are unknown in a plan
activations = torch.randn(1000, device="cuda")  # unknown values, which nothing reads
for _ in range(5):
    if rank == 0:
        dist.send(activations, 1)
    elif rank == 1:
        dist.irecv(activations, 0).wait()
torch.cuda.synchronize()
print("passed on", rank, flush=True)
dist.destroy_process_group()
