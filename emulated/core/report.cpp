#include "emulated/core/report.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "emulated/core/kernels.h"
#include "emulated/core/platform.h"

namespace vramscope::emulated {
namespace {

constexpr size_t kMostKernels = 20;  // maximum number of listed kernels

// Returns the length of the UTF-8 character at `at` in bytes, or 0 if it is invalid, as it may be
// in a path.
size_t CharacterBytes(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  const size_t bytes = first < 0x80                    ? 1
                       : first >= 0xc2 && first < 0xe0 ? 2
                       : first >= 0xe0 && first < 0xf0 ? 3
                       : first >= 0xf0 && first < 0xf5 ? 4
                                                       : 0;
  if (bytes == 0 || bytes > text.size() - at) {
    return 0;
  }
  for (size_t i = at + 1; i < at + bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      return 0;
    }
  }
  const bool too_long =
      (first == 0xe0 && byte(at + 1) < 0xa0) || (first == 0xf0 && byte(at + 1) < 0x90);
  const bool beyond =
      (first == 0xed && byte(at + 1) >= 0xa0) || (first == 0xf4 && byte(at + 1) >= 0x90);
  return too_long || beyond ? 0 : bytes;
}

void AppendString(std::string* out, const std::string& text) {
  *out += '"';
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = CharacterBytes(text, at);
    if (bytes != 1) {
      *out += bytes == 0 ? "?" : text.substr(at, bytes);
      at += bytes == 0 ? 1 : bytes;
      continue;
    }
    const auto c = static_cast<unsigned char>(text[at++]);
    char escaped[8];
    if (c == '"' || c == '\\') {
      *out += '\\';
      *out += static_cast<char>(c);
    } else if (c < 0x20) {
      std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
      *out += escaped;
    } else {
      *out += static_cast<char>(c);
    }
  }
  *out += '"';
}

void AppendList(std::string* out, const char* key, const std::vector<Assumption>& entries,
                const char* what, const char* where, bool with_bytes) {
  *out += std::string("  \"") + key + "\": [";
  const char* separator = "\n";
  for (const Assumption& entry : entries) {
    *out += separator;
    *out += std::string("    {\"") + what + "\": ";
    AppendString(out, entry.what);
    *out += std::string(", \"") + where + "\": ";
    AppendString(out, entry.where);
    if (with_bytes) {
      *out += ", \"bytes\": " + std::to_string(entry.bytes);
    }
    *out += ", \"count\": " + std::to_string(entry.count) + "}";
    separator = ",\n";
  }
  *out += entries.empty() ? "]" : "\n  ]";
}

}  // namespace

std::string ReportOf(const Platform& platform) {
  std::string out = "{\n  \"pid\": " + std::to_string(getpid()) + ",\n";
  out += "  \"launches\": " + std::to_string(platform.launches.load()) + ",\n";
  out += "  \"recognised_launches\": " + std::to_string(platform.recognised.load()) + ",\n";
  out += "  \"unrecognised\": [";
  const std::vector<std::pair<std::string, uint64_t>> unrecognised = UnrecognisedLaunches();
  for (size_t i = 0; i < std::min(unrecognised.size(), kMostKernels); ++i) {
    out += i == 0 ? "\n    {\"kernel\": " : ",\n    {\"kernel\": ";
    AppendString(&out, unrecognised[i].first);
    out += ", \"count\": " + std::to_string(unrecognised[i].second) + "}";
  }
  out += unrecognised.empty() ? "],\n" : "\n  ],\n";
  out += "  \"virtual_ns\": " + std::to_string(platform.clock.now()) + ",\n";
  out += "  \"devices\": [";
  for (size_t i = 0; i < platform.gpus.size(); ++i) {
    const int device = static_cast<int>(i);
    out += i == 0 ? "\n    {\"name\": " : ",\n    {\"name\": ";
    AppendString(&out, platform.gpus[i].name);
    out += ", \"memory_bytes\": " + std::to_string(platform.gpus[i].memory_bytes);
    out += ", \"context_bytes\": " + std::to_string(platform.memory.context(device));
    out += ", \"used_bytes\": " + std::to_string(platform.memory.used(device));
    out += ", \"most_used_bytes\": " + std::to_string(platform.memory.most_used(device)) + "}";
  }
  out += platform.gpus.empty() ? "],\n" : "\n  ],\n";
  AppendList(&out, "assumptions", platform.assumptions.All(), "what", "where", true);
  out += ",\n";
  AppendList(&out, "unknown_functions", platform.unknown_functions.All(), "function", "library",
             false);
  out += ",\n";
  AppendList(&out, "succeeding_functions", platform.succeeding_functions.All(), "function",
             "library", false);
  out += "\n}\n";
  return out;
}

void WriteReport(const Platform& platform) {
  if (platform.settings.output.empty()) {
    return;
  }
  const std::string path =
      platform.settings.output + "/platform-" + std::to_string(getpid()) + ".json";
  const std::string partial = path + ".part";
  const std::string text = ReportOf(platform);
  std::FILE* file = std::fopen(partial.c_str(), "we");
  const bool written =
      file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (!written || !closed || std::rename(partial.c_str(), path.c_str()) != 0) {
    std::remove(partial.c_str());
    std::fprintf(stderr, "vramscope: cannot write %s\n", path.c_str());
  }
}

}  // namespace vramscope::emulated
