"""DistributedDataParallel or fully_shard (FSDP2) over the processes that torchrun or `vramscope plan --ranks N` starts."""
import argparse
import ctypes
import json
import os
import signal

import torch
import torch.distributed as dist
from torch import nn


def note_allocations(folder, rank):
    """Before every layer, writes to a file the process id and the counts of allocations and launches
    that the emulated platform has had so far. The file remains if this process is killed."""
    file = os.open(os.path.join(folder, "rank-%d" % rank), os.O_WRONLY | os.O_CREAT, 0o666)
    platform = ctypes.CDLL("libvramscope-emulated.so")
    report = os.path.join(os.environ["VRAMSCOPE_EMULATED_OUTPUT"], "platform-%d.json" % os.getpid())

    def note(*_):
        count = torch.cuda.memory_stats()["allocation.all.allocated"]
        platform.vramscope_emulated_flush()
        with open(report) as said:
            launches = json.load(said)["launches"]
        os.pwrite(file, b"%8d %12d %12d\n" % (os.getpid(), count, launches), 0)

    return note


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("how", choices=("ddp", "fsdp2"), nargs="?", default="ddp")
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--keep-group", action="store_true", help="end without destroy_process_group, as many programs do")
    parser.add_argument("--before", type=int, default=0, metavar="N", help="so many kernels before the model is wrapped")
    parser.add_argument("--kill", type=int, metavar="RANK", help="this one is killed within its third step")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--note", metavar="FOLDER", help="how often each rank has allocated is noted there, all the time")
    arguments = parser.parse_args()
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    layers = [nn.TransformerEncoderLayer(arguments.width, 16, 4 * arguments.width, batch_first=True) for _ in range(arguments.layers)]
    model = nn.Sequential(*layers).cuda()
    counter = torch.zeros(8, device="cuda")
    for _ in range(arguments.before):
        counter.sin_()
    del counter
    if arguments.how == "ddp":
        model = nn.parallel.DistributedDataParallel(model, device_ids=[local_rank])
    else:
        from torch.distributed.fsdp import fully_shard

        for layer in model:
            fully_shard(layer)
        fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters())
    if arguments.note:
        note = note_allocations(arguments.note, local_rank)
        for layer in layers:
            layer.register_forward_pre_hook(note)
    for step in range(arguments.steps):
        if step == 2 and arguments.kill == local_rank:
            layers[-1].register_forward_hook(lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        loss = model(torch.randn(4, 128, arguments.width, device="cuda")).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    if not arguments.keep_group:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
