"""Trains in a thread, in a process of an executor, or in a function whose caller turns every
exception into one of its own. A plan ends such a training after the requested steps."""

import json
import multiprocessing
import os
import sys
import threading
from concurrent import futures

import torch


def train():
    model = torch.nn.Linear(64, 64, device="cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(5):
        model(torch.randn(4, 64, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    if sys.argv[1] == "thread":
        thread = threading.Thread(target=train)
        thread.start()
        thread.join()
        # The command line has to know it, because the program might now wait forever.
        output = os.environ["VRAMSCOPE_PROGRAM_OUTPUT"]
        with open(os.path.join(output, "process-%d.json" % os.getpid())) as file:
            process = json.load(file)
        assert (process["ended"], process["trains"]) == ("enough", True), process
    elif sys.argv[1] == "executor":
        with futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
            executor.submit(train).result()
    elif sys.argv[1] == "from":
        try:
            train()
        except BaseException as error:
            raise RuntimeError("the training failed") from error
    elif sys.argv[1] == "finally":
        try:
            train()
        finally:
            torch.zeros(1 << 40, device="cuda")
