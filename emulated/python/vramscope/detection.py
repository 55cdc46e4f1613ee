"""Handles torchvision's detectors, which train on a sample of their proposals. At most a given
share of the sample may contain objects, and the share is assumed to be that maximum; the other
proposals are background. The sizes of boxes, masks and keypoints follow from this."""

import functools

from vramscope import imports
from vramscope.known import place

TAKEN = (
    "an object detector's sampler is assumed to choose the largest allowed number of "
    "samples that contain objects"
)


def install(process, values):
    torch = process.torch

    def parts(sampler, size):
        """Returns how many proposals are assumed to contain objects, and how many to contain
        background."""
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
    imports.after(
        process,
        "torch_linear_assignment.assignment",
        lambda module: setattr(
            module,
            "batch_linear_assignment",
            _assigned(process, values, module.batch_linear_assignment),
        ),
    )


def _assigned(process, values, assign):
    """Replaces the assignment that a Triton kernel would compute. Each worker gets the task with
    its own number. Every other assignment would have the same size."""

    @functools.wraps(assign)
    def batch_linear_assignment(cost, *args, **kwargs):
        result = assign(cost, *args, **kwargs)
        if values.small(result):
            workers, tasks = cost.shape[1:]
            process.assume(
                "batch_linear_assignment() would assign tasks to workers on the GPU; the workers "
                "are assumed to get the tasks in order",
                place(),
            )
            value = process.torch.arange(workers, dtype=result.dtype, device="cpu")
            # the kernel overwrites the tensor, so this replaces the values that were known
            # before
            values.settle(
                result, value.masked_fill(value >= tasks, -1).expand(result.shape).contiguous()
            )
        return result

    return batch_linear_assignment
