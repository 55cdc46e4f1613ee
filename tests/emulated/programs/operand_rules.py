"""Launches a kernel of each kind that the rules distinguish. Prints a part of each kernel's name, and the addresses that it reads and writes."""
import json

import torch


def say(name, reads, writes):
    print("operands " + json.dumps({"kernel": name, "reads": [t.data_ptr() for t in reads], "writes": [t.data_ptr() for t in writes]}), flush=True)


left, right = torch.randn(256, 256, device="cuda"), torch.randn(256, 256, device="cuda")

copied = torch.empty(256, 256, device="cuda").copy_(left.t())
say("elementwise_kernel<128", [left], [copied])
total = left.t() + right
say("elementwise_kernel<128", [left, right], [total])

rows = left.sum(1)
say("reduce_kernel", [left], [rows])
most, where = left.max(1)
say("reduce_kernel", [left], [most, where])

narrow = torch.softmax(left, 1)
say("softmax_warp_forward", [left], [narrow])
wide_input = torch.randn(8, 5000, device="cuda")
wide = torch.log_softmax(wide_input, 1)
say("cunn_SoftMaxForward", [wide_input], [wide])

weight, bias = torch.ones(256, device="cuda"), torch.zeros(256, device="cuda")
normal, mean, deviation = torch.native_layer_norm(left, [256], weight, bias, 1e-5)
say("vectorized_layer_norm_kernel", [left, weight, bias], [normal, mean, deviation])

first, second = torch.arange(64, device="cuda"), torch.arange(64, device="cuda")
picked = left[first, second]
say("index_elementwise_kernel", [left, first, second], [picked])
target, values = torch.zeros(256, 256, device="cuda"), torch.ones(64, device="cuda")
target[first, second] = values
say("index_elementwise_kernel", [values, first, second], [target])

# The list of the second concatenation is at the address of the first list, but has fewer tensors.
three = torch.cat([left, right, total])
say("CatArrayBatchedCopy", [left, right, total], [three])
two = torch.cat([left, right])
say("CatArrayBatchedCopy", [left, right], [two])

# The lists are so long that they need several launches. Each launch has only its own tensors as operands.
these = [torch.randn(100 + i, device="cuda") for i in range(54)]
those = [torch.randn(100 + i, device="cuda") for i in range(54)]
sums = torch._foreach_add(these, those)
for part in (slice(48), slice(48, None)):
    say("multi_tensor_apply_kernel", these[part] + those[part], sums[part])
doubled = these[:3]
torch._foreach_mul_(doubled, 2.0)
say("multi_tensor_apply_kernel", doubled, doubled)

parameters = [torch.nn.Parameter(torch.randn(300, device="cuda")) for _ in range(4)]
for parameter in parameters:
    parameter.grad = torch.ones_like(parameter)
optimizer = torch.optim.AdamW(parameters, fused=True)
optimizer.step()
moments = [optimizer.state[p][key] for p in parameters for key in ("exp_avg", "exp_avg_sq")]
say("FusedAdamMathFunctor", [p.grad for p in parameters] + [optimizer.state[p]["step"] for p in parameters] + parameters + moments, parameters + moments)
torch.cuda.synchronize()
