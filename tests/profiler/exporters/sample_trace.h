// Traces that the exporters' tests share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/trace.h"

namespace vramscope::exporters {

// Writes events one after the other, and assigns ids and strings.
class TraceMaker {
 public:
  explicit TraceMaker(trace::TraceInfo info = PlanInfo());
  static trace::TraceInfo PlanInfo();

  TraceMaker& At(int64_t ns);            // sets the time of the following events
  TraceMaker& OnDevice(uint8_t device);  // sets the device of the following events
  void Begin(trace::EventKind kind, uint64_t id_or_phase, std::string_view name = "",
             std::string_view module = "", uint32_t thread = 0);
  void End(trace::EventKind kind, uint64_t id_or_phase = 0, uint32_t thread = 0);
  uint32_t Alloc(uint64_t bytes, uint64_t rounded, uint64_t address, trace::Category category,
                 std::string_view op = "", std::string_view module = "");
  void Free(uint32_t allocation);
  void Retag(uint32_t allocation, trace::Category category);
  uint32_t Segment(uint64_t bytes, uint64_t address);
  void FreeSegment(uint32_t segment);
  void OutOfMemory(uint64_t bytes, uint64_t free);
  void Marker(std::string_view name);
  std::shared_ptr<const trace::Trace> Finish();

 private:
  trace::StringId Intern(std::string_view text);
  trace::Event Make(trace::EventKind kind) const;

  trace::TraceInfo info_;
  int64_t now_ = 0;
  uint8_t device_ = 0;
  std::vector<std::string> strings_ = {""};
  std::map<std::string, uint32_t, std::less<>> ids_ = {{"", 0}};
  std::vector<trace::Event> events_;
  uint32_t allocations_ = 0;
  uint32_t segments_ = 0;
};

// Returns two training steps with all kinds of slices, a change of category, a second thread, and a
// freed segment.
std::shared_ptr<const trace::Trace> SmallTrace();
// Returns a valid random trace that does not look like training. Depends only on the arguments.
std::shared_ptr<const trace::Trace> RandomTrace(uint32_t seed, int events);

}  // namespace vramscope::exporters
