// Implements libnvshmem_host for a single process. Memory is allocated on the GPU. The symmetric
// heap of several processes is not emulated, and its use is reported.
#include <cstring>

#include "emulated/core/memory.h"
#include "emulated/core/platform.h"
#include "emulated/libraries/program_version.h"

using namespace vramscope::emulated;

namespace {
constexpr int kInitialized = 2;  // NVSHMEM_STATUS_IS_INITIALIZED
void* Allocate(size_t bytes) {
  void* address = nullptr;
  if (bytes == 0 ||
      ThePlatform().memory.Allocate(CurrentDevice(), bytes, &address) != Result::kSuccess)
    return nullptr;
  Assume("NVSHMEM memory: this process is assumed to be the only process", "nvshmem_malloc", bytes);
  return address;
}
int Move(const char* name, void* to, size_t bytes, void* stream) {
  const Written writes[] = {{to, bytes}};
  return Submit({.name = name, .stream = stream, .bytes = bytes, .writes = writes}) ==
                 Result::kSuccess
             ? 0
             : 1;
}
}  // namespace

// clang-format off
extern "C" {

int nvshmemid_init_status() { return kInitialized; }
int nvshmemid_hostlib_init_attr(int, int, void*, void*, void*) { return 0; }
void nvshmemid_hostlib_finalize() {}
void nvshmem_info_get_version(int* major, int* minor) {
  const Version v = ProgramVersion("nvidia-nvshmem-cu", {3, 4, 5});
  if (major) *major = v.major;
  if (minor) *minor = v.minor;
}
int nvshmemx_get_uniqueid(void*) { return 0; }
int nvshmemx_set_attr_uniqueid_args(int, int, const void*, void*) { return 0; }
int nvshmem_my_pe() { return 0; }
int nvshmem_n_pes() { return 1; }
int nvshmem_team_n_pes(int) { return 1; }
int nvshmem_team_my_pe(int) { return 0; }
int nvshmem_team_split_strided(int parent, int, int, int, const void*, long, int* team) { if (team) *team = parent; return 0; }
void* nvshmem_malloc(size_t bytes) { return Allocate(bytes); }
void* nvshmem_calloc(size_t count, size_t bytes) { size_t all = 0; return __builtin_mul_overflow(count, bytes, &all) ? nullptr : Allocate(all); }
void* nvshmem_align(size_t, size_t bytes) { return Allocate(bytes); }
void nvshmem_free(void* address) { ThePlatform().memory.Free(address); }
void* nvshmem_ptr(const void* address, int pe) { return pe == 0 ? const_cast<void*>(address) : nullptr; }
void* nvshmemx_mc_ptr(int, const void*) { return nullptr; }
int nvshmemx_cumodule_init(void*) { return 0; }
void nvshmem_barrier_all() {}
void nvshmemx_barrier_all_on_stream(void*) {}
void nvshmemx_putmem_on_stream(void* to, const void*, size_t bytes, int, void* stream) { Move("nvshmemx_putmem_on_stream", to, bytes, stream); }
void nvshmemx_getmem_on_stream(void* to, const void*, size_t bytes, int, void* stream) { Move("nvshmemx_getmem_on_stream", to, bytes, stream); }
void nvshmemx_putmem_signal_on_stream(void* to, const void*, size_t bytes, void*, uint64_t, int, int, void* stream) { Move("nvshmemx_putmem_signal_on_stream", to, bytes, stream); }
void nvshmemx_signal_wait_until_on_stream(void*, int, uint64_t, void*) {}
int nvshmemx_alltoallmem_on_stream(int, void* to, const void*, size_t bytes, void* stream) { return Move("nvshmemx_alltoallmem_on_stream", to, bytes, stream); }
int nvshmemx_broadcastmem_on_stream(int, void* to, const void*, size_t bytes, int, void* stream) { return Move("nvshmemx_broadcastmem_on_stream", to, bytes, stream); }

}  // extern "C"
