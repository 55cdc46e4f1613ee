#include "profiler/trace/terminate.h"

#include <cxxabi.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>

#include "profiler/trace/output_file.h"

namespace vramscope::trace {
namespace {

const char* g_name = "vramscope";

// Does not allocate memory.
void Say(const char* text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
}

[[noreturn]] void End() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  // Comparing types ignores base classes, so std::bad_array_new_length is compared separately.
  const bool memory = type != nullptr && (*type == typeid(std::bad_alloc) ||
                                          *type == typeid(std::bad_array_new_length));
  Say(g_name);
  Say(memory ? ": error: not enough memory" : ": internal failure: ");
  if (!memory) Say(type != nullptr ? type->name() : "terminated");
  if (OutputFile::RemoveUnfinished()) Say("; nothing was written");
  Say("\n");
  // Without an exception, the cause is a defect that only a core dump shows.
  if (!memory && type == nullptr) std::abort();
  _exit(memory ? kStatusOutOfMemory : kStatusTerminated);
}

}  // namespace

void EndCleanlyOnTerminate(const char* name) {
  g_name = name;
  std::set_terminate(End);
}

}  // namespace vramscope::trace
