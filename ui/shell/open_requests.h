// Lets other processes ask an open window to show files. The window receives the files' paths over
// a socket that only its user can access.
//
//   if (SendToOpenWindow({"/tmp/run.trace"})) return 0;      // an open window shows the file
//   OpenRequests requests([&](const std::vector<std::string>& files) { window.openFiles(files); });
//
// The window that was opened first receives all requests. It accepts only requests of its own user,
// with a few absolute paths.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace vramscope::ui {

// `files`: absolute paths. Returns true if a window has accepted them.
bool SendToOpenWindow(const std::vector<std::string>& files);

class OpenRequests {
 public:
  using Open = std::function<void(const std::vector<std::string>& files)>;
  explicit OpenRequests(Open open);
  ~OpenRequests();
  OpenRequests(const OpenRequests&) = delete;
  OpenRequests& operator=(const OpenRequests&) = delete;
  bool listening() const;  // false if another window listens

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::ui
