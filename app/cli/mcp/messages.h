// Parses the lines that a client of the Model Context Protocol sends as JSON-RPC 2.0 messages. The
// input is not trusted, so the length of lines and the depth of JSON are limited.
//
//   LineReader reader;
//   reader.Add(bytes, [&](std::optional<std::string_view> line) {
//     if (line) Handle(ParseLine(*line));       // nullopt: the line was too long
//   });
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::cli::mcp {

using Json = nlohmann::ordered_json;  // keys keep the order in which they are written

inline constexpr size_t kLongestLine = size_t{4} << 20;
inline constexpr int kGreatestDepth = 32;
inline constexpr size_t kMostInBatch = 100;

// Error codes of JSON-RPC.
inline constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601,
                     kInvalidParams = -32602, kInternalError = -32603;

// Splits incoming bytes into lines. A line that is too long is discarded.
class LineReader {
 public:
  explicit LineReader(size_t longest = kLongestLine) : longest_(longest) {}
  // Calls `use` for every complete line, without its line end. For a line that is too long, calls
  // `use` once with nullopt. Skips empty lines.
  void Add(std::string_view bytes, const std::function<void(std::optional<std::string_view>)>& use);

 private:
  const size_t longest_;
  std::string begun_;
  bool skipping_ = false;
};

// A message from the client: a request (with an id), a notification, or a response to the server.
struct Message {
  enum class Kind { kRequest, kNotification, kAnswer, kWrong };
  Kind kind = Kind::kWrong;
  Json id;  // null: no id
  std::string method;
  Json params;  // an object
  // The error code and its explanation if the message is invalid.
  int error = 0;
  std::string why;
};

// The message of a line, or the messages of a batch. Each of them may be invalid.
struct Line {
  bool batch = false;
  std::vector<Message> messages;
};
Line ParseLine(std::string_view line);

Json ResultOf(const Json& id, Json result);
Json ErrorOf(const Json& id, int code, const std::string& message);

}  // namespace vramscope::cli::mcp
