"""Toggles that divide the training state among several GPUs, for transformers' Trainer."""

import importlib.util
import os

from vramscope.toggles.batches import Argument
from vramscope.toggles.declaration import ROUNDING, toggle


def _ranks():
    return int(os.environ.get("WORLD_SIZE", "1") or 1)


class _Sharding(Argument):
    group, changes = "sharding", ROUNDING
    applies_to = "transformers' Trainer with several processes"

    def sharded(self, arguments):
        """Returns why the state is already divided, or ""."""
        if arguments.fsdp:
            return "TrainingArguments already has fsdp"
        if arguments.deepspeed:
            return "TrainingArguments already has deepspeed"
        if (
            os.environ.get("ACCELERATE_USE_FSDP") == "true"
            or os.environ.get("ACCELERATE_USE_DEEPSPEED") == "true"
        ):
            return "accelerate's configuration already shards the model"
        return ""

    def arguments(self, arguments):
        if self.sharded(arguments):
            self.already(self.sharded(arguments))
        elif _ranks() < 2:
            self.refuse(
                "the program runs as one process; start it with torchrun, or plan it with --ranks 2"
            )
        else:
            return self.settings()
        return {}

    def trainer_begins(self, trainer, arguments):
        # TrainingArguments itself completes the settings, so they are not compared.
        for name in self.set_to:
            if not getattr(arguments, name):
                self.override("the program removes %s afterwards" % name)


@toggle
class Fsdp(_Sharding):
    name, label, needs = "fsdp", "Fully sharded data parallel (FSDP)", ("fsdp", "deepspeed")
    explains = (
        "Each GPU stores only its part of the parameters, gradients and optimizer "
        "state, and gathers the parameters of one block at a time"
    )
    values, default, tries, excludes = (
        ("full_shard", "shard_grad_op"),
        "full_shard",
        ("full_shard",),
        ("zero",),
    )
    reduces = {"Parameter": 0.5, "Gradient": 0.5, "Optimizer state": 0.5}

    def settings(self):
        return {"fsdp": "%s auto_wrap" % self.value}


@toggle
class Zero(_Sharding):
    name, label, needs = "zero", "DeepSpeed ZeRO", ("fsdp", "deepspeed")
    explains = (
        "Stage 2 divides the gradients and the optimizer state among the GPUs, stage 3 "
        "also the parameters"
    )
    values, default, tries, excludes = ("2", "3"), "2", ("2", "3"), ("fsdp",)
    reduces = {"Gradient": 0.5, "Optimizer state": 0.5}

    def settings(self):
        if importlib.util.find_spec("deepspeed") is None:
            self.refuse("the package deepspeed is not installed")
            return {}
        automatic = {
            name: "auto"
            for name in (
                "train_batch_size",
                "train_micro_batch_size_per_gpu",
                "gradient_accumulation_steps",
            )
        }
        return {
            "deepspeed": {
                "zero_optimization": {"stage": int(self.value)},
                "bf16": {"enabled": "auto"},
                **automatic,
            }
        }
