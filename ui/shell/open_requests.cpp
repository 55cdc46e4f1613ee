#include "ui/shell/open_requests.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <QSocketNotifier>
#include <QTimer>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace vramscope::ui {
namespace {

// A request is a list of paths. Each path is followed by a zero byte, and the request ends with
// another zero byte. The reply is a single letter.
constexpr size_t kMostBytes = 64 * 1024, kMostFiles = 16, kMostAtOnce = 8;
constexpr int kPatienceSeconds = 2;
constexpr char kTaken = 'y';

// Returns true for a folder that only this user can access.
bool IsOurs(const std::string& folder) {
  struct stat info {};
  return lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == getuid() &&
         (info.st_mode & 077) == 0;
}

// Returns the address of this display's socket, or nullopt if there is no safe folder for it.
std::optional<sockaddr_un> Address() {
  std::string folder;
  if (const char* set = std::getenv("XDG_RUNTIME_DIR"); set != nullptr && IsOurs(set)) {
    folder = set;
  } else {
    const char* temporary = std::getenv("TMPDIR");
    folder = std::string(temporary != nullptr && *temporary == '/' ? temporary : "/tmp") +
             "/vramscope-window-" + std::to_string(getuid());
    mkdir(folder.c_str(), 0700);
    if (!IsOurs(folder)) return std::nullopt;
  }
  const char* wayland = std::getenv("WAYLAND_DISPLAY");
  const char* x11 = std::getenv("DISPLAY");
  std::string display = wayland != nullptr && *wayland != '\0' ? wayland
                        : x11 != nullptr                       ? x11
                                                               : "";
  std::ranges::replace(display, '/', '_');
  const std::string path = folder + "/vramscope-window-" + display + ".socket";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

bool OfThisUser(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == getuid();
}

std::optional<Socket> Connect(const sockaddr_un& address) {
  Socket connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{.tv_sec = kPatienceSeconds, .tv_usec = 0};
  setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const auto* at = reinterpret_cast<const sockaddr*>(&address);
  if (connection.get() < 0 || connect(connection.get(), at, sizeof address) != 0 ||
      !OfThisUser(connection.get()))
    return std::nullopt;
  return connection;
}

// Returns the paths of a complete request, or no paths if the request is invalid.
std::vector<std::string> FilesOf(std::string_view bytes) {
  std::vector<std::string> files;
  while (!bytes.empty() && bytes.front() != '\0') {
    const size_t end = bytes.find('\0');
    if (end == std::string_view::npos || bytes.front() != '/' || files.size() == kMostFiles)
      return {};
    files.emplace_back(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
  }
  return bytes.size() == 1 ? files : std::vector<std::string>();
}

bool IsWhole(std::string_view bytes) {
  return bytes == std::string_view("\0", 1) || bytes.ends_with(std::string_view("\0\0", 2));
}

}  // namespace

bool SendToOpenWindow(const std::vector<std::string>& files) {
  const std::optional<sockaddr_un> address = Address();
  if (!address || files.empty() || files.size() > kMostFiles) return false;
  std::string request;
  for (const std::string& file : files) request += file + '\0';
  request += '\0';
  if (request.size() > kMostBytes) return false;
  const std::optional<Socket> connection = Connect(*address);
  if (!connection) return false;
  for (size_t at = 0; at < request.size();) {
    const ssize_t wrote =
        send(connection->get(), request.data() + at, request.size() - at, MSG_NOSIGNAL);
    if (wrote <= 0) return false;
    at += static_cast<size_t>(wrote);
  }
  char answer = 0;
  return recv(connection->get(), &answer, 1, 0) == 1 && answer == kTaken;
}

struct OpenRequests::Impl {
  struct Peer {
    Socket socket;
    std::unique_ptr<QSocketNotifier> notifier;
    std::string bytes;
  };

  explicit Impl(Open use) : open(std::move(use)), address(Address()) {
    if (!address) return;
    if (Connect(*address)) return;  // another window is listening
    unlink(address->sun_path);      // a window that was killed has left it behind
    listener.emplace(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const auto* at = reinterpret_cast<const sockaddr*>(&*address);
    if (listener->get() < 0 || bind(listener->get(), at, sizeof *address) != 0 ||
        listen(listener->get(), kMostAtOnce) != 0) {
      listener.reset();
      return;
    }
    notifier = std::make_unique<QSocketNotifier>(listener->get(), QSocketNotifier::Read);
    QObject::connect(notifier.get(), &QSocketNotifier::activated, [this] { Accept(); });
  }
  ~Impl() {
    notifier.reset();
    if (listener) unlink(address->sun_path);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void Accept() {
    Socket connection(accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection.get() < 0 || !OfThisUser(connection.get()) || peers.size() >= kMostAtOnce)
      return;
    auto peer = std::make_shared<Peer>(Peer{std::move(connection), nullptr, {}});
    peer->notifier = std::make_unique<QSocketNotifier>(peer->socket.get(), QSocketNotifier::Read);
    // Disconnect the peer if it does not send a request in time.
    const std::weak_ptr<Peer> weak = peer;
    QTimer::singleShot(kPatienceSeconds * 1000, peer->notifier.get(), [this, weak] { End(weak); });
    QObject::connect(peer->notifier.get(), &QSocketNotifier::activated,
                     [this, weak] { Read(weak); });
    peers.push_back(std::move(peer));
  }

  void Read(const std::weak_ptr<Peer>& weak) {
    const std::shared_ptr<Peer> peer = weak.lock();
    if (peer == nullptr) return;
    std::array<char, 4096> buffer;
    const ssize_t got = recv(peer->socket.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got > 0) peer->bytes.append(buffer.data(), static_cast<size_t>(got));
    if (got <= 0 || peer->bytes.size() > kMostBytes) return End(weak);
    if (!IsWhole(peer->bytes)) return;
    const std::vector<std::string> files = FilesOf(peer->bytes);
    if (!files.empty()) send(peer->socket.get(), &kTaken, 1, MSG_NOSIGNAL);
    End(weak);
    if (!files.empty()) open(files);
  }

  void End(const std::weak_ptr<Peer>& weak) {
    const std::shared_ptr<Peer> peer = weak.lock();
    if (peer == nullptr) return;
    std::erase(peers, peer);
    peer->notifier->setEnabled(false);
    peer->notifier.release()->deleteLater();  // this may be called from the notifier's signal
  }

  const Open open;
  const std::optional<sockaddr_un> address;
  std::optional<Socket> listener;
  std::unique_ptr<QSocketNotifier> notifier;
  std::vector<std::shared_ptr<Peer>> peers;
};

OpenRequests::OpenRequests(Open open) : impl_(std::make_unique<Impl>(std::move(open))) {}
OpenRequests::~OpenRequests() = default;
bool OpenRequests::listening() const { return impl_->listener.has_value(); }

}  // namespace vramscope::ui
