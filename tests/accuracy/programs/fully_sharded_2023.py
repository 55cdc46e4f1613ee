"""ViT-L/16 in FullyShardedDataParallel of PyTorch 2.0 (FSDP1), as one of 4 ranks. Each encoder block is a checkpointed unit; batch 64, fp32,
Adam.

    vramscope plan --device a100-80gb --ranks 4 --as-rank 0 -- python fully_sharded_2023.py [--limit] [--offload]

--limit: limit_all_gathers, which is off by default in that release. --offload: CPUOffload of the parameters."""
import argparse
import functools

import torch
import torchvision
from torch import distributed
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import CheckpointImpl, apply_activation_checkpointing, checkpoint_wrapper
from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel
from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy
from torchvision.models.vision_transformer import EncoderBlock


def join():
    # PyTorch 2.0 waits until all ranks have connected to the store; here there is only one.
    distributed.distributed_c10d._store_based_barrier = lambda *_, **__: None
    distributed.init_process_group("nccl")


def sharded(arguments):
    model = torchvision.models.vit_l_16(weights=None)
    model.heads.head = torch.nn.Linear(1024, 10)
    model = FullyShardedDataParallel(
        model, auto_wrap_policy=functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={EncoderBlock}),
        limit_all_gathers=arguments.limit, device_id=torch.device("cuda", 0),
        cpu_offload=CPUOffload(offload_params=True) if arguments.offload else None)
    apply_activation_checkpointing(model, check_fn=lambda module: isinstance(module, EncoderBlock), checkpoint_wrapper_fn=functools.partial(
        checkpoint_wrapper, checkpoint_impl=CheckpointImpl.NO_REENTRANT))
    return model.train()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", action="store_true")
    parser.add_argument("--offload", action="store_true")
    arguments = parser.parse_args()
    torch.cuda.set_device(0)
    join()
    model = sharded(arguments)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-5)
    for _ in range(4):
        images, labels = torch.rand(64, 3, 224, 224).cuda(), torch.randint(0, 10, (64,)).cuda()
        logits = model(images)
        loss = torch.nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        logits.argmax(1)


if __name__ == "__main__":
    main()
