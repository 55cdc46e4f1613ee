// Implements libcufft. Plans store their sizes, and a transform is one kernel. The size of the work
// area is assumed. It is 0 for one-dimensional transforms in one kernel (powers of two up to 4096).
// Otherwise it is the size of the complex data, as NVIDIA's documentation estimates.
#include <algorithm>
#include <map>
#include <mutex>

#include "emulated/core/context.h"
#include "emulated/core/memory.h"
#include "emulated/core/platform.h"
#include "emulated/libraries/cufft_sizes.h"
#include "emulated/libraries/toolkit_versions.h"

namespace vramscope::emulated::cufft {
namespace {

enum Status : int {
  kSuccess = 0,
  kInvalidPlan = 1,
  kAllocFailed = 2,
  kInvalidValue = 4,
  kInternalError = 5,
  kExecFailed = 6
};

struct Plan {
  Transform transform;
  void* stream = nullptr;
  bool automatic = true;  // cuFFT allocates the work area itself
  uint64_t work_bytes = 0;
  void* own_area = nullptr;
  bool made = false;
};
struct Plans {
  std::mutex mutex;
  std::map<int, Plan> all;
  int next = 1;
};
Plans& ThePlans() {
  static auto* plans = new Plans;
  return *plans;
}

template <class F>
int With(int handle, F&& function) {
  Plans& plans = ThePlans();
  std::lock_guard lock(plans.mutex);
  const auto found = plans.all.find(handle);
  return found == plans.all.end() ? kInvalidPlan : function(found->second);
}

int Create(int* handle) {
  if (!handle) return kInvalidValue;
  Plans& plans = ThePlans();
  std::lock_guard lock(plans.mutex);
  *handle = plans.next++;
  plans.all[*handle];
  return kSuccess;
}

template <class I>
bool Fill(Transform* t, int rank, const I* n, int64_t batch) {
  if (rank < 1 || rank > kMostRank || !n || batch < 1) return false;
  t->rank = rank;
  t->batch = batch;
  for (int i = 0; i < rank; ++i) {
    if (n[i] < 1) return false;
    t->n[static_cast<size_t>(i)] = n[i];
  }
  return true;
}
// Sets the types of input and output from a cufftType number.
bool FillType(Transform* t, int type) {
  switch (type) {
    case 0x29:
      *t = {.bits = 64, .real_in = false, .real_out = false};
      return true;
    case 0x2a:
      *t = {.bits = 64, .real_in = true, .real_out = false};
      return true;
    case 0x2c:
      *t = {.bits = 64, .real_in = false, .real_out = true};
      return true;
    case 0x69:
      *t = {.bits = 128, .real_in = false, .real_out = false};
      return true;
    case 0x6a:
      *t = {.bits = 128, .real_in = true, .real_out = false};
      return true;
    case 0x6c:
      *t = {.bits = 128, .real_in = false, .real_out = true};
      return true;
    default:
      return false;
  }
}
void FillTypes(Transform* t, int in, int out) {
  const DataType from = DataTypeOf(in), to = DataTypeOf(out);
  t->bits = std::max(from.complex ? from.bits : from.bits * 2, to.complex ? to.bits : to.bits * 2);
  t->real_in = !from.complex;
  t->real_out = !to.complex;
}

template <class I>
int Make(int handle, Transform t, int rank, const I* n, int64_t batch, size_t* work) {
  if (!Fill(&t, rank, n, batch)) return kInvalidValue;
  return With(handle, [&](Plan& plan) -> int {
    plan.transform = t;
    plan.work_bytes = WorkArea(t);
    plan.made = true;
    GrowContext(CurrentDevice(), ContextPart::kCufft);
    Assume("cuFFT work area", "cufftMakePlan", plan.work_bytes);
    if (work) *work = plan.work_bytes;
    if (plan.automatic && plan.work_bytes && !plan.own_area &&
        ThePlatform().memory.Allocate(CurrentDevice(), plan.work_bytes, &plan.own_area) !=
            Result::kSuccess)
      return kAllocFailed;
    return kSuccess;
  });
}
template <class I>
int MakeOfType(int handle, int type, int rank, const I* n, int64_t batch, size_t* work) {
  Transform t;
  return FillType(&t, type) ? Make(handle, t, rank, n, batch, work)
                            : static_cast<int>(kInvalidValue);
}
template <class I>
int Estimate(int type, int rank, const I* n, int64_t batch, size_t* work) {
  Transform t;
  if (!work || !FillType(&t, type) || !Fill(&t, rank, n, batch)) return kInvalidValue;
  *work = WorkArea(t);
  return kSuccess;
}

int Execute(int handle, const char* name, void* out) {
  return With(handle, [&](Plan& plan) -> int {
    if (!plan.made) return kInvalidPlan;
    const Written writes[] = {{out, OutputBytes(plan.transform)}};
    const Result result = Submit({.name = name,
                                  .stream = plan.stream,
                                  .flops = Flops(plan.transform),
                                  .bytes = InputBytes(plan.transform) + OutputBytes(plan.transform),
                                  .writes = writes});
    return result == Result::kSuccess ? kSuccess : kExecFailed;
  });
}

}  // namespace
}  // namespace vramscope::emulated::cufft

