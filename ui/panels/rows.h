// Rows of the tables and lists beside the timeline, as text with sort keys: what the panels show is
// decided here, without Qt, and the item models only pass it on.
//
//   Table t = PhaseTable(trace, summary);
//   t.rows[0].cells[4].text;   // "270.114 ms"
//
// Pure functions of immutable traces; thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/analysis.h"
#include "profiler/trace/assumptions.h"
#include "profiler/trace/trace.h"
#include "ui/timeline/model/origin.h"

namespace vramscope::ui {

struct Column {
  std::string title;
  bool number = false;   // right-aligned, monospaced
  int width = 90;        // pixels at 1x, a start; the widest of text takes what room is left
  bool right = false;    // right-aligned text among numbers
  std::string tip = {};  // what it means, where the title does not say
};

struct Cell {
  std::string text;
  double sort = 0;         // numbers sort by this, texts by themselves
  std::string exact = {};  // tool tip; empty: none
  // The figure itself, where it is one of bytes, a count, a time in ns or a share: what CSV has in
  // its place, with the unit in the column's head.
  std::optional<int64_t> bytes = {}, count = {}, ns = {};
  std::optional<double> percent = {};
  std::optional<trace::Category> category = {};  // whose colour stands before the text
  enum class Tone : uint8_t { kPlain, kDim, kGood, kBad } tone = Tone::kPlain;
};

struct Row {
  std::vector<Cell> cells;
  bool marked = false;  // stands out: the iteration with the peak
  // What a click on the row shows in the timeline: a moment, an allocation, and which blocks the
  // row speaks of.
  int64_t time_ns = -1;
  trace::AllocationId allocation = {};
  uint32_t activity = UINT32_MAX;  // row of Trace::activities
  uint32_t group = UINT32_MAX;     // which of the answer's groups it is of, in whatever order
  std::shared_ptr<const std::vector<trace::AllocationId>> blocks = {};
};

struct Table {
  std::vector<Column> columns;
  std::vector<Row> rows;
};

// Everything that the panels know about one trace; computed off the UI thread.
struct Digest {
  std::shared_ptr<const trace::Trace> trace;
  std::string name;  // of the file that it was opened from, or of the run
  std::shared_ptr<const analysis::MemoryCurves> curves;  // the canvas draws the same
  analysis::Summary summary;
  analysis::LiveSet at_peak;
  // The legend: what the trace has at any time, in the order of the stack and of a step.
  std::vector<trace::Category> categories;
  std::vector<trace::Phase> phases;
  double last_step_ms = 0;
  uint64_t unused = 0;         // at the peak: reserved minus allocated
  uint64_t out_of_memory = 0;  // events
  // Of a recording of several devices: all of it, the peak of each, and which one `trace` and
  // everything else here are of. A sum over devices is nowhere.
  std::shared_ptr<const trace::Trace> whole;
  std::vector<analysis::DevicePeak> devices;
  std::optional<uint8_t> device;
  // Of a recorded file: bytes at the peak by the rule that their category was inferred by (0: the
  // file said it), most first.
  struct Origin {
    uint8_t rule = 0;
    uint64_t bytes = 0;
  };
  std::vector<Origin> origins;
  bool inferred() const;  // any of the origins is a rule
  // What was there at one moment; nothing happens in it.
  bool state() const { return trace->info.content == trace::Content::kState; }
  // Anybody's program that our hooks watched, planned or recorded; it has no configuration of ours.
  bool watched() const {
    return !trace->info.has_config && trace->info.backend != trace::Backend::kImported;
  }
  // Such a one that was planned on a card that was not there.
  bool program() const { return watched() && trace->info.backend == trace::Backend::kPlan; }
  // On a card, or elsewhere and opened here; neither that nor a run of ours.
  bool recorded() const { return !trace->info.has_config && !program(); }
};
// `file`: that it was opened from; empty: a run. Of several devices `device`, where there is such a
// one, else analysis::DeviceToShow(). `curves`: of the trace, which has one device, where they are
// known.
std::shared_ptr<const Digest> MakeDigest(std::shared_ptr<const trace::Trace> trace,
                                         const std::string& file = {},
                                         std::optional<uint8_t> device = {},
                                         std::shared_ptr<const analysis::MemoryCurves> curves = {});

// Iterations: forward, backward, optimizer, total, peak allocated, peak in, reserved. The iteration
// with the highest peak is marked in the first column. Of a range [begin_ns, end_ns): those that
// lie in it or reach into it; begin_ns >= end_ns: all.
Table PhaseTable(const Digest& digest, int64_t begin_ns = 0, int64_t end_ns = 0);

// Parts of a moment's memory by category, largest first; then those of `all` that nothing is of.
struct Part {
  trace::Category category;
  uint64_t bytes = 0;
  double share = 0;  // of the whole, 0 to 1
};
std::vector<Part> PartsOf(const analysis::CategoryBytes& bytes, uint64_t allocated,
                          const std::vector<trace::Category>& all = {});

// Facts of one allocation, as label and value.
struct Fact {
  std::string label, value;
  friend bool operator==(const Fact&, const Fact&) = default;
};
struct SelectionFacts {
  std::string title;
  trace::Category category = trace::Category::kUnknown;
  std::vector<Fact> facts;
};
// The call stack of an allocation, innermost Python frame first: "forward  model.py:123" and the
// whole path. Empty when the trace has none.
std::vector<timeline::StackLine> StackLinesOf(const trace::Trace& trace, trace::AllocationId id);
SelectionFacts FactsOf(const trace::Trace& trace, trace::AllocationId id);

// What is known of a recorded file: its kind, length, steps, settings; and which part of the peak
// each rule of inference labelled.
struct RecordingFacts {
  std::vector<Fact> facts;
  std::vector<Fact> rules;  // "43.1 %", name of the rule
  bool inferred = false;
};
RecordingFacts RecordingFactsOf(const Digest& digest, const std::string& file);

// "blocks.17.attn.softmax": module and op of an allocation, in short.
std::string ShortName(const trace::Trace& trace, trace::AllocationId id);

// "a computed number is assumed to be 0 (train.py:44)", with its bytes where they are known.
std::string AssumptionText(const run::Assumption& assumption);

std::string FormatMs(double ms);          // "85.506 ms", from 10 s on "164.292 s"
std::string FormatSaving(int64_t bytes);  // "−0.9 GiB", "+16 MiB", "±0"
std::string FormatFactor(double factor);  // "0.55× time"

}  // namespace vramscope::ui
