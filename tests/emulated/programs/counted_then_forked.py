"""Counts the GPUs, which must not keep a forked child from using them."""

import multiprocessing

import torch


def use():
    torch.zeros(1 << 20, device="cuda")


assert torch.cuda.device_count() == 1
child = multiprocessing.get_context("fork").Process(target=use)
child.start()
child.join()
assert child.exitcode == 0, child.exitcode
