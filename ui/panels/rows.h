// Makes the rows of the tables and lists next to the timeline, as text with sort keys. This code
// decides what the panels show; the item models pass its rows on unchanged. Does not use Qt.
//
//   Table t = PhaseTable(digest);
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
  bool number = false;  // a column of figures: right-aligned, monospaced
  // The initial width in unscaled pixels. The widest text column gets the remaining space.
  int width = 90;
  bool right = false;    // a text that is right-aligned like numbers
  std::string tip = {};  // explains a title that is not clear
};

struct Cell {
  std::string text;
  double sort = 0;         // sort key of numbers; texts sort by `text`
  std::string exact = {};  // the tool tip; empty: none
  // The exact value of a cell with bytes, a count, a time in ns or a share. CSV contains this value
  // instead of the text, and has the unit in the column's header.
  std::optional<int64_t> bytes = {}, count = {}, ns = {};
  std::optional<double> percent = {};
  std::optional<trace::Category> category = {};  // its colour is drawn before the text
  enum class Tone : uint8_t { kPlain, kDim, kGood, kBad } tone = Tone::kPlain;
};

struct Row {
  std::vector<Cell> cells;
  bool marked = false;  // whether the row is highlighted, such as the step with the peak
  // What the timeline shows after a click on the row: a time, an allocation, an activity, a slice,
  // or blocks. Members that are not set are ignored.
  int64_t time_ns = -1;
  trace::AllocationId allocation = {};
  uint32_t activity = UINT32_MAX;  // index in Trace::activities
  uint32_t slice = UINT32_MAX;     // index in Trace::slices
  // The index of the row's group in the result from which the table was made. Sorting does not
  // change it.
  uint32_t group = UINT32_MAX;
  std::shared_ptr<const std::vector<trace::AllocationId>> blocks = {};
};

struct Table {
  std::vector<Column> columns;
  std::vector<Row> rows;
};

// Everything that the panels show about one trace. It is computed on a pool thread.
struct Digest {
  std::shared_ptr<const trace::Trace> trace;
  std::string name;                                      // name of the opened file, or of the run
  std::shared_ptr<const analysis::MemoryCurves> curves;  // the curves that the canvas draws
  analysis::Summary summary;
  analysis::LiveSet at_peak;
  // The legend: the trace's categories in the order of the stack, and its phases in the order of a
  // step.
  std::vector<trace::Category> categories;
  std::vector<trace::Phase> phases;
  double last_step_ms = 0;
  uint64_t unused = 0;         // reserved minus allocated bytes at the peak
  uint64_t out_of_memory = 0;  // number of out-of-memory events
  // `whole` and `devices` are set if several devices were recorded: the whole trace, and the peak
  // of each device. All other members, including `trace`, describe only `device`. No figure is a
  // sum over devices.
  std::shared_ptr<const trace::Trace> whole;
  std::vector<analysis::DevicePeak> devices;
  std::optional<uint8_t> device;
  // For a recorded file: the rules that inferred categories, the largest first. `bytes`: the bytes
  // at the peak whose category the rule inferred. Rule 0 means that the file contains the category.
  struct Origin {
    uint8_t rule = 0;
    uint64_t bytes = 0;
  };
  std::vector<Origin> origins;
  bool inferred() const;  // whether a rule inferred the category of at least one block
  // Whether the trace is a snapshot of one moment, without a history.
  bool state() const { return trace->info.content == trace::Content::kState; }
  // Whether vramscope planned or recorded a user's program, so that there is no RunConfig.
  bool watched() const {
    return !trace->info.has_config && trace->info.backend != trace::Backend::kImported;
  }
  // Whether a user's program was planned on an emulated GPU.
  bool program() const { return watched() && trace->info.backend == trace::Backend::kPlan; }
  // Whether the trace is a recording or another opened file. False for planned programs and for
  // runs of the embedded loop.
  bool recorded() const { return !trace->info.has_config && !program(); }
};
// `file`: the opened file; empty for a run. `device`: the device to show. If it is nullopt or not
// in the trace, analysis::DeviceToShow() chooses a device. `curves`: the curves of a trace with one
// device, if they are already computed.
std::shared_ptr<const Digest> MakeDigest(std::shared_ptr<const trace::Trace> trace,
                                         const std::string& file = {},
                                         std::optional<uint8_t> device = {},
                                         std::shared_ptr<const analysis::MemoryCurves> curves = {});

// The table of steps. Columns: forward, backward, optimizer, total, peak allocated, phase of the
// peak, reserved. The first column marks the step with the highest peak. Rows: the steps that
// overlap [begin_ns, end_ns), or all steps if begin_ns >= end_ns.
Table PhaseTable(const Digest& digest, int64_t begin_ns = 0, int64_t end_ns = 0);

// Memory by category, the largest first. Categories in `all` that have no bytes follow at the end.
struct Part {
  trace::Category category;
  uint64_t bytes = 0;
  double share = 0;  // fraction of the total, 0 to 1
};
std::vector<Part> PartsOf(const analysis::CategoryBytes& bytes, uint64_t allocated,
                          const std::vector<trace::Category>& all = {});

// A fact about an allocation: label and value.
struct Fact {
  std::string label, value;
  friend bool operator==(const Fact&, const Fact&) = default;
};
struct SelectionFacts {
  std::string title;
  trace::Category category = trace::Category::kUnknown;
  std::vector<Fact> facts;
};
// Returns the call stack of an allocation, the innermost Python frame first. A line is, for
// example, "forward model.py:123", and has the whole path. If the trace has no stacks, there are no
// lines.
std::vector<timeline::StackLine> StackLinesOf(const trace::Trace& trace, trace::AllocationId id);
SelectionFacts FactsOf(const trace::Trace& trace, trace::AllocationId id);

// Facts about a recorded file: kind, length, steps, settings, and inference rules. A rule's share
// is the part of the peak's bytes whose category it inferred.
struct RecordingFacts {
  std::vector<Fact> facts;
  std::vector<Fact> rules;  // "43.1 %", name of the rule
  bool inferred = false;
};
RecordingFacts RecordingFactsOf(const Digest& digest, const std::string& file);

// Returns a short name of an allocation, made of its module and op: "blocks.17.attn.softmax".
std::string ShortName(const trace::Trace& trace, trace::AllocationId id);

// Returns a text such as "a number computed on the GPU is assumed to be 0 (train.py:44)". Appends
// the bytes if they are known.
std::string AssumptionText(const run::Assumption& assumption);

std::string FormatMs(double ms);          // "85.506 ms"; 10 s and more as "164.292 s"
std::string FormatSaving(int64_t bytes);  // "−0.9 GiB", "+16 MiB", "±0"
std::string FormatFactor(double factor);  // "0.55× time"

}  // namespace vramscope::ui
