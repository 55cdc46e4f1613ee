#include "profiler/importers/snapshot_json.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "profiler/base/i18n.h"
#include "profiler/importers/json_tokens.h"

namespace vramscope::importers {
namespace {

using Kind = Value::Kind;

// Parses a number. Integers can be as large as addresses. Returns an empty value for other
// text.
Value Number(std::string_view text) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto whole = [end](std::from_chars_result r) {
    return r.ec == std::errc() && r.ptr == end;
  };
  uint64_t positive = 0;
  if (whole(std::from_chars(begin, end, positive))) return Value::Unsigned(positive);
  int64_t negative = 0;
  if (whole(std::from_chars(begin, end, negative))) return Value::Int(negative);
  double real = 0;
  if (whole(std::from_chars(begin, end, real)) && std::isfinite(real)) return Value::Float(real);
  return Value();
}

Value Literal(std::string_view text) {
  if (text == "true") return Value::Of(Kind::kBool, 1);
  if (text == "false") return Value::Of(Kind::kBool, 0);
  return Value();
}

}  // namespace

absl::Status ReadSnapshotJson(trace::InputStream& input, std::string_view head,
                              const std::function<absl::Status()>& tick, SnapshotBuilder& builder,
                              bool* cut) {
  absl::Status ticked;
  JsonTokens json(input, head, [&] {
    ticked = tick();
    return ticked.ok();
  });
  const auto error = [&](std::string_view what) {
    return absl::DataLossError(i18n::Format("byte {}: {}", json.offset(), what));
  };
  do {
    bool good = true;
    switch (json.Next()) {
      case JsonTokens::kEnd:
        if (json.offset() == 0) return absl::InvalidArgumentError(i18n::Text("the file is empty"));
        *cut = true;
        return error(i18n::Text("the file ends in the middle of the snapshot"));
      case JsonTokens::kError:
        *cut = ticked.ok() && json.ended();
        return ticked.ok() ? json.status() : ticked;
      case JsonTokens::kBeginObject:
        good = builder.Push(Value::Of(Kind::kOpenDict)) && builder.Mark();
        break;
      case JsonTokens::kEndObject:
        good = builder.SetItems();
        break;
      case JsonTokens::kBeginArray:
        good = builder.Push(Value::Of(Kind::kOpenList)) && builder.Mark();
        break;
      case JsonTokens::kEndArray:
        good = builder.Appends();
        break;
      case JsonTokens::kString:
        good = builder.Push(builder.String(json.text())) && !builder.exhausted();
        break;
      case JsonTokens::kNumber:
        good = builder.Push(Number(json.text()));
        break;
      case JsonTokens::kLiteral:
        good = builder.Push(Literal(json.text()));
        break;
    }
    if (!good) return error(builder.error());
  } while (!builder.marks().empty());
  return absl::OkStatus();
}

}  // namespace vramscope::importers
