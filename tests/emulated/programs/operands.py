"""Launches kernels whose operands are known. Prints the name of each, and the addresses that it reads and writes."""
import json

import torch


def say(name, reads, writes):
    print("operands " + json.dumps({"kernel": name, "reads": [t.data_ptr() for t in reads], "writes": [t.data_ptr() for t in writes]}), flush=True)


left, right = torch.randn(256, 256, device="cuda"), torch.randn(256, 256, device="cuda")

product = left @ right
say("gemm", [left, right], [product])

# The next result reuses the address of this freed block.
before = product.data_ptr()
del product
again = right @ right
assert again.data_ptr() == before
say("gemm", [right], [again])

# The result is not at the begin of its block.
part = torch.empty(4, 256, 256, device="cuda")
torch.mm(left, again, out=part[2])
say("gemm", [left, again], [part[2]])

total = left + right
say("vectorized_elementwise_kernel", [left, right], [total])
total.mul_(2)
say("vectorized_elementwise_kernel", [total], [total])

# During the capture of a graph, blocks reuse the addresses of blocks that were freed. During a replay, all of these blocks are free.
graph = torch.cuda.CUDAGraph()
captured = []
with torch.cuda.graph(graph):
    for _ in range(3):
        inner = left @ total
        captured.append(([left, total], inner.data_ptr()))
        outer = inner @ right
        captured.append(([right], inner.data_ptr(), outer.data_ptr()))
        del inner, outer
for _ in range(2):
    graph.replay()
    for step in captured:
        reads, addresses = [t.data_ptr() for t in step[0]], list(step[1:])
        writes = [addresses.pop()]
        print("operands " + json.dumps({"kernel": "gemm", "reads": reads + addresses, "writes": writes, "graph": True}), flush=True)
torch.cuda.synchronize()
