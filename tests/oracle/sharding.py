"""Training on several GPUs, as users write it. Used by train.py, whose settings are vramscope's. The
process is one rank of many (`vramscope plan --ranks N --as-rank R`)."""
import contextlib
import functools

import torch
import torch.distributed as dist

DEFAULTS = {"shard.strategy": "none", "shard.ranks": "1", "shard.rank": "0", "shard.gradients": "copies",
            "shard.find_unused": "false", "shard.units": "layer", "shard.vocabulary": "whole", "shard.forward_prefetch": "0", "shard.backward_prefetch": "1", "shard.bucket_mb": "25", "offload.parameters": "none",
            "shard.implementation": "fsdp2", "shard.limit_all_gathers": "true", "shard.backward_prefetch_at": "before",
            "shard.replicas": "1", "shard.original_parameters": "true", "shard.no_sync": "false", "shard.gathered_as": "weights"}


class OneGpu:
    """The training loop's interface to the other ranks. This base class is for one GPU."""

    def __init__(self, settings):
        pass

    def place(self, model):
        model.to("cuda")

    def wrap(self, model, program):
        return model

    def around(self, model, reduces):
        """Returns a context for forward and backward of a micro-batch. `reduces` says whether it is
        the last micro-batch of its step."""
        return contextlib.nullcontext()

    def optimizer(self, make, parameters, settings):
        return make(parameters, settings)

    def clip(self, model, parameters, most):
        torch.nn.utils.clip_grad_norm_(parameters, most)

    def scaler(self, enabled):
        return torch.amp.GradScaler("cuda", enabled=enabled)

    def end(self):
        pass


class DataParallel(OneGpu):
    def __init__(self, settings):
        self.options = {"gradient_as_bucket_view": settings["shard.gradients"] == "views",
                        "find_unused_parameters": settings["shard.find_unused"] == "true"}
        if settings["shard.bucket_mb"] != "25":
            self.options["bucket_cap_mb"] = int(settings["shard.bucket_mb"])
        dist.init_process_group("nccl")

    def wrap(self, model, program):
        return torch.nn.parallel.DistributedDataParallel(model, device_ids=[0], **self.options)

    def around(self, model, reduces):
        return contextlib.nullcontext() if reduces else model.no_sync()

    def end(self):
        dist.destroy_process_group()


class DividedOptimizer(DataParallel):
    """ZeRO-1: each rank keeps the optimizer state for its shard of the parameters."""

    def optimizer(self, make, parameters, settings):
        from torch.distributed.optim import ZeroRedundancyOptimizer
        return ZeroRedundancyOptimizer(parameters, optimizer_class=lambda own, **_: make(own, settings))


class FullySharded(OneGpu):
    """FSDP2 with one unit for each layer and one for the rest of the model. The model is created on the CPU, and only this rank's rows are moved to the GPU."""

    def __init__(self, settings):
        self.options = {} if settings["shard.strategy"] == "zero3" else {"reshard_after_forward": False}
        if settings["offload.parameters"] == "cpu":
            from torch.distributed.fsdp import CPUOffloadPolicy
            self.options["offload_policy"] = CPUOffloadPolicy()
        # If the shards are in host memory, their norms are added up there, which needs a backend for the CPU.
        on_host = settings["offload.parameters"] == "cpu" and float(settings["clip_grad_norm"])
        dist.init_process_group("cpu:gloo,cuda:nccl" if on_host else "nccl")
        self.whole = settings["shard.units"] == "model"
        self.ahead, self.behind = int(settings["shard.forward_prefetch"]), int(settings["shard.backward_prefetch"])

    def place(self, model):
        pass

    def wrap(self, model, program):
        from torch.distributed.fsdp import fully_shard
        layers = program.layers() if hasattr(program, "layers") else layers_of(model)
        if self.whole:
            return fully_shard(model, **self.options)
        for layer in layers:
            fully_shard(layer, **self.options)
        self.prefetch(layers)
        return fully_shard(model, **self.options)

    def prefetch(self, layers):
        """Sets the prefetching as in PyTorch's FSDP2 tutorial."""
        for i, layer in enumerate(layers):
            if self.ahead and i < len(layers) - self.ahead:
                layer.set_modules_to_forward_prefetch([layers[i + j] for j in range(1, self.ahead + 1)])
            if self.behind > 1 and i >= self.behind:
                layer.set_modules_to_backward_prefetch([layers[i - j] for j in range(1, self.behind + 1)])

    def end(self):
        dist.destroy_process_group()


