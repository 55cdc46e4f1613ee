"""SpikingJelly's SEW-ResNet-18 on images, eager or as a CUDA graph: four time steps, bf16 autocast, SGD with momentum.

    vramscope plan --device rtx-4090 --steps 0 -- python spiking_network.py --batch 112 --graph

Prints the maximum of reserved memory, which was published together with the maximum of allocated memory.
"""

import argparse
import json

import torch
from spikingjelly.activation_based import functional, neuron, surrogate
from spikingjelly.activation_based._cuda_graph import StaticCudaGraph
from spikingjelly.activation_based.model import sew_resnet

TIME = 4


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=112)
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("--neuron", choices=["IFNode", "LIFNode"], default="LIFNode")
    arguments = parser.parse_args()
    model = sew_resnet.sew_resnet18(
        cnf="ADD", spiking_neuron=getattr(neuron, arguments.neuron), surrogate_function=surrogate.ATan(), detach_reset=True)
    functional.set_step_mode(model, "m")
    model.to("cuda").train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    images = torch.randn(arguments.batch, 3, 224, 224, device="cuda")
    labels = torch.randint(0, 1000, (arguments.batch,), device="cuda")

    def step(images, labels):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            outputs = model(images.unsqueeze(0).repeat(TIME, 1, 1, 1, 1)).mean(0)
            loss = torch.nn.functional.cross_entropy(outputs, labels)
        loss.backward()
        return loss

    run = StaticCudaGraph(step, 11) if arguments.graph else step
    for number in range(14):
        if number == 12:
            torch.cuda.reset_peak_memory_stats()
        optimizer.zero_grad(set_to_none=not arguments.graph)
        run(images, labels)
        optimizer.step()
        functional.reset_net(model)
    print(json.dumps({"peak": torch.cuda.max_memory_reserved(), "allocated": torch.cuda.max_memory_allocated()}))


main()
