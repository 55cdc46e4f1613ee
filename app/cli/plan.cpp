#include "app/cli/plan.h"

#include <absl/strings/str_join.h>
#include <fmt/format.h>

#include <memory>

#include "app/cli/gpu_libraries.h"
#include "app/cli/output.h"
#include "app/cli/program_command.h"
#include "app/cli/program_versions.h"
#include "app/cli/program_watch.h"
#include "app/cli/run_options.h"
#include "app/cli/summary.h"
#include "app/cli/worker_run.h"
#include "profiler/base/i18n.h"

namespace vramscope::cli {
namespace {

struct Options {
  RunOptions run;
  ProgramOptions program;
  RunOutput output;
  std::string backend = "plan", python;
  std::string with;  // a package and its versions; the program is planned with each version
};

void AddOutput(CLI::App& command, RunOutput& output) {
  command
      .add_option("-o,--output", output.trace_path, "write the trace to this file ('-': stdout)")
      ->type_name("F.trace");
  command.add_flag("--json", output.json, "print one JSON object");
}

ExitCode Execute(const Options& options, run::Backend backend) {
  if (options.output.json && options.output.trace_path == "-") {
    NoteError(i18n::Text("--json and -o - both write to standard output; choose one"));
    return kUsage;
  }
  if (WouldReplaceInput(options.output.trace_path, options.run.inputs())) return kUsage;
  const absl::StatusOr<run::RunConfig> config = BuildRun(options.run, backend);
  if (!config.ok()) return ReportError(config.status());
  if (const absl::Status wrong = CheckOutput(options.output.trace_path); !wrong.ok())
    return ReportError(wrong);
  if (backend != run::Backend::kCuda) return RunAndReport(*config, options.output);
  const absl::StatusOr<std::vector<std::string>> folders = GpuLibraries(options.python);
  if (!folders.ok()) return ReportError(folders.status());
  std::vector<std::string> arguments = {"--backend", "cuda"};
  if (!folders->empty())
    arguments.insert(arguments.end(), {"--cuda-libraries", absl::StrJoin(*folders, ":")});
  return RunAndReport(*config, options.output, arguments);
}

}  // namespace

ExitCode RunAndReport(const run::RunConfig& config, const RunOutput& output,
                      const std::vector<std::string>& worker_arguments) {
  const WorkerRun result = RunInWorker(config, worker_arguments);
  if (result.trace != nullptr && !output.trace_path.empty()) {
    // Even after a failure the trace is written, so that the incomplete trace can be inspected.
    const absl::Status written = WriteTrace(*result.trace, output.trace_path);
    if (!written.ok()) return ReportError(written);
    if (!result.status.ok() && output.trace_path != "-") {
      Note(i18n::Format("the incomplete trace is in {}", output.trace_path));
    }
  }
  if (!result.status.ok()) return ReportError(result.status);
  if (result.trace == nullptr)
    return ReportError(absl::InternalError(i18n::Text("the run produced no trace")));
  if (output.trace_path == "-") return kDone;

  const analysis::MemoryCurves curves = analysis::ComputeCurves(*result.trace);
  const analysis::Summary summary = analysis::Summarize(*result.trace, curves);
  if (!output.json) return PrintText(SummaryText(*result.trace, summary));
  Json json = SummaryJson(*result.trace, summary);
  json["seconds"] = result.seconds;
  json["worker_seconds"] = result.worker_seconds;
  return PrintJson(json);
}

namespace {

void DeclarePlan(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  AddRunOptions(*command, options->run, DeviceOptions::kElsewhere);
  AddOutput(*command, options->output);
  AddProgramOptions(*command, options->program, true);
  command->add_flag("--watch", options->program.watch,
                    "with -- PROGRAM: plan the program again whenever one of its files is saved, "
                    "and print the changes. With --json, print one object per line");
  command
      ->add_option("--with", options->with,
                   "with -- PROGRAM: plan the program with each of these versions of a package "
                   "(transformers==4.46.0,4.51.0), and print the changes between versions. pip "
                   "makes an environment for each version, and vramscope keeps the environments")
      ->type_name("PACKAGE==VERSIONS");
  command->callback([options, &context, command] {
    if (!context.has_program && !options->program.from.empty()) {
      context.exit_code = RunProgram({}, options->program, options->output, true);
    } else if (!context.has_program) {
      // These options are only for programs. The embedded loop has settings instead.
      for (const char* name : kProgramOptionNames) {
        if (command->count(name) == 0) continue;
        NoteError(
            i18n::Format("{} needs a program, for example: vramscope plan {} ... -- python "
                         "train.py. For a built-in model, use --set KEY=VALUE",
                         name, name));
        context.exit_code = kUsage;
        return;
      }
      options->run.device = options->program.device;
      options->run.gpu_memory = options->program.gpu_memory;
      context.exit_code = Execute(*options, run::Backend::kPlan);
    } else if (options->run.given()) {
      NoteError(
          i18n::Text("--preset, --model, --config and --set apply to built-in models, not to a "
                     "program after --"));
      context.exit_code = kUsage;
    } else {
      context.exit_code =
          !options->with.empty()
              ? PlanVersions(context.after_dashes, options->program, options->with, options->output)
          : options->program.watch
              ? WatchProgram(context.after_dashes, options->program, options->output)
              : RunProgram(context.after_dashes, options->program, options->output, true);
    }
  });
}

void DeclareRecord(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  options->program.steps = 0;
  AddOutput(*command, options->output);
  AddProgramOptions(*command, options->program, false);
  command->callback([options, &context] {
    context.exit_code = RunProgram(context.after_dashes, options->program, options->output, false);
  });
}

void DeclareRun(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  AddRunOptions(*command, options->run);
  AddOutput(*command, options->output);
  command->add_option("--backend", options->backend, "cpu or cuda")
      ->required()
      ->check(CLI::IsMember({"cpu", "cuda"}).description(""))
      ->type_name("cpu|cuda");
  command
      ->add_option("--python", options->python,
                   "with --backend cuda: use the CUDA libraries of this Python's PyTorch. Default: "
                   "the first Python found whose PyTorch has these libraries")
      ->type_name("PYTHON");
  command->callback([options, &context] {
    context.exit_code =
        Execute(*options, options->backend == "cuda" ? run::Backend::kCuda : run::Backend::kCpu);
  });
}

}  // namespace

CommandEntry DeclareCommand_plan() {
  return {.place = 10,
          .name = "plan",
          .help =
              "plan the training run of a built-in model, or of any program given as -- PROGRAM "
              "ARGS..., without computing anything",
          .example = "plan --preset gpt2 --set batch=8 --set precision=amp-bf16 -o gpt2.trace",
          .takes_program = true,
          .declare = DeclarePlan};
}

CommandEntry DeclareCommand_record() {
  return {.place = 30,
          .name = "record",
          .help =
              "run a program (record -- PROGRAM ARGS...) on this computer's GPU and record the "
              "program's GPU memory",
          .example = "record -o run.trace -- python train.py",
          .takes_program = true,
          .declare = DeclareRecord};
}

CommandEntry DeclareCommand_run() {
  return {.place = 20,
          .name = "run",
          .help = "run the training steps on a real device",
          .example = "run --preset gpt2 --set steps=1 --backend cpu",
          .declare = DeclareRun};
}

}  // namespace vramscope::cli
