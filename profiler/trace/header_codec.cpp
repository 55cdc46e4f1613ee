#include "profiler/trace/header_codec.h"

#include <fmt/format.h>

#include <utility>

#include "proto/trace.pb.h"

namespace vramscope::trace {
namespace {

void ToProto(const run::DeviceProfile& from, proto::DeviceProfile& to) {
  to.set_key(from.key);
  to.set_name(from.name);
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
  to.set_source(from.source);
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
  return absl::DataLossError(fmt::format("the {} is malformed", what));
}

template <class Message>
bool Parse(Message& message, std::string_view payload) {
  return message.ParseFromArray(payload.data(), static_cast<int>(payload.size()));
}

}  // namespace

std::string EncodeHeader(const TraceInfo& info) {
  proto::TraceHeader header;
  header.set_version(kFormatVersion);
  header.set_producer(info.producer);
  header.set_backend(static_cast<uint32_t>(info.backend));
  header.set_measured(info.measured);
  if (info.has_config) header.mutable_config()->ParseFromString(run::ToProtoBytes(info.config));
  ToProto(info.device, *header.mutable_device());
  proto::ModelSummary& model = *header.mutable_model();
  model.set_name(info.model.name);
  model.set_parameter_count(info.model.parameter_count);
  model.set_trainable_count(info.model.trainable_count);
  model.set_parameter_bytes(info.model.parameter_bytes);
  model.set_layers(info.model.layers);
  header.set_start_unix_ns(info.start_unix_ns);
  header.set_title(info.title);
  return header.SerializeAsString();
}

absl::StatusOr<Header> DecodeHeader(std::string_view payload) {
  proto::TraceHeader header;
  if (!Parse(header, payload) || header.version() == 0) return Malformed("trace header");
  if (header.version() > kFormatVersion)
    return absl::UnimplementedError(fmt::format(
        "the trace has format version {} (written by '{}'); this program reads up to version {}: "
        "a newer one is needed",
        header.version(), header.producer(), kFormatVersion));
  Header out;
  TraceInfo& info = out.info;
  info.producer = header.producer();
  info.title = header.title();
  if (header.backend() > static_cast<uint32_t>(Backend::kImported))
    return Malformed(fmt::format("trace header (backend {})", header.backend()));
  info.backend = static_cast<Backend>(header.backend());
  info.measured = header.measured();
  if (header.has_config()) {
    absl::StatusOr<run::RunConfig> config =
        run::FromProtoBytes(header.config().SerializeAsString());
    if (config.ok()) {
      info.has_config = true;
      info.config = *std::move(config);
    } else {
      out.warning = fmt::format("the run's configuration in the header cannot be used: {}",
                                std::string(config.status().message()));
    }
  }
  info.device = FromProto(header.device());
  info.model = {header.model().name(), header.model().parameter_count(),
                header.model().trainable_count(), header.model().parameter_bytes(),
                header.model().layers()};
  info.start_unix_ns = header.start_unix_ns();
  return out;
}

std::string EncodeStrings(uint32_t first_id, std::span<const std::string> values) {
  proto::StringTable table;
  table.set_first_id(first_id);
  for (const std::string& value : values) table.add_values(value);
  return table.SerializeAsString();
}

absl::StatusOr<StringIncrement> DecodeStrings(std::string_view payload) {
  proto::StringTable table;
  if (!Parse(table, payload)) return Malformed("string table");
  StringIncrement out;
  out.first_id = table.first_id();
  out.values.reserve(static_cast<size_t>(table.values_size()));
  for (std::string& value : *table.mutable_values()) out.values.push_back(std::move(value));
  return out;
}

std::string EncodeFooter(const Footer& footer) {
  proto::Footer message;
  message.set_events(footer.events);
  message.set_strings(footer.strings);
  message.set_allocations(footer.allocations);
  message.set_retags(footer.retags);
  message.set_slices(footer.slices);
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
  message.set_complete(footer.complete);
  message.set_end_message(footer.end_message);
  return message.SerializeAsString();
}

absl::StatusOr<Footer> DecodeFooter(std::string_view payload) {
  proto::Footer message;
  if (!Parse(message, payload)) return Malformed("footer");
  Footer out;
  out.events = message.events();
  out.strings = message.strings();
  out.allocations = message.allocations();
  out.retags = message.retags();
  out.slices = message.slices();
  out.batches.reserve(static_cast<size_t>(message.batches_size()));
  for (const proto::Footer::Batch& row : message.batches())
    out.batches.push_back({row.offset(), row.first_event(), row.count(), row.first_time_ns(),
                           row.last_time_ns(), row.peak_allocated(), row.peak_reserved()});
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
  if (payload.size() != kEndPayloadBytes || !Parse(end, payload)) return Malformed("end frame");
  return end.footer_offset();
}

}  // namespace vramscope::trace
