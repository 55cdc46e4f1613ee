// Converts exceptions to an absl::Status where no caller would catch them: in a thread, a task of a
// thread pool, or a Qt slot. The main case is std::bad_alloc: if a file is too large for this
// computer's memory, the process shows a message and does not end.
//
//   absl::StatusOr<std::shared_ptr<const Trace>> trace =
//       CatchStatus([&] { return OpenTraceFile(path, options); });
//
// `work` may return an absl::Status, an absl::StatusOr<T>, a T (the result is absl::StatusOr<T>) or
// nothing (absl::Status). Thread-safe.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <thread>
#include <type_traits>
#include <utility>

namespace vramscope::trace {

// Returns a status for the exception that is being handled: kResourceExhausted if memory ran out,
// else kInternal. Call it only in a catch block.
absl::Status StatusOfException() noexcept;

namespace internal {
template <class T>
struct CatchResult {
  using type = absl::StatusOr<T>;
};
template <class T>
struct CatchResult<absl::StatusOr<T>> {
  using type = absl::StatusOr<T>;
};
template <>
struct CatchResult<absl::Status> {
  using type = absl::Status;
};
template <>
struct CatchResult<void> {
  using type = absl::Status;
};
}  // namespace internal

template <class Work>
auto CatchStatus(Work&& work) ->
    typename internal::CatchResult<std::decay_t<std::invoke_result_t<Work>>>::type {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
      std::forward<Work>(work)();
      return absl::OkStatus();
    } else {
      return std::forward<Work>(work)();
    }
  } catch (...) {
    return StatusOfException();
  }
}

// Runs `work`, and repeats it every 10 ms until it neither throws nor fails. Used if another thread
// waits for the result.
template <class Work>
void DoUntilItWorks(Work&& work) {
  while (!CatchStatus(work).ok()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

}  // namespace vramscope::trace
