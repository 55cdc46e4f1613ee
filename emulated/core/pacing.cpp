#include "emulated/core/pacing.h"

#include <dlfcn.h>
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
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "emulated/core/assumptions.h"

namespace vramscope::emulated {
namespace {

constexpr int64_t kPeriodNs = 100'000'000;  // virtual time: the watchdog's own period
constexpr int64_t kHalfNs = kPeriodNs / 2;  // average delay until the watchdog queries
// The minimum time between turns. All work that ends within this time shares one turn.
constexpr int64_t kApartNs = 2'000'000;
constexpr int64_t kLongestPollNs = 150'000'000;  // a thread with longer timed waits is no poller
constexpr auto kPatience = std::chrono::seconds(2);

struct Poller {
  uint64_t turn = 0;  // the poller's last turn
  bool waiting = false;
  pthread_cond_t* condition = nullptr;
};

struct Pace {
  std::mutex mutex;
  std::condition_variable back;
  // The number of threads of paced libraries that have not reached a timed wait yet. Until a thread
  // reaches one, it is unknown whether the thread polls. GiveTurns waits only for the newborn
  // threads of the current generation.
  int newborn = 0;
  uint64_t generation = 0;
  std::vector<Poller*> pollers;
  uint64_t turn = 0;
  // A poller did not return to its wait. No poller is paced any more.
  std::atomic<bool> broken{false};
  std::set<int64_t> expected;  // times of turns: half a period after some work ends
  int64_t regular = kPeriodNs;
  std::atomic<int64_t> next{kPeriodNs};
  std::atomic<int64_t> given{0};  // the time that pollers see
  std::atomic<int> count{0};
};
Pace& ThePace() {
  static auto* pace = new Pace;
  return *pace;
}

// Call when it is known whether the thread polls.
void Grown(uint64_t generation) {
  Pace& pace = ThePace();
  std::lock_guard lock(pace.mutex);
  if (generation == pace.generation) {
    --pace.newborn;
    --pace.count;
    pace.back.notify_all();
  }
}

class PollingThread {
 public:
  void Begin(uint64_t generation) {
    newborn_ = true;
    generation_ = generation;
  }
  // Called when the thread waits or ends.
  void Grow() {
    if (std::exchange(newborn_, false)) {
      Grown(generation_);
    }
  }
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
    Grow();
    ended_ = true;
    if (std::exchange(joined_, false)) {
      Pace& pace = ThePace();
      std::lock_guard lock(pace.mutex);
      std::erase(pace.pollers, &poller_);
      --pace.count;
      pace.back.notify_all();
    }
  }
  bool joined() const { return joined_; }
  // True after the destructor has run. The main thread may still wait then, but is no longer paced.
  bool ended() const { return ended_; }

  // The times that std::chrono's clocks return at their next call. std::condition_variable compares
  // them with the deadline to detect a timeout, and ignores the result of the wait.
  int64_t steady = 0, system = 0;
  int64_t ahead = 0;  // offset to the last turn's time, for a loop without waits
  int questions = 0;

 private:
  bool newborn_ = false;
  uint64_t generation_ = 0;
  bool joined_ = false, ended_ = false;
  Poller poller_;
};
thread_local PollingThread polling;

int64_t Nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

int64_t TimeOf(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return Nanoseconds(now);
}

// These replace std::chrono::steady_clock::now and system_clock::now in a paced library.
int64_t PacedSteadyNow() {
  const int64_t once = std::exchange(polling.steady, 0);
  return once != 0 ? once : TimeOf(CLOCK_MONOTONIC);
}
int64_t PacedSystemNow() {
  const int64_t once = std::exchange(polling.system, 0);
  return once != 0 ? once : TimeOf(CLOCK_REALTIME);
}

// Calls the C library's function, even if this object's own import of it is redirected.
int ClockWait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
              const timespec* until) {
  using Function = int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
  static const auto wait =
      reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "pthread_cond_clockwait"));
  return wait(condition, mutex, clock, until);
}

