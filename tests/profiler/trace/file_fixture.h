// A folder for trace files, with functions that write and read files in it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "profiler/trace/event_sink.h"
#include "profiler/trace/reader.h"
#include "profiler/trace/writer.h"
#include "tests/profiler/trace/streams.h"

namespace vramscope::trace {

class TraceFile : public ::testing::Test {
 protected:
  TraceFile() {
    std::string name = (std::filesystem::temp_directory_path() / "vramscope_trace_XXXXXX").string();
    dir_ = ::mkdtemp(name.data());
  }
  ~TraceFile() override { std::filesystem::remove_all(dir_); }

  std::string At(const std::string& name) const { return (dir_ / name).string(); }
  std::string Write(const testing::Stream& s, const std::string& name = "a.trace",
                    size_t piece = 700) {
    const std::string path = At(name);
    auto writer = TraceWriter::ToFile(path);
    EXPECT_TRUE(writer.ok()) << writer.status();
    testing::Play(s, **writer, piece);
    const absl::Status closed = (*writer)->Close();
    EXPECT_TRUE(closed.ok()) << closed;
    return path;
  }
  // Writes the stream in small batches, so that a small file has many frames.
  static std::string ManyFrames(const testing::Stream& s, size_t batch) {
    struct Flushing : EventSink {
      void Begin(const TraceInfo& info) override { to->Begin(info); }
      void Strings(uint32_t first, std::span<const std::string> values) override {
        to->Strings(first, values);
      }
      void Stacks(const StackIncrement& increment) override { to->Stacks(increment); }
      void Events(std::span<const Event> events) override {
        to->Events(events);
        to->Flush();
      }
      void Activities(std::span<const Activity> activities) override {
        to->Activities(activities);
        to->Flush();
      }
      void End(bool complete, std::string_view message) override { to->End(complete, message); }
      std::unique_ptr<TraceWriter> to;
    } sink;
    std::string bytes;
    sink.to = TraceWriter::ToSink([&](std::string_view b) {
      bytes += b;
      return absl::OkStatus();
    });
    testing::Play(s, sink, batch);
    EXPECT_TRUE(sink.to->Close().ok());
    return bytes;
  }
  std::shared_ptr<const Trace> Read(const std::string& path, int threads = 1) {
    ReadOptions options;
    options.threads = threads;
    auto trace = ReadTraceFile(path, options);
    EXPECT_TRUE(trace.ok()) << trace.status();
    return trace.ok() ? *trace : nullptr;
  }
  absl::Status ReadBytes(const std::string& bytes) {
    testing::WriteFile(At("x"), bytes);
    return ReadTraceFile(At("x"), {}).status();
  }
  size_t FilesInDir() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(dir_), {}));
  }

  std::filesystem::path dir_;
};

}  // namespace vramscope::trace
