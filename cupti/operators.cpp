// Finds the PyTorch operator that is running. PyTorch tells NVTX when an operator begins and ends
// (the NVTX state of its profiler, which emulated/python/vramscope/activities.py enables). A tool
// can replace NVTX's functions: NVTX_INJECTION64_PATH names its library, which exports
// "InitializeInjectionNvtx2" (in CUDA 11 and before, "InitializeInjectionNvtx"). Work that an
// operator launches gets the operator's name. Ranges of the program itself are ignored.
#include "cupti/operators.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cupti/client.h"
#include "cupti/write_all.h"

#define VRAMSCOPE_EXPORTED extern "C" __attribute__((visibility("default")))

namespace vramscope::cupti {
namespace {

// The parts of NVTX's interface for tools that are used here. Their positions never change.
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

// The numbers of operators in the history. All threads share them. Never destroyed, like
// Thread.
struct Numbers {
  std::mutex changing;
  std::unordered_map<std::string, uint16_t, TextHash, std::equal_to<>> known;
  std::vector<std::string> names;  // the name of number 1 comes first
  size_t written = 0;
  static Numbers& The() {
    static auto* numbers = new Numbers;
    return *numbers;
  }
};
constinit thread_local uint16_t t_here = 0;

// The numbers of an operator in the client's table of names and in the history.
struct Known {
  uint32_t name;
  uint16_t number;  // 0: allocations belong to the enclosing operator
};
struct Open {
  bool told;        // PushCause() was called
  uint16_t before;  // the previous t_here
};
struct Thread {
  std::unordered_map<std::string, Known, TextHash, std::equal_to<>> names;
  std::vector<Open> open;
};
// Never destroyed, because operators may still run while the thread or the process ends.
Thread& NewThread() {
  static std::mutex* const adding = new std::mutex;
  static std::deque<Thread>* const threads = new std::deque<Thread>;
  std::lock_guard lock(*adding);
  return threads->emplace_back();
}
Thread& TheThread() {
  static thread_local Thread* const thread = &NewThread();
  return *thread;
}

// Returns whether the operator only allocates, such as aten::empty_strided within aten::_to_copy.
bool MakesRoom(std::string_view op) {
  for (const std::string_view front : {"aten::empty", "aten::new_empty", "aten::resize"})
    if (op.starts_with(front)) return true;
  return false;
}

uint16_t HistorysNumber(std::string_view op) {
  constexpr size_t kMost = UINT16_MAX - 1;  // a row contains number + 1
  if (MakesRoom(op) || op.find_first_of("\"\\") != std::string_view::npos ||
      std::any_of(op.begin(), op.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    return 0;
  Numbers& numbers = Numbers::The();
  std::lock_guard lock(numbers.changing);
  const auto known = numbers.known.find(op);
  if (known != numbers.known.end()) return known->second;
  if (numbers.names.size() >= kMost) return 0;
  numbers.names.emplace_back(op);
  const auto number = static_cast<uint16_t>(numbers.names.size());
  numbers.known.emplace(op, number);
  return number;
}

Known NumberOf(Thread& thread, std::string_view op) {
  const auto known = thread.names.find(op);
  if (known != thread.names.end()) return known->second;
  const Known made = {Client::The().Name(op).value, HistorysNumber(op)};
  constexpr size_t kMostNames = size_t{1} << 16;
  if (made.name != 0 && thread.names.size() < kMostNames) thread.names.emplace(op, made);
  return made;
}

// Returns the depth of the range, counted from 0, as NVTX's documentation specifies.
int Push(const char* name) {
  Thread& thread = TheThread();
  const std::string_view op = OperatorOfRange(name == nullptr ? "" : name);
  const Known known = op.empty() ? Known{} : NumberOf(thread, op);
  const bool tell = known.name != 0;
  if (tell) Client::The().PushCause(ExternalId({known.name}, {}));
  thread.open.push_back({tell, t_here});
  if (known.number != 0) t_here = known.number;
  return static_cast<int>(thread.open.size()) - 1;
}

// Called for ranges that begin through NVTX's other functions. PyTorch's operators do not use them,
// but such a range must be pushed, too, because Pop() is called at its end.
int PushOther(const void*) { return Push(nullptr); }

int Pop() {
  constexpr int kNothingOpen = -2;
  Thread& thread = TheThread();
  if (thread.open.empty()) return kNothingOpen;
  if (thread.open.back().told) Client::The().PopCause();
  t_here = thread.open.back().before;
  thread.open.pop_back();
  return static_cast<int>(thread.open.size());
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
  // Searches from the end for the op id. Only argument sizes, if the program requested them, follow
  // it.
  const size_t id = range.rfind(", op_id = ");
  if (id == std::string_view::npos) return {};
  std::string_view op = range.substr(0, std::min(id, range.rfind(", seq = ", id)));
  constexpr std::string_view kOfEngine = "autograd::engine::evaluate_function: ";
  if (op.starts_with(kOfEngine)) op.remove_prefix(kOfEngine.size());
  return op;
}

uint16_t OperatorHere() { return t_here; }

bool WriteOperators(int fd) {
  Numbers& numbers = Numbers::The();
  std::lock_guard lock(numbers.changing);
  std::string text;
  for (; numbers.written < numbers.names.size(); ++numbers.written)
    text.append("[\"o\",")
        .append(std::to_string(numbers.written + 1))
        .append(",\"")
        .append(numbers.names[numbers.written])
        .append("\"]\n");
  return WriteAll(fd, text) == text.size();
}

}  // namespace vramscope::cupti

VRAMSCOPE_EXPORTED int InitializeInjectionNvtx2(vramscope::cupti::ExportTable export_table) {
  return vramscope::cupti::TakeOver(export_table);
}
VRAMSCOPE_EXPORTED int InitializeInjectionNvtx(vramscope::cupti::ExportTable export_table) {
  return vramscope::cupti::TakeOver(export_table);
}
