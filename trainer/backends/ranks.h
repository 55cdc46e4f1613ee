// One process that stands for one rank of many: what other ranks would answer, nobody answers, and
// nobody is waited for.
//
//   auto store = MakeLoneStore();
//   auto group = MakeProcessGroup(store, MakeEqualRanks(rank, ranks), c10::kCPU);
//
// A group is used by one run, on its thread and autograd's.
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

namespace vramscope::trainer {

// What this rank has said; of others, as many zeros as NCCL's name of a communicator has.
c10::intrusive_ptr<c10d::Store> MakeLoneStore();

// Collectives on host memory, at once, of ranks that all hold the same.
c10::intrusive_ptr<c10d::Backend> MakeEqualRanks(int rank, int ranks);

// As torch.distributed.init_process_group makes the default group.
c10::intrusive_ptr<c10d::ProcessGroup> MakeProcessGroup(
    const c10::intrusive_ptr<c10d::Store>& store, const c10::intrusive_ptr<c10d::Backend>& backend,
    c10::DeviceType device);

}  // namespace vramscope::trainer
