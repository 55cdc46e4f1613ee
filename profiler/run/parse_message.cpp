#include "profiler/run/parse_message.h"

#include <google/protobuf/message_lite.h>
#include <google/protobuf/stubs/common.h>

#include <limits>

// Protobuf 22 (C++ 4.22) removed LogSilencer and its header: since then, it logs through Abseil.
#if GOOGLE_PROTOBUF_VERSION < 4022000
#include <google/protobuf/stubs/logging.h>
#define VRAMSCOPE_HAS_LOG_SILENCER
#endif

namespace vramscope::run {

bool ParseMessage(std::string_view bytes, google::protobuf::MessageLite& message) {
#ifdef VRAMSCOPE_HAS_LOG_SILENCER
  const google::protobuf::LogSilencer quiet;
#endif
  return bytes.size() <= static_cast<size_t>(std::numeric_limits<int>::max()) &&
         message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace vramscope::run