using namespace vramscope::emulated;
using namespace vramscope::emulated::cufft;
using L = long long;

// clang-format off
extern "C" {

int cufftCreate(int* plan) { return Create(plan); }
int cufftDestroy(int handle) {
  Plans& plans = ThePlans();
  std::lock_guard lock(plans.mutex);
  const auto found = plans.all.find(handle);
  if (found == plans.all.end()) return kInvalidPlan;
  if (found->second.own_area) ThePlatform().memory.Free(found->second.own_area);
  plans.all.erase(found);
  return kSuccess;
}
int cufftGetVersion(int* version) {
  if (!version) return kInvalidValue;
  const Version v = CufftVersion(VRAMSCOPE_EMULATED_MAJOR);
  *version = v.major * 1000 + v.minor * 100 + v.patch;
  return kSuccess;
}
int cufftGetProperty(int type, int* value) {
  if (!value || type < 0 || type > 2) return kInvalidValue;
  const Version v = CufftVersion(VRAMSCOPE_EMULATED_MAJOR);
  *value = type == 0 ? v.major : type == 1 ? v.minor : v.patch;
  return kSuccess;
}
int cufftSetStream(int plan, void* stream) { return With(plan, [&](Plan& p) { p.stream = stream; return kSuccess; }); }
int cufftSetAutoAllocation(int plan, int on) { return With(plan, [&](Plan& p) { p.automatic = on != 0; return kSuccess; }); }
int cufftSetWorkArea(int plan, void*) {
  return With(plan, [&](Plan& p) {  // from now on the program provides the work area
    if (p.own_area) ThePlatform().memory.Free(p.own_area);
    p.own_area = nullptr;
    return kSuccess;
  });
}
int cufftXtSetWorkArea(int plan, void**) { return cufftSetWorkArea(plan, nullptr); }
int cufftXtSetWorkAreaPolicy(int plan, int, size_t*) { return With(plan, [](Plan&) { return kSuccess; }); }
int cufftGetSize(int plan, size_t* work) { return work ? With(plan, [&](Plan& p) { *work = p.work_bytes; return kSuccess; }) : kInvalidValue; }

int cufftMakePlan1d(int plan, int n, int type, int batch, size_t* work) { const int s[] = {n}; return MakeOfType(plan, type, 1, s, batch, work); }
int cufftMakePlan2d(int plan, int a, int b, int type, size_t* work) { const int s[] = {a, b}; return MakeOfType(plan, type, 2, s, 1, work); }
int cufftMakePlan3d(int plan, int a, int b, int c, int type, size_t* work) { const int s[] = {a, b, c}; return MakeOfType(plan, type, 3, s, 1, work); }
int cufftMakePlanMany(int plan, int rank, int* n, int*, int, int, int*, int, int, int type, int batch, size_t* work) { return MakeOfType(plan, type, rank, n, batch, work); }
int cufftMakePlanMany64(int plan, int rank, L* n, L*, L, L, L*, L, L, int type, L batch, size_t* work) { return MakeOfType(plan, type, rank, n, batch, work); }
int cufftXtMakePlanMany(int plan, int rank, L* n, L*, L, L, int in, L*, L, L, int out, L batch, size_t* work, int) {
  Transform t;
  FillTypes(&t, in, out);
  return Make(plan, t, rank, n, batch, work);
}
int cufftPlan1d(int* plan, int n, int type, int batch) { const int s = Create(plan); return s ? s : cufftMakePlan1d(*plan, n, type, batch, nullptr); }
int cufftPlan2d(int* plan, int a, int b, int type) { const int s = Create(plan); return s ? s : cufftMakePlan2d(*plan, a, b, type, nullptr); }
int cufftPlan3d(int* plan, int a, int b, int c, int type) { const int s = Create(plan); return s ? s : cufftMakePlan3d(*plan, a, b, c, type, nullptr); }
int cufftPlanMany(int* plan, int rank, int* n, int* ie, int is, int id, int* oe, int os, int od, int type, int batch) { const int s = Create(plan); return s ? s : cufftMakePlanMany(*plan, rank, n, ie, is, id, oe, os, od, type, batch, nullptr); }

int cufftEstimate1d(int n, int type, int batch, size_t* work) { const int s[] = {n}; return Estimate(type, 1, s, batch, work); }
int cufftEstimate2d(int a, int b, int type, size_t* work) { const int s[] = {a, b}; return Estimate(type, 2, s, 1, work); }
int cufftEstimate3d(int a, int b, int c, int type, size_t* work) { const int s[] = {a, b, c}; return Estimate(type, 3, s, 1, work); }
int cufftEstimateMany(int rank, int* n, int*, int, int, int*, int, int, int type, int batch, size_t* work) { return Estimate(type, rank, n, batch, work); }
int cufftGetSize1d(int, int n, int type, int batch, size_t* work) { return cufftEstimate1d(n, type, batch, work); }
int cufftGetSize2d(int, int a, int b, int type, size_t* work) { return cufftEstimate2d(a, b, type, work); }
int cufftGetSize3d(int, int a, int b, int c, int type, size_t* work) { return cufftEstimate3d(a, b, c, type, work); }
int cufftGetSizeMany(int, int rank, int* n, int*, int, int, int*, int, int, int type, int batch, size_t* work) { return Estimate(type, rank, n, batch, work); }
int cufftGetSizeMany64(int, int rank, L* n, L*, L, L, L*, L, L, int type, L batch, size_t* work) { return Estimate(type, rank, n, batch, work); }
int cufftXtGetSizeMany(int, int rank, L* n, L*, L, L, int in, L*, L, L, int out, L batch, size_t* work, int) {
  Transform t;
  FillTypes(&t, in, out);
  if (!work || !Fill(&t, rank, n, batch)) return kInvalidValue;
  *work = WorkArea(t);
  return kSuccess;
}

int cufftXtExec(int plan, void*, void* out, int) { return Execute(plan, "cufftXtExec", out); }
int cufftExecC2C(int plan, void*, void* out, int) { return Execute(plan, "cufftExecC2C", out); }
int cufftExecZ2Z(int plan, void*, void* out, int) { return Execute(plan, "cufftExecZ2Z", out); }
int cufftExecR2C(int plan, void*, void* out) { return Execute(plan, "cufftExecR2C", out); }
int cufftExecC2R(int plan, void*, void* out) { return Execute(plan, "cufftExecC2R", out); }
int cufftExecD2Z(int plan, void*, void* out) { return Execute(plan, "cufftExecD2Z", out); }
int cufftExecZ2D(int plan, void*, void* out) { return Execute(plan, "cufftExecZ2D", out); }
int cufftSetPlanPropertyInt64(int plan, int, L) { return With(plan, [](Plan&) { return kSuccess; }); }
int cufftGetPlanPropertyInt64(int plan, int, L* value) { return value ? With(plan, [&](Plan&) { *value = 0; return kSuccess; }) : kInvalidValue; }

}  // extern "C"
