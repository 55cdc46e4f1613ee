"""Training on several GPUs, as people write it: for train.py, whose settings are vramscope's. The process is one rank of many
(`vramscope plan --ranks N --as-rank R`)."""
import contextlib

import torch
import torch.distributed as dist

DEFAULTS = {"shard.strategy": "none", "shard.ranks": "1", "shard.rank": "0", "shard.gradients": "copies"}


class OneGpu:
    """What the training loop asks of the others, where there is one GPU."""

    def __init__(self, settings):
        pass

    def place(self, model):
        model.to("cuda")

    def wrap(self, model, program):
        return model

    def around(self, model, reduces):
        """Around forward and backward of a micro-batch; reduces: it is the last one of its step."""
        return contextlib.nullcontext()

    def optimizer(self, make, parameters, settings):
        return make(parameters, settings)

    def end(self):
        pass


class DataParallel(OneGpu):
    def __init__(self, settings):
        self.views = settings["shard.gradients"] == "views"
        dist.init_process_group("nccl")

    def wrap(self, model, program):
        return torch.nn.parallel.DistributedDataParallel(model, device_ids=[0], gradient_as_bucket_view=self.views)

    def around(self, model, reduces):
        return contextlib.nullcontext() if reduces else model.no_sync()

    def end(self):
        dist.destroy_process_group()


STRATEGIES = {"none": OneGpu, "ddp": DataParallel}


def strategy_of(settings):
    return STRATEGIES[settings["shard.strategy"]](settings)
