#include "profiler/trace/one_device.h"

#include <algorithm>
#include <bitset>
#include <utility>
#include <vector>

#include "profiler/trace/allocator_events.h"
#include "profiler/trace/columns.h"
#include "profiler/trace/processes.h"

namespace vramscope::trace {
namespace {

using Rows = std::vector<uint32_t>;  // the rows to keep, ascending

template <class Column>
void Keep(const Rows& rows, const Column& from, Column* to) {
  if (from.empty()) return;  // the trace does not use the column
  to->reserve(rows.size());
  for (uint32_t row : rows) to->push_back(from[row]);
}

// Replaces every value of a column, in order, by to(value).
template <class T, class To>
void Change(std::vector<T>& column, To to) {
  for (T& value : column) value = to(value);
}
template <class Column, class To>
void Change(Column& column, To to) {
  column.Change(to);
}

// The rows of a table that belong to the device, and the new number of each old row.
struct Kept {
  Rows rows;
  Rows number;  // indexed by old row; SegmentId::kNoneValue: removed

  template <class Column>
  Kept(const Column& devices, uint8_t device) : number(devices.size(), SegmentId::kNoneValue) {
    for (uint32_t row = 0; row < devices.size(); ++row) {
      if (devices[row] != device) continue;
      number[row] = static_cast<uint32_t>(rows.size());
      rows.push_back(row);
    }
  }
};

class Slicer {
 public:
  Slicer(const Trace& trace, uint8_t device)
      : trace_(trace),
        device_(device),
        allocations_(trace.allocations.device, device),
        segments_(trace.segments.device, device) {}

  std::shared_ptr<const Trace> Make() {
    out_->info = trace_.info;
    out_->strings = trace_.strings;
    out_->package_folders = trace_.package_folders;
    out_->stacks = trace_.stacks;
    out_->complete = trace_.complete;
    out_->end_message = trace_.end_message;
    out_->warnings = trace_.warnings;
    FindProcess();
    ChooseEvents();
    Events();
    Allocations();
    Retags();
    Segments();
    Slices();
    OtherEvents();
    Activities(trace_.activities, out_->activities);
    Activities(trace_.operands, out_->operands);
    for (const Marker& m : trace_.markers) {
      if (number_[m.event] == kNoEvent) continue;
      out_->markers.push_back({number_[m.event], m.time_ns, m.name});
      if (out_->recording_begin == kNoEvent && trace_.String(m.name) == kMarkerRecordingBegin)
        out_->recording_begin = number_[m.event];
    }
    return out_;
  }

 private:
  bool Mine(EventIndex i) const {
    switch (SubjectOf(trace_.events.kind[i])) {
      case Subject::kBlock:
        return trace_.allocations.device[trace_.events.id[i]] == device_;
      case Subject::kSegment:
        return trace_.segments.device[trace_.events.id[i]] == device_;
      case Subject::kDevice:  // ChooseEvents checks the event's device
      case Subject::kRun:
        return true;
    }
    return true;
  }

  // In a trace of several processes, finds the process that has the device. The events of all other
  // processes are removed.
  void FindProcess() {
    const std::vector<Process> processes = ProcessesOf(trace_);
    if (processes.size() < 2) return;
    one_of_many_ = true;
    for (const Process& process : processes)
      if (std::ranges::count(process.devices, device_) > 0) process_ = process.number;
    others_.assign(trace_.events.size(), false);
    const SliceTable& s = trace_.slices;
    for (uint32_t row = 0; row < s.size(); ++row) {
      if (ProcessOfThread(s.thread[row]) == process_) {
        slices_.push_back(row);
        continue;
      }
      others_[s.begin_event[row]] = true;
      if (s.end_event[row] != kNoEvent) others_[s.end_event[row]] = true;
    }
    const OtherEventTable& a = trace_.other_events;
    for (uint32_t row = 0; row < a.size(); ++row)
      if (trace_.events.kind[a.event[row]] == EventKind::kMarker)
        others_[a.event[row]] = ProcessOfThread(a.thread[row]) != process_;
  }

  void ChooseEvents() {
    number_.assign(trace_.events.size(), kNoEvent);
    const OtherEventTable& a = trace_.other_events;
    uint32_t row = 0;
    for (EventIndex i = 0; i < trace_.events.size(); ++i) {
      bool mine = Mine(i) && !(one_of_many_ && others_[i]);
      if (row < a.size() && a.event[row] == i) {
        if (SubjectOf(trace_.events.kind[i]) == Subject::kDevice) mine = a.device[row] == device_;
        if (mine) other_events_.push_back(row);
        ++row;
      }
      if (!mine) continue;
      number_[i] = static_cast<EventIndex>(events_.size());
      events_.push_back(i);
    }
  }

  // Renumbers the events in a column that contains event indices.
  template <class Column>
  void Renumber(Column* column) const {
    Change(*column,
           [this](EventIndex event) { return event != kNoEvent ? number_[event] : kNoEvent; });
  }

  template <class Table>
  void KeepRows(const Rows& rows, const Table& from, Table& to) const {
    ForEachColumn([&rows](const auto& from, auto& to) { Keep(rows, from, &to); }, from, to);
  }

