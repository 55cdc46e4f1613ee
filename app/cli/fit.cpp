// `fit [RUN] --budget SIZE`: finds the techniques with which the run fits. Techniques that do not
// change the training results are tried first. `waterfall [RUN]`: shows how each technique of this
// run changes its memory, with a bar for each.
#include "profiler/fit/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <memory>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "app/cli/output.h"
#include "app/cli/program_command.h"
#include "app/cli/program_fit.h"
#include "app/cli/program_waterfall.h"
#include "app/cli/run_options.h"
#include "app/cli/summary.h"
#include "app/cli/worker_run.h"
#include "profiler/base/i18n.h"
#include "profiler/fit/waterfall.h"
#include "profiler/run/check_run.h"
#include "profiler/run/seq.h"
#include "profiler/run/units.h"

namespace vramscope::cli::fit_command {
namespace {

struct Options {
  RunOptions run;
  std::string budget, output;
  std::vector<std::string> order, baseline;
  bool json = false;
};

// Plans lists of runs. The same worker processes plan one list after another.
class Plans {
 public:
  absl::StatusOr<std::vector<fit::Planned>> operator()(const std::vector<run::RunConfig>& configs) {
    std::vector<fit::Planned> planned(configs.size());
    size_t next = 0, ended = 0;
    const absl::Status status = planner_.Drain(
        [&]() -> std::optional<Planner::Job> {
          if (next == configs.size()) return std::nullopt;
          const size_t id = next++;
          return Planner::Job{id, configs[id]};
        },
        [&](size_t id, const WorkerRun& run) {
          ++ended;
          ++total_;
          if (run.status.ok() && run.trace != nullptr) {
            planned[id] = fit::PlannedOf(*run.trace);
          } else {
            planned[id].error = std::string(run.status.message());
          }
        },
        [&] {
          return Planner::Progress{static_cast<double>(ended) / static_cast<double>(configs.size()),
                                   i18n::Format("{} combinations planned", total_)};
        });
    if (!status.ok()) return status;
    return planned;
  }

