#include "profiler/run/config_proto.h"

#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>

#include <map>

#include "profiler/base/i18n.h"
#include "profiler/run/arena_message.h"
#include "profiler/run/parse_message.h"
#include "profiler/run/units.h"
#include "proto/run.pb.h"

namespace vramscope::run {
namespace {

namespace pb = google::protobuf;

// The size limit. A config has a few kilobytes, and may contain a model's config.json.
constexpr size_t kMaxBytes = size_t{4} << 20;

std::string TextOf(const pb::Message& message, const pb::FieldDescriptor* field) {
  const pb::Reflection* r = message.GetReflection();
  switch (field->cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_INT32:
      return fmt::format("{}", r->GetInt32(message, field));
    case pb::FieldDescriptor::CPPTYPE_INT64:
      return fmt::format("{}", r->GetInt64(message, field));
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      return fmt::format("{}", r->GetDouble(message, field));
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      return r->GetBool(message, field) ? "true" : "false";
    default:
      return r->GetString(message, field);
  }
}

void Collect(const pb::Message& message, const std::string& prefix, Settings& out) {
  const pb::Descriptor* type = message.GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const pb::FieldDescriptor* field = type->field(i);
    if (field->is_map()) continue;
    if (!message.GetReflection()->HasField(message, field)) continue;
    const std::string path = prefix + std::string(field->name());
    if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE) {
      Collect(message.GetReflection()->GetMessage(message, field), path + ".", out);
    } else {
      out.emplace_back(path, TextOf(message, field));
    }
  }
}

// Returns false if the message has no field with that path.
bool SetField(pb::Message& message, std::string_view path, const std::string& text) {
  const size_t dot = path.find('.');
  const pb::FieldDescriptor* field =
      message.GetDescriptor()->FindFieldByName(std::string(path.substr(0, dot)));
  const pb::Reflection* r = message.GetReflection();
  const bool group = dot != std::string_view::npos;
  if (field == nullptr || field->is_map() ||
      group != (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE)) {
    return false;
  }
  if (group) return SetField(*r->MutableMessage(&message, field), path.substr(dot + 1), text);
  switch (field->cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_INT32:
      r->SetInt32(&message, field, static_cast<int32_t>(ParseInteger(text).value()));
      break;
    case pb::FieldDescriptor::CPPTYPE_INT64:
      r->SetInt64(&message, field, ParseInteger(text).value());
      break;
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      r->SetDouble(&message, field, ParseNumber(text).value());
      break;
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      r->SetBool(&message, field, text == "true");
      break;
    default:
      r->SetString(&message, field, text);
  }
  return true;
}

void FromSettings(const Settings& settings, proto::RunConfig& message) {
  for (const auto& [key, text] : settings) {
    if (!SetField(message, key, text)) (*message.mutable_settings())[key] = text;
  }
}

void Paths(const pb::Descriptor* type, const std::string& prefix, std::vector<std::string>& out) {
  for (int i = 0; i < type->field_count(); ++i) {
    const pb::FieldDescriptor* field = type->field(i);
    if (field->is_map()) continue;
    if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE) {
      Paths(field->message_type(), prefix + std::string(field->name()) + ".", out);
    } else {
      out.push_back(prefix + std::string(field->name()));
    }
  }
}

}  // namespace

absl::StatusOr<Settings> SettingsFromBytes(std::string_view bytes) {
  const ArenaMessage<proto::RunConfig> message;
  if (bytes.size() > kMaxBytes || !ParseMessage(bytes, *message)) {
    return absl::DataLossError(
        i18n::Text("run configuration: the bytes are not a RunConfig message"));
  }
  Settings settings;
  Collect(*message, "", settings);
  const std::map<std::string, std::string> more(message->settings().begin(),
                                                message->settings().end());
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

std::string BytesFromSettings(const Settings& settings) {
  const ArenaMessage<proto::RunConfig> message;
  FromSettings(settings, *message);
  std::string bytes;  // serialised deterministically, so that equal settings have equal bytes
  {
    pb::io::StringOutputStream stream(&bytes);
    pb::io::CodedOutputStream out(&stream);
    out.SetSerializationDeterministic(true);
    message->SerializeToCodedStream(&out);
  }
  return bytes;
}

std::vector<std::string> FieldPaths() {
  std::vector<std::string> out;
  Paths(proto::RunConfig::descriptor(), "", out);
  return out;
}

}  // namespace vramscope::run
