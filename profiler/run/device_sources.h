// The sources of the figures in the device table, and the figures that were assumed. For each
// figure, an entry of resources/devices/*.json names a document, or gives the reason for an
// assumption. resources/device_sources.json lists the documents.
//
//   ASSIGN_OR_RETURN(FigureSources s, ParseFigureSources(row));
//   s.read[0].title, s.read[0].address, s.read[0].figures  // "TechPowerUp ...", ..., {"l2"}
//   s.Assumed()                                            // {"context", "bf16"}
//
// Functions are thread-safe; an object belongs to one thread.
#pragma once

#include <absl/status/statusor.h>

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::run {

// Returns the names in device files (docs/devices.md): "memory", "context", "compute_capability",
// "multiprocessors", "l2", "clock", "memory_bus", "bandwidth", "fp32", "tf32", "bf16", "peers".
std::span<const std::string_view> DeviceFigures();

struct FigureSources {
  struct Document {
    std::string title;
    std::string address;  // "": no document: the figure was measured or computed by a rule
    std::vector<std::string> figures;
  };
  struct Assumption {
    std::vector<std::string> figures;
    std::string how;  // "same as the RTX 3060 12GB (same nominal size)"
  };
  std::vector<Document> read;
  std::vector<Assumption> assumptions;

  std::vector<std::string> Assumed() const;  // names of figures, in the order of DeviceFigures()
  std::string Text() const;                  // everything on one line, for traces
  // Marks `figures` as assumed, for the reason `how`. They then have no source.
  void Assume(const std::vector<std::string>& figures, std::string_view how);
  // Gives `figures` the source or assumption of `from`, in place of their own.
  void Take(std::string_view from, const std::vector<std::string>& figures);
  // Marks `figures` as given by the user: they have neither a source nor an assumption.
  void Give(const std::vector<std::string>& figures, std::string_view by);
};

// Translates a title or an assumption of FigureSources.
std::string ShownSource(std::string_view text);

// `row`: an object with "sources" {document: [figures]} and "assumed" {"figure,figure": how}.
// Errors: a figure is in neither or in both, a document is unknown, an assumption has no reason.
absl::StatusOr<FigureSources> ParseFigureSources(const nlohmann::json& row);

}  // namespace vramscope::run