 private:
  Planner planner_;
  int total_ = 0;
};

Json SettingsJson(const fit::Settings& settings) {
  Json json = Json::object();
  for (const auto& [key, value] : settings) json[key] = value;
  return json;
}

std::string SetsText(const fit::Settings& settings) {
  std::string text;
  for (const auto& [key, value] : settings) text += fmt::format(" --set {}={}", key, value);
  return text;
}

std::string SettingText(const fit::Settings& settings) {
  std::string text;
  for (const auto& [key, value] : settings)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  return text;
}

std::string_view NameOf(run::Changes changes) {
  constexpr std::string_view kNames[] = {"nothing", "rounding", "training"};
  return kNames[static_cast<size_t>(changes)];
}

bool TrainsAdapters(const fit::Step& step) {
  return std::ranges::any_of(step.settings,
                             [](const auto& setting) { return setting.first == "lora.rank"; });
}

Json ProposalJson(const fit::Proposal& proposal, bool whole) {
  Json json = {{"settings", SettingsJson(proposal.settings)},
               {"changes", NameOf(proposal.changes)},
               {"peak", proposal.planned.peak},
               {"reserved", proposal.planned.reserved},
               {"needed", proposal.planned.needed()},
               {"step_ms", proposal.planned.step_ms},
               {"fits", proposal.fits}};
  if (!whole) return json;
  json["steps"] = Json::array();
  for (const fit::Step& step : proposal.steps) {
    json["steps"].push_back({{"setting", SettingText(step.settings)},
                             {"title", step.move.title},
                             {"saves", step.saves},
                             {"costs_ms", step.costs_ms},
                             {"why", step.move.why},
                             {"changes", NameOf(step.move.changes)},
                             {"trains_adapters", TrainsAdapters(step)}});
  }
  json["largest_batch"] = proposal.largest_batch > 0 ? Json(proposal.largest_batch) : Json();
  json["longest_seq"] = proposal.longest_seq > 0 ? Json(proposal.longest_seq) : Json();
  return json;
}

// Returns a heading that names what the proposal changes in the training.
std::string Heading(const fit::Proposal& proposal) {
  std::string text = i18n::Text(fit::TextOf(proposal.changes));
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  std::string with;
  for (const fit::Step& step : proposal.steps) {
    if (step.move.changes != proposal.changes || step.move.changes == run::Changes::kNothing)
      continue;
    with += fmt::format("{}{}", with.empty() ? " (" : ", ", i18n::Shown(step.move.title));
  }
  return with.empty() ? text : text + with + ")";
}

std::string SignedMilliseconds(double value) {
  return (value < 0 ? "-" : "+") + Milliseconds(value < 0 ? -value : value);
}

std::string ProposalText(size_t number, const fit::Proposal& proposal, uint64_t budget) {
  const uint64_t needed = proposal.planned.needed();
  const std::string verdict =
      proposal.fits     ? i18n::Format("{} to spare", run::FormatBytes(budget - needed))
      : needed > budget ? i18n::Format("{} too much", run::FormatBytes(needed - budget))
                        : i18n::Text("an allocation fails");
  const std::string heading = Heading(proposal);
  const std::string step = Milliseconds(proposal.planned.step_ms);
  const std::string reserved = run::FormatBytes(proposal.planned.reserved);
  std::string text =
      proposal.planned.past_allocator > 0
          ? i18n::Format(
                "{}. {}: {} a step, needs {} ({} reserved, {} outside the allocator, and the CUDA "
                "context): {}\n",
                number, heading, step, run::FormatBytes(needed), reserved,
                run::FormatBytes(proposal.planned.past_allocator), verdict)
          : i18n::Format("{}. {}: {} a step, needs {} ({} reserved and the CUDA context): {}\n",
                         number, heading, step, run::FormatBytes(needed), reserved, verdict);
  if (proposal.steps.empty()) return text + Prose(i18n::Text("Without changes."));
  Table table({{i18n::Text("Technique")},
               {i18n::Text("Saves"), Table::kRight},
               {i18n::Text("Time"), Table::kRight},
               {i18n::Text("Why"), Table::kLeft}});
  for (const fit::Step& change : proposal.steps) {
    table.Row({i18n::Shown(change.move.title), SignedBytes(-change.saves),
               SignedMilliseconds(change.costs_ms), i18n::Text(change.move.why)});
  }
  text += table.Text();
  if (proposal.largest_batch > 0) {
    text += Prose(proposal.longest_seq > 0
                      ? i18n::Format("Largest batch that fits: {}; longest sequence: {}.",
                                     proposal.largest_batch, proposal.longest_seq)
                      : i18n::Format("Largest batch that fits: {}.", proposal.largest_batch));
  }
  return text + Prose(i18n::Format("As settings:{}", SetsText(proposal.settings)));
}

ExitCode ExecuteFit(const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const absl::StatusOr<uint64_t> budget = BudgetOf(options.budget, options.run);
  if (!budget.ok()) return ReportBudgetError(options.budget, options.run, budget.status());
  const absl::StatusOr<run::RunConfig> config = BuildRun(options.run, run::Backend::kPlan);
  if (!config.ok()) return ReportError(config.status());
  Plans plans;
  const absl::StatusOr<fit::Fitted> fitted =
      fit::Fit(*config, *budget, [&](const auto& configs) { return plans(configs); });
  if (!fitted.ok()) return ReportError(fitted.status());
  const bool any = std::ranges::any_of(fitted->proposals, &fit::Proposal::fits);
  const absl::StatusOr<run::DeviceProfile> device = run::ResolveDevice(*config);
  std::vector<run::Assumption> assumptions;
  if (device.ok()) assumptions.push_back(run::ContextAssumption(*device));
  assumptions.push_back(
      {i18n::Text("step times are modelled with a roofline of the chosen GPU"), "step_ms"});
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  ExitCode printed;
  if (options.json) {
    Json json;
    json["budget"] = *budget;
    json["start"] = {{"peak", fitted->start.peak},
                     {"reserved", fitted->start.reserved},
                     {"needed", fitted->start.needed()},
                     {"step_ms", fitted->start.step_ms},
                     {"fits", fitted->start_fits}};
    json["proposals"] = Json::array();
    for (const fit::Proposal& proposal : fitted->proposals)
      json["proposals"].push_back(ProposalJson(proposal, true));
    json["front"] = Json::array();
    for (const fit::Proposal& proposal : fitted->front)
      json["front"].push_back(ProposalJson(proposal, false));
    json["plans"] = fitted->plans;
    json["cut_short"] = fitted->cut_short;
    json["seconds"] = seconds;
    json["assumptions"] = AssumptionsJson(assumptions);
    printed = PrintJson(json);
  } else {
    std::string text = i18n::Format(
        "{}, batch {} x seq {}: now needs {}, takes {} a step, and {} the budget of {}\n\n",
        config->model, config->batch, run::ShortSeqText(*config),
        run::FormatBytes(fitted->start.needed()), Milliseconds(fitted->start.step_ms),
        fitted->start_fits ? i18n::Text("fits") : i18n::Text("does not fit"),
        run::FormatBytes(*budget));
    if (!any)
      text += i18n::Text("None of the tried combinations fits. The smallest combination:") + "\n\n";
    for (size_t i = 0; i < fitted->proposals.size(); ++i)
      text += ProposalText(i + 1, fitted->proposals[i], *budget) + "\n";
    text += Prose(
        fitted->cut_short
            ? i18n::Format("{} combinations planned; the search stopped at the time limit of "
                           "{:.1f} s. Other combinations may fit and change the training less.",
                           fitted->plans, seconds)
        : fitted->plans == 1
            ? i18n::Format("{} combination planned in {:.1f} s.", fitted->plans, seconds)
            : i18n::Format("{} combinations planned in {:.1f} s.", fitted->plans, seconds));
    printed = PrintText(text + AssumptionsText(assumptions));
  }
  return printed != kDone ? printed : any ? kDone : kNo;
}

absl::StatusOr<run::RunConfig> Baseline(const run::RunConfig& now,
                                        const std::vector<std::string>& sets) {
  absl::StatusOr<run::RunConfig> plain = fit::PlainRun(now);
  if (!plain.ok() || sets.empty()) return plain;
  run::RunConfigBuilder builder(*plain);
  for (const std::string& set : sets) {
    const size_t equals = set.find('=');
    const absl::Status status = builder.Set(set.substr(0, equals), set.substr(equals + 1));
    if (!status.ok()) return status;
  }
  return builder.Build();
}

// Explains each bar in which reserved memory grows by more than allocated memory does.
std::string WhyReservedGrows(const std::vector<fit::Rung>& ladder,
                             const std::vector<fit::Planned>& planned) {
  std::string text;
  for (size_t i = 1; i < ladder.size(); ++i) {
    const fit::Planned &before = planned[i - 1], &now = planned[i];
    const uint64_t free_before = before.reserved - before.peak, free_now = now.reserved - now.peak;
    if (now.reserved <= before.reserved || free_now <= free_before) continue;
    text += Prose(i18n::Format(
        "{}: reserved memory grows by {}, and the peak grows by {}. At the peak, up to {} of the "
        "reserved memory is unused (before: {}). The unused blocks are too small for later "
        "allocations. `explain --page fragmentation` shows these blocks; "
        "alloc_conf=expandable_segments:True avoids most of them.",
        i18n::Text(ladder[i].name), run::FormatBytes(now.reserved - before.reserved),
        SignedBytes(static_cast<int64_t>(now.peak) - static_cast<int64_t>(before.peak)),
        run::FormatBytes(free_now), run::FormatBytes(free_before)));
  }
  return text;
}

ExitCode ExecuteWaterfall(const Options& options) {
  if (options.json && options.output == "-") {
    NoteError(i18n::Text("--json and -o - both write to standard output; choose one"));
    return kUsage;
  }
  for (const std::string& set : options.baseline) {
    if (set.find('=') != std::string::npos) continue;
    NoteError(i18n::Text("--baseline: expected key=value"));
    return kUsage;
  }
  std::vector<std::string> inputs = options.run.inputs();
  inputs.insert(inputs.end(), options.baseline.begin(), options.baseline.end());
  if (WouldReplaceInput(options.output, inputs)) return kUsage;
  const absl::StatusOr<run::RunConfig> now = BuildRun(options.run, run::Backend::kPlan);
  if (!now.ok()) return ReportError(now.status());
  if (const absl::Status wrong = CheckOutput(options.output); !wrong.ok())
    return ReportError(wrong);
  const absl::StatusOr<run::RunConfig> baseline = Baseline(*now, options.baseline);
  if (!baseline.ok()) return ReportError(baseline.status());
  const absl::StatusOr<std::vector<fit::Rung>> ladder = fit::Ladder(*baseline, *now, options.order);
  if (!ladder.ok()) return ReportError(ladder.status());
  std::vector<run::RunConfig> configs;
  // Every bar is planned on the run's own GPU, so the last bar equals the result of `plan`.
  for (const fit::Rung& rung : *ladder) configs.push_back(rung.config);
  Plans plans;
  const absl::StatusOr<std::vector<fit::Planned>> planned = plans(configs);
  if (!planned.ok()) return ReportError(planned.status());
  for (size_t i = 0; i < planned->size(); ++i) {
    if ((*planned)[i].ok()) continue;
    return ReportError(absl::InvalidArgumentError(
        fmt::format("{}: {}", i18n::Text((*ladder)[i].name), (*planned)[i].error)));
  }
  if (!options.output.empty()) {
    const absl::Status written = WriteStream(options.output, [&](std::ostream& out) {
      const i18n::InEnglish english;
      out << fit::WaterfallSvg(*ladder, *planned) << "\n";
      return absl::OkStatus();
    });
    if (!written.ok()) return ReportError(written);
    if (options.output == "-") return kDone;
  }
  if (options.json) {
    Json json;
    json["bars"] = Json::array();
    for (size_t i = 0; i < ladder->size(); ++i) {
      const fit::Planned& p = (*planned)[i];
      const fit::Planned& before = (*planned)[i == 0 ? 0 : i - 1];
      json["bars"].push_back(
          {{"name", (*ladder)[i].name},
           {"settings", SettingsJson((*ladder)[i].settings)},
           {"peak", p.peak},
           {"reserved", p.reserved},
           {"needed", p.needed()},
           {"fits", !p.out_of_memory},
           {"step_ms", p.step_ms},
           {"saves", static_cast<int64_t>(before.peak) - static_cast<int64_t>(p.peak)},
           {"costs_ms", p.step_ms - before.step_ms}});
    }
    json["assumptions"] =
        AssumptionsJson({{"step times are modelled with a roofline of the chosen GPU", "step_ms"}});
    return PrintJson(json);
  }
  Table table({{i18n::Text("Bar")},
               {i18n::Text("Peak"), Table::kRight},
               {i18n::Text("Change"), Table::kRight},
               {i18n::Text("Reserved"), Table::kRight},
               {i18n::Text("Step"), Table::kRight},
               {i18n::Text("Fits")},
               {i18n::Text("Settings")}});
  for (size_t i = 0; i < ladder->size(); ++i) {
    const fit::Planned& p = (*planned)[i];
    const int64_t change =
        i == 0 ? 0 : static_cast<int64_t>(p.peak) - static_cast<int64_t>((*planned)[i - 1].peak);
    table.Row({i18n::Text((*ladder)[i].name), run::FormatBytes(p.peak),
               i == 0 ? "" : SignedBytes(change), run::FormatBytes(p.reserved),
               Milliseconds(p.step_ms), p.out_of_memory ? i18n::Text("no") : i18n::Text("yes"),
               SettingText((*ladder)[i].settings)});
  }
  return PrintText(table.Text() + WhyReservedGrows(*ladder, *planned));
}

// Returns the first option on the command line that is only for programs, or "" if there is none.
std::string ProgramOptionIn(const CLI::App& command) {
  std::vector<const char*> names(std::begin(kProgramOptionNames), std::end(kProgramOptionNames));
  names.insert(names.end(), {"--vary", "--patience"});
  for (const char* name : names)
    if (command.get_option_no_throw(name) != nullptr && command.count(name) > 0) return name;
  return "";
}

void DeclareFit(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  auto of_program = std::make_shared<ProgramFitOptions>();
  AddRunOptions(*command, options->run, DeviceOptions::kElsewhere);
  AddProgramOptions(*command, of_program->program, true);
  AddProgramFitOptions(*command, *of_program);
  command
      ->add_option(
          "--budget", options->budget,
          "maximum GPU memory, such as 24GiB. With --device, the default is the memory of that GPU")
      ->type_name("SIZE");
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, of_program, &context, command] {
    options->run.device = of_program->program.device;
    options->run.gpu_memory = of_program->program.gpu_memory;
    if (!context.has_program) {
      const std::string name = ProgramOptionIn(*command);
      if (!name.empty())
        NoteError(
            i18n::Format("{0} needs a program, for example: vramscope fit --budget 24GiB {0} ... "
                         "-- python train.py",
                         name));
      context.exit_code = name.empty() ? ExecuteFit(*options) : kUsage;
      return;
    }
    if (!options->run.preset.empty() || !options->run.model.empty() ||
        !options->run.config.empty() || !options->run.sets.empty()) {
      NoteError(i18n::Text("`fit` takes either a RUN or -- PROGRAM, not both"));
      context.exit_code = kUsage;
      return;
    }
    of_program->budget = options->budget;
    of_program->json = options->json;
    context.exit_code = FitProgram(context.after_dashes, *of_program);
  });
}

