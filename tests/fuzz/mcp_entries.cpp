#include "tests/fuzz/mcp_entries.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/mcp/messages.h"
#include "tests/fuzz/check.h"

namespace vramscope::fuzz {
namespace {

using cli::mcp::Message;

constexpr size_t kLongest = 64;

// Passes the bytes to the reader in pieces of the given size. Returns the lines; a line that is too
// long becomes "".
std::vector<std::string> LinesOf(std::string_view bytes, size_t piece) {
  cli::mcp::LineReader reader(kLongest);
  std::vector<std::string> lines;
  for (size_t at = 0; at < bytes.size(); at += piece)
    reader.Add(bytes.substr(at, piece), [&](std::optional<std::string_view> line) {
      Check(!line || (!line->empty() && line->size() <= kLongest &&
                      line->find('\n') == std::string_view::npos),
            "a line");
      lines.emplace_back(line.value_or(""));
    });
  return lines;
}

void ReadLine(std::string_view text) {
  const cli::mcp::Line line = cli::mcp::ParseLine(text);
  Check(!line.messages.empty() && line.messages.size() <= cli::mcp::kMostInBatch, "messages");
  for (const Message& message : line.messages) {
    const bool wrong = message.kind == Message::Kind::kWrong;
    Check(wrong == (message.error != 0) && wrong == !message.why.empty(), "why it is wrong");
    const bool asks = message.kind == Message::Kind::kRequest;
    const bool tells = message.kind == Message::Kind::kNotification;
    Check(!asks || !message.id.is_null(), "a request has an id");
    Check(!(asks || tells) || message.params.is_object(), "parameters");
    // Serialises the reply with the options that the server uses.
    const std::string answer = cli::mcp::ErrorOf(message.id, message.error, message.why)
                                   .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    Check(answer.find('\n') == std::string::npos, "an answer is a line");
  }
}

}  // namespace

void Mcp(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> lines = LinesOf(bytes, std::max<size_t>(size, 1));
  Check(lines == LinesOf(bytes, 7), "pieces");
  for (const std::string& line : lines) ReadLine(line);
  ReadLine(bytes);
}

}  // namespace vramscope::fuzz
