#include "app/cli/program_plans.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "app/cli/mcp/child.h"
#include "app/cli/toggles.h"
#include "profiler/base/i18n.h"
#include "profiler/program/verdict.h"
#include "profiler/run/units.h"

namespace vramscope::cli {
namespace {

constexpr auto kTick = std::chrono::milliseconds(50);
// The memory of the planned GPU, unless the user gives another size. It is so large that no program
// runs out of memory. Otherwise, the memory that the program needs would stay unknown.
constexpr uint64_t kRoom = uint64_t{512} << 30;
constexpr char kModules[] = "/first/modules.json";  // within the scratch folder
constexpr auto kImportsWithin = std::chrono::seconds(120);

// Returns the error that the failed program printed or, if there is none, the child's last error.
std::string ErrorOf(const mcp::ChildOutcome& outcome) {
  const std::string printed = fmt::format("{}", fmt::join(outcome.printed, "\n"));
  if (const std::string message = program::FinalMessage(printed); !message.empty()) {
    const std::string place = program::LastPythonLine(printed);
    return place.empty() ? message : fmt::format("{} ({})", message, place);
  }
  if (!outcome.errors.empty()) return outcome.errors.back();
  return outcome.notes.empty() ? i18n::Format("exit status {}", outcome.status)
                               : outcome.notes.back();
}

uint64_t BytesAt(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_number_unsigned() ? json[key].get<uint64_t>() : 0;
}

std::map<std::string, uint64_t> CategoriesOf(const Json& json) {
  std::map<std::string, uint64_t> categories;
  if (json.contains("peak_by_category") && json["peak_by_category"].is_object())
    for (const auto& [name, bytes] : json["peak_by_category"].items())
      if (bytes.is_number_unsigned()) categories[name] = bytes.get<uint64_t>();
  return categories;
}

}  // namespace

std::vector<std::string> PlanWords(const ProgramOptions& o) {
  std::vector<std::string> words = {"plan", "--json", "--all-toggles"};
  const auto add = [&](const char* name, const std::string& value) {
    words.insert(words.end(), {name, value});
  };
  if (!o.device.empty()) add("--device", o.device);
  if (o.ranks != 1) add("--ranks", std::to_string(o.ranks));
  if (o.as_rank >= 0) add("--as-rank", std::to_string(o.as_rank));
  if (o.devices > 0) add("--devices", std::to_string(o.devices));
  add("--steps", std::to_string(o.steps));
  if (o.no_skip_init) words.emplace_back("--no-skip-init");
  if (o.no_isolation) {
    words.emplace_back("--no-isolation");
  } else if (o.isolation != program::IsolationMode::kAuto) {
    add("--isolation", std::string(program::NameOf(o.isolation)));
  }
  if (o.no_network) words.emplace_back("--no-network");
  for (const std::string& path : o.writable) add("--writable", path);
  return words;
}

absl::StatusOr<ProgramPlan> PlanOf(const Json& json) {
  if (!json.is_object() || !json.contains("peak") || !json["peak"].is_object() ||
      BytesAt(json["peak"], "reserved") == 0)
    return absl::InvalidArgumentError(i18n::Text("the plan reserves no GPU memory"));
  ProgramPlan plan;
  plan.device = json.value("device_name", "");
  // Removes the memory size from the name, because the real GPU has another size.
  plan.device = plan.device.substr(0, plan.device.find(" (" + run::FormatBytes(kRoom) + ")"));
  plan.model = json.value("model", "");
  plan.planned.peak = BytesAt(json["peak"], "allocated");
  plan.planned.reserved = BytesAt(json["peak"], "reserved");
  plan.planned.past_allocator = BytesAt(json, "past_allocator");
  plan.planned.context = BytesAt(json, "device_context");
  plan.planned.step_ms = json.value("step_ms", 0.0);
  plan.planned.out_of_memory = json.value("out_of_memory", false) && !json.value("went_on", false);
  plan.categories = CategoriesOf(json);
  plan.peak_phase = json["peak"].value("phase", "");
  if (json.contains("toggles")) plan.toggles = program::ParseToggleReports(json["toggles"].dump());
  if (json.contains("program") && json["program"].is_object() && json["program"].contains("cold") &&
      json["program"]["cold"].is_string())
    plan.cold = json["program"]["cold"].get<std::string>();
  if (json.contains("assumptions")) plan.assumptions = json["assumptions"];
  if (const program::ToggleReport* report = NotInForce(plan); report != nullptr)
    plan.planned.error = fmt::format("{}: {}", report->name, ReasonText(*report));
  return plan;
}

const program::ToggleReport* NotInForce(const ProgramPlan& plan) {
  const auto fails = [](const program::ToggleReport& report) {
    return report.on && !report.in_force();
  };
  const auto last = std::find_if(plan.toggles.rbegin(), plan.toggles.rend(), fails);
  return last == plan.toggles.rend() ? nullptr : &*last;
}

Json FiguresJson(const fit::Planned& planned) {
  return {{"peak", planned.peak},
          {"reserved", planned.reserved},
          {"needed", planned.needed()},
          {"step_ms", planned.step_ms}};
}

PlanFigures PlanFiguresOf(const Json& json, const ProgramPlan& plan) {
  PlanFigures figures{.peak = plan.planned.peak,
                      .reserved = plan.planned.reserved,
                      .needed = plan.planned.needed()};
  figures.categories = CategoriesOf(json);
  return figures;
}

int64_t ByteDifference(uint64_t before, uint64_t now) {
  return static_cast<int64_t>(now) - static_cast<int64_t>(before);
}

std::vector<std::pair<std::string, int64_t>> ChangedBytes(
    const std::map<std::string, uint64_t>& before, const std::map<std::string, uint64_t>& now) {
  std::map<std::string, int64_t> all;
  for (const auto& [name, bytes] : before) all[name] -= static_cast<int64_t>(bytes);
  for (const auto& [name, bytes] : now) all[name] += static_cast<int64_t>(bytes);
  std::erase_if(all, [](const auto& one) { return one.second == 0; });
  std::vector<std::pair<std::string, int64_t>> sorted(all.begin(), all.end());
  std::ranges::stable_sort(
      sorted, [](const auto& a, const auto& b) { return std::abs(a.second) > std::abs(b.second); });
  return sorted;
}

ProgramPlans::ProgramPlans(const ProgramOptions& options, uint64_t budget,
                           const std::vector<program::Toggle>& all)
    : words_(PlanWords(options)),
      budget_(budget),
      room_(budget == 0 && !options.gpu_memory.empty() ? options.gpu_memory
                                                       : fmt::format("{}B", kRoom)),
      may_serve_(options.as_rank < 0) {
  for (const program::Toggle& toggle : all)
    if (toggle.before_torch) reads_environment_.insert(toggle.name);
}

size_t ProgramPlans::SideBySide() {
  return std::min(kMostSideBySide, std::max(2u, std::thread::hardware_concurrency()));
}

void ProgramPlans::StartServer(const std::vector<std::string>& command) {
  asked_ = true;
  std::vector<std::string> words = words_;
  std::erase(words, "--all-toggles");
  words.insert(words.end(), {"--gpu-memory", room_});
  server_.Start(std::move(words), command, scratch_->path() + kModules);
}

void ProgramPlans::AwaitServer() {
  awaited_ = true;
  const auto until = std::chrono::steady_clock::now() + kImportsWithin;
  while (!server_.Settled() && std::chrono::steady_clock::now() < until) {
    if (progress) progress(0, 0);
    std::this_thread::sleep_for(kTick);
  }
  cold_ = !server_.Settled() ? i18n::Text("importing the program's modules takes too long")
                             : server_.why_not();
}

absl::StatusOr<ProgramPlan> ProgramPlans::One(const ProgramQuestion& question,
                                              const std::string& first) {
  std::vector<std::string> more = {"--gpu-memory", room_};
  if (!first.empty()) more.insert(more.end(), {"--keep", first});
  std::vector<std::string> warm = Warm();
  const std::vector<std::string> from_start = more;
  more.insert(more.end(), warm.begin(), warm.end());
  absl::StatusOr<ProgramPlan> plan = Run(question, more);
  // PyTorch reads its allocator's settings at the first use of CUDA, after the server's
  // imports. Some versions read them on import; then the plan reports that the settings had no
  // effect.
  const bool reads_environment =
      std::ranges::any_of(question.toggles, [&](const std::string& toggle) {
        return reads_environment_.contains(toggle.substr(0, toggle.find('=')));
      });
  if (reads_environment && !warm.empty() && plan.ok() && !plan->planned.error.empty()) {
    warm.clear();
    plan = Run(question, from_start);
  }
  // The allocator releases cached memory when the GPU is full, so only a plan on a GPU of the
  // budget's size shows whether the program fits.
  const bool may_fit =
      plan.ok() && NeedsTooMuch(*plan) &&
      (plan->planned.peak + plan->planned.context <= budget_ || follows_memory_.value_or(false));
  return may_fit ? AtBudget(question, *plan, warm) : plan;
}

std::vector<std::string> ProgramPlans::Warm() const {
  return server_.socket().empty() ? std::vector<std::string>()
                                  : std::vector<std::string>{"--warm", server_.socket()};
}

bool ProgramPlans::NeedsTooMuch(const ProgramPlan& plan) const {
  return budget_ > 0 && plan.planned.ok() && plan.planned.needed() > budget_;
}

absl::StatusOr<ProgramPlan> ProgramPlans::AtBudget(const ProgramQuestion& question,
                                                   const ProgramPlan& plan,
                                                   const std::vector<std::string>& warm) {
  std::vector<std::string> more = {"--gpu-memory", fmt::format("{}B", budget_)};
  more.insert(more.end(), warm.begin(), warm.end());
  absl::StatusOr<ProgramPlan> within = Run(question, more);
  if (!within.ok() || !within->planned.FitsInto(budget_)) return plan;
  within->device = plan.device;  // without the size of the memory
  return within;
}

absl::Status ProgramPlans::PlanAgain(const std::vector<ProgramQuestion>& questions,
                                     std::vector<absl::StatusOr<ProgramPlan>>& plans) {
  for (size_t i = 0; i < questions.size(); ++i) {
    if (!plans[i].ok()) return plans[i].status();
    // Programs that choose a port themselves fail beside each other.
    const std::string& error = plans[i]->planned.error;
    if (questions.size() > 1 && (error.find("EADDRINUSE") != std::string::npos ||
                                 error.find("Address already in use") != std::string::npos ||
                                 error.find("address already in use") != std::string::npos))
      plans[i] = One(questions[i], "");
  }
  for (size_t i = 0; i < questions.size(); ++i) {
    if (!plans[i].ok()) return plans[i].status();
    if (!NeedsTooMuch(*plans[i]) || !follows_memory_.value_or(true)) continue;
    if (plans[i]->planned.peak + plans[i]->planned.context <= budget_) continue;  // One() did it
    if (scratch_ != nullptr && !awaited_) {
      if (!asked_) StartServer(questions[i].command);
      AwaitServer();
    }
    plans[i] = AtBudget(questions[i], *plans[i], Warm());
    if (!plans[i].ok()) return plans[i].status();
    follows_memory_ = follows_memory_.value_or(false) || !NeedsTooMuch(*plans[i]);
  }
  return absl::OkStatus();
}

absl::StatusOr<ProgramPlan> ProgramPlans::Run(const ProgramQuestion& question,
                                              const std::vector<std::string>& more) {
  ++plans_;
  std::vector<std::string> words = words_;
  words.insert(words.end(), more.begin(), more.end());
  for (const std::string& toggle : question.toggles)
    words.insert(words.end(), {"--toggle", toggle});
  words.emplace_back("--");
  words.insert(words.end(), question.command.begin(), question.command.end());
  const auto begin = std::chrono::steady_clock::now();
  const absl::StatusOr<mcp::ChildOutcome> outcome = mcp::RunChild(
      words, "", [] { return false; }, [] {});
  if (!outcome.ok()) return outcome.status();
  const Json json = Json::parse(outcome->out, nullptr, false);
  ProgramPlan plan;
  absl::StatusOr<ProgramPlan> seen = PlanOf(json);
  if (seen.ok()) plan = *seen;
  if (!seen.ok()) {
    plan.planned.error = ErrorOf(*outcome);
  } else if (outcome->status != kDone && outcome->status != kNo && plan.planned.error.empty()) {
    // The program failed early, so the memory that it needs is unknown.
    plan.planned.error = ErrorOf(*outcome);
  }
  plan.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return plan;
}

absl::StatusOr<std::vector<ProgramPlan>> ProgramPlans::All(
    const std::vector<ProgramQuestion>& questions) {
  std::vector<ProgramQuestion> open;
  for (const ProgramQuestion& question : questions)
    if (!known_.contains(question) && std::ranges::find(open, question) == open.end())
      open.push_back(question);
  std::string first;
  if (known_.empty() && may_serve_ && !open.empty() && scratch_ == nullptr) {
    absl::StatusOr<std::unique_ptr<program::ScratchFolder>> scratch =
        program::ScratchFolder::Make();
    if (scratch.ok()) {
      scratch_ = *std::move(scratch);
      first = scratch_->path() + "/first";
    }
  } else if (scratch_ != nullptr && !awaited_ && !open.empty()) {
    if (!asked_) StartServer(open.front().command);
    AwaitServer();
  }
  std::vector<absl::StatusOr<ProgramPlan>> answers(open.size(), absl::UnknownError(""));
  enum class State : uint8_t { kWaits, kBegan, kDone };
  std::vector<std::atomic<State>> states(open.size());
  std::vector<State> told(open.size(), State::kWaits);
  std::atomic<size_t> next{0}, done{0};
  const auto work = [&] {
    for (size_t i = next++; i < open.size(); i = next++) {
      states[i] = State::kBegan;
      answers[i] = One(open[i], i == 0 ? first : "");
      states[i] = State::kDone;
      ++done;
    }
  };
  const auto tell = [&] {
    for (size_t i = 0; i < open.size(); ++i) {
      const State now = states[i];
      if (told[i] == State::kWaits && now != State::kWaits && began) began(open[i]);
      if (told[i] != State::kDone && now == State::kDone && answers[i].ok() && arrived)
        arrived(open[i], *answers[i]);
      told[i] = now;
    }
  };
  const size_t wanted = std::min(open.size(), SideBySide());
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < wanted; ++i) threads.emplace_back(work);
  while (done < open.size()) {
    tell();
    if (progress) progress(done, open.size());
    std::error_code none;
    if (!first.empty() && !asked_ && std::filesystem::exists(scratch_->path() + kModules, none))
      StartServer(open.front().command);
    std::this_thread::sleep_for(kTick);
  }
  threads.clear();
  if (const absl::Status status = PlanAgain(open, answers); !status.ok()) return status;
  tell();
  for (size_t i = 0; i < open.size(); ++i) {
    if (!server_.socket().empty() && !answers[i]->cold.empty()) cold_ = answers[i]->cold;
    known_[open[i]] = *std::move(answers[i]);
  }
  std::vector<ProgramPlan> all;
  for (const ProgramQuestion& question : questions) all.push_back(known_.at(question));
  return all;
}

}  // namespace vramscope::cli
