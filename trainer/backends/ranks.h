// Process groups for a process that acts as one rank of many: it does not communicate, and the
// values of the other ranks are assumed.
//
//   auto store = MakeLoneStore();
//   auto group = MakeProcessGroup(store, MakeEqualRanks(rank, ranks), c10::kCPU);
//
// A group belongs to one run and is used on the run's thread and on autograd's thread.
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

namespace vramscope::trainer {

// A store that returns the values that this rank has stored, and for all other keys as many zero
// bytes as NCCL's unique id has.
c10::intrusive_ptr<c10d::Store> MakeLoneStore();

// Collectives on host memory. They complete at once, as if all ranks had equal values.
c10::intrusive_ptr<c10d::Backend> MakeEqualRanks(int rank, int ranks);

// Makes the group in the same way as torch.distributed.init_process_group makes the default group.
c10::intrusive_ptr<c10d::ProcessGroup> MakeProcessGroup(
    const c10::intrusive_ptr<c10d::Store>& store, const c10::intrusive_ptr<c10d::Backend>& backend,
    c10::DeviceType device);

}  // namespace vramscope::trainer
