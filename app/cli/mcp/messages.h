// The lines that a client of the Model Context Protocol sends, and JSON-RPC 2.0 in them. What comes
// is not trusted: lines have a longest length, JSON a greatest depth.
//
//   LineReader reader;
//   reader.Add(bytes, [&](std::optional<std::string_view> line) {
//     if (line) Handle(ParseMessage(*line));       // none: it was too long
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

using Json = nlohmann::ordered_json;  // keys stay in the order in which they are written

inline constexpr size_t kLongestLine = size_t{4} << 20;
inline constexpr int kGreatestDepth = 32;
inline constexpr size_t kMostInBatch = 100;

// JSON-RPC's errors.
inline constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601,
                     kInvalidParams = -32602, kInternalError = -32603;

// Bytes as they come, cut into lines. Of one that is too long nothing is kept.
class LineReader {
 public:
  explicit LineReader(size_t longest = kLongestLine) : longest_(longest) {}
  // Calls `use` with every line that has ended, without its end; with nothing for one that is too
  // long, once. Empty lines are left out.
  void Add(std::string_view bytes, const std::function<void(std::optional<std::string_view>)>& use);

 private:
  const size_t longest_;
  std::string begun_;
  bool skipping_ = false;
};

// A request (it has an id), a notification, or an answer to a request of ours.
struct Message {
  enum class Kind { kRequest, kNotification, kAnswer, kWrong };
  Kind kind = Kind::kWrong;
  Json id;  // null: none
  std::string method;
  Json params;  // an object
  // Of one that is wrong.
  int error = 0;
  std::string why;
};

// What a line has: one message, or those of a batch (of which each may be wrong).
struct Line {
  bool batch = false;
  std::vector<Message> messages;
};
Line ParseLine(std::string_view line);

Json ResultOf(const Json& id, Json result);
Json ErrorOf(const Json& id, int code, const std::string& message);

}  // namespace vramscope::cli::mcp