// Replaces timed waits in a paced library.
int PacedClockWait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                   const timespec* until) {
  Pace& pace = ThePace();
  timespec now;
  clock_gettime(clock, &now);
  if (pace.broken || polling.ended() || Nanoseconds(*until) - Nanoseconds(now) > kLongestPollNs) {
    polling.Grow();
    return ClockWait(condition, mutex, clock, until);
  }
  Poller* poller = polling.Join();
  polling.Grow();
  polling.ahead = 0;
  polling.questions = 0;
  polling.steady = polling.system = 0;
  for (;;) {
    {
      std::lock_guard lock(pace.mutex);
      if (poller->turn < pace.turn || pace.broken) {
        poller->turn = pace.turn;
        poller->waiting = false;
        clock_gettime(clock, &now);
        const int64_t left = std::max<int64_t>(0, Nanoseconds(*until) - Nanoseconds(now)) + 1;
        polling.steady = TimeOf(CLOCK_MONOTONIC) + left;
        polling.system = TimeOf(CLOCK_REALTIME) + left;
        return ETIMEDOUT;
      }
      poller->condition = condition;
      poller->waiting = true;
      pace.back.notify_all();
    }
    // GiveTurns wakes the thread. If that happens just before the wait, the slice limits the
    // delay.
    constexpr int64_t kSliceNs = 20'000'000;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t slice = Nanoseconds(now) + kSliceNs;
    const timespec end = {static_cast<time_t>(slice / 1'000'000'000),
                          static_cast<long>(slice % 1'000'000'000)};
    ClockWait(condition, mutex, CLOCK_MONOTONIC, &end);
    std::lock_guard lock(pace.mutex);
    if (poller->turn == pace.turn) {
      // The thread's own library woke it, or set its condition without a lock just before the wait.
      // As after a spurious wake-up, the thread checks its condition and waits again.
      poller->waiting = false;
      (clock == CLOCK_REALTIME ? polling.system : polling.steady) =
          std::min(TimeOf(clock), Nanoseconds(*until) - 1);
      return 0;
    }
  }
}

int PacedTimedWait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  return PacedClockWait(condition, mutex, CLOCK_REALTIME, until);
}

// Runs the function of a thread that a paced library starts. The thread counts as newborn before it
// starts, so that GiveTurns also waits for a thread that starts slowly.
class StartedThread final : public std::thread::_State {
 public:
  explicit StartedThread(std::thread::_State_ptr run) : run_(std::move(run)) {
    Pace& pace = ThePace();
    std::lock_guard lock(pace.mutex);
    generation_ = pace.generation;
    ++pace.newborn;
    ++pace.count;
  }
  ~StartedThread() override {
    if (!begun_) {
      Grown(generation_);
    }
  }
  void _M_run() override {
    begun_ = true;
    polling.Begin(generation_);
    run_->_M_run();
  }

 private:
  std::thread::_State_ptr run_;
  uint64_t generation_;
  bool begun_ = false;
};

// std::thread::_M_start_thread, which std::thread's constructor calls.
constexpr char kStartThread[] =
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE";
using StartThread = void (*)(std::thread*, std::thread::_State_ptr, void (*)());

// Returns the function of the program's C++ standard library, or null. This library has its own,
// statically linked copy, which must not be used.
StartThread TheStartThread() {
  static const auto start = [] {
    void* library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    return library != nullptr ? reinterpret_cast<StartThread>(dlsym(library, kStartThread))
                              : nullptr;
  }();
  return start;
}

void PacedStartThread(std::thread* thread, std::thread::_State_ptr run, void (*depend)()) {
  TheStartThread()(thread, std::make_unique<StartedThread>(std::move(run)), depend);
}

// A relocation table.
struct Relocations {
  const ElfW(Rela) * first = nullptr;
  size_t count = 0;
};

// Redirects functions that an object imports, in its table of lazily bound functions and in its
// table of functions bound at load time. If `uses` is given, the object must need a library of that
// name.
void Redirect(const dl_phdr_info& object, const char* uses) {
  const ElfW(Dyn)* dynamic = nullptr;
  std::vector<size_t> needed;  // indexes in `names`
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type == PT_DYNAMIC) {
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    }
  }
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  Relocations lazy, bound;
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    const auto at = dynamic->d_un.d_ptr;
    switch (dynamic->d_tag) {
      case DT_NEEDED:
        needed.push_back(dynamic->d_un.d_val);
        break;
      case DT_SYMTAB:
        symbols = reinterpret_cast<const ElfW(Sym)*>(at);
        break;
      case DT_STRTAB:
        names = reinterpret_cast<const char*>(at);
        break;
      case DT_JMPREL:
        lazy.first = reinterpret_cast<const ElfW(Rela)*>(at);
        break;
      case DT_PLTRELSZ:
        lazy.count = dynamic->d_un.d_val / sizeof(ElfW(Rela));
        break;
      case DT_RELA:
        bound.first = reinterpret_cast<const ElfW(Rela)*>(at);
        break;
      case DT_RELASZ:
        bound.count = dynamic->d_un.d_val / sizeof(ElfW(Rela));
        break;
      default:
        break;
    }
  }
  if (uses != nullptr &&
      (names == nullptr || std::none_of(needed.begin(), needed.end(), [&](size_t name) {
         return std::strncmp(names + name, uses, std::strlen(uses)) == 0;
       }))) {
    return;
  }
  const struct {
    const char* name;
    void* replacement;
  } functions[] = {
      {kStartThread,
       TheStartThread() != nullptr ? reinterpret_cast<void*>(&PacedStartThread) : nullptr},
      {"pthread_cond_timedwait", reinterpret_cast<void*>(&PacedTimedWait)},
      {"pthread_cond_clockwait", reinterpret_cast<void*>(&PacedClockWait)},
      {"_ZNSt6chrono3_V212steady_clock3nowEv", reinterpret_cast<void*>(&PacedSteadyNow)},
      {"_ZNSt6chrono3_V212system_clock3nowEv", reinterpret_cast<void*>(&PacedSystemNow)},
  };
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (const Relocations& table : {lazy, bound}) {
    bool found = false;
    for (size_t i = 0; table.first != nullptr && i < table.count; ++i) {
      const ElfW(Rela)& relocation = table.first[i];
      const auto type = ELF64_R_TYPE(relocation.r_info);
      if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) || symbols == nullptr ||
          names == nullptr) {
        continue;
      }
      const char* name = names + symbols[ELF64_R_SYM(relocation.r_info)].st_name;
      for (const auto& function : functions) {
        const uintptr_t slot = object.dlpi_addr + relocation.r_offset;
        if (function.replacement != nullptr && std::strcmp(name, function.name) == 0 &&
            mprotect(reinterpret_cast<void*>(slot / page * page), page, PROT_READ | PROT_WRITE) ==
                0) {
          *reinterpret_cast<void**>(slot) = function.replacement;
          found = true;
        }
      }
    }
    if (found) {
      return;
    }
  }
}

}  // namespace

