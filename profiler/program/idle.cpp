#include "profiler/program/idle.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "profiler/program/folder_entries.h"
#include "profiler/program/program.h"

namespace vramscope::program {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kMostBetweenLooks = std::chrono::seconds(1);
constexpr int kLooks = 10;             // at least as many within the time `after`
constexpr double kIdleShare = 0.02;    // of one processor's time that an idle program uses at most
constexpr size_t kLongest = 16 << 20;  // bytes of what a process reports about itself

struct ProcessTime {
  pid_t parent = 0;
  uint64_t ticks = 0;
  bool busy = false;  // runs, waits for a processor or for a disk, or was stopped by a user
};

// Returns all processes of this computer, without those that have ended.
std::map<pid_t, ProcessTime> AllProcesses() {
  std::map<pid_t, ProcessTime> all;
  ForEachEntry("/proc", [&](const fs::directory_entry& entry) {
    const std::string number = entry.path().filename().string();
    if (number.find_first_not_of("0123456789") != number.npos) return;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    if (!std::getline(file, text)) return;
    const size_t name = text.rfind(')');  // the name of a process may contain blanks and ')'
    if (name == text.npos) return;
    std::istringstream fields(text.substr(name + 1));
    std::string state, skipped;
    ProcessTime process;
    uint64_t user = 0, system = 0;
    fields >> state >> process.parent;
    for (int i = 0; i < 9; ++i) fields >> skipped;  // from pgrp to cmajflt (proc_pid_stat(5))
    fields >> user >> system;
    process.ticks = user + system;
    process.busy = state == "R" || state == "D" || state == "T" || state == "t";
    if (fields && state != "Z" && state != "X") all[std::stoi(number)] = process;
  });
  return all;
}

// Returns the program's processes.
std::map<pid_t, ProcessTime> ProcessesOf(const std::vector<pid_t>& first) {
  const std::map<pid_t, ProcessTime> all = AllProcesses();
  const std::set<pid_t> roots(first.begin(), first.end());
  std::map<pid_t, ProcessTime> found;
  for (const auto& [pid, process] : all) {
    if (pid == getpid()) continue;
    pid_t at = pid;
    for (size_t steps = 0; at != getpid() && !roots.contains(at) && steps < all.size(); ++steps) {
      const auto above = all.find(at);
      if (above == all.end()) break;
      at = above->second.parent;
    }
    if (at == getpid() || roots.contains(at)) found[pid] = process;
  }
  return found;
}

std::vector<About> Abouts(const std::string& output) {
  std::vector<About> found;
  ForEachEntry(output, [&](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    std::error_code error;
    if (!name.starts_with("process-") || !name.ends_with(".json") ||
        entry.file_size(error) > kLongest || error)
      return;
    std::ifstream file(entry.path());
    if (const auto about = ParseAbout(std::string{std::istreambuf_iterator<char>(file), {}});
        about.ok())
      found.push_back(*about);
  });
  return found;
}

bool HasEnough(const std::vector<About>& abouts) {
  return std::ranges::any_of(abouts, [](const About& about) { return about.ended == "enough"; });
}

// Returns whether a running process has to complete steps that have not been completed.
bool StillTrains(const std::vector<About>& abouts, const std::map<pid_t, ProcessTime>& running) {
  std::set<uint32_t> ranks;
  for (const About& about : abouts)
    if (about.ended == "enough") ranks.insert(about.rank);
  return std::ranges::any_of(abouts, [&](const About& about) {
    return about.ended.empty() && running.contains(static_cast<pid_t>(about.pid)) &&
           (about.trains || (about.world_size > 1 && !ranks.contains(about.rank)));
  });
}

// Returns the inodes of a process's TCP connections to other computers.
std::set<std::string> Connections(const fs::path& process) {
  std::set<std::string> found;
  for (const char* name : {"net/tcp", "net/tcp6"}) {
    std::ifstream file(process / name);
    std::string line;
    std::getline(file, line);  // the names of the columns
    while (std::getline(file, line)) {
      std::istringstream fields(line);
      std::string slot, local, remote, state, skipped, inode;
      fields >> slot >> local >> remote >> state;
      for (int i = 0; i < 5; ++i) fields >> skipped;
      fields >> inode;
      constexpr std::string_view kEstablished = "01", kConnecting = "02";
      // Addresses are written as numbers of 32 bits in the computer's order of bytes.
      const std::string_view address = std::string_view(remote).substr(0, remote.find(':'));
      const bool loopback = address == "00000000000000000000000001000000" ||
                            (address.ends_with("7F") &&
                             (address.size() == 8 || address.starts_with("0000000000000000")));
      if ((state == kEstablished || state == kConnecting) && !loopback) found.insert(inode);
    }
  }
  return found;
}

// Returns whether a thread of the process reads from the terminal or from standard input.
bool Reads(const fs::path& process) {
  bool reads = false;
  ForEachEntry(process / "task", [&](const fs::directory_entry& thread) {
    std::ifstream file(thread.path() / "syscall");
    long call = -1;
    uint64_t first = 0;
    if (!(file >> call >> std::hex >> first)) return;  // it runs, or the system hides the call
    bool selects = call == SYS_pselect6;
#ifdef SYS_select
    selects = selects || call == SYS_select;
#endif
    // The first argument of select is the highest descriptor plus 1. GNU Readline waits so.
    reads = reads || (call == SYS_read && first == 0) || (selects && first == 1);
    if (call != SYS_read) return;
    std::error_code none;
    const std::string path =
        fs::read_symlink(process / "fd" / std::to_string(first), none).string();
    reads = reads || path.starts_with("/dev/tty") || path.starts_with("/dev/pts/");
  });
  return reads;
}

// Returns whether the process may wait for something outside the program.
bool WaitsForOthers(pid_t pid) {
  const fs::path process = fs::path("/proc") / std::to_string(pid);
  if (Reads(process)) return true;
  const std::set<std::string> connections = Connections(process);
  if (connections.empty()) return false;
  bool connected = false;
  ForEachEntry(process / "fd", [&](const fs::directory_entry& entry) {
    constexpr std::string_view kSocket = "socket:[";
    std::error_code none;
    std::string text = fs::read_symlink(entry.path(), none).string();
    if (!text.starts_with(kSocket)) return;
    text = text.substr(kSocket.size(), text.size() - kSocket.size() - 1);
    connected = connected || connections.contains(text);
  });
  return connected;
}

}  // namespace

