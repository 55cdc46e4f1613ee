// `diff --prediction PLAN RECORDING`: compares a plan with a recording of the same run.
#include "app/cli/diff_prediction.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/format.h"
#include "profiler/base/i18n.h"
#include "profiler/explain/prediction.h"
#include "profiler/query/kernel_names.h"
#include "profiler/run/units.h"

namespace vramscope::cli {
namespace {

using explain::Prediction;

std::string Percent(const Prediction::Figures& f) {
  const std::optional<double> relative = f.relative();
  return relative ? fmt::format("{:+.2f} %", *relative * 100) : "-";
}

Json ToJson(const Prediction::Figures& f) {
  const std::optional<double> relative = f.relative();
  return {{"planned", f.planned},
          {"measured", f.measured},
          {"error", f.error()},
          {"relative", relative ? Json(*relative) : Json()}};
}

Json ToJson(const Prediction::Side& side) {
  if (side.text.empty()) return {};
  return {{"index", side.index},
          {"request", side.text},
          {"op", side.op},
          {"module", side.module},
          {"category", std::string(trace::Name(side.category))},
          {"phase", std::string(trace::Name(side.phase))},
          {"stack", side.stack}};
}

Json Ratio(int64_t planned, int64_t measured) {
  return planned == 0 || measured == 0
             ? Json()
             : Json(static_cast<double>(planned) / static_cast<double>(measured));
}

Json ToJson(const Prediction::Kernel& kernel) {
  return {{"count", {{"planned", kernel.planned_count}, {"measured", kernel.measured_count}}},
          {"total_ns", {{"planned", kernel.planned_ns}, {"measured", kernel.measured_ns}}},
          {"ratio", Ratio(kernel.planned_ns, kernel.measured_ns)}};
}

Json ToJson(const Prediction& p, size_t top) {
  Json json = {{"equal", p.requests.identical() && p.reserved.error() == 0},
               {"step", p.step ? Json(*p.step) : Json()},
               {"peak", {{"allocated", ToJson(p.allocated)}, {"reserved", ToJson(p.reserved)}}},
               {"categories", Json::object()},
               {"phases", Json::object()},
               {"requests",
                {{"equal", p.requests.equal},
                 {"equal_frees_unordered", p.requests.equal_frees_unordered},
                 {"total", p.requests.total}}},
               {"first_difference", Json()},
               {"kernels",
                {{"all", ToJson(p.total)},
                 {"of_both", ToJson(p.both)},
                 {"matched_by_class", ToJson(p.by_class)},
                 {"matched_by_op", ToJson(p.by_op)},
                 {"by_class", Json::array()},
                 {"names", p.kernels.size()},
                 {"by_name", Json::array()}}}};
  for (const auto& row : p.categories)
    json["categories"][std::string(trace::Name(row.category))] = ToJson(row.bytes);
  for (const auto& row : p.phases)
    json["phases"][std::string(trace::Name(row.phase))] = {{"allocated", ToJson(row.allocated)},
                                                           {"reserved", ToJson(row.reserved)}};
  if (p.first)
    json["first_difference"] = {{"planned", ToJson(p.first->planned)},
                                {"measured", ToJson(p.first->measured)}};
  for (const Prediction::Kernel& kernel : p.classes) {
    Json row = {{"name", kernel.name}};
    row.update(ToJson(kernel));
    json["kernels"]["by_class"].push_back(std::move(row));
  }
  for (size_t i = 0; i < std::min(top, p.kernels.size()); ++i) {
    Json row = {{"name", p.kernels[i].name}};
    if (p.kernels[i].is_class) row["is_class"] = true;
    if (!p.kernels[i].measured_name.empty()) row["measured_name"] = p.kernels[i].measured_name;
    row.update(ToJson(p.kernels[i]));
    json["kernels"]["by_name"].push_back(std::move(row));
  }
  return json;
}

std::string SideText(std::string_view which, const Prediction::Side& side) {
  if (side.text.empty()) return fmt::format("  {:<8}  {}\n", which, i18n::Text("nothing"));
  std::string text =
      i18n::Format("  {:<8}  request {}: {}\n", which, Count(side.index), i18n::Shown(side.text));
  text += fmt::format("           {}, {}\n", i18n::Text(trace::Name(side.category)),
                      i18n::Text(trace::Name(side.phase)));
  constexpr size_t kFrames = 8;
  for (size_t i = 0; i < std::min(kFrames, side.stack.size()); ++i)
    text += fmt::format("           {}\n", side.stack[i]);
  if (side.stack.size() > kFrames)
    text += i18n::Format("           ({} more frames)\n", side.stack.size() - kFrames);
  return text;
}

// Replaces a part after the middle of a kernel's name with "...". The middle says what the kernel
// computes for an element; the part after it says only how the kernel iterates over the elements.
std::string Shortened(const std::string& name, size_t width) {
  if (name.size() <= width) return name;
  const size_t front = width * 3 / 4, back = width - front - 3;
  return name.substr(0, front) + "..." + name.substr(name.size() - back);
}

std::string KernelsText(const Prediction& p, size_t top) {
  if (p.total.planned_count + p.total.measured_count == 0)
    return i18n::Text("\n  Kernels: none in either file.\n");
  if (p.total.planned_count == 0 || p.total.measured_count == 0)
    return i18n::Format("\n  Kernels: {} planned, {} measured; times are not compared.\n",
                        Count(p.total.planned_count), Count(p.total.measured_count));
  Table table({{i18n::Text("Planned"), Table::kRight},
               {i18n::Text("measured"), Table::kRight},
               {i18n::Text("Planned time"), Table::kRight},
               {i18n::Text("measured"), Table::kRight},
               {i18n::Text("Ratio"), Table::kRight},
               {i18n::Text("Kernel")}});
  const auto row = [&](const std::string& name, const Prediction::Kernel& k) {
    const auto ms = [](uint64_t count, int64_t ns) {
      return count == 0 ? "-" : Milliseconds(static_cast<double>(ns) / 1e6);
    };
    table.Row({Count(k.planned_count), Count(k.measured_count), ms(k.planned_count, k.planned_ns),
               ms(k.measured_count, k.measured_ns),
               k.planned_ns == 0 || k.measured_ns == 0
                   ? "-"
                   : fmt::format("{:.2f}", static_cast<double>(k.planned_ns) /
                                               static_cast<double>(k.measured_ns)),
               name});
  };
  // Leaves out kernels that take less than a thousandth of the total time. The JSON has all kernels
  // with their full names.
  constexpr int64_t kLeast = 1000;
  constexpr size_t kWidth = 76;
  size_t shown = 0;
  for (; shown < std::min(top, p.kernels.size()); ++shown) {
    const Prediction::Kernel& k = p.kernels[shown];
    if (std::max(k.planned_ns, k.measured_ns) <
        std::max(p.total.planned_ns, p.total.measured_ns) / kLeast)
      break;
    const std::string name =
        k.is_class ? i18n::Format("other {}", i18n::Text(k.name)) : query::ReadableKernel(k.name);
    row(k.measured_name.empty()
            ? Shortened(name, kWidth)
            : i18n::Format("{}, measured as {}", Shortened(name, kWidth / 2),
                           Shortened(query::ReadableKernel(k.measured_name), kWidth / 2)),
        k);
  }
  if (p.kernels.size() > shown)
    table.Row({"", "", "", "", "", i18n::Format("({} more names)", p.kernels.size() - shown)});
  table.Row({"", "", "", "", "", ""});
  for (const Prediction::Kernel& k : p.classes) row(i18n::Text(k.name), k);
  row(i18n::Text("same names in both files"), p.both);
  if (p.by_op.planned_count > 0)
    row(i18n::Text("different names, matched by op and order"), p.by_op);
  row(i18n::Text("all"), p.total);
  return "\n" + table.Text();
}

std::string ToText(const Prediction& p, size_t top) {
  Table figures({{i18n::Text("At the peaks")},
                 {i18n::Text("Planned"), Table::kRight},
                 {i18n::Text("Measured"), Table::kRight},
                 {i18n::Text("Error"), Table::kRight},
                 {"", Table::kRight}});
  const auto row = [&](const std::string& name, const Prediction::Figures& f) {
    figures.Row({name, run::FormatBytes(f.planned), run::FormatBytes(f.measured),
                 SignedBytes(f.error()), Percent(f)});
  };
  row(i18n::Text("allocated"), p.allocated);
  row(i18n::Text("reserved"), p.reserved);
  for (const auto& c : p.categories) row(i18n::Text(trace::Name(c.category)), c.bytes);
  for (const auto& phase : p.phases)
    row(i18n::Format("maximum in {}", i18n::Text(trace::Name(phase.phase))), phase.allocated);
  std::string text = "  " +
                     (p.step ? i18n::Format("Step {}, planned against measured", *p.step)
                             : i18n::Text("The whole run, planned against measured")) +
                     "\n\n" + figures.Text();
  text += "\n  " + EqualRequestsText(p.requests) + "\n";
  if (p.first)
    text += "  " + i18n::Text("The first difference:") + "\n" +
            SideText(i18n::Text("planned"), p.first->planned) +
            SideText(i18n::Text("measured"), p.first->measured);
  return text + KernelsText(p, top);
}

}  // namespace

std::string EqualRequestsText(const analysis::RequestDiff& diff) {
  if (diff.equal_frees_unordered == diff.equal)
    return i18n::Format("{} of {} requests are equal", Count(diff.equal), Count(diff.total));
  return i18n::Format(
      "{} of {} requests are equal ({} if the order of the frees between two allocations is "
      "ignored)",
      Count(diff.equal), Count(diff.total), Count(diff.equal_frees_unordered));
}

ExitCode DiffPrediction(const std::vector<analysis::DevicePair>& pairs, size_t shown,
                        std::optional<int32_t> step, size_t top, bool json) {
  std::vector<Prediction> devices;
  for (const analysis::DevicePair& pair : pairs) {
    absl::StatusOr<Prediction> p = explain::HoldAgainst(*pair.a, *pair.b, step);
    if (!p.ok()) return ReportError(p.status());
    devices.push_back(*std::move(p));
  }
  const bool equal = std::ranges::all_of(devices, [](const Prediction& p) {
    return p.requests.identical() && p.reserved.error() == 0;
  });
  ExitCode printed = kDone;
  if (json) {
    Json out = ToJson(devices[shown], top);
    out["equal"] = equal;
    if (devices.size() > 1) {
      out["devices"] = Json::array();
      for (size_t i = 0; i < devices.size(); ++i) {
        Json device = {{"device", pairs[i].device}};
        device.update(ToJson(devices[i], top));
        out["devices"].push_back(std::move(device));
      }
    }
    printed = PrintJson(out);
  } else {
    std::string text;
    for (size_t i = 0; i < devices.size(); ++i) {
      if (devices.size() > 1)
        text += fmt::format("{}cuda:{}\n", i == 0 ? "" : "\n", pairs[i].device);
      text += ToText(devices[i], top);
    }
    printed = PrintText(text);
  }
  return printed != kDone ? printed : equal ? kDone : kNo;
}

}  // namespace vramscope::cli
