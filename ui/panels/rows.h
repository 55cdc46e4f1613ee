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
#include "profiler/trace/trace.h"
#include "ui/timeline/model/origin.h"

namespace vramscope::ui {

struct Column {
  std::string title;
  bool number = false;   // right-aligned, monospaced
  int width = 90;        // pixels at 1x, a start; the widest of text takes what room is left
  bool right = false;    // right-aligned text among numbers
  const char* tip = "";  // what it means, where the title does not say
};

struct Cell {
  std::string text;
  double sort = 0;         // numbers sort by this, texts by themselves
  std::string exact = {};  // tool tip; empty: none
  enum class Tone : uint8_t { kPlain, kDim, kGood, kBad } tone = Tone::kPlain;
};

struct Row {
  std::vector<Cell> cells;
  trace::Category category = trace::Category::kUnknown;
  bool has_category = false;  // draw its colour before the cell that names it
  bool marked = false;        // stands out: the iteration with the peak
  // What a click on the row shows in the timeline: a moment, an allocation, and which blocks the
  // row speaks of.
  int64_t time_ns = -1;
  trace::AllocationId allocation = {};
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
  analysis::MemoryCurves curves;
  analysis::Summary summary;
  analysis::LiveSet at_peak;
  double last_step_ms = 0;
  uint64_t unused = 0;         // at the peak: reserved minus allocated
  uint64_t out_of_memory = 0;  // events
  // Of a recording of several devices: the peak of each, and the one that most is to be learnt
  // from.
  std::vector<analysis::DevicePeak> devices;
  std::optional<uint8_t> device_to_show;
  // Of a recorded file: bytes at the peak by the rule that their category was inferred by (0: the
  // file said it), most first.
  struct Origin {
    uint8_t rule = 0;
    uint64_t bytes = 0;
  };
  std::vector<Origin> origins;
  bool inferred() const;  // any of the origins is a rule
  // Recorded elsewhere and opened here; not a run of ours, which has a configuration.
  bool recorded() const { return !trace->info.has_config; }
};
// `file`: that it was opened from; empty: a run.
std::shared_ptr<const Digest> MakeDigest(std::shared_ptr<const trace::Trace> trace,
                                         const std::string& file = {});

// Iterations: forward, backward, optimizer, total, peak allocated, peak in, reserved. The iteration
// with the highest peak is marked in the first column.
Table PhaseTable(const Digest& digest);

// The allocation table is virtual: columns once, one row on demand.
std::vector<Column> AllocationColumns();
Row AllocationRow(const trace::Trace& trace, trace::AllocationId id);
// Value that column `column` sorts by, without making the row.
double AllocationSortKey(const trace::Trace& trace, trace::AllocationId id, int column);
// Columns that sort as text; its value.
std::string AllocationSortText(const trace::Trace& trace, trace::AllocationId id, int column);
bool AllocationColumnIsText(int column);
// Whether module, op, category, phase or a Python frame of the stack contain `needle` (lower case).
// Asks once for every name and stack.
class AllocationFilter {
 public:
  AllocationFilter(const trace::Trace& trace, std::string needle);
  bool Matches(trace::AllocationId id);

 private:
  enum Answer : uint8_t { kNotAsked, kNo, kYes };
  bool Has(std::string_view text) const;
  const trace::Trace& trace_;
  std::string needle_;
  std::vector<Answer> strings_, stacks_;
};

// Parts of a moment's memory by category, largest first.
struct Part {
  trace::Category category;
  uint64_t bytes = 0;
  double share = 0;  // of the whole, 0 to 1
};
std::vector<Part> PartsOf(const analysis::LiveSet& live);

// Facts of one allocation, as label and value.
struct Fact {
  std::string label, value;
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

std::string FormatMs(double ms);          // "85.506 ms", from 10 s on "164.292 s"
std::string FormatSaving(int64_t bytes);  // "−0.9 GiB", "+16 MiB", "±0"
std::string FormatFactor(double factor);  // "0.55× time"

}  // namespace vramscope::ui
