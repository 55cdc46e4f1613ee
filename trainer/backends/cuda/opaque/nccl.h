// Declares what LibTorch 2.11's header of the process group needs of NCCL 2.28, with NCCL's
// documented values and layouts.
#pragma once

#include <climits>
#include <cstddef>

#define NCCL_MAJOR 2
#define NCCL_MINOR 28
#define NCCL_VERSION(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))
#define NCCL_VERSION_CODE NCCL_VERSION(2, 28, 9)
#define NCCL_SPLIT_NOCOLOR -1

using ncclComm_t = struct ncclComm*;
struct ncclUniqueId {
  char internal[128];
};

enum ncclResult_t : int { ncclSuccess = 0, ncclRemoteError = 6, ncclInProgress = 7 };
enum ncclRedOp_t : int {};
enum ncclDataType_t : int {
  ncclInt8 = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclInt64 = 4,
  ncclHalf = 6,
  ncclFloat = 7,
  ncclDouble = 8,
  ncclBfloat16 = 9,
  ncclFloat8e4m3 = 10,
  ncclFloat8e5m2 = 11
};

// Members that are not set are INT_MIN or null.
struct ncclConfig_t {
  size_t size = sizeof(ncclConfig_t);
  unsigned magic = 0xcafebeef;
  unsigned version = NCCL_VERSION_CODE;
  int blocking = INT_MIN, cluster_size = INT_MIN, least_blocks = INT_MIN, most_blocks = INT_MIN;
  const char* network = nullptr;
  int split_share = INT_MIN, traffic_class = INT_MIN;
  const char* name = nullptr;
  int collnet = INT_MIN, policy = INT_MIN, shrink_share = INT_MIN, nvls_blocks = INT_MIN;
  int channels_per_peer = INT_MIN, nvlink_centric = INT_MIN;
};
#define NCCL_CONFIG_INITIALIZER ncclConfig_t()

extern "C" {
ncclResult_t ncclRedOpDestroy(ncclRedOp_t operation, ncclComm_t communicator);
}
