"""Uses NCCL, DDP and FSDP2 in one rank, and prints NVML's figure for the process's memory after each."""
import os, torch, torch.distributed as dist
os.environ.setdefault("MASTER_ADDR", "127.0.0.1"); os.environ.setdefault("MASTER_PORT", "29511")
os.environ.setdefault("RANK", "0"); os.environ.setdefault("WORLD_SIZE", "1"); os.environ.setdefault("LOCAL_RANK", "0")
def used(what):
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    print(what, "card", total - free, "reserved", torch.cuda.memory_reserved(), "allocated", torch.cuda.memory_allocated(), flush=True)
torch.cuda.set_device(0); torch.zeros(1, device="cuda"); used("context")
dist.init_process_group("nccl", device_id=torch.device("cuda", 0)); used("group")
t = torch.ones(1 << 20, device="cuda"); dist.all_reduce(t); used("all_reduce")
dist.all_gather_into_tensor(torch.empty(1 << 20, device="cuda"), t); used("all_gather")
def make(): return torch.nn.Sequential(*[torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True) for _ in range(4)]).cuda()
from torch.nn.parallel import DistributedDataParallel
model = DistributedDataParallel(make(), device_ids=[0]); used("ddp")
opt = torch.optim.AdamW(model.parameters())
for i in range(3):
    model(torch.randn(8, 128, 512).cuda()).sum().backward(); opt.step(); opt.zero_grad()
used("ddp steps")
del model, opt
from torch.distributed.fsdp import fully_shard
model = make()
for l in model: fully_shard(l)
fully_shard(model); used("fsdp2")
opt = torch.optim.AdamW(model.parameters())
for i in range(3):
    model(torch.randn(8, 128, 512).cuda()).sum().backward(); opt.step(); opt.zero_grad()
used("fsdp2 steps")
dist.destroy_process_group()