ExitCode RunWaterfall(const CLI::App& command, const Options& options) {
  const std::string name = ProgramOptionIn(command);
  if (name.empty()) return ExecuteWaterfall(options);
  NoteError(i18n::Format(
      "{0} needs a program, for example: vramscope waterfall {0} ... -- python train.py", name));
  return kUsage;
}

ExitCode ProgramWaterfall(const Context& context, const Options& options,
                          const ProgramOptions& of_program) {
  if (!options.run.preset.empty() || !options.run.model.empty() || !options.run.config.empty() ||
      !options.run.sets.empty() || !options.baseline.empty() || !options.order.empty()) {
    NoteError(
        i18n::Text("`waterfall` takes either a RUN or -- PROGRAM, not both. For a program, "
                   "`waterfall` shows a bar for each --toggle, in the given order"));
    return kUsage;
  }
  if (options.json && options.output == "-") {
    NoteError(i18n::Text("--json and -o - both write to standard output; choose one"));
    return kUsage;
  }
  if (context.after_dashes.empty() || of_program.toggles.empty()) {
    NoteError(i18n::Text(
        "for a program, `waterfall` needs at least one --toggle and the command of the program, "
        "for example: vramscope waterfall --toggle bf16 --toggle lora -- python train.py"));
    return kUsage;
  }
  return WaterfallOfProgram(context.after_dashes, of_program, options.output, options.json);
}