  void Events() {
    EventTable& to = out_->events;
    KeepRows(events_, trace_.events, to);
    EventIndex event = 0;
    Change(to.id, [&](uint64_t id) -> uint64_t {
      const Subject subject = SubjectOf(to.kind[event++]);
      if (subject == Subject::kBlock) return allocations_.number[id];
      return subject == Subject::kSegment ? segments_.number[id] : id;
    });
  }

  void Allocations() {
    AllocationTable& to = out_->allocations;
    KeepRows(allocations_.rows, trace_.allocations, to);
    Renumber(&to.alloc_event);
    Renumber(&to.free_requested_event);
    Renumber(&to.free_event);
    Change(to.segment, [this](SegmentId segment) {
      return segment.valid() ? SegmentId{segments_.number[segment.value]} : segment;
    });
  }

  void Retags() {
    const RetagTable& from = trace_.retags;
    RetagTable& to = out_->retags;
    Rows rows;
    for (uint32_t row = 0; row < from.size(); ++row)
      if (number_[from.event[row]] != kNoEvent) rows.push_back(row);
    KeepRows(rows, from, to);
    Renumber(&to.event);
    Change(to.allocation,
           [this](AllocationId id) { return AllocationId{allocations_.number[id.value]}; });
  }

  void Segments() {
    SegmentTable& to = out_->segments;
    KeepRows(segments_.rows, trace_.segments, to);
    Renumber(&to.alloc_event);
    Renumber(&to.free_event);
  }

  void Slices() {
    SliceTable& to = out_->slices;
    if (one_of_many_)
      KeepRows(slices_, trace_.slices, to);
    else
      to = trace_.slices;
    Change(to.thread, [this](uint32_t thread) { return ThreadOf(thread); });
    Renumber(&to.begin_event);
    Renumber(&to.end_event);
  }

  void OtherEvents() {
    OtherEventTable& to = out_->other_events;
    KeepRows(other_events_, trace_.other_events, to);
    Change(to.thread, [this](uint32_t thread) { return ThreadOf(thread); });
    Renumber(&to.event);
  }

  void Activities(const ActivityTable& from, ActivityTable& to) {
    Rows rows;
    for (uint32_t row = 0; row < from.size(); ++row) {
      const bool mine = HasDevice(from.kind[row])
                            ? from.device[row] == device_
                            : !one_of_many_ || ProcessOfThread(from.thread[row]) == process_;
      if (mine) rows.push_back(row);
    }
    KeepRows(rows, from, to);
    if (!one_of_many_) return;
    Change(to.thread, [this](uint32_t thread) { return ThreadOf(thread); });
    Change(to.correlation, [](uint64_t correlation) { return correlation & kCorrelationBits; });
  }

  // The resulting trace has one process: removes the process's number from the thread's number.
  uint32_t ThreadOf(uint32_t thread) const {
    return one_of_many_ ? thread & ((uint32_t{1} << kProcessShift) - 1) : thread;
  }

  const Trace& trace_;
  const uint8_t device_;
  const Kept allocations_, segments_;
  Rows events_, other_events_, slices_;  // rows to keep; slices only if one_of_many_
  bool one_of_many_ = false;
  uint8_t process_ = 0;
  std::vector<bool> others_;        // indexed by event: belongs to another process
  std::vector<EventIndex> number_;  // new index of each event; kNoEvent: removed
  std::shared_ptr<Trace> out_ = std::make_shared<Trace>();
};

}  // namespace

namespace {

using Devices = std::bitset<256>;

Devices WithMemory(const Trace& trace) {
  Devices there;
  const PackedColumn<uint8_t>& devices = trace.allocations.device;
  if (!devices.empty() && devices.AllAlike())
    there.set(devices.front());
  else
    for (const uint8_t device : devices) there.set(device);
  for (const uint8_t device : trace.segments.device) there.set(device);
  return there;
}

Devices WithWork(const Trace& trace) {
  Devices there = WithMemory(trace);
  const ActivityTable& a = trace.activities;
  for (uint32_t row = 0; row < a.size(); ++row)
    if (HasDevice(a.kind[row])) there.set(a.device[row]);
  return there;
}

std::vector<uint8_t> Numbers(const Devices& there) {
  std::vector<uint8_t> devices;
  for (size_t d = 0; d < there.size(); ++d)
    if (there[d]) devices.push_back(static_cast<uint8_t>(d));
  return devices;
}

}  // namespace

std::vector<uint8_t> DevicesOf(const Trace& trace) { return Numbers(WithMemory(trace)); }
std::vector<uint8_t> DevicesWithWork(const Trace& trace) { return Numbers(WithWork(trace)); }

uint8_t OnlyDevice(const Trace& trace) {
  if (!trace.allocations.device.empty()) return trace.allocations.device.front();
  return trace.segments.device.empty() ? 0 : trace.segments.device.front();
}

std::shared_ptr<const Trace> OfDevice(const std::shared_ptr<const Trace>& trace, uint8_t device) {
  if (const Devices memory = WithMemory(*trace);
      memory.count() == 1 && memory[device] && (memory | WithWork(*trace)).count() == 1)
    return trace;
  return Slicer(*trace, device).Make();
}

}  // namespace vramscope::trace
