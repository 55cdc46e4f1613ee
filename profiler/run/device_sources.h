// Where the figures of the device table were read, and which were read nowhere. A row of
// resources/devices/*.json names, of each of its figures, either a document or how it was assumed;
// resources/device_sources.json has the documents.
//
//   ASSIGN_OR_RETURN(FigureSources s, ParseFigureSources(row));  // of one row, as written
//   s.read[0].title, s.read[0].address, s.read[0].figures        // "TechPowerUp ...", ..., {"l2"}
//   s.Assumed()                                                  // {"context", "bf16"}
//
// Functions are thread-safe; an object is one thread's.
#pragma once

#include <absl/status/statusor.h>

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::run {

// "memory", "context", "compute_capability", "multiprocessors", "l2", "clock", "memory_bus",
// "bandwidth", "fp32", "tf32", "bf16", "peers": as device files have them (docs/devices.md).
std::span<const std::string_view> DeviceFigures();

struct FigureSources {
  struct Document {
    std::string title;
    std::string address;  // "": a reading, a rule
    std::vector<std::string> figures;
  };
  struct Assumption {
    std::vector<std::string> figures;
    std::string how;  // "as the RTX 3060 12GB, of the same size"
  };
  std::vector<Document> read;
  std::vector<Assumption> assumptions;

  std::vector<std::string> Assumed() const;  // names of figures, in the order of DeviceFigures()
  std::string Text() const;                  // all in one line, for traces
  // `figures` become an assumption, whatever they were before.
  void Assume(const std::vector<std::string>& figures, std::string_view how);
  // `figures` get the source, or the assumption, that `from` has; `from` has none any more.
  void Take(std::string_view from, const std::vector<std::string>& figures);
  // `figures` become stated ones: neither read here nor assumed.
  void Give(const std::vector<std::string>& figures, std::string_view by);
};

// `row`: an object with "sources" {document: [figures]} and "assumed" {"figure,figure": how}.
// Errors: a figure that has neither or both, a document that is not known, no word on how.
absl::StatusOr<FigureSources> ParseFigureSources(const nlohmann::json& row);

}  // namespace vramscope::run
