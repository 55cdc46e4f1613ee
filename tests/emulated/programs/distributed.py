"""DistributedDataParallel or fully_shard (FSDP2) over the processes that torchrun, or `vramscope plan --ranks N`, starts."""
import argparse
import os
import signal

import torch
import torch.distributed as dist
from torch import nn


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("how", choices=("ddp", "fsdp2"), nargs="?", default="ddp")
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--keep-group", action="store_true", help="end without destroy_process_group, as many programs do")
    parser.add_argument("--before", type=int, default=0, metavar="N", help="so many kernels before the model is wrapped")
    parser.add_argument("--kill", type=int, metavar="RANK", help="this one is killed in its third step")
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
    for step in range(3):
        if step == 2 and arguments.kill == local_rank:
            os.kill(os.getpid(), signal.SIGKILL)
        loss = model(torch.randn(4, 128, arguments.width, device="cuda")).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    if not arguments.keep_group:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
