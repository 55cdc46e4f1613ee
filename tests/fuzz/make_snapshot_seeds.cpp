// Writes the seed corpus of the snapshot readers. `make_snapshot_seeds tests/fuzz/corpus` was run
// once, and the files are in git.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/profiler/importers/pickle_writer.h"

namespace {

using vramscope::importers::testing::Json;

// Returns a snapshot with the fields of all versions of the format, old and new.
Json OldAndNew() {
  Json s = vramscope::importers::testing::SampleSnapshot();
  const Json frames = s["device_traces"][0][0]["frames"];
  Json old = {{"device", 1}, {"address", 4096}, {"stream", -1}, {"segment_type", "small"}};
  old["blocks"] = Json::array(
      {{{"size", 1024},
        {"state", "active_awaiting_free"},
        {"history", Json::array({{{"addr", 4096}, {"real_size", 1000}, {"frames", frames}}})}}});
  s["segments"].push_back(old);
  s["device_traces"].push_back(Json::array(
      {{{"action", "free"}, {"addr", 4096}, {"size", 1000}, {"time_us", 1'760'000'000'000'003}},
       {{"action", "segment_map"}, {"addr", -4096}, {"size", 512}},
       {{"action", "user_defined"}, {"category", 1}, {"user_metadata", "note"}}}));
  s["categories"] = {"unknown", "parameter"};
  s["segments"][0]["blocks"][0]["category"] = 1;
  s["vramscope"] = {{"inferred", true}};
  s["host_segments"] = Json::array({old});
  s["host_traces"] = Json::array({s["device_traces"][0]});
  s["allocator_settings"]["trace_alloc_overflowed"] = true;
  return s;
}

// Returns a snapshot with categories of blocks, and with annotations that imply categories.
Json Annotated() {
  Json s = vramscope::importers::testing::SampleSnapshot();
  Json& trace = s["device_traces"][0];
  trace[0]["category"] = "activation";
  trace[7] = {{"action", "annotate"},           {"addr", trace[0]["addr"]},
              {"size", trace[0]["size"]},       {"category", "gradient"},
              {"time_us", trace[7]["time_us"]}, {"user_metadata", "activation -> gradient"}};
  trace[8] = {{"action", "annotate"}, {"addr", trace[0]["addr"]}, {"user_metadata", "packed"}};
  s["segments"][0]["blocks"][0]["category"] = "parameter";
  return s;
}

// Returns a snapshot with metadata but without times. A free is missing on one device.
Json Timeless() {
  Json s = vramscope::importers::testing::SampleSnapshot();
  Json trace = s["device_traces"][0];
  for (Json& entry : trace) entry.erase("time_us");
  trace[0]["user_metadata"] = "layer 1";
  trace[2]["compile_context"] = "0/0";
  s["device_traces"][0] = trace;
  return s;
}

// Returns what torch.cuda.memory_stats() returns, in the nested or the flat form.
Json Statistics(bool nested) {
  if (!nested)
    return {{"active.all.current", 3}, {"allocated_bytes.all.peak", 4096}, {"num_ooms", 0}};
  return {{"allocated_bytes", {{"all", {{"current", 512}, {"peak", 4096}}}}}, {"num_ooms", 1}};
}

}  // namespace

int main(int argc, char** argv) {
  using namespace vramscope::importers::testing;
  if (argc != 2) {
    std::fputs("usage: make_snapshot_seeds FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path out = argv[1];
  const auto write = [&](const char* folder, const std::string& name, const std::string& bytes) {
    std::filesystem::create_directories(out / folder);
    std::ofstream(out / folder / name, std::ios::binary) << bytes;
  };
  const Json all[] = {SampleSnapshot(), OldAndNew(), ManyEntries(12), Annotated()};
  for (size_t i = 0; i < std::size(all); ++i) {
    const std::string name = "seed" + std::to_string(i);
    write("pickle", name, ToPickle(all[i]));
    write("pickle", name + "-p2", ToPickle(all[i], {2, true}));
    write("pickle", name + "-cpp", ToPickle(all[i], {2, false}));
    write("pickle", name + "-single", ToPickle(all[i], {4, true, 1000, true}));
    write("pickle", name + "-batches", ToPickle(all[i], {4, true, 2}));
    write("snapshot_json", name, all[i].dump());
    write("snapshot_json", name + "-lines", all[i].dump(1));
  }
  // Seeds that do not contain a complete run.
  const Json sample = SampleSnapshot();
  const std::string bytes = ToPickle(Timeless());
  write("pickle", "timeless", bytes);
  write("pickle", "cut", bytes.substr(0, bytes.size() * 2 / 3));
  write("pickle", "cut-single", ToPickle(sample, {4, true, 1000, true}).substr(0, 1500));
  write("pickle", "list", ToPickle(sample["segments"]));
  write("snapshot_json", "timeless", Timeless().dump());
  write("snapshot_json", "cut", sample.dump().substr(0, sample.dump().size() * 2 / 3));
  write("snapshot_json", "list", sample["segments"].dump());
  write("snapshot_json", "stats", Statistics(false).dump());
  write("snapshot_json", "stats-nested", Statistics(true).dump());
  return 0;
}
