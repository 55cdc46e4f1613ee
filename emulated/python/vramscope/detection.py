"""Detectors of torchvision train on a sample of what they propose, of which at most a given part holds something: so much of it is taken to,
not all of it, and the rest to be background. What follows (boxes, masks and key points of what is found) is as large."""
import functools

from vramscope import imports
from vramscope.known import place

TAKEN = "of what a detector samples as much is taken to hold something as it lets"


def install(process, values):
    torch = process.torch

    def parts(sampler, size):
        """How many of so many are taken to hold something, and how many not."""
        found = min(size, int(sampler.batch_size_per_image * sampler.positive_fraction))
        return found, min(size - found, sampler.batch_size_per_image - found)

    def say(tensor, begin, end):
        if values.unknown(tensor):
            value = torch.zeros(tensor.shape, dtype=tensor.dtype, device="cpu")
            value[begin:end] = 1
            values.keep(tensor, value)
            values.assume(TAKEN)

    def samples(sample):
        @functools.wraps(sample)
        def wrapper(self, *args, **kwargs):
            result = sample(self, *args, **kwargs)
            for found, background in zip(*result):
                count, rest = parts(self, len(found))
                say(found, 0, count)
                say(background, count, count + rest)
            return result

        return wrapper

    def selects(select):
        @functools.wraps(select)
        def wrapper(self, *args, **kwargs):
            result = select(self, *args, **kwargs)
            for labels in result[2]:
                say(labels, 0, parts(self.fg_bg_sampler, len(labels))[0])
            return result

        return wrapper

    def sampler(module):
        one = module.BalancedPositiveNegativeSampler
        one.__call__ = samples(one.__call__)

    def heads(module):
        module.RoIHeads.select_training_samples = selects(module.RoIHeads.select_training_samples)

    imports.after(process, "torchvision.models.detection._utils", sampler)
    imports.after(process, "torchvision.models.detection.roi_heads", heads)
    imports.after(process, "torch_linear_assignment.assignment", lambda module: setattr(
        module, "batch_linear_assignment", _assigned(process, values, module.batch_linear_assignment)))


def _assigned(process, values, assign):
    """Of a matching that a kernel of Triton's finds: the first worker does the first task, and so on. Any other matching is as large."""
    @functools.wraps(assign)
    def batch_linear_assignment(cost, *args, **kwargs):
        result = assign(cost, *args, **kwargs)
        if values.small(result):  # whatever it was filled with before the kernel
            workers, tasks = cost.shape[1:]
            process.assume("a matching that is computed is taken to be the first of each with the first", place())
            value = process.torch.arange(workers, dtype=result.dtype, device="cpu")
            values.settle(result, value.masked_fill(value >= tasks, -1).expand(result.shape).contiguous())
        return result

    return batch_linear_assignment
