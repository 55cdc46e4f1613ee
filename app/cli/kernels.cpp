// `kernels FILE`: sums up the GPU's work. --kernel shows one kernel: its operator and module, the
// blocks that the operator allocated, and the blocks that the kernel used. --allocation shows one
// allocation: its first and last kernels, the kernels of the operator that allocated it, and the
// kernels of the last operator before its free.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "app/cli/input.h"
#include "app/cli/summary.h"
#include "profiler/base/i18n.h"
#include "profiler/query/activity_index.h"
#include "profiler/query/kernel_names.h"
#include "profiler/query/kernel_sums.h"
#include "profiler/run/units.h"
#include "profiler/trace/block_evidence.h"

namespace vramscope::cli::kernels_command {
namespace {

using query::ActivityIndex;
using query::kNoRow;
using trace::SliceKind;

constexpr size_t kMostLaunched = 1000;  // maximum number of listed launches of an operator

struct Options {
  std::string file, by = "name";
  int64_t kernel = -1, allocation = -1;
  size_t top = 20;
  RangeOptions range;
  bool json = false;
};

// Looks up facts about activities. A string is empty if the fact is unknown.
class Facts {
 public:
  explicit Facts(std::shared_ptr<const trace::Trace> trace)
      : trace_(std::move(trace)), index_(trace_) {}

  const trace::Trace& trace() const { return *trace_; }
  const ActivityIndex& index() const { return index_; }

  std::string Name(uint32_t row) const { return query::ActivityName(*trace_, row); }
  std::string Op(uint32_t row) const { return std::string(query::OpOf(index_, row)); }
  std::string Module(uint32_t row) const { return std::string(query::ModuleOf(index_, row)); }
  std::string Phase(uint32_t row) const { return std::string(query::PhaseOf(index_, row)); }
  // -1: outside of all steps
  int64_t Step(uint32_t row) const { return query::StepOf(index_, row); }
  int64_t Takes(uint32_t row) const { return query::TakesOf(*trace_, row); }

  Json ToJson(uint32_t row) const {
    const trace::ActivityTable& a = trace_->activities;
    return {{"activity", row},
            {"kind", std::string(trace::Name(a.kind[row]))},
            {"name", Name(row)},
            {"begin_ns", a.begin_ns[row]},
            {"takes_ns", Takes(row)},
            {"bytes", a.bytes[row]},
            {"stream", a.stream[row]},
            {"op", Op(row)},
            {"module", Module(row)},
            {"phase", Phase(row)},
            {"step", Step(row) < 0 ? Json() : Json(Step(row))}};
  }
  Json ToJson(trace::AllocationId id) const {
    const trace::AllocationTable& t = trace_->allocations;
    return {{"allocation", id.value},
            {"address", t.address[id.value]},
            {"bytes_requested", t.bytes[id.value]},
            {"bytes_rounded", t.bytes_rounded[id.value]},
            {"category", std::string(trace::Name(t.main_category[id.value]))},
            {"op", std::string(trace_->String(t.op[id.value]))},
            {"module", std::string(trace_->String(t.module[id.value]))}};
  }
  // Returns the blocks that the kernel used, or null if the trace does not record them.
  Json BlocksToJson(uint32_t row) const {
    if (!index_.operands().any()) return nullptr;
    Json json = Json::array();
    for (const auto& block : index_.operands().BlocksOf(row, kMostLaunched)) {
      Json one = ToJson(block.allocation);
      one["read"] = block.read;
      one["written"] = block.written;
      json.push_back(std::move(one));
    }
    return json;
  }
  Json TouchesToJson(trace::AllocationId id) const {
    if (!index_.operands().any()) return nullptr;
    const query::OperandLinks::Touches touches = index_.operands().TouchesOf(id);
    const auto of = [this](uint32_t row) { return row == kNoRow ? Json() : ToJson(row); };
    return {{"count", touches.count},
            {"first", of(touches.all.first)},
            {"last", of(touches.all.last)},
            {"first_read", of(touches.reads.first)},
            {"last_read", of(touches.reads.last)},
            {"first_written", of(touches.writes.first)},
            {"last_written", of(touches.writes.last)}};
  }
  // Returns the operator of this slice and the kernels that it launched, or null for kNoRow.
  Json OpToJson(uint32_t slice) const {
    if (slice == kNoRow) return nullptr;
    const trace::SliceTable& s = trace_->slices;
    Json json = {{"op", std::string(trace_->String(s.name[slice]))},
                 {"module", std::string(trace_->String(s.module[slice]))},
                 {"begin_ns", s.begin_ns[slice]},
                 {"end_ns", s.end_ns[slice]},
                 {"kernels", Json::array()}};
    for (const uint32_t row : index_.LaunchedWithin(slice, kMostLaunched))
      json["kernels"].push_back(ToJson(row));
    return json;
  }

