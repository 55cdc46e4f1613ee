#include "tests/fuzz/worker_entries.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "app/worker/worker.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/trace_entries.h"

namespace vramscope::fuzz {

void WorkerRequests(const uint8_t* data, size_t size) {
  // A pipe always has room for 4,096 bytes, so the write does not block.
  const std::string bytes =
      WithRightChecksums({reinterpret_cast<const char*>(data), std::min<size_t>(size, 4096)});
  int requests[2];
  Check(pipe2(requests, O_CLOEXEC) == 0, "no pipe");
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  Check(nowhere >= 0 &&
            write(requests[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
        "the requests cannot be written");
  close(requests[1]);
  worker::WorkerOptions options;
  options.input = requests[0];
  options.output = nowhere;
  options.version = "1";
  options.backends = {run::Backend::kPlan};
  options.run = [](const run::RunConfig&, trace::EventSink&, const trainer::RunHooks&) {
    return absl::OkStatus();
  };
  const int status = worker::ServeWorker(options);
  Check(status == 0 || status == 3, "a status that a worker does not end with");
  close(requests[0]);
  close(nowhere);
}

}  // namespace vramscope::fuzz
