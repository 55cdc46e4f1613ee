// vramscope-worker-loop: runs training steps and reports them as frames. vramscope-worker
// (start.cpp) executes it. vramscope starts vramscope-worker on this computer, or on another one
// (ssh HOST vramscope-worker --stdio).
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "app/worker/worker.h"
#include "profiler/base/version.h"
#include "profiler/run/catalogue.h"
#include "profiler/run/check_catalogue.h"
#include "profiler/trace/terminate.h"
#include "trainer/techniques/declared.h"
#include "trainer/trainer.h"

VRAMSCOPE_END_CLEANLY_FROM_THE_START("vramscope-worker");

int main(int argc, char** argv) {
  CLI::App app{"Runs training steps for vramscope and reports them as frames.", "vramscope-worker"};
  bool stdio = false;
  std::string backend;
  bool catalogue = false;
  app.add_flag("--stdio", stdio, "Communicate over stdin and stdout");
  app.add_flag("--catalogue", catalogue, "Print the contents of resources/catalogue.json and exit");
  app.require_option(1, 3);
  app.add_option("--backend", backend, "Offer only this backend: plan, cpu or cuda")
      ->check(CLI::IsMember({"plan", "cpu", "cuda"}));
  std::string folders;
  app.add_option("--cuda-libraries", folders,
                 "Folders of CUDA libraries (used by vramscope-worker)");
  app.set_version_flag("--version", std::string("vramscope-worker ") + vramscope::base::Version());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  if (catalogue) {
    const vramscope::run::Catalogue declared = vramscope::trainer::DeclaredCatalogue();
    if (const absl::Status status = vramscope::run::CheckCatalogue(declared); !status.ok()) {
      std::fprintf(stderr, "vramscope-worker: %s\n", std::string(status.message()).c_str());
      return 1;
    }
    const std::string text = vramscope::run::ToJson(declared);
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 4;
  }
  if (!stdio) {
    std::fprintf(stderr, "vramscope-worker: expected --stdio or --catalogue\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  // Frames are written to a separate descriptor, and the output of libraries to stdout goes to
  // stderr.
  const int output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (output < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    std::perror("vramscope-worker: stdout");
    return 4;
  }

  using vramscope::run::Backend;
  vramscope::trainer::Trainer trainer({.gpu_is_there = backend == "cuda"});
  vramscope::worker::WorkerOptions options;
  options.input = STDIN_FILENO;
  options.output = output;
  options.version = vramscope::base::Version();
  // The emulated and the real CUDA libraries have the same names, so a process can load only one of
  // the two.
  if (backend == "cuda") options.backends.push_back(Backend::kCuda);
  if (backend.empty() || backend == "plan") options.backends.push_back(Backend::kPlan);
  if (backend.empty() || backend == "cpu") options.backends.push_back(Backend::kCpu);
  options.run = [&](const vramscope::run::RunConfig& config, vramscope::trace::EventSink& sink,
                    const vramscope::trainer::RunHooks& hooks) {
    return trainer.Run(config, sink, hooks);
  };
  options.warm_up = [&] { trainer.WarmUp(); };
  const int status = vramscope::worker::ServeWorker(options);
  // LibTorch's threads are still running, so no destructors are called.
  std::fflush(nullptr);
  _exit(status);
}
