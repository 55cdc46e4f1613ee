// Parses a protobuf message from bytes that may be damaged.
//
//   proto::RunConfig message;
//   if (!ParseMessage(bytes, message)) return absl::DataLossError("...");
//
// Thread-safe.
#pragma once

#include <string_view>

namespace google::protobuf {
class MessageLite;
}

namespace vramscope::run {

// Returns false if the bytes are not a message of this type. Callers report the error, so
// protobuf's own message is suppressed if its version allows that (before 22).
bool ParseMessage(std::string_view bytes, google::protobuf::MessageLite& message);

}  // namespace vramscope::run