 private:
  std::shared_ptr<const trace::Trace> trace_;
  ActivityIndex index_;
};

std::string Duration(int64_t ns) { return Milliseconds(static_cast<double>(ns) * 1e-6); }
// Escapes a name for output as text, because names from files may contain control sequences.
std::string OrDash(const std::string& text) { return text.empty() ? "-" : Printable(text); }

std::string PhaseText(const Facts& facts, uint32_t row) {
  const std::string phase = facts.Phase(row);
  return phase.empty() ? "-" : i18n::Text(phase);
}
// "1.00 MiB Gradient"
std::string BlockText(const trace::AllocationTable& a, uint32_t id) {
  return fmt::format("{} {}", run::FormatBytes(a.bytes_rounded[id]),
                     i18n::Text(trace::Name(a.main_category[id])));
}

ExitCode ShowSums(const Facts& facts, const Options& options) {
  const trace::Trace& trace = facts.trace();
  const query::KernelSums all =
      query::SumKernels(facts.index(), *query::ParseKernelsBy(options.by));
  std::vector<uint32_t> longest;
  for (uint32_t row = 0; row < trace.activities.size(); ++row)
    if (all.sum_of[row] != kNoRow) longest.push_back(row);
  const std::vector<query::KernelSum>& sums = all.sums;
  const auto shown = static_cast<ptrdiff_t>(std::min(options.top, longest.size()));
  std::partial_sort(longest.begin(), longest.begin() + shown, longest.end(),
                    [&](uint32_t a, uint32_t b) {
                      return std::pair(-facts.Takes(a), a) < std::pair(-facts.Takes(b), b);
                    });
  longest.resize(static_cast<size_t>(shown));
  if (options.json) {
    Json json = {{"by", options.by},
                 {"measured", trace.info.measured},
                 {"takes_ns", all.takes_ns},
                 {"groups", Json::array()},
                 {"longest", Json::array()}};
    for (const query::KernelSum& sum : sums)
      json["groups"].push_back({{"name", sum.name},
                                {"count", sum.count},
                                {"takes_ns", sum.takes_ns},
                                {"bytes", sum.bytes}});
    for (const uint32_t row : longest) json["longest"].push_back(facts.ToJson(row));
    return PrintJson(json);
  }
  if (sums.empty()) return PrintText(i18n::Text("no kernels or copies are in this file\n"));
  Table table({{i18n::Text("Time"), Table::kRight},
               {i18n::Text("Share"), Table::kRight},
               {i18n::Text("Count"), Table::kRight},
               {i18n::Format("By {}", options.by)}});
  // The names are vramscope's own words, not names from the file.
  const bool ours = options.by == "phase" || options.by == "kind";
  for (size_t i = 0; i < std::min(options.top, sums.size()); ++i)
    table.Row({Duration(sums[i].takes_ns), fmt::format("{:.1f} %", 100.0 * all.share(sums[i])),
               Count(sums[i].count),
               sums[i].name.empty()   ? i18n::Text("(none)")
               : options.by == "name" ? query::ReadableKernel(sums[i].name)
               : ours                 ? i18n::Text(sums[i].name)
                                      : sums[i].name});
  std::string text = table.Text();
  if (sums.size() > options.top)
    text += i18n::Format("  ({} more)\n", Count(sums.size() - options.top));
  Table single({{i18n::Text("Longest"), Table::kRight},
                {i18n::Text("Number"), Table::kRight},
                {i18n::Text("Phase")},
                {i18n::Text("Op")},
                {i18n::Text("Module")},
                {i18n::Text("Name")}});
  for (const uint32_t row : longest)
    single.Row({Duration(facts.Takes(row)), fmt::format("{}", row), PhaseText(facts, row),
                OrDash(facts.Op(row)), OrDash(facts.Module(row)),
                query::ReadableKernel(facts.Name(row))});
  return PrintText(text + "\n" + single.Text() +
                   (trace.info.measured ? "" : i18n::Text("\n  Times are modelled.\n")));
}

std::string OpText(const Facts& facts, std::string_view what, uint32_t slice) {
  if (slice == kNoRow) return i18n::Format("{}: not known\n", what);
  const trace::Trace& t = facts.trace();
  std::string text = i18n::Format("{}: {} in {}\n", what, Printable(t.String(t.slices.name[slice])),
                                  OrDash(std::string(t.String(t.slices.module[slice]))));
  for (const uint32_t row : facts.index().LaunchedWithin(slice, kMostLaunched))
    text += fmt::format("  {} {} {}\n", row, Duration(facts.Takes(row)),
                        Printable(query::ReadableKernel(facts.Name(row))));
  return text;
}

std::string BlocksText(const Facts& facts, uint32_t row, size_t top) {
  const query::OperandLinks& links = facts.index().operands();
  if (!links.any()) return i18n::Text("  blocks used: not recorded\n");
  const auto blocks = links.BlocksOf(row, kMostLaunched);
  const trace::AllocationTable& a = facts.trace().allocations;
  std::string text = i18n::Format("  blocks used: {}\n", Count(blocks.size()));
  for (size_t i = 0; i < std::min(blocks.size(), top); ++i) {
    const uint32_t id = blocks[i].allocation.value;
    text += fmt::format("    {} {}, {}\n", id, BlockText(a, id),
                        i18n::Text(query::UseText(blocks[i].read, blocks[i].written)));
  }
  return text;
}

std::string TouchesText(const Facts& facts, trace::AllocationId id) {
  const query::OperandLinks& links = facts.index().operands();
  if (!links.any())
    return i18n::Text(
        "The kernels above ran during the listed ops. This file does not record which memory a "
        "kernel used.\n");
  const query::OperandLinks::Touches touches = links.TouchesOf(id);
  std::string text = touches.count == 1
                         ? i18n::Text("one kernel, memcpy or memset used this allocation\n")
                         : i18n::Format("{} kernels, memcpys and memsets used this allocation\n",
                                        Count(touches.count));
  const auto line = [&](std::string_view what, uint32_t row) {
    if (row != kNoRow)
      text +=
          i18n::Format("  {}: {} {} in {}\n", what, row,
                       Printable(query::ReadableKernel(facts.Name(row))), OrDash(facts.Op(row)));
  };
  line(i18n::Text("first"), touches.all.first);
  line(i18n::Text("last"), touches.all.last);
  line(i18n::Text("read first"), touches.reads.first);
  line(i18n::Text("read last"), touches.reads.last);
  line(i18n::Text("written first"), touches.writes.first);
  line(i18n::Text("written last"), touches.writes.last);
  return text;
}

ExitCode ShowKernel(const Facts& facts, uint32_t row, const Options& options) {
  const trace::Trace& t = facts.trace();
  const uint32_t call = facts.index().CallOf(row);
  const uint32_t op = facts.index().SliceOf(row, SliceKind::kOp);
  const query::RowRange made = op == kNoRow ? query::RowRange{} : facts.index().MadeWithin(op);
  if (options.json) {
    Json json = facts.ToJson(row);
    json["call"] = nullptr;
    if (call != kNoRow)
      json["call"] = {{"name", facts.Name(call)},
                      {"begin_ns", t.activities.begin_ns[call]},
                      {"takes_ns", facts.Takes(call)},
                      {"thread", t.activities.thread[call]}};
    json["touches"] = facts.BlocksToJson(row);
    json["op_known_as_slice"] = op != kNoRow;
    json["op_allocated"] = Json::array();
    for (uint32_t id = made.first; id < made.last && id - made.first < kMostLaunched; ++id)
      json["op_allocated"].push_back(facts.ToJson(trace::AllocationId{id}));
    return PrintJson(json);
  }
  std::string text = i18n::Format(
      "{} {}: {}\n  duration {}, start {}, stream {}\n  op {}, module {}, phase {}\n",
      i18n::Text(trace::Name(t.activities.kind[row])), row, Printable(facts.Name(row)),
      Duration(facts.Takes(row)), Duration(t.activities.begin_ns[row]), t.activities.stream[row],
      OrDash(facts.Op(row)), OrDash(facts.Module(row)), PhaseText(facts, row));
  text += call == kNoRow
              ? i18n::Text("  API call: not recorded\n")
              : i18n::Format("  {} at {} on thread {}\n", Printable(facts.Name(call)),
                             Duration(t.activities.begin_ns[call]), t.activities.thread[call]);
  text += BlocksText(facts, row, options.top);
  if (op == kNoRow)
    return PrintText(text + i18n::Text("  blocks allocated by the op: not known\n"));
  text += i18n::Format("  blocks allocated by the op: {}\n", Count(made.size()));
  for (uint32_t id = made.first; id < std::min<size_t>(made.last, made.first + options.top); ++id)
    text += fmt::format("    {} {}\n", id, BlockText(t.allocations, id));
  return PrintText(text);
}

ExitCode ShowAllocation(const Facts& facts, uint32_t number, const Options& options) {
  const trace::Trace& t = facts.trace();
  const trace::AllocationId id{number};
  const trace::Evidence evidence = trace::BlockEvidence(t).Of(id);
  const uint32_t made = facts.index().OpThatMade(id), last = facts.index().LastOpBeforeFree(id);
  if (options.json) {
    Json json = facts.ToJson(id);
    json["evidence"] = EvidenceJson(evidence);
    json["touched"] = facts.TouchesToJson(id);
    json["made_by"] = facts.OpToJson(made);
    json["last_before_free"] = facts.OpToJson(last);
    return PrintJson(json);
  }
  const std::string source =
      evidence.source.empty() ? "" : fmt::format(" ({})", i18n::Shown(evidence.source));
  return PrintText(i18n::Format("allocation {}: {}\n", number, BlockText(t.allocations, number)) +
                   fmt::format("{}: {}{}\n", i18n::Text(trace::Name(evidence.kind)),
                               i18n::Shown(evidence.text), source) +
                   OpText(facts, i18n::Text("allocated by"), made) +
                   OpText(facts, i18n::Text("last op before the free"), last) +
                   TouchesText(facts, id));
}

ExitCode Execute(const Options& options) {
  const auto opened = OpenOneDevice(options.file, options.range);
  if (!opened.ok()) return ReportError(opened.status());
  const trace::Trace& trace = *opened->trace;
  const auto beyond = [&](const char* option, int64_t number, size_t count) {
    return ReportError(Named(
        options.file,
        absl::OutOfRangeError(i18n::Format(
            "{} {} is out of range: there are only {}, numbered from 0", option, number, count))));
  };
  if (options.kernel >= int64_t{trace.activities.size()})
    return beyond("--kernel", options.kernel, trace.activities.size());
  if (options.allocation >= int64_t{trace.allocations.size()})
    return beyond("--allocation", options.allocation, trace.allocations.size());
  const Facts facts(opened->trace);
  if (options.kernel >= 0) return ShowKernel(facts, static_cast<uint32_t>(options.kernel), options);
  if (options.allocation >= 0)
    return ShowAllocation(facts, static_cast<uint32_t>(options.allocation), options);
  return ShowSums(facts, options);
}

void DeclareKernels(CLI::App* command, Context& context) {
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, kFileHelp)->required();
  command->add_option("--by", options->by, "name, op, module, phase, step, stream or kind")
      ->check(CLI::IsMember({"name", "op", "module", "phase", "step", "stream", "kind"})
                  .description(""))
      ->type_name("HOW");
  CLI::Option* kernel =
      command
          ->add_option("--kernel", options->kernel,
                       "show one kernel by its number: its API call, op and module, the "
                       "allocations of the op, and the blocks that the kernel uses")
          ->check(CLI::Range(int64_t{0}, INT64_MAX).description(""))
          ->type_name("N");
  command
      ->add_option("--allocation", options->allocation,
                   "show one allocation by its number: the op that made the allocation, the last "
                   "op before the free, the kernels of both ops, and the first and last kernels "
                   "that used the allocation")
      ->check(CLI::Range(int64_t{0}, INT64_MAX).description(""))
      ->excludes(kernel)
      ->type_name("N");
  AddTop(*command, options->top);
  AddRangeOptions(*command, options->range);
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, &context] { context.exit_code = Execute(*options); });
}

}  // namespace

CommandEntry DeclareCommand_kernels() {
  return {.place = 70,
          .name = "kernels",
          .help = "sum GPU time by kernel, op or module, or show one kernel or allocation",
          .example = "kernels run.trace --by op",
          .declare = DeclareKernels};
}

}  // namespace vramscope::cli::kernels_command
