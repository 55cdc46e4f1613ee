#include "emulated/runtime/symbols.h"

#include <map>
#include <mutex>
#include <unordered_map>

#include "emulated/core/platform.h"

namespace vramscope::emulated::runtime {
namespace {

struct Symbol {
  size_t bytes = 0;
  std::map<int, void*> addresses;  // keyed by device
};
struct Symbols {
  std::mutex mutex;
  std::unordered_map<const void*, Symbol> all;
};
Symbols& TheSymbols() {
  static auto* symbols = new Symbols;
  return *symbols;
}

}  // namespace

void RegisterSymbol(const void* symbol, size_t bytes) {
  Symbols& symbols = TheSymbols();
  std::lock_guard lock(symbols.mutex);
  symbols.all[symbol] = {bytes, {}};
}

Result AddressOfSymbol(const void* symbol, void** address, size_t* bytes) {
  Symbols& symbols = TheSymbols();
  std::lock_guard lock(symbols.mutex);
  const auto it = symbols.all.find(symbol);
  if (it == symbols.all.end()) {
    return Result::kNotFound;
  }
  const int device = CurrentDevice();
  void*& at = it->second.addresses[device];
  if (at == nullptr) {
    Memory& memory = ThePlatform().memory;
    if (const Result result = memory.ReserveAddresses(it->second.bytes, 0, &at);
        result != Result::kSuccess) {
      return result;
    }
    memory.SetMapped(at, it->second.bytes, device);
  }
  *address = at;
  *bytes = it->second.bytes;
  return Result::kSuccess;
}

}  // namespace vramscope::emulated::runtime
