#include "app/cli/mcp/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace vramscope::cli::mcp {
namespace {

Message Wrong(int error, std::string why, Json id = {}) {
  Message message;
  message.error = error;
  message.why = std::move(why);
  message.id = std::move(id);
  return message;
}

Message ParseMessage(const Json& json) {
  if (!json.is_object()) return Wrong(kInvalidRequest, "a message must be a JSON object");
  Json id;
  if (const auto at = json.find("id"); at != json.end()) {
    if (!at->is_string() && !at->is_number_integer())
      return Wrong(kInvalidRequest, "\"id\" must be a text or a whole number");
    id = *at;
  }
  if (const auto version = json.find("jsonrpc"); version == json.end() || *version != "2.0")
    return Wrong(kInvalidRequest, "\"jsonrpc\" must be \"2.0\"", id);
  const auto method = json.find("method");
  Message message;
  message.id = id;
  if (method == json.end()) {
    if (id.is_null() || (!json.contains("result") && !json.contains("error")))
      return Wrong(kInvalidRequest, "there is no \"method\"", id);
    message.kind = Message::Kind::kAnswer;
    return message;
  }
  if (!method->is_string()) return Wrong(kInvalidRequest, "\"method\" must be a text", id);
  message.method = method->get<std::string>();
  message.params = Json::object();
  if (const auto params = json.find("params"); params != json.end()) {
    if (!params->is_object()) return Wrong(kInvalidParams, "\"params\" must be an object", id);
    message.params = *params;
  }
  message.kind = id.is_null() ? Message::Kind::kNotification : Message::Kind::kRequest;
  return message;
}

}  // namespace

void LineReader::Add(std::string_view bytes,
                     const std::function<void(std::optional<std::string_view>)>& use) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (!skipping_ && begun_.size() + piece.size() > longest_) {
      skipping_ = true;
      begun_.clear();
      begun_.shrink_to_fit();
      use(std::nullopt);
    }
    if (!skipping_) begun_ += piece;
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    if (!std::exchange(skipping_, false)) {
      std::string line = std::exchange(begun_, {});
      if (line.ends_with('\r')) line.pop_back();
      if (line.find_first_not_of(" \t") != std::string::npos) use(line);
    }
  }
}

Line ParseLine(std::string_view text) {
  Line line;
  bool too_deep = false;
  // JSON that is nested too deeply is refused, because other code walks through values recursively.
  const auto watch = [&](int depth, nlohmann::json::parse_event_t, Json&) {
    too_deep = too_deep || depth > kGreatestDepth;
    return !too_deep;
  };
  const Json json = Json::parse(text, watch, false);
  if (too_deep) {
    line.messages.push_back(
        Wrong(kInvalidRequest, fmt::format("nested more than {} deep", kGreatestDepth)));
  } else if (json.is_discarded()) {
    line.messages.push_back(Wrong(kParseError, "not JSON"));
  } else if (!json.is_array()) {
    line.messages.push_back(ParseMessage(json));
  } else if (json.empty() || json.size() > kMostInBatch) {
    line.messages.push_back(
        Wrong(kInvalidRequest, fmt::format("a batch has 1 to {} messages", kMostInBatch)));
  } else {
    line.batch = true;
    for (const Json& each : json) line.messages.push_back(ParseMessage(each));
  }
  return line;
}

Json ResultOf(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json ErrorOf(const Json& id, int code, const std::string& message) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}};
}

}  // namespace vramscope::cli::mcp
