#include "profiler/run/device_sources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "profiler/base/i18n.h"
#include "resources/embedded_file.h"

namespace vramscope::run {
namespace {

constexpr std::array<std::string_view, 12> kSourced = {"memory",
                                                       "context",
                                                       "compute_capability",
                                                       "multiprocessors",
                                                       "l2",
                                                       "clock",
                                                       "memory_bus",
                                                       "bandwidth",
                                                       "fp32",
                                                       "tf32",
                                                       "bf16",
                                                       "peers"};
constexpr std::string_view kMigFigure = "mig";  // only for GPUs with MIG

// Formats of assumptions in resources/devices. update.py collects the texts of that folder that
// match none of these formats, and the texts of resources/device_sources.json.
constexpr std::string_view kFormats[] = {
    TEXT_MARK("{}, in a log whose URL was not kept"),
    TEXT_MARK("{} (whole MiB)"),
    TEXT_MARK("{}, ECC on"),
    TEXT_MARK("{}; this GPU was not measured"),
    TEXT_MARK("{}; this compute capability was not measured"),
    TEXT_MARK("total_memory that Ultralytics YOLO printed with {}"),
    TEXT_MARK("total_memory that {} printed"),
    TEXT_MARK("total_memory that {} printed with driver {}"),
    TEXT_MARK("total_memory that a PyTorch version of 2026 printed (whole MiB)"),
    TEXT_MARK("total_memory that a PyTorch version of 2026 printed (in MiB)"),
    TEXT_MARK("total_memory and L2_cache_size that PyTorch printed: {} (TechPowerUp lists {})"),
    TEXT_MARK("multi_processor_count that {} printed: {} (TechPowerUp lists {})"),
    TEXT_MARK("PyTorch printed {}"),
    TEXT_MARK("{}, as shown by {} (rounded)"),
    TEXT_MARK("{} according to a public note about such a system (rounded)"),
    TEXT_MARK("number of multiprocessors, taken from a test of FastVideo: {}"),
    TEXT_MARK("{}; with newer drivers about {} MiB less"),
    TEXT_MARK("{}; with newer drivers {} MiB"),
    TEXT_MARK("an early {} version of {}"),
    TEXT_MARK("total memory that {} printed"),
    TEXT_MARK("total memory that {} printed with {}"),
    TEXT_MARK("a mining program"),
    TEXT_MARK("a program like hashcat"),
    TEXT_MARK("total memory that a public note states for a system that runs Ollama"),
    TEXT_MARK("total memory that a public note states for a system with driver {} and CUDA {}"),
    TEXT_MARK("a driver for CUDA {}"),
    TEXT_MARK("deviceQuery with a driver for CUDA {}"),
    TEXT_MARK("memory of a process minus the memory reserved by PyTorch, from public out-of-memory "
              "messages of PyTorch 2.x, whose URLs were not kept: {}"),
    TEXT_MARK("{}; a bare context takes {} MiB"),
    TEXT_MARK("{} (one reading)"),
    TEXT_MARK("{} (one reading, a card of {})"),
    TEXT_MARK("{} (one reading; up to {} on other GPUs with 24 GB)"),
    TEXT_MARK(
        "60 MiB plus 2.9 MiB per SM, fitted to measured GPUs of compute capability 8.6 and 8.9"),
    TEXT_MARK("120 MiB plus 3.1 MiB per SM, fitted to measured GPUs of compute capability 12.0"),
    TEXT_MARK("5.1 MiB per SM, as on the measured H100"),
    TEXT_MARK("less than on an A100 (420 MiB bare, up to 500 MiB), because this GPU has half as "
              "many SMs"),
    TEXT_MARK("like the {}"),
    TEXT_MARK("same as the H100 SXM5, scaled to this GPU's clock"),
    TEXT_MARK("same as the H100 SXM5 and the H200. The fp32 rate is computed from the number of "
              "multiprocessors and the clock: with 78 multiprocessors, no clock of this chip "
              "reaches the 44 TFLOPS of the data sheet"),
    TEXT_MARK("the B200's values, scaled by the ratio of the two GPUs' tensor rates"),
    TEXT_MARK("same as stated for the HGX boards of this generation"),
    TEXT_MARK("{} % of the nominal size, as on the other GPUs of this generation"),
    TEXT_MARK("same as GeForce GPUs since compute capability 7.5"),
    TEXT_MARK("same as the RTX 6000 Ada, for which the only reports of peer access are with a "
              "modified driver (aikitoria/open-gpu-kernel-modules#38)"),
    TEXT_MARK("same as the Orin Nano 8GB, the same module in another power mode"),
    TEXT_MARK("same as the {} (same nominal size)"),
    TEXT_MARK("twice that of the {}"),
    TEXT_MARK("same as the {} (same memory)"),
    TEXT_MARK("same as the {} (same chip)"),
    TEXT_MARK("same as the {} (same chip and nominal size)"),
    TEXT_MARK("same as the {} (same generation)"),
    TEXT_MARK("{} % of the nominal size, like the {}"),
    TEXT_MARK("H100 and H200"),
    TEXT_MARK("P100 of 16 GB"),
};

struct KnownDocument {
  std::string title, address;
};

const std::map<std::string, KnownDocument, std::less<>>& Documents() {
  static const auto* documents = [] {
    auto* known = new std::map<std::string, KnownDocument, std::less<>>;
    const nlohmann::json file = nlohmann::json::parse(resources::DeviceSourcesFile()[0].content);
    for (const auto& [id, d] : file.items())
      (*known)[id] = {d.at("title"), d.value("address", std::string())};
    return known;
  }();
  return *documents;
}

// An id names a page of a document ("techpowerup/tesla-p4.c2879") or a rule ("rule/fp32").
absl::StatusOr<KnownDocument> DocumentOf(const std::string& id) {
  if (const auto whole = Documents().find(id); whole != Documents().end()) return whole->second;
  const size_t slash = std::min(id.find('/'), id.size());
  const auto found = Documents().find(id.substr(0, slash));
  if (slash == id.size() || found == Documents().end())
    return absl::InvalidArgumentError(fmt::format("no document \"{}\"", id));
  const std::string part = id.substr(slash + 1);
  const KnownDocument& document = found->second;
  if (document.address.empty())
    return KnownDocument{fmt::format("{} ({})", part, document.title), ""};
  return KnownDocument{document.title, document.address + part};
}

std::vector<std::string> Split(std::string_view names) {
  std::vector<std::string> parts;
  while (!names.empty()) {
    const size_t comma = std::min(names.find(','), names.size());
    parts.emplace_back(names.substr(0, comma));
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
  return parts;
}

bool IsFigure(std::string_view name) {
  return name == kMigFigure || std::ranges::find(kSourced, name) != kSourced.end();
}

template <typename Entry>
void Remove(std::vector<Entry>& entries, const std::vector<std::string>& figures) {
  for (Entry& entry : entries) {
    std::erase_if(entry.figures, [&](const std::string& figure) {
      return std::ranges::find(figures, figure) != figures.end();
    });
  }
  std::erase_if(entries, [](const Entry& entry) { return entry.figures.empty(); });
}

}  // namespace

std::span<const std::string_view> DeviceFigures() { return kSourced; }

std::vector<std::string> FigureSources::Assumed() const {
  std::set<std::string, std::less<>> all;
  for (const Assumption& a : assumptions) all.insert(a.figures.begin(), a.figures.end());
  std::vector<std::string> ordered;
  for (const std::string_view figure : kSourced) {
    if (all.contains(figure)) ordered.emplace_back(figure);
  }
  return ordered;
}

std::string FigureSources::Text() const {
  std::vector<std::string> parts;
  for (const Document& d : read)
    parts.push_back(fmt::format("{}: {}", fmt::join(d.figures, ", "), d.title));
  for (const Assumption& a : assumptions)
    parts.push_back(fmt::format("assumed {}: {}", fmt::join(a.figures, ", "), a.how));
  return fmt::format("{}", fmt::join(parts, "; "));
}

void FigureSources::Assume(const std::vector<std::string>& figures, std::string_view how) {
  Remove(read, figures);
  Remove(assumptions, figures);
  if (!figures.empty()) assumptions.push_back({figures, std::string(how)});
}

void FigureSources::Take(std::string_view from, const std::vector<std::string>& figures) {
  const auto has = [&](const auto& entry) {
    return std::ranges::find(entry.figures, from) != entry.figures.end();
  };
  const std::vector<std::string> source = {std::string(from)};
  if (const auto found = std::ranges::find_if(read, has); found != read.end()) {
    const Document document{found->title, found->address, figures};
    Remove(read, source);
    Remove(read, figures);
    Remove(assumptions, figures);
    read.push_back(document);
  } else if (const auto how = std::ranges::find_if(assumptions, has); how != assumptions.end()) {
    const std::string text = how->how;
    Remove(assumptions, source);
    Assume(figures, text);
  }
}

void FigureSources::Give(const std::vector<std::string>& figures, std::string_view by) {
  Remove(read, figures);
  Remove(assumptions, figures);
  if (!figures.empty()) read.insert(read.begin(), {std::string(by), "", figures});
}

std::string ShownSource(std::string_view text) {
  i18n::Know(kFormats);
  return i18n::Shown(text);
}

absl::StatusOr<FigureSources> ParseFigureSources(const nlohmann::json& row) {
  FigureSources out;
  std::set<std::string, std::less<>> seen;
  const auto once = [&](const std::vector<std::string>& figures) -> absl::Status {
    for (const std::string& figure : figures) {
      if (!IsFigure(figure))
        return absl::InvalidArgumentError(fmt::format("no figure \"{}\"", figure));
      if (!seen.insert(figure).second)
        return absl::InvalidArgumentError(figure + " has two sources");
    }
    return absl::OkStatus();
  };
  const nlohmann::json none = nlohmann::json::object();
  const nlohmann::json sources = row.value("sources", none), assumed = row.value("assumed", none);
  for (const auto& [id, figures] : sources.items()) {
    absl::StatusOr<KnownDocument> document = DocumentOf(id);
    if (!document.ok()) return document.status();
    FigureSources::Document d{document->title, document->address, figures};
    if (absl::Status status = once(d.figures); !status.ok()) return status;
    out.read.push_back(std::move(d));
  }
  for (const auto& [names, how] : assumed.items()) {
    FigureSources::Assumption a{Split(names), how};
    if (absl::Status status = once(a.figures); !status.ok()) return status;
    if (a.how.empty())
      return absl::InvalidArgumentError(names + " is assumed without an explanation");
    out.assumptions.push_back(std::move(a));
  }
  for (const std::string_view figure : kSourced) {
    if (!seen.contains(figure))
      return absl::InvalidArgumentError(
          fmt::format("{} has no source and is not marked as assumed", figure));
  }
  if (row.contains(kMigFigure) != seen.contains(kMigFigure))
    return absl::InvalidArgumentError("mig has profiles or a source, but not both");
  return out;
}

}  // namespace vramscope::run
