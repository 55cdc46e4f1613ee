// Receives the paths of files that other processes ask the open window to show, over a socket that
// only the window's user can access.
//
//   if (SendToOpenWindow({"/tmp/run.trace"})) return 0;      // an open window shows it
//   OpenRequests requests([&](const std::vector<std::string>& files) { window.openFiles(files); });
//
// The first open window receives all requests. A request is accepted only if it comes from the same
// user and contains only a few absolute paths.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace vramscope::ui {

// Requires absolute paths. Returns true if a window has accepted them.
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
