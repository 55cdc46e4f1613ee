#include "tests/profiler/importers/pickle_writer.h"

#include <bit>
#include <map>

namespace vramscope::importers::testing {
namespace {

class Writer {
 public:
  explicit Writer(const PickleStyle& style) : style_(style) {}

  std::string Write(const Json& value) {
    out_ = {'\x80', static_cast<char>(style_.protocol)};
    if (style_.protocol >= 4) {
      out_ += '\x95';
      Little(0, 8);  // the length of the frame, set below
    }
    Value(value, "");
    out_ += '.';
    if (style_.protocol >= 4)
      for (size_t i = 0; i < 8; ++i) out_[3 + i] = static_cast<char>((out_.size() - 11) >> (8 * i));
    return out_;
  }

 private:
  void Little(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out_ += static_cast<char>(value >> (8 * i));
  }
  void Put() {
    if (style_.protocol >= 4) {
      out_ += '\x94';
    } else if (next_ < 256) {
      out_ += 'q';
      Little(next_, 1);
    } else {
      out_ += 'r';
      Little(next_, 4);
    }
    ++next_;
  }
  void Get(uint32_t index) {
    out_ += index < 256 ? 'h' : 'j';
    Little(index, index < 256 ? 1 : 4);
  }

  void String(const std::string& text) {
    const auto [it, fresh] = strings_.try_emplace(text, next_);
    if (!fresh) return Get(it->second);
    const bool is_short = style_.protocol >= 4 && text.size() < 256;
    out_ += is_short ? '\x8c' : 'X';
    Little(text.size(), is_short ? 1 : 4);
    out_ += text;
    Put();
  }
  void Integer(const Json& value) {
    const bool negative = !value.is_number_unsigned() && value.get<int64_t>() < 0;
    const auto bits =
        negative ? static_cast<uint64_t>(value.get<int64_t>()) : value.get<uint64_t>();
    if (!negative && bits < 256) {
      out_ += 'K';
      Little(bits, 1);
    } else if (!negative && bits < 65536) {
      out_ += 'M';
      Little(bits, 2);
    } else if (!negative && bits < uint64_t{1} << 31) {
      out_ += 'J';
      Little(bits, 4);
    } else {
      const bool nine = !negative && bits >> 63 != 0;
      out_ += '\x8a';
      Little(nine ? 9 : 8, 1);
      Little(bits, 8);
      if (nine) Little(0, 1);
    }
  }

  void Batch(const Json& items) {
    out_ += '(';
    for (const Json& item : items) Value(item, "");
    out_ += 'e';
  }
  void Items(const Json& value) {
    const bool dict = value.is_object();
    const size_t batch = style_.one_by_one ? 1 : style_.python ? style_.batch : value.size();
    size_t i = 0;
    for (auto it = value.begin(); it != value.end(); ++it, ++i) {
      if (!style_.one_by_one && i % batch == 0) out_ += '(';
      if (dict) String(it.key());
      Value(it.value(), dict ? it.key() : "");
      if (style_.one_by_one)
        out_ += dict ? 's' : 'a';
      else if ((i + 1) % batch == 0 || i + 1 == value.size())
        out_ += dict ? 'u' : 'e';
    }
  }

  void Value(const Json& value, const std::string& key) {
    if (value.is_null()) {
      out_ += 'N';
    } else if (value.is_boolean()) {
      out_ += value.get<bool>() ? '\x88' : '\x89';
    } else if (value.is_number_float()) {
      out_ += 'G';
      const auto bits = std::bit_cast<uint64_t>(value.get<double>());
      for (int i = 7; i >= 0; --i) out_ += static_cast<char>(bits >> (8 * i));
    } else if (value.is_number()) {
      Integer(value);
    } else if (value.is_string()) {
      String(value.get<std::string>());
    } else if (key == "segment_pool_id" && style_.python) {
      for (const Json& item : value) Value(item, "");
      out_ += '\x86';
      Put();
    } else {
      const bool shared = key == "frames";
      const std::string text = shared ? value.dump() : "";
      if (shared) {
        const auto found = lists_.find(text);
        if (found != lists_.end()) return Get(found->second);
      }
      out_ += value.is_object() ? '}' : ']';
      uint32_t index = next_;
      if (style_.python) Put();
      if (key == "segment_pool_id")
        Batch(value);
      else
        Items(value);
      if (!style_.python) {
        index = next_;
        Put();
      }
      if (shared) lists_[text] = index;
    }
  }

