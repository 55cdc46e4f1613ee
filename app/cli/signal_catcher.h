// Handles Ctrl-C for commands that must first stop a worker or a download.
//
//   const SignalCatcher signals;
//   QSocketNotifier interrupt(signals.fd(), QSocketNotifier::Read);  // then signals.Take()
#pragma once

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

namespace vramscope::cli {

// While an object exists, SIGINT and SIGTERM make fd() readable and do not end the program. The
// signals are blocked instead of handled. The worker inherits the blocked signals, so it survives
// the terminal's Ctrl-C and receives the cancellation.
class SignalCatcher {
 public:
  SignalCatcher() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, &old_);
    fd_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~SignalCatcher() {
    if (fd_ >= 0) close(fd_);
    pthread_sigmask(SIG_SETMASK, &old_, nullptr);
  }
  SignalCatcher(const SignalCatcher&) = delete;
  SignalCatcher& operator=(const SignalCatcher&) = delete;

  int fd() const { return fd_; }
  void Take() const {
    signalfd_siginfo info;
    [[maybe_unused]] const ssize_t got = read(fd_, &info, sizeof info);
  }

 private:
  int fd_ = -1;
  sigset_t old_{};
};

}  // namespace vramscope::cli
