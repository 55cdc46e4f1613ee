// Which of PyTorch's operators is at work: PyTorch tells tools of NVTX when one begins and ends
// (its profiler's NVTX state, which emulated/python/vramscope/activities.py switches on), and NVTX
// lets a tool take its functions over (NVTX_INJECTION64_PATH, "InitializeInjectionNvtx2"; in the
// library of CUDA 11 and before, "InitializeInjectionNvtx"). What an operator launches has its name
// from then on. Ranges that the program names itself are left alone.
#include "cupti/operators.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cupti/client.h"

#define VRAMSCOPE_EXPORTED extern "C" __attribute__((visibility("default")))

namespace vramscope::cupti {
namespace {

// NVTX's interface for tools, as far as it is used: places that every version has.
using Function = void (*)();
using FunctionTable = Function**;
struct CallbackTable {
  size_t struct_bytes;
  int (*module_table)(uint32_t module, FunctionTable* table, unsigned* size);
};
using ExportTable = const void* (*)(uint32_t id);
constexpr uint32_t kCallbacks = 1, kCoreModule = 1;
constexpr unsigned kRangePushEx = 8, kRangePushA = 9, kRangePushW = 10, kRangePop = 11;

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

// Operators of a thread, by name; what they are called in the client's table.
struct Thread {
  std::unordered_map<std::string, uint32_t, TextHash, std::equal_to<>> names;
  std::vector<bool> told;  // of the ranges that are open: the client knows of it
};
// Never destroyed: operators run while a thread, and the process, end.
Thread& TheThread() {
  static thread_local Thread* thread = new Thread;
  return *thread;
}

uint32_t NumberOf(Thread& thread, std::string_view op) {
  const auto known = thread.names.find(op);
  if (known != thread.names.end()) return known->second;
  const uint32_t number = Client::The().Name(op).value;
  constexpr size_t kMostNames = size_t{1} << 16;
  if (number != 0 && thread.names.size() < kMostNames) thread.names.emplace(op, number);
  return number;
}

// As documented: the depth that it has, from 0.
int Push(const char* name) {
  Thread& thread = TheThread();
  const std::string_view op = OperatorOfRange(name == nullptr ? "" : name);
  const uint32_t number = op.empty() ? 0 : NumberOf(thread, op);
  const bool tell = number != 0;
  if (tell) Client::The().PushCause(ExternalId({number}, {}));
  thread.told.push_back(tell);
  return static_cast<int>(thread.told.size()) - 1;
}

// Of other forms: PyTorch's operators use none, but they are popped like the others.
int PushOther(const void*) { return Push(nullptr); }

int Pop() {
  constexpr int kNothingOpen = -2;
  Thread& thread = TheThread();
  if (thread.told.empty()) return kNothingOpen;
  if (thread.told.back()) Client::The().PopCause();
  thread.told.pop_back();
  return static_cast<int>(thread.told.size());
}

int TakeOver(ExportTable export_table) {
  const auto* callbacks = export_table == nullptr
                              ? nullptr
                              : static_cast<const CallbackTable*>(export_table(kCallbacks));
  FunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr || callbacks->struct_bytes < sizeof *callbacks ||
      callbacks->module_table == nullptr ||
      callbacks->module_table(kCoreModule, &table, &size) == 0 || table == nullptr ||
      size <= kRangePop) {
    return 0;
  }
  for (unsigned id = kRangePushEx; id <= kRangePop; ++id) {
    if (table[id] == nullptr) return 0;
  }
  *table[kRangePushEx] = *table[kRangePushW] = reinterpret_cast<Function>(&PushOther);
  *table[kRangePushA] = reinterpret_cast<Function>(&Push);
  *table[kRangePop] = reinterpret_cast<Function>(&Pop);
  return 1;
}

}  // namespace

std::string_view OperatorOfRange(std::string_view range) {
  // Sizes of arguments follow only where a program asked for them; else this is near the end.
  const size_t id = range.rfind(", op_id = ");
  if (id == std::string_view::npos) return {};
  std::string_view op = range.substr(0, std::min(id, range.rfind(", seq = ", id)));
  constexpr std::string_view kOfEngine = "autograd::engine::evaluate_function: ";
  if (op.starts_with(kOfEngine)) op.remove_prefix(kOfEngine.size());
  return op;
}

}  // namespace vramscope::cupti

VRAMSCOPE_EXPORTED int InitializeInjectionNvtx2(vramscope::cupti::ExportTable export_table) {
  return vramscope::cupti::TakeOver(export_table);
}
VRAMSCOPE_EXPORTED int InitializeInjectionNvtx(vramscope::cupti::ExportTable export_table) {
  return vramscope::cupti::TakeOver(export_table);
}
