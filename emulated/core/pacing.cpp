#include "emulated/core/pacing.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <vector>

#include "emulated/core/assumptions.h"

namespace vramscope::emulated {
namespace {

constexpr int64_t kPeriodNs = 100'000'000;       // of virtual time: the watchdog's own period
constexpr int64_t kLongestPollNs = 150'000'000;  // a wait of at most that is a poller's
constexpr auto kPatience = std::chrono::seconds(2);

struct Poller {
  uint64_t turn = 0;  // the last one that it took
  bool waiting = false;
  pthread_cond_t* condition = nullptr;
};

struct Pace {
  std::mutex mutex;
  std::condition_variable back;
  std::vector<Poller*> pollers;
  uint64_t turn = 0;
  bool broken = false;  // a poller did not come back: they run as they like
  std::atomic<int64_t> next{kPeriodNs};
  std::atomic<int64_t> given{0};  // the clock at the last turn
  std::atomic<int> count{0};
};
Pace& ThePace() {
  static auto* pace = new Pace;
  return *pace;
}

class PollingThread {
 public:
  Poller* Join() {
    if (!joined_) {
      Pace& pace = ThePace();
      std::lock_guard lock(pace.mutex);
      poller_.turn = pace.turn;
      pace.pollers.push_back(&poller_);
      ++pace.count;
      joined_ = true;
    }
    return &poller_;
  }
  ~PollingThread() {
    if (joined_) {
      Pace& pace = ThePace();
      std::lock_guard lock(pace.mutex);
      std::erase(pace.pollers, &poller_);
      --pace.count;
      pace.back.notify_all();
    }
  }
  bool joined() const { return joined_; }

  int64_t ahead = 0;  // of the last turn: a loop without waits
  int questions = 0;

 private:
  bool joined_ = false;
  Poller poller_;
};
thread_local PollingThread polling;

int64_t Nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// pthread_cond_timedwait of a library whose pollers are paced.
int PacedTimedWait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  Pace& pace = ThePace();
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (pace.broken || Nanoseconds(*until) - Nanoseconds(now) > kLongestPollNs) {
    return pthread_cond_timedwait(condition, mutex, until);
  }
  Poller* poller = polling.Join();
  polling.ahead = 0;
  polling.questions = 0;
  for (;;) {
    {
      std::lock_guard lock(pace.mutex);
      if (poller->turn < pace.turn || pace.broken) {
        poller->turn = pace.turn;
        poller->waiting = false;
        return ETIMEDOUT;
      }
      poller->condition = condition;
      poller->waiting = true;
      pace.back.notify_all();
    }
    // GiveTurns wakes it; the slice is for a wake-up that came just before the wait.
    constexpr int64_t kSliceNs = 20'000'000;
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t slice = Nanoseconds(now) + kSliceNs;
    const timespec end = {static_cast<time_t>(slice / 1'000'000'000),
                          static_cast<long>(slice % 1'000'000'000)};
    const int result = pthread_cond_timedwait(condition, mutex, &end);
    std::lock_guard lock(pace.mutex);
    if (poller->turn == pace.turn && result == 0) {  // its own library woke it
      poller->waiting = false;
      return 0;
    }
  }
}

// Turns the slot of a function in an object's table of imported functions to `replacement`.
void Redirect(const dl_phdr_info& object, const char* function, void* replacement) {
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type == PT_DYNAMIC) {
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    }
  }
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela)* relocations = nullptr;
  size_t bytes = 0;
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    const auto at = dynamic->d_un.d_ptr;
    switch (dynamic->d_tag) {
      case DT_SYMTAB:
        symbols = reinterpret_cast<const ElfW(Sym)*>(at);
        break;
      case DT_STRTAB:
        names = reinterpret_cast<const char*>(at);
        break;
      case DT_JMPREL:
        relocations = reinterpret_cast<const ElfW(Rela)*>(at);
        break;
      case DT_PLTRELSZ:
        bytes = dynamic->d_un.d_val;
        break;
      default:
        break;
    }
  }
  if (symbols == nullptr || names == nullptr || relocations == nullptr) {
    return;
  }
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (size_t i = 0; i < bytes / sizeof *relocations; ++i) {
    const ElfW(Rela)& relocation = relocations[i];
    if (std::strcmp(names + symbols[ELF64_R_SYM(relocation.r_info)].st_name, function) != 0) {
      continue;
    }
    const uintptr_t slot = object.dlpi_addr + relocation.r_offset;
    void* first = reinterpret_cast<void*>(slot / page * page);
    if (mprotect(first, page, PROT_READ | PROT_WRITE) == 0) {
      *reinterpret_cast<void**>(slot) = replacement;
    }
  }
}

}  // namespace

void PaceWaitsOf(const void* address) {
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* data) {
        const auto at = reinterpret_cast<uintptr_t>(data) - object->dlpi_addr;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = object->dlpi_phdr[i];
          if (part.p_type == PT_LOAD && at - part.p_vaddr < part.p_memsz) {
            Redirect(*object, "pthread_cond_timedwait", reinterpret_cast<void*>(&PacedTimedWait));
            return 1;
          }
        }
        return 0;
      },
      const_cast<void*>(address));
}

void GiveTurns(int64_t now) {
  Pace& pace = ThePace();
  if (now < pace.next.load(std::memory_order_relaxed)) {
    return;
  }
  pace.next = (now / kPeriodNs + 1) * kPeriodNs;
  if (pace.count.load(std::memory_order_relaxed) == 0 || polling.joined()) {
    return;
  }
  std::unique_lock lock(pace.mutex);
  if (pace.broken) {
    return;
  }
  pace.given = now;
  ++pace.turn;
  for (const Poller* poller : pace.pollers) {
    if (poller->waiting) {
      pthread_cond_broadcast(poller->condition);
    }
  }
  const bool all = pace.back.wait_for(lock, kPatience, [&] {
    return std::all_of(pace.pollers.begin(), pace.pollers.end(), [&](const Poller* poller) {
      return poller->turn == pace.turn && poller->waiting;
    });
  });
  if (!all) {
    pace.broken = true;
    lock.unlock();
    Assume("a polling thread did not come back: what it sees depends on the wall clock",
           "NCCL's watchdog", 0);
  }
}

bool IsPaced(int64_t* time) {
  if (!polling.joined() || ThePace().broken) {
    return false;
  }
  *time = ThePace().given.load(std::memory_order_relaxed) + polling.ahead;
  return true;
}

void PacedAsked(int64_t ready) {
  constexpr int kQuestions = 10'000;
  if (++polling.questions > kQuestions) {
    polling.ahead = std::max(polling.ahead, ready - ThePace().given.load());
  }
}

}  // namespace vramscope::emulated
