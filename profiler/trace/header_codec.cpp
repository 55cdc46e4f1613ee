#include "profiler/trace/header_codec.h"

#include <algorithm>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/run/arena_message.h"
#include "profiler/run/parse_message.h"
#include "proto/trace.pb.h"

namespace vramscope::trace {
namespace {

// Replaces bytes that are not UTF-8 by U+FFFD: file names may have such bytes, but protobuf refuses
// to parse a `string` with them. (Overlong forms and surrogates are invalid: RFC 3629, 3.)
std::string Utf8(std::string_view in) {
  std::string out;
  out.reserve(in.size());
  for (size_t i = 0; i < in.size();) {
    const auto at = [&](size_t k) {
      return i + k < in.size() ? static_cast<unsigned char>(in[i + k]) : 0u;
    };
    const unsigned lead = at(0);
    const size_t n = lead < 0x80              ? 1
                     : (lead >> 5) == 0b110   ? 2
                     : (lead >> 4) == 0b1110  ? 3
                     : (lead >> 3) == 0b11110 ? 4
                                              : 0;
    bool good = n > 0;
    for (size_t k = 1; k < n; ++k) good = good && (at(k) >> 6) == 0b10;
    if (n == 2) good = good && lead >= 0xC2;
    if (n == 3) good = good && !(lead == 0xE0 && at(1) < 0xA0) && !(lead == 0xED && at(1) >= 0xA0);
    if (n == 4)
      good = good && !(lead == 0xF0 && at(1) < 0x90) && lead <= 0xF4 &&
             !(lead == 0xF4 && at(1) >= 0x90);
    if (good) {
      out.append(in.substr(i, n));
      i += n;
    } else {
      out.append("\xef\xbf\xbd");
      ++i;
    }
  }
  return out;
}

void ToProto(const run::DeviceProfile& from, proto::DeviceProfile& to) {
  to.set_key(Utf8(from.key));
  to.set_name(Utf8(from.name));
  to.set_memory_bytes(from.memory_bytes);
  to.set_context_bytes(from.context_bytes);
  to.set_sm_count(from.sm_count);
  to.set_max_threads_per_sm(from.max_threads_per_sm);
  to.set_compute_capability(from.compute_capability);
  to.set_blas_workspace_bytes(from.blas_workspace_bytes);
  to.set_bandwidth_bytes_per_s(from.bandwidth_bytes_per_s);
  to.set_fp32_flops(from.fp32_flops);
  to.set_tf32_flops(from.tf32_flops);
  to.set_bf16_flops(from.bf16_flops);
  to.set_source(Utf8(from.source));
}

run::DeviceProfile FromProto(const proto::DeviceProfile& from) {
  run::DeviceProfile to;
  to.key = from.key();
  to.name = from.name();
  to.memory_bytes = from.memory_bytes();
  to.context_bytes = from.context_bytes();
  to.sm_count = from.sm_count();
  to.max_threads_per_sm = from.max_threads_per_sm();
  to.compute_capability = from.compute_capability();
  to.blas_workspace_bytes = from.blas_workspace_bytes();
  to.bandwidth_bytes_per_s = from.bandwidth_bytes_per_s();
  to.fp32_flops = from.fp32_flops();
  to.tf32_flops = from.tf32_flops();
  to.bf16_flops = from.bf16_flops();
  to.source = from.source();
  return to;
}

absl::Status Malformed(std::string_view what) {
  return absl::DataLossError(i18n::Format("the {} is malformed", what));
}

}  // namespace

std::string EncodeHeader(const TraceInfo& info) {
  const run::ArenaMessage<proto::TraceHeader> message;
  proto::TraceHeader& header = *message;
  header.set_version(kFormatVersion);
  header.set_producer(Utf8(info.producer));
  header.set_backend(static_cast<uint32_t>(info.backend));
  header.set_measured(info.measured);
  if (info.has_config) header.mutable_config()->ParseFromString(run::ToProtoBytes(info.config));
  ToProto(info.device, *header.mutable_device());
  proto::ModelSummary& model = *header.mutable_model();
  model.set_name(Utf8(info.model.name));
  model.set_parameter_count(info.model.parameter_count);
  model.set_trainable_count(info.model.trainable_count);
  model.set_parameter_bytes(info.model.parameter_bytes);
  model.set_layers(info.model.layers);
  header.set_start_unix_ns(info.start_unix_ns);
  header.set_title(Utf8(info.title));
  header.set_source(Utf8(info.source));
  header.set_alloc_conf(Utf8(info.alloc_conf));
  header.set_content(static_cast<uint32_t>(info.content));
  header.set_without_times(!info.has_times);
  for (const Statistic& s : info.statistics) {
    proto::Statistic& row = *header.add_statistics();
    row.set_name(Utf8(s.name));
    row.set_value(s.value);
  }
  return header.SerializeAsString();
}

absl::StatusOr<Header> DecodeHeader(std::string_view payload) {
  const run::ArenaMessage<proto::TraceHeader> message;
  proto::TraceHeader& header = *message;
  if (!run::ParseMessage(payload, header) || header.version() == 0)
    return Malformed(i18n::Text("trace header"));
  if (header.version() > kFormatVersion)
    return absl::UnimplementedError(
        i18n::Format("the trace has format version {} (written by '{}'), and this vramscope reads "
                     "versions up to {}; install a newer vramscope",
                     header.version(), header.producer(), kFormatVersion));
  Header out;
  out.version = header.version();
  TraceInfo& info = out.info;
  info.producer = header.producer();
  info.title = header.title();
  if (header.backend() > static_cast<uint32_t>(Backend::kImported))
    return Malformed(i18n::Format("trace header (backend {})", header.backend()));
  info.backend = static_cast<Backend>(header.backend());
  info.measured = header.measured();
  if (header.has_config()) {
    absl::StatusOr<run::RunConfig> config =
        run::FromProtoBytes(header.config().SerializeAsString());
    if (config.ok()) {
      info.has_config = true;
      info.config = *std::move(config);
    } else {
      out.warning = i18n::English("the run's configuration in the header cannot be used: {}",
                                  std::string(config.status().message()));
    }
  }
  info.device = FromProto(header.device());
  info.model = {header.model().name(), header.model().parameter_count(),
                header.model().trainable_count(), header.model().parameter_bytes(),
                header.model().layers()};
  info.start_unix_ns = header.start_unix_ns();
  info.source = header.source();
  info.alloc_conf = header.alloc_conf();
  if (header.content() > static_cast<uint32_t>(Content::kState))
    return Malformed(i18n::Format("trace header (unknown content type {})", header.content()));
  info.content = static_cast<Content>(header.content());
  info.has_times = !header.without_times();
  info.statistics.reserve(static_cast<size_t>(header.statistics_size()));
  for (const proto::Statistic& s : header.statistics())
    info.statistics.push_back({s.name(), s.value()});
  return out;
}

std::string EncodeStrings(uint32_t first_id, std::span<const std::string> values,
                          KeyframeMessage* keyframe) {
  proto::StringTable table;
  table.set_first_id(first_id);
  if (keyframe != nullptr) {
    proto::Keyframe& to = *table.mutable_keyframe();
    to.set_event(keyframe->event);
    to.set_allocation(keyframe->next_block);
    to.set_segment(keyframe->next_segment);
    to.set_allocations(std::move(keyframe->blocks));
    to.set_segments(std::move(keyframe->segments));
    to.set_batch(std::move(keyframe->batch));
  }
  for (const std::string& value : values) table.add_values(value);
  return table.SerializeAsString();
}

absl::StatusOr<StringIncrement> DecodeStrings(std::string_view payload) {
  proto::StringTable table;
  if (!run::ParseMessage(payload, table)) return Malformed(i18n::Text("string table"));
  StringIncrement out;
  out.first_id = table.first_id();
  out.values.reserve(static_cast<size_t>(table.values_size()));
  for (std::string& value : *table.mutable_values()) out.values.push_back(std::move(value));
  return out;
}

absl::StatusOr<KeyframeMessage> DecodeKeyframeMessage(std::string_view payload) {
  proto::StringTable table;
  if (!run::ParseMessage(payload, table) || !table.has_keyframe())
    return Malformed(i18n::Text("keyframe"));
  proto::Keyframe& from = *table.mutable_keyframe();
  return KeyframeMessage{.event = from.event(),
                         .next_block = from.allocation(),
                         .next_segment = from.segment(),
                         .blocks = std::move(*from.mutable_allocations()),
                         .segments = std::move(*from.mutable_segments()),
                         .batch = std::move(*from.mutable_batch())};
}

std::string EncodeStacks(const StackIncrement& in) {
  proto::StackTable table;
  table.set_first_frame(in.first_frame);
  for (size_t i = 0; i < in.function.size(); ++i) {
    table.add_function(in.function[i].value);
    table.add_file(in.file[i].value);
    table.add_line(in.line[i]);
  }
  table.set_first_stack(in.first_stack);
  table.mutable_lengths()->Add(in.lengths.begin(), in.lengths.end());
  table.mutable_frames()->Add(in.frames.begin(), in.frames.end());
  return table.SerializeAsString();
}

absl::StatusOr<StackIncrement> DecodeStacks(std::string_view payload) {
  proto::StackTable table;
  if (!run::ParseMessage(payload, table)) return Malformed(i18n::Text("stack table"));
  StackIncrement out;
  out.first_frame = table.first_frame();
  for (const uint32_t id : table.function()) out.function.push_back({id});
  for (const uint32_t id : table.file()) out.file.push_back({id});
  out.line.assign(table.line().begin(), table.line().end());
  out.first_stack = table.first_stack();
  out.lengths.assign(table.lengths().begin(), table.lengths().end());
  out.frames.assign(table.frames().begin(), table.frames().end());
  return out;
}

std::string EncodeFooter(const Footer& footer) {
  proto::Footer message;
  message.set_events(footer.events);
  message.set_strings(footer.strings);
  message.set_allocations(footer.allocations);
  message.set_retags(footer.retags);
  message.set_slices(footer.slices);
  message.set_activities(footer.activities);
  for (const Footer::Batch& batch : footer.batches) {
    proto::Footer::Batch& row = *message.add_batches();
    row.set_offset(batch.offset);
    row.set_first_event(batch.first_event);
    row.set_count(batch.count);
    row.set_first_time_ns(batch.first_time_ns);
    row.set_last_time_ns(batch.last_time_ns);
    row.set_peak_allocated(batch.peak_allocated);
    row.set_peak_reserved(batch.peak_reserved);
  }
  for (const Footer::ActivityBatch& batch : footer.activity_batches) {
    proto::Footer::ActivityBatch& row = *message.add_activity_batches();
    row.set_offset(batch.offset);
    row.set_count(batch.count);
    row.set_first_begin_ns(batch.first_begin_ns);
    row.set_last_end_ns(batch.last_end_ns);
  }
  const bool together =
      std::ranges::any_of(footer.outline, [](const Footer::Slice& s) { return s.count > 1; });
  for (const Footer::Slice& slice : footer.outline) {
    proto::Footer::Group* group = together ? message.add_outline_groups() : nullptr;
    if (together) group->set_count(slice.count);
    proto::Footer::Slice& row = together ? *group->mutable_slice() : *message.add_outline();
    row.set_kind(static_cast<uint32_t>(slice.kind));
    row.set_number(slice.number);
    row.set_begin_ns(slice.begin_ns);
    row.set_end_ns(slice.end_ns);
  }
  message.mutable_tables()->Add(footer.tables.begin(), footer.tables.end());
  for (const Footer::KeyframeAt& keyframe : footer.keyframes) {
    proto::Footer::KeyframeAt& row = *message.add_keyframes();
    row.set_offset(keyframe.offset);
    row.set_event(keyframe.event);
    row.set_last_time_ns(keyframe.last_time_ns);
  }
  message.set_complete(footer.complete);
  message.set_end_message(Utf8(footer.end_message));
  return message.SerializeAsString();
}

absl::StatusOr<Footer> DecodeFooter(std::string_view payload) {
  proto::Footer message;
  if (!run::ParseMessage(payload, message)) return Malformed(i18n::Text("footer"));
  Footer out;
  out.events = message.events();
  out.strings = message.strings();
  out.allocations = message.allocations();
  out.retags = message.retags();
  out.slices = message.slices();
  out.activities = message.activities();
  out.batches.reserve(static_cast<size_t>(message.batches_size()));
  for (const proto::Footer::Batch& row : message.batches())
    out.batches.push_back({row.offset(), row.first_event(), row.count(), row.first_time_ns(),
                           row.last_time_ns(), row.peak_allocated(), row.peak_reserved()});
  out.activity_batches.reserve(static_cast<size_t>(message.activity_batches_size()));
  for (const proto::Footer::ActivityBatch& row : message.activity_batches())
    out.activity_batches.push_back(
        {row.offset(), row.count(), row.first_begin_ns(), row.last_end_ns()});
  out.outline.reserve(static_cast<size_t>(message.outline_size() + message.outline_groups_size()));
  const auto add = [&out](const proto::Footer::Slice& row, uint32_t count) {
    const auto kind = static_cast<SliceKind>(std::min(row.kind(), 255u));
    // Later writers may add kinds, which are skipped.
    if (kind == SliceKind::kStep || (kind == SliceKind::kPhase && row.number() < kPhaseCount))
      out.outline.push_back({kind, row.number(), row.begin_ns(), row.end_ns(), count});
  };
  for (const proto::Footer::Slice& row : message.outline()) add(row, 1);
  for (const proto::Footer::Group& row : message.outline_groups())
    add(row.slice(), std::max(1u, row.count()));
  out.tables.assign(message.tables().begin(), message.tables().end());
  out.keyframes.reserve(static_cast<size_t>(message.keyframes_size()));
  for (const proto::Footer::KeyframeAt& row : message.keyframes())
    out.keyframes.push_back({row.offset(), row.event(), row.last_time_ns()});
  out.complete = message.complete();
  out.end_message = message.end_message();
  return out;
}

std::string EncodeEnd(uint64_t footer_offset) {
  proto::End end;
  end.set_footer_offset(footer_offset);
  return end.SerializeAsString();
}

absl::StatusOr<uint64_t> DecodeEnd(std::string_view payload) {
  proto::End end;
  if (payload.size() != kEndPayloadBytes || !run::ParseMessage(payload, end))
    return Malformed(i18n::Text("end frame"));
  return end.footer_offset();
}

}  // namespace vramscope::trace
