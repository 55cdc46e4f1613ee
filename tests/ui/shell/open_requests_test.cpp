// Tests how other processes ask the running window to open files. Uses only the socket, without a
// window.
#include "ui/shell/open_requests.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <QCoreApplication>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::ui {
namespace {

class OpenRequestsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/vramscope-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    setenv("XDG_RUNTIME_DIR", name, 1);
    setenv("TMPDIR", name, 1);
    setenv("DISPLAY", ":7", 1);
    unsetenv("WAYLAND_DISPLAY");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  OpenRequests::Open Keep() {
    return [this](const std::vector<std::string>& files) { opened_.push_back(files); };
  }

  // Calls `ask` on another thread, while this thread answers as the window would.
  template <class T>
  T CallInBackground(std::function<T()> ask) {
    std::future<T> answer = std::async(std::launch::async, std::move(ask));
    while (answer.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready)
      QCoreApplication::processEvents();
    QCoreApplication::processEvents();
    return answer.get();
  }
  bool Send(std::vector<std::string> files) {
    return CallInBackground<bool>([files = std::move(files)] { return SendToOpenWindow(files); });
  }
  // Sends raw bytes. Returns whether they were accepted.
  bool SendBytes(std::string bytes) {
    return CallInBackground<bool>([this, bytes = std::move(bytes)] {
      const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      const std::string path = Path();
      std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
      bool accepted = false;
      if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
        static_cast<void>(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL));
        shutdown(fd, SHUT_WR);
        char answer = 0;
        accepted = recv(fd, &answer, 1, 0) == 1;
      }
      close(fd);
      return accepted;
    });
  }
  std::string Path() const { return folder_ + "/vramscope-window-:7.socket"; }

  int argc_ = 1;
  char name_[5] = "test";
  char* argv_[2] = {name_, nullptr};
  QCoreApplication app_{argc_, argv_};
  std::string folder_;
  std::vector<std::vector<std::string>> opened_;
};

TEST_F(OpenRequestsTest, OpensFilesInTheRunningWindow) {
  EXPECT_FALSE(Send({"/a.trace"}));  // there is no window
  {
    const OpenRequests window(Keep());
    EXPECT_TRUE(window.listening());
    EXPECT_TRUE(Send({"/a.trace", "/b c\n.trace"}));
    EXPECT_TRUE(Send({"/d.trace"}));
  }
  EXPECT_FALSE(Send({"/e.trace"}));
  const std::vector<std::vector<std::string>> expected = {{"/a.trace", "/b c\n.trace"},
                                                          {"/d.trace"}};
  EXPECT_EQ(opened_, expected);
  EXPECT_FALSE(std::filesystem::exists(Path()));
}

TEST_F(OpenRequestsTest, NewWindowListensAfterTheFirstHasClosed) {
  auto first = std::make_unique<OpenRequests>(Keep());
  const auto second = std::make_unique<OpenRequests>(Keep());
  EXPECT_TRUE(first->listening());
  EXPECT_FALSE(second->listening());
  first.reset();
  const OpenRequests third(Keep());
  EXPECT_TRUE(third.listening());
  EXPECT_TRUE(Send({"/a.trace"}));
}

TEST_F(OpenRequestsTest, ReplacesSocketOfAKilledWindow) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, Path().c_str(), Path().size() + 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  close(fd);
  EXPECT_FALSE(Send({"/a.trace"}));
  const OpenRequests window(Keep());
  EXPECT_TRUE(window.listening());
  EXPECT_TRUE(Send({"/a.trace"}));
}

TEST_F(OpenRequestsTest, RejectsMalformedRequests) {
  const OpenRequests window(Keep());
  using std::string_literals::operator""s;
  for (const std::string& bytes : {""s, "\0"s, "a.trace\0\0"s, "/a.trace"s, "/a.trace\0"s,
                                   "/a\0b\0\0"s, "/a\0\0/b\0\0"s, std::string(100'000, '/'), [] {
                                     std::string many;
                                     for (int i = 0; i < 17; ++i) many += "/a\0"s;
                                     return many + '\0';
                                   }()})
    EXPECT_FALSE(SendBytes(bytes)) << bytes.size();
  EXPECT_TRUE(opened_.empty());
  EXPECT_TRUE(Send({"/a.trace"}));
}

TEST_F(OpenRequestsTest, DoesNotUseAFolderOpenToOthers) {
  chmod(folder_.c_str(), 0755);
  const OpenRequests window(Keep());
  EXPECT_FALSE(std::filesystem::exists(Path()));
  // Another folder must be created, which only this user can enter.
  struct stat made {};
  ASSERT_EQ(stat((folder_ + "/vramscope-window-" + std::to_string(getuid())).c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777, 0700u);
  EXPECT_TRUE(Send({"/a.trace"}));
}

}  // namespace
}  // namespace vramscope::ui
