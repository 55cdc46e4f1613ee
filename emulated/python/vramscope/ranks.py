"""One process as rank R of N: what other ranks would answer, nobody answers, and nobody is waited for."""
import functools
import os


def install(process):
    rank, world = (int(part) for part in process.settings.as_rank.split("/"))
    os.environ.update(RANK=str(rank), LOCAL_RANK="0", WORLD_SIZE=str(world), LOCAL_WORLD_SIZE="1",
                      MASTER_ADDR="127.0.0.1", MASTER_PORT="29500")
    process.about.update(rank=rank, world_size=world)
    process.assume("one process stands for rank %d of %d: what others send is not there" % (rank, world), "--as-rank")
    import torch.distributed as distributed

    if not distributed.is_available():
        return
    init = distributed.init_process_group

    @functools.wraps(init)
    def init_process_group(backend=None, *args, **kwargs):
        for name in ("init_method", "rank", "world_size", "store"):
            kwargs.pop(name, None)
        return init(backend or "nccl", rank=rank, world_size=world, store=distributed.HashStore(), **kwargs)

    distributed.init_process_group = init_process_group
    distributed.distributed_c10d.init_process_group = init_process_group
