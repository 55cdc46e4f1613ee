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

// False: the bytes are not a message of this type. Prints nothing where protobuf allows that
// (before version 22), because callers report the error themselves.
bool ParseMessage(std::string_view bytes, google::protobuf::MessageLite& message);

}  // namespace vramscope::run
