// Tests that all commands report the same figures for a file, both at the peak of each device and
// at the peak of the default device. The files are a made-up recording of several GPUs with
// expandable segments, a snapshot exported from it, and a run on one device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "profiler/trace/writer.h"
#include "tests/app/sample_snapshot.h"
#include "tests/profiler/agreement/random_devices.h"

namespace vramscope::test {
namespace {

using nlohmann::json;

class CliAgreement : public CliRecording {
 protected:
  std::string WriteTrace(const std::string& name, const agreement::RandomDevicesOptions& options) {
    const std::string path = folder_ / name;
    const absl::Status status =
        trace::WriteTraceFile(*agreement::MakeRandomDevices(options).trace, path);
    EXPECT_TRUE(status.ok()) << status;
    return path;
  }

  void ExpectAgreement(const std::string& file, size_t devices) {
    const json info = Json({"info", file, "--json"});
    const json& peaks = info["peaks"];
    ASSERT_EQ(peaks.size(), devices);
    ASSERT_EQ(info["devices"].size(), devices);
    const auto highest = std::ranges::max_element(
        peaks, {}, [](const json& p) { return p["allocated"].get<uint64_t>(); });
    EXPECT_EQ(info["peak"]["allocated"], (*highest)["allocated"]);
    EXPECT_EQ(info["peak"]["reserved"], (*highest)["reserved"]);

    // Without --device, `peak` shows one of the devices.
    const json peak = Json({"peak", file, "--by", "category", "--json"});
    const json& of = devices == 1 ? peaks[0] : *std::ranges::find_if(peaks, [&](const json& p) {
      return p["device"] == peak["device"];
    });
    EXPECT_EQ(peak["allocated"], of["allocated"]);
    EXPECT_EQ(peak["peak_reserved"], of["reserved"]);
    const auto sum = [](const json& bytes) {
      uint64_t all = 0;
      for (const auto& [name, value] : bytes.items()) all += value.get<uint64_t>();
      return all;
    };
    EXPECT_EQ(sum(peak["by_category"]), of["allocated"]);
    uint64_t groups = 0;
    for (const json& group : peak["groups"]) groups += group["bytes"].get<uint64_t>();
    EXPECT_EQ(groups, of["allocated"]);

    uint64_t steps = 0;
    const json phases = Json({"phases", file, "--json"});
    for (const json& step : phases["steps"])
      steps = std::max(steps, step["peak_allocated"].get<uint64_t>());
    EXPECT_LE(steps, of["allocated"].get<uint64_t>());

    const json diff = Json({"diff", file, file, "--json"});
    EXPECT_EQ(diff["equal"], true);
    EXPECT_EQ(diff["peak"]["allocated"]["a"], of["allocated"]);
    EXPECT_EQ(diff["peak"]["reserved"]["b"], of["reserved"]);
    EXPECT_EQ(diff.contains("devices"), devices > 1);
    for (size_t i = 0; devices > 1 && i < devices; ++i) {
      EXPECT_EQ(diff["devices"][i]["device"], peaks[i]["device"]);
      EXPECT_EQ(diff["devices"][i]["peak"]["allocated"]["a"], peaks[i]["allocated"]);
      EXPECT_EQ(diff["devices"][i]["peak"]["reserved"]["b"], peaks[i]["reserved"]);
    }

    const json explained =
        Json({"explain", file, "--page", "fragmentation", "--json"})["fragmentation"];
    if (info["out_of_memory"] == 0) {
      EXPECT_EQ(explained["allocated"], of["allocated"]);
      EXPECT_EQ(explained["reserved"], peak["reserved"]);
      EXPECT_EQ(explained["requested"], peak["requested"]);
    }
    EXPECT_EQ(explained["reserved"].get<uint64_t>(), explained["allocated"].get<uint64_t>() +
                                                         explained["holes"].get<uint64_t>() +
                                                         explained["cached"].get<uint64_t>());

    const Outcome check = RunVramscope({"check", file, "--budget", "1024TiB", "--json"});
    const json judged = json::parse(check.out);
    if (devices == 1) {
      EXPECT_EQ(judged["peak"]["allocated"], of["allocated"]);
      EXPECT_EQ(judged["peak"]["reserved"], of["reserved"]);
    }
    uint64_t needed =
        judged["peak"]["reserved"].get<uint64_t>() + judged["context"].get<uint64_t>();
    // If an allocation failed, `needed` also includes its size.
    if (const json& ran_out = judged["ran_out_at"]; ran_out.is_object()) {
      EXPECT_GT(ran_out["needed"].get<uint64_t>(), ran_out["reserved"].get<uint64_t>());
      needed = std::max(needed, ran_out["needed"].get<uint64_t>());
    }
    EXPECT_EQ(judged["needed"].get<uint64_t>(), needed);
    for (const json& of_device : peaks) ExpectExportsAgree(file, of_device);
  }

