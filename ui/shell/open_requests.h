// Files that other programs ask the open window to show: by a socket that only its user can reach.
//
//   if (SendToOpenWindow({"/tmp/run.trace"})) return 0;      // no window has to be made
//   OpenRequests requests([&](const std::vector<std::string>& files) { window.openFiles(files); });
//
// The first window that is open takes them. What comes over the socket is not trusted: it has to be
// of the same user, absolute paths, a few of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace vramscope::ui {

// Absolute paths. Whether a window has taken them.
bool SendToOpenWindow(const std::vector<std::string>& files);

class OpenRequests {
 public:
  using Open = std::function<void(const std::vector<std::string>& files)>;
  explicit OpenRequests(Open open);
  ~OpenRequests();
  OpenRequests(const OpenRequests&) = delete;
  OpenRequests& operator=(const OpenRequests&) = delete;
  bool listening() const;  // no other window does

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vramscope::ui
