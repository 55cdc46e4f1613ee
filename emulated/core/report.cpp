#include "emulated/core/report.h"

#include <unistd.h>

#include <cstdio>

#include "emulated/core/platform.h"

namespace vramscope::emulated {
namespace {

void AppendString(std::string* out, const std::string& text) {
  *out += '"';
  for (const unsigned char c : text) {
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
  out += "  \"virtual_ns\": " + std::to_string(platform.clock.now()) + ",\n";
  out += "  \"devices\": [";
  for (size_t i = 0; i < platform.cards.size(); ++i) {
    const int device = static_cast<int>(i);
    out += i == 0 ? "\n    {\"name\": " : ",\n    {\"name\": ";
    AppendString(&out, platform.cards[i].name);
    out += ", \"memory_bytes\": " + std::to_string(platform.cards[i].memory_bytes);
    out += ", \"context_bytes\": " + std::to_string(platform.cards[i].context_bytes);
    out += ", \"used_bytes\": " + std::to_string(platform.memory.used(device));
    out += ", \"most_used_bytes\": " + std::to_string(platform.memory.most_used(device)) + "}";
  }
  out += platform.cards.empty() ? "],\n" : "\n  ],\n";
  AppendList(&out, "assumptions", platform.assumptions.All(), "what", "where", true);
  out += ",\n";
  AppendList(&out, "unknown_functions", platform.unknown_functions.All(), "function", "library",
             false);
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