void PaceWaitsOf(const void* address, const char* uses) {
  struct Wanted {
    uintptr_t address;
    const char* uses;
    uintptr_t begin, end;  // range of the object that contains the address
  } wanted = {reinterpret_cast<uintptr_t>(address), uses, 0, 0};
  // Caches the object's range, because PyTorch registers thousands of images of one object in a
  // row. Releases the lock during calls of the loader, because the loader itself may call this
  // function.
  static std::mutex mutex;
  static Wanted last = {};
  if (std::lock_guard lock(mutex);
      uses != nullptr && wanted.address - last.begin < last.end - last.begin) {
    return;
  }
  if (dlsym(RTLD_DEFAULT, "pthread_cond_clockwait") == nullptr) {
    return;  // C libraries before 2020
  }
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* data) {
        Wanted& wanted = *static_cast<Wanted*>(data);
        const uintptr_t at = wanted.address - object->dlpi_addr;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = object->dlpi_phdr[i];
          if (part.p_type == PT_LOAD && at - part.p_vaddr < part.p_memsz) {
            wanted.begin = object->dlpi_addr + part.p_vaddr;
            wanted.end = wanted.begin + part.p_memsz;
            Redirect(*object, wanted.uses);
            return 1;
          }
        }
        return 0;
      },
      &wanted);
  std::lock_guard lock(mutex);
  last = wanted;
}

void ExpectProgress(int64_t done) {
  Pace& pace = ThePace();
  std::lock_guard lock(pace.mutex);
  constexpr size_t kMost = 4096;
  const int64_t turn = done + kHalfNs;
  if (pace.expected.size() < kMost && turn >= pace.given) {
    pace.expected.insert(turn);
    pace.next = std::min(pace.next.load(), turn);
  }
}

void GiveTurns(int64_t now) {
  Pace& pace = ThePace();
  if (now < pace.next.load(std::memory_order_relaxed)) {
    return;
  }
  if (pace.count.load(std::memory_order_relaxed) == 0 || polling.joined()) {
    return;
  }
  std::unique_lock lock(pace.mutex);
  if (pace.broken || now < pace.next) {
    return;
  }
  pace.expected.erase(pace.expected.begin(), pace.expected.upper_bound(now));
  if (now >= pace.regular) {
    pace.regular = (now / kPeriodNs + 1) * kPeriodNs;
  }
  pace.next = pace.expected.empty()
                  ? pace.regular
                  : std::min(pace.regular, std::max(*pace.expected.begin(), now + kApartNs));
  if (!pace.back.wait_for(lock, kPatience, [&] { return pace.newborn == 0; })) {
    // The newborn threads took too long and are assumed not to poll.
    pace.count -= std::exchange(pace.newborn, 0);
    ++pace.generation;
  }
  pace.given = now - kHalfNs;
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
    Assume(
        "a thread polls for completed GPU work, and one of its polls took too long. From then on, "
        "the thread sees work as completed earlier or later, depending on the speed of this "
        "computer, so memory can differ from plan to plan",
        "NCCL's watchdog", 0);
  }
}

void StartPaceAgain() {
  Pace& pace = ThePace();
  std::lock_guard lock(pace.mutex);
  pace.expected.clear();
  pace.regular = kPeriodNs;
  pace.next = kPeriodNs;
  pace.given = 0;
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