void DeclareWaterfall(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  auto of_program = std::make_shared<ProgramOptions>();
  AddRunOptions(*command, options->run, DeviceOptions::kElsewhere);
  AddProgramOptions(*command, *of_program, true);
  command
      ->add_option("--baseline", options->baseline,
                   "a setting of the baseline (repeatable). The bars start at the baseline, which "
                   "always has the batch and sequence of the run")
      ->type_name("KEY=VALUE");
  command
      ->add_option("--order", options->order,
                   "order of the bars, such as precision,lora; bars that are not named come last")
      ->delimiter(',')
      ->type_name("NAME,...");
  command->add_option("-o,--output", options->output, "draw the bars into this file")
      ->type_name("OUT.svg");
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, of_program, &context, command] {
    options->run.device = of_program->device;
    options->run.gpu_memory = of_program->gpu_memory;
    context.exit_code = context.has_program ? ProgramWaterfall(context, *options, *of_program)
                                            : RunWaterfall(*command, *options);
  });
}

}  // namespace

CommandEntry DeclareCommand_fit() {
  return {.place = 140,
          .name = "fit",
          .help =
              "find techniques that make a run fit; techniques that do not change the training "
              "come first",
          .example = "fit --preset llama-3.2-1b --budget 12GiB",
          .takes_program = true,
          .declare = DeclareFit};
}

CommandEntry DeclareCommand_waterfall() {
  return {.place = 150,
          .name = "waterfall",
          .help =
              "show how each technique changes memory, from the model's default settings to the "
              "settings of the run, with one bar per technique; with -- PROGRAM ARGS..., one bar "
              "per --toggle",
          .example =
              "waterfall --set precision=bf16 --set checkpointing.mode=layer --order checkpointing",
          .takes_program = true,
          .declare = DeclareWaterfall};
}

}  // namespace vramscope::cli::fit_command
