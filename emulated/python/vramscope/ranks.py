"""One process as rank R of N: what other ranks would answer, nobody answers, and nobody is waited for."""
import functools
import os

UNIQUE_ID = 128  # bytes of NCCL's name of a communicator, which its first rank tells


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

    class Store(distributed.Store):
        """What this rank has said, and of what others would have said something that they may."""

        def __init__(self):
            super().__init__()
            self.said = {}

        def set(self, key, value):
            self.said[key] = value.encode() if isinstance(value, str) else bytes(value)

        def get(self, key):
            return self.said.get(key, bytes(UNIQUE_ID))

        def add(self, key, number):
            self.said[key] = b"%d" % (int(self.said.get(key, b"0")) + number)
            return int(self.said[key])

        def compare_set(self, key, expected, desired):
            if self.get(key) == bytes(expected) or key not in self.said:
                self.set(key, desired)
            return self.get(key)

        def wait(self, *args):
            pass

        def check(self, keys):
            # PyTorch's heartbeat asks here whether a rank has failed; nobody waits for what others say by asking.
            return all(key in self.said for key in keys)

        def delete_key(self, key):
            return self.said.pop(key, None) is not None

        def num_keys(self):
            return len(self.said)

        def set_timeout(self, timeout):
            pass

    @functools.wraps(init)
    def init_process_group(backend=None, *args, **kwargs):
        for name in ("init_method", "rank", "world_size", "store"):
            kwargs.pop(name, None)
        return init(backend or "nccl", rank=rank, world_size=world, store=store, **kwargs)

    store = process.store = Store()  # C++ alone would not keep what is Python about it

    distributed.init_process_group = init_process_group
    distributed.distributed_c10d.init_process_group = init_process_group