class FlatSharded(OneGpu):
    """FSDP1 with the same units as FSDP2, each as one flat parameter. The model is created on the CPU and moved to the GPU unit by unit."""

    def __init__(self, settings):
        from torch.distributed.fsdp import BackwardPrefetch, MixedPrecision, ShardingStrategy
        dist.init_process_group("nccl")
        replicas = int(settings["shard.replicas"])
        strategies = {"zero3": ShardingStrategy.FULL_SHARD, "zero2": ShardingStrategy.SHARD_GRAD_OP}
        if replicas > 1:
            strategies = {"zero3": ShardingStrategy.HYBRID_SHARD, "zero2": ShardingStrategy._HYBRID_SHARD_ZERO2}
        self.options = {
            "sharding_strategy": strategies[settings["shard.strategy"]],
            "backward_prefetch": {"before": BackwardPrefetch.BACKWARD_PRE, "after": BackwardPrefetch.BACKWARD_POST,
                                  "never": None}[settings["shard.backward_prefetch_at"]],
            "forward_prefetch": settings["shard.forward_prefetch"] != "0",
            "limit_all_gathers": settings["shard.limit_all_gathers"] == "true",
            "use_orig_params": settings["shard.original_parameters"] == "true"}
        if replicas > 1:
            from torch.distributed.device_mesh import init_device_mesh
            self.options["device_mesh"] = init_device_mesh("cuda", (replicas, dist.get_world_size() // replicas))
        if settings["shard.gathered_as"] != "weights":
            self.options["mixed_precision"] = MixedPrecision(
                param_dtype={"bf16": torch.bfloat16, "fp16": torch.float16}[settings["shard.gathered_as"]])
        if settings["offload.parameters"] == "cpu":
            from torch.distributed.fsdp import CPUOffload
            self.options["cpu_offload"] = CPUOffload(offload_params=True)
        self.whole, self.adds_up_whole = settings["shard.units"] == "model", settings["shard.no_sync"] == "true"

    def place(self, model):
        pass

    def wrap(self, model, program):
        from torch.distributed.fsdp import FullyShardedDataParallel
        from torch.distributed.fsdp.wrap import lambda_auto_wrap_policy
        layers = {id(layer) for layer in (program.layers() if hasattr(program, "layers") else layers_of(model))}
        policy = functools.partial(lambda_auto_wrap_policy, lambda_fn=lambda module: id(module) in layers)
        return FullyShardedDataParallel(model, auto_wrap_policy=None if self.whole else policy,
                                        device_id=torch.cuda.current_device(), **self.options)

    def around(self, model, reduces):
        return model.no_sync() if self.adds_up_whole and not reduces else contextlib.nullcontext()

    def clip(self, model, parameters, most):
        model.clip_grad_norm_(most)

    def scaler(self, enabled):
        from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler
        return ShardedGradScaler(enabled=enabled)

    def end(self):
        dist.destroy_process_group()


class TensorParallel(OneGpu):
    """Tensor parallelism: each rank has a part of the attention heads and of the feed-forward width. The model is created on the CPU."""

    def __init__(self, settings):
        from torch.distributed.device_mesh import init_device_mesh
        dist.init_process_group("nccl")
        self.mesh = init_device_mesh("cuda", (dist.get_world_size(),))
        self.vocabulary = settings["shard.vocabulary"]

    def place(self, model):
        pass

    def wrap(self, model, program):
        from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
        attention = {"self_attn.%s_proj" % name: ColwiseParallel() for name in "qkv"}
        feed = {"mlp.%s_proj" % name: ColwiseParallel() for name in ("gate", "up")}
        plan = {**attention, "self_attn.o_proj": RowwiseParallel(), **feed, "mlp.down_proj": RowwiseParallel()}
        if self.vocabulary != "whole":
            from torch.distributed.tensor import Replicate
            parallelize_module(model, self.mesh, {"model.embed_tokens": RowwiseParallel(input_layouts=Replicate())})
        for layer in program.layers():
            parallelize_module(layer, self.mesh, plan)
        if self.vocabulary != "whole":
            from torch.distributed.tensor import Shard
            head = ColwiseParallel(output_layouts=Replicate()) if self.vocabulary == "parts" else ColwiseParallel(
                output_layouts=Shard(-1), use_local_output=False)
            parallelize_module(model, self.mesh, {"lm_head": head})
            if model.config.tie_word_embeddings:  # both modules have sharded the weight
                model.lm_head.weight = model.model.embed_tokens.weight
        return model.to("cuda")

    def around(self, model, reduces):
        from torch.distributed.tensor.parallel import loss_parallel
        return loss_parallel() if self.vocabulary == "loss" else contextlib.nullcontext()

    def end(self):
        dist.destroy_process_group()


def layers_of(model):
    """Returns the lists of layers of a model from transformers, in the order in which they run."""
    lists = [module for module in model.modules() if isinstance(module, torch.nn.ModuleList)]
    inner = {id(child) for found in lists for layer in found for child in layer.modules()}
    return [layer for found in lists if id(found) not in inner for layer in found]


STRATEGIES = {"none": OneGpu, "ddp": DataParallel, "zero1": DividedOptimizer, "zero2": FullySharded, "zero3": FullySharded,
              "tensor": TensorParallel}


def strategy_of(settings):
    if settings["shard.implementation"] == "fsdp1" and settings["shard.strategy"] in ("zero2", "zero3"):
        return FlatSharded(settings)
    return STRATEGIES[settings["shard.strategy"]](settings)
