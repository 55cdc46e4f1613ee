// Side streams on any device. The CPU has only one stream, so these functions do nothing there.
#pragma once

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <optional>

namespace vramscope::trainer {

using OptionalEvent = std::optional<c10::Event>;

inline c10::Stream CurrentStream(c10::Device device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}
inline c10::Stream NewStream(c10::Device device, bool high_priority) {
  if (device.is_cpu()) return CurrentStream(device);
  return c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device, high_priority);
}
inline OptionalEvent Record(c10::Stream stream) {
  if (stream.device().is_cpu()) return std::nullopt;
  OptionalEvent event(std::in_place, stream.device_type());
  event->record(stream);
  return event;
}
inline void Wait(c10::Stream stream, const OptionalEvent& event) {
  if (event.has_value()) event->block(stream);
}
inline void Wait(c10::Stream stream, c10::Stream other) { Wait(stream, Record(other)); }

}  // namespace vramscope::trainer
