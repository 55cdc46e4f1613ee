#include "tests/app/sample_snapshot.h"

namespace vramscope::test {

using nlohmann::json;

namespace {

json Frame(const std::string& name, const std::string& file, int line) {
  return {{"name", name}, {"filename", file}, {"line", line}};
}

}  // namespace

json Snapshot(const SnapshotOptions& o) {
  json entries = json::array();
  int64_t time_us = 1'700'000'000'000'000;
  const auto frames = [&](const std::string& op, const std::string& function, int line) {
    return json::array({Frame("c10::cuda::CUDACachingAllocator::malloc(void**)", "??", 0),
                        Frame("at::_ops::" + op + "::call(at::Tensor const&)", "??", 0),
                        Frame(function, "/home/user/project/model.py", line + o.lines),
                        Frame("train", "/home/user/project/main.py", 7 + o.lines)});
  };
  const auto add = [&](const std::string& action, uint64_t address, uint64_t bytes,
                       const json& stack) {
    entries.push_back({{"action", action},
                       {"addr", address},
                       {"size", bytes},
                       {"stream", 0},
                       {"time_us", time_us += 100},
                       {"frames", stack}});
  };
  json blocks = json::array();
  const auto block = [&](uint64_t offset, uint64_t bytes, bool live) {
    blocks.push_back({{"address", kBase + offset},
                      {"size", bytes},
                      {"requested_size", live ? bytes : 0},
                      {"state", live ? "active_allocated" : "inactive"},
                      {"frames", json::array()}});
  };
  const json forward = frames("mm", "forward", 20), keep = frames("clone", "log", 33);
  const uint64_t before_leaks = o.activation + (o.hole ? 2 * kMiB : 0);
  json annotations = json::array();
  const auto mark = [&](const char* stage, int k) {
    if (o.marks)
      annotations.push_back({{"stage", stage},
                             {"name", "ProfilerStep#" + std::to_string(k)},
                             {"device", 0},
                             {"time_us", time_us += 50}});
  };
  for (int k = 0; k < o.steps; ++k) {
    mark("START", k);
    const uint64_t address = kBase + 4 * kMiB, behind = address + before_leaks;
    add("alloc", address, o.activation, forward);
    if (o.leak) add("alloc", behind + 3 * static_cast<uint64_t>(k) * kMiB, 3 * kMiB, keep);
    add("free_requested", address, o.activation, forward);
    add("free_completed", address, o.activation, forward);
    mark("END", k);
  }
  if (o.oom) {
    entries.push_back({{"action", "oom"},
                       {"device_free", kMiB},
                       {"addr", kMiB},
                       {"size", 100 * kMiB},
                       {"stream", 0},
                       {"time_us", time_us += 100},
                       {"frames", forward}});
  }
  block(0, 4 * kMiB, true);
  uint64_t at = 4 * kMiB;
  if (o.leak) {
    block(at, before_leaks, false);
    at += before_leaks;
    for (int k = 0; k < o.steps; ++k, at += 3 * kMiB) block(at, 3 * kMiB, true);
  }
  block(at, 64 * kMiB - at, false);
  uint64_t live = 0;
  for (const json& b : blocks) live += b["requested_size"].get<uint64_t>();
  const json segment = {{"device", 0},
                        {"address", kBase},
                        {"total_size", 64 * kMiB},
                        {"allocated_size", live},
                        {"active_size", live},
                        {"requested_size", live},
                        {"stream", 0},
                        {"segment_type", "large"},
                        {"segment_pool_id", {0, 0}},
                        {"is_expandable", false},
                        {"frames", json::array()},
                        {"blocks", blocks}};
  return {{"segments", {segment}},
          {"device_traces", {entries}},
          {"allocator_settings",
           {{"PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:200"}, {"expandable_segments", false}}},
          {"external_annotations", annotations}};
}

std::string CliRecording::Write(const std::string& name, const SnapshotOptions& options) {
  const std::string path = folder_ / name;
  WriteFile(path, Snapshot(options).dump());
  return path;
}

json CliRecording::Json(const std::vector<std::string>& arguments, int status) {
  const Outcome outcome = RunVramscope(arguments);
  EXPECT_EQ(outcome.status, status) << ::testing::PrintToString(arguments) << outcome.err;
  json parsed = json::parse(outcome.out, nullptr, false);
  EXPECT_TRUE(parsed.is_object()) << "stdout is not one JSON object: " << outcome.out;
  return parsed;
}

}  // namespace vramscope::test
