// Says what the evidence for a block is. Either the block was recorded, or code that really ran
// allocated it, or a plan models it as a block of a technique's library. A technique declares its
// modelled blocks (run::ModelledBlocks) and the assumption on which they rest.
//
//   const BlockEvidence evidence(trace);
//   evidence.Of(id).text;   // "allocated by PyTorch's own aten::mm"
//
// Immutable; thread-safe. The trace must outlive it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::trace {

enum class EvidenceKind : uint8_t {
  kRecorded,  // in a run on a device
  kMade,      // in a plan: allocated by code that really ran
  kModelled,  // in a plan: represents a block of a library that did not run
};
std::string_view Name(EvidenceKind kind);  // "modelled"

struct Evidence {
  EvidenceKind kind = EvidenceKind::kMade;
  // Both texts are in English; i18n::Shown() translates them.
  std::string text;    // a sentence
  std::string source;  // kModelled: "technique: 8-bit Adam"
};

class BlockEvidence {
 public:
  explicit BlockEvidence(const Trace& trace);
  Evidence Of(AllocationId id) const;

 private:
  struct Modelled {
    std::string category;
    std::vector<std::string> ops;  // restricts `category` to blocks of these ops; empty: all
    std::string what, source;
  };
  const Trace& trace_;
  std::vector<Modelled> modelled_;
};

}  // namespace vramscope::trace