  const PickleStyle style_;
  std::string out_;
  uint32_t next_ = 0;
  std::map<std::string, uint32_t> strings_, lists_;
};

Json Frame(const std::string& name, const std::string& file, int line) {
  return {{"name", name}, {"filename", file}, {"line", line}};
}

}  // namespace

std::string ToPickle(const Json& value, const PickleStyle& style) {
  return Writer(style).Write(value);
}

Json SampleSnapshot() {
  const Json forward = {Frame("mm", "??", 0), Frame("forward", "model.py", 12),
                        Frame("<module>", "train.py", 3)};
  const Json step = {Frame("step", "optim.py", 80), Frame("<module>", "train.py", 9)};
  const uint64_t small = 0x7f0000000000, large = 0x7f0000200000;
  Json s;
  s["segments"] = Json::array();
  s["segments"].push_back({{"device", 0},
                           {"address", large},
                           {"total_size", 20971520},
                           {"allocated_size", 4194304},
                           {"active_size", 4194304},
                           {"requested_size", 4000000},
                           {"stream", 7},
                           {"segment_type", "large"},
                           {"segment_pool_id", {0, 2}},
                           {"is_expandable", false},
                           {"frames", forward},
                           {"blocks",
                            {{{"address", large},
                              {"size", 4194304},
                              {"requested_size", 4000000},
                              {"state", "active_allocated"},
                              {"frames", forward}},
                             {{"address", large + 4194304},
                              {"size", 16777216},
                              {"requested_size", 0},
                              {"state", "inactive"},
                              {"frames", Json::array()}}}}});
  s["segments"].push_back({{"device", 0},
                           {"address", small},
                           {"total_size", 2097152},
                           {"stream", 0},
                           {"segment_type", "small"},
                           {"segment_pool_id", {0, 0}},
                           {"is_expandable", true},
                           {"frames", Json::array()},
                           {"blocks",
                            {{{"address", small},
                              {"size", 1024},
                              {"requested_size", 1000},
                              {"state", "active_pending_free"},
                              {"frames", step}},
                             {{"address", small + 1024},
                              {"size", 2096128},
                              {"requested_size", 0},
                              {"state", "inactive"},
                              {"frames", Json::array()}}}}});
  int64_t time = 1'760'000'000'000'000;
  Json trace = Json::array();
  const auto entry = [&](const char* action, uint64_t address, uint64_t size, const Json& frames,
                         const char* where = "addr", int stream = 0) {
    trace.push_back({{"action", action},
                     {where, address},
                     {"size", size},
                     {"stream", stream},
                     {"time_us", time},
                     {"compile_context", "N/A"},
                     {"user_metadata", ""},
                     {"frames", frames}});
    time += 10;
  };
  entry("alloc", small, 1000, step);
  entry("segment_alloc", large, 20971520, forward, "addr", 7);
  entry("alloc", large, 4000000, forward, "addr", 7);
  entry("alloc", large + 4194304, 8388608, forward, "addr", 7);
  entry("free_requested", large + 4194304, 8388608, step, "addr", 7);
  entry("free_completed", large + 4194304, 8388608, step, "addr", 7);
  entry("oom", 123456, 1u << 30, forward, "device_free");
  entry("free_requested", small, 1000, step);
  entry("snapshot", 0, 0, Json::array());
  s["device_traces"] = Json::array({trace});
  s["allocator_settings"] = {{"PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:128"},
                             {"max_split_size", 134217728},
                             {"garbage_collection_threshold", 0.5},
                             {"expandable_segments", false},
                             {"roundup_power2_divisions", {{"1", 0}, {"2", 4}}}};
  s["external_annotations"] = {{{"stage", "START"},
                                {"name", "Optimizer.step#AdamW.step"},
                                {"device", 0},
                                {"time_us", 1'760'000'000'000'015}},
                               {{"stage", "END"},
                                {"name", "Optimizer.step#AdamW.step"},
                                {"device", 0},
                                {"time_us", 1'760'000'000'000'035}}};
  return s;
}

Json ManyEntries(size_t n) {
  std::vector<Json> stacks;
  for (int i = 0; i < 10; ++i) {
    Json frames = Json::array();
    for (int k = 0; k < 12; ++k)
      frames.push_back(Frame("f" + std::to_string(k), "m.py", k == 0 ? i : k));
    stacks.push_back(frames);
  }
  Json trace = Json::array();
  for (size_t i = 0; i < n; ++i) {
    const bool alloc = i % 3 == 0;
    trace.push_back({{"action", alloc        ? "alloc"
                                : i % 3 == 1 ? "free_requested"
                                             : "free_completed"},
                     {"addr", 0x7f0000000000 + (i / 3 % 7) * 512},
                     {"size", 512},
                     {"stream", 0},
                     {"time_us", 1'760'000'000'000'000 + static_cast<int64_t>(i)},
                     {"frames", stacks[i % 10]}});
  }
  Json s;
  s["segments"] = Json::array();
  s["device_traces"] = Json::array({trace});
  return s;
}

}  // namespace vramscope::importers::testing
