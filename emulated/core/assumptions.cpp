#include "emulated/core/assumptions.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <mutex>
#include <set>
#include <string>

#include "emulated/core/platform.h"

namespace vramscope::emulated {
namespace {

// Returns the log, which is opened at the first call, or null if logging is off.
std::FILE* LogFile() {
  static std::FILE* file = []() -> std::FILE* {
    const std::string& path = ThePlatform().settings.log;
    if (path.empty() || path == "-") {
      return path.empty() ? nullptr : stderr;
    }
    std::FILE* opened = std::fopen(path.c_str(), "ae");
    if (opened == nullptr) {
      std::fprintf(stderr, "vramscope: cannot write the log %s\n", path.c_str());
    }
    return opened;
  }();
  return file;
}

}  // namespace

void Log(const char* format, ...) {
  std::FILE* file = LogFile();
  if (file == nullptr) {
    return;
  }
  char line[2048];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  std::fprintf(file, "vramscope: %s\n", line);
  std::fflush(file);
}

void AssumptionList::Add(std::string_view what, std::string_view where, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (entries_.size() >= kMost &&
      index_.find({std::string(what), std::string(where)}) == index_.end()) {
    what = "further assumptions, which are not listed";
    where = "";
    bytes = 0;
  }
  const auto [it, is_new] =
      index_.insert({{std::string(what), std::string(where)}, entries_.size()});
  if (is_new) {
    entries_.push_back({std::string(what), std::string(where), bytes, 0});
  }
  ++entries_[it->second].count;
}

std::vector<Assumption> AssumptionList::All() const {
  std::lock_guard lock(mutex_);
  return entries_;
}

void Assume(std::string_view what, std::string_view where, uint64_t bytes) {
  ThePlatform().assumptions.Add(what, where, bytes);
}

void CalledUnknown(const Stub& stub) {
  Platform& platform = ThePlatform();
  (stub.answer == 0 ? platform.succeeding_functions : platform.unknown_functions)
      .Add(stub.function, stub.library, 0);
  static std::mutex mutex;
  static auto* logged = new std::set<const Stub*>;
  {
    std::lock_guard lock(mutex);
    if (!logged->insert(&stub).second) {
      return;
    }
  }
  Log("not emulated, answered with %s: %s of %s",
      stub.answer == 0 ? "success" : "\"not supported\"", stub.function, stub.library);
}

}  // namespace vramscope::emulated

int64_t vramscope_emulated_unknown(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                                   uint64_t f, const vramscope::emulated::Stub* stub) {
  vramscope::emulated::CalledUnknown(*stub);
  const uint64_t parameters[] = {a, b, c, d, e, f};
  static_assert(std::size(parameters) == vramscope::emulated::Stub::kParameters);
  for (size_t i = 0; i < std::size(parameters); ++i) {
    if (stub->output_bytes[i] > 0 && parameters[i] != 0) {
      std::memset(reinterpret_cast<void*>(parameters[i]), 0, stub->output_bytes[i]);
    }
  }
  return stub->answer;
}
