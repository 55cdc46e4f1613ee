// A FileServer that serves an index page with a minimal wheel of torch.
#pragma once

#include <gtest/gtest.h>

#include <QCryptographicHash>

#include "tests/profiler/setup/torch_files.h"
#include "tests/ui/setup/file_server.h"
#include "ui/setup/torch_download.h"

namespace vramscope::ui::testing {

inline const QString kPage = QStringLiteral("/simple/torch/");
inline const QString kFile = QStringLiteral("/files/torch.whl");

class TorchIndex {
 public:
  explicit TorchIndex(const std::vector<setup::testing::ZipFile>& files = Files()) { Serve(files); }

  static std::vector<setup::testing::ZipFile> Files() {
    auto files = setup::testing::TorchFiles();
    // This content does not compress, so the wheel is large enough to cut connections within it.
    std::string noise;
    for (uint32_t i = 0, value = 1; i < 300'000; ++i)
      noise += static_cast<char>((value = value * 1664525 + 1013904223) >> 24);
    files.push_back(
        {.name = "torch/lib/libgomp.so.1", .content = setup::testing::FakeLibrary() + noise});
    return files;
  }
  void Serve(const std::vector<setup::testing::ZipFile>& files) {
    const std::string zip = setup::testing::MakeZip(files);
    server[kFile].body = QByteArray::fromStdString(zip);
    wheel = {.name = "torch",
             .version = "2.11.0",
             .sha256 = QCryptographicHash::hash(server[kFile].body, QCryptographicHash::Sha256)
                           .toHex()
                           .toStdString(),
             .use = "run",
             .bytes = zip.size(),
             .file = "torch.whl"};
    server[kPage].body = QByteArray::fromStdString(
        R"({"files": [{"filename": "torch.whl", "url": "../../files/torch.whl", "hashes": {"sha256": ")" +
        wheel.sha256 + R"("}}]})");
  }
  DownloadOptions Options(const QString& folder) const {
    return {.index = server.url(QStringLiteral("/simple")),
            .data_folder = folder,
            .wheels = {wheel},
            .unpacked_bytes = 1 << 20,
            .silence_ms = 60'000,
            .pauses_ms = {1, 1, 1},
            .check_computer = false};
  }

  FileServer server;
  setup::Wheel wheel;
};

}  // namespace vramscope::ui::testing