  // Evaluates exported files as the tools that read them do: takes the maximum of a counter, and
  // adds up allocations and frees.
  void ExpectExportsAgree(const std::string& file, const json& peak) {
    const std::string device = std::to_string(peak["device"].get<int>());
    SCOPED_TRACE("device " + device);
    const std::string chrome = folder_ / "chrome.json";
    ASSERT_EQ(
        RunVramscope({"export", file, "--to", "chrome", "--device", device, "-o", chrome}).status,
        0);
    std::map<std::string, uint64_t> highest;
    const json written = json::parse(ReadFile(chrome));
    for (const json& event : written["traceEvents"]) {
      if (event["ph"] != "C" || !event["args"].contains("bytes")) continue;
      uint64_t& most = highest[event["name"]];
      most = std::max(most, event["args"]["bytes"].get<uint64_t>());
    }
    EXPECT_EQ(highest["allocated"], peak["allocated"]);
    EXPECT_EQ(highest["reserved"], peak["reserved"]);

    const Outcome requests = RunVramscope({"requests", file, "--device", device});
    ASSERT_EQ(requests.status, 0);
    uint64_t live = 0, most = 0, allocations = 0;
    std::istringstream lines(requests.out);
    std::string line;
    std::getline(lines, line);
    ASSERT_TRUE(line.starts_with("index,kind,bytes_requested,bytes_rounded,")) << line;
    while (std::getline(lines, line)) {
      std::istringstream fields(line);
      std::string index, kind, requested, rounded;
      for (std::string* field : {&index, &kind, &requested, &rounded})
        std::getline(fields, *field, ',');
      if (kind == "alloc") {
        ++allocations;
        most = std::max(most, live += std::stoull(rounded));
      } else if (kind == "free_completed") {
        live -= std::stoull(rounded);
      }
    }
    EXPECT_EQ(most, peak["allocated"]);
    EXPECT_EQ(allocations, peak["allocations"]);

    const Outcome blocks =
        RunVramscope({"export", file, "--to", "csv", "--device", device, "-o", "-"});
    ASSERT_EQ(blocks.status, 0);
    EXPECT_EQ(std::ranges::count(blocks.out, '\n'), static_cast<int64_t>(allocations) + 1);
  }
};

TEST_F(CliAgreement, CommandsAgreeOnOneDevice) {
  ExpectAgreement(WriteTrace("one.trace", {.devices = {0}, .requests = 300}), 1);
  ExpectAgreement(Write("s.json", {}), 1);
}

TEST_F(CliAgreement, CommandsAgreeOnSeveralDevices) {
  const std::string file = WriteTrace("three.trace", {.devices = {0, 1, 3}, .requests = 400});
  ExpectAgreement(file, 3);
  const std::string snapshot = folder_ / "three.pickle";
  ASSERT_EQ(RunVramscope({"export", file, "--to", "snapshot", "-o", snapshot}).status, 0);
  ExpectAgreement(snapshot, 3);
  const json trace = Json({"info", file, "--json"}), back = Json({"info", snapshot, "--json"});
  EXPECT_EQ(trace["peaks"], back["peaks"]);
  // A device has the same figures whether it is selected alone or shown with the others.
  for (const json& of : back["peaks"]) {
    const std::string device = std::to_string(of["device"].get<int>());
    for (const std::string& whole : {snapshot, file}) {
      const json alone = Json({"peak", whole, "--device", device, "--json"});
      EXPECT_EQ(alone["allocated"], of["allocated"]);
      EXPECT_EQ(alone["peak_reserved"], of["reserved"]);
    }
  }
}

TEST_F(CliAgreement, CommandsAgreeAfterOutOfMemory) {
  ExpectAgreement(WriteTrace("oom.trace", {.devices = {0, 1},
                                           .requests = 400,
                                           .device_memory_bytes = uint64_t{400} << 20,
                                           .mempools = 1}),
                  2);
}

}  // namespace
}  // namespace vramscope::test