IdleWatch::IdleWatch(std::string output, std::chrono::milliseconds after)
    : output_(std::move(output)),
      after_(after),
      between_(std::min(kMostBetweenLooks, after / kLooks)),
      since_(Clock::now()) {}

bool IdleWatch::Waits(const std::vector<pid_t>& processes) {
  const Clock::time_point now = Clock::now();
  if (now < next_) return false;
  next_ = now + between_;
  const std::vector<About> abouts = Abouts(output_);
  if (!HasEnough(abouts)) {
    since_ = now;
    return false;
  }
  const std::map<pid_t, ProcessTime> running = ProcessesOf(processes);
  uint64_t used = 0;
  bool busy = StillTrains(abouts, running);
  for (const auto& [pid, process] : running) {
    used += process.ticks;
    busy = busy || process.busy;
  }
  const double seconds = std::chrono::duration<double>(now - since_).count();
  const auto most =
      static_cast<uint64_t>(1 + kIdleShare * seconds * static_cast<double>(sysconf(_SC_CLK_TCK)));
  // If a process has ended, its time is missing in the sum.
  if (used < used_ || used - used_ > most || busy) {
    since_ = now;
    used_ = used;
  }
  if (now - since_ < after_) return false;
  const bool others = std::ranges::any_of(
      running, [](const auto& process) { return WaitsForOthers(process.first); });
  if (others) since_ = now;
  return !others;
}

}  // namespace vramscope::program
