#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstring>

#include "cupti/marks.h"

namespace vramscope::cupti {
namespace {

// The reader's limit (kMaxMarksBytes of profiler/program/marks.h).
constexpr size_t kMostBytes = size_t{1} << 30;
// This thread's number, and the number of the file for which it is valid.
thread_local uint32_t t_thread = 0, t_file = 0;

template <typename Number>
char* Print(char* at, Number number) {
  constexpr ptrdiff_t kMostDigits = 20;
  return std::to_chars(at, at + kMostDigits, number).ptr;
}

}  // namespace

MarksFile& MarksFile::The() {
  static auto* file = new MarksFile;  // never destroyed: used while the process ends
  return *file;
}

bool MarksFile::Begin(const char* path, Clock clock) {
  static const int in_children = pthread_atfork(nullptr, nullptr, [] { The().Silence(); });
  static_cast<void>(in_children);
  std::lock_guard lock(mutex_);
  used_ = 0;
  ++begun_;
  threads_ = 0;
  clock_ = clock;
  const bool made = file_.Create(path, kMostBytes) && file_.Reserve(1);
  if (!made) file_.Close();
  failed_.store(!made, std::memory_order_relaxed);
  on_.store(made, std::memory_order_relaxed);
  return made;
}

void MarksFile::End() {
  std::lock_guard lock(mutex_);
  on_.store(false, std::memory_order_relaxed);
  if (file_.data() == nullptr) return;
  file_.CutTo(used_);
  file_.Close();
}

int64_t MarksFile::Now() const {
  if (clock_ != nullptr) return static_cast<int64_t>(clock_());
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void MarksFile::Put(char kind, int device, uint64_t requests, int64_t time_ns,
                    std::span<const int64_t> arguments) {
  std::array<char, kLongestLine> line = {'[', '"', kind, '"'};
  std::lock_guard lock(mutex_);
  char* at = line.data() + 4;
  const auto add = [&](auto number) {
    *at++ = ',';
    at = Print(at, number);
  };
  const uint32_t thread = Thread();
  add(device);
  add(requests);
  add(time_ns);
  add(thread);
  for (const int64_t argument : arguments) add(argument);
  *at++ = ']';
  Append({line.data(), at});
}

void MarksFile::PutText(std::string_view line) {
  std::lock_guard lock(mutex_);
  Append(line);
}

// Returns the number of this thread. Threads are numbered in the order of their first marks, and a
// line of the file maps the number to the system's id.
uint32_t MarksFile::Thread() {
  if (t_file == begun_) return t_thread;
  t_file = begun_;
  t_thread = threads_++;
  std::array<char, kLongestLine> line = {'[', '"', 'T', '"', ','};
  char* at = Print(line.data() + 5, t_thread);
  *at++ = ',';
  at = Print(at, static_cast<uint64_t>(syscall(SYS_gettid)));
  *at++ = ']';
  Append({line.data(), at});
  return t_thread;
}

void MarksFile::Append(std::string_view line) {
  if (!on() || line.empty()) return;
  if (!file_.Reserve(used_ + line.size() + 1)) {
    failed_.store(true, std::memory_order_relaxed);
    Silence();
    return;
  }
  // The first letter is stored last, so a concurrent reader sees a complete line or zeros.
  auto* const at = reinterpret_cast<char*>(file_.data() + used_);
  std::memcpy(at + 1, line.data() + 1, line.size() - 1);
  at[line.size()] = '\n';
  std::atomic_ref<char>(*at).store(line[0], std::memory_order_release);
  used_ += line.size() + 1;
}

}  // namespace vramscope::cupti
