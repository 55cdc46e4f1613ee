#include "profiler/program/warm.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "profiler/base/errno_text.h"
#include "profiler/base/i18n.h"

namespace vramscope::program {
namespace {

using json = nlohmann::json;
constexpr size_t kMostMessage = 1 << 18;
constexpr size_t kMostDescriptors = 16;
constexpr int kAnswersWithinMs = 20'000;

absl::Status Failed(std::string_view what) {
  return absl::UnavailableError(fmt::format("{}: {}", what, i18n::ErrnoText(errno)));
}

std::optional<json> Receive(int fd, int within_ms) {
  pollfd one = {.fd = fd, .events = POLLIN, .revents = 0};
  if (poll(&one, 1, within_ms) <= 0) return std::nullopt;
  std::string text(kMostMessage, '\0');
  const ssize_t got = recv(fd, text.data(), text.size(), 0);
  if (got <= 0) return std::nullopt;
  text.resize(static_cast<size_t>(got));
  json answer = json::parse(text, nullptr, false);
  return answer.is_object() ? std::optional(std::move(answer)) : std::nullopt;
}

absl::Status Send(int fd, std::string text, const std::vector<int>& descriptors) {
  if (text.size() > kMostMessage || descriptors.size() > kMostDescriptors)
    return absl::UnavailableError(i18n::Text("the command line and the environment are too large"));
  iovec part = {.iov_base = text.data(), .iov_len = text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size() * sizeof(int));
  return sendmsg(fd, &message, MSG_NOSIGNAL) < 0 ? Failed(i18n::Text("cannot send the command"))
                                                 : absl::OkStatus();
}

absl::StatusOr<int> Connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return absl::UnavailableError(i18n::Text("the name of the socket is too long"));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return Failed("socket");
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  const absl::Status failed =
      Failed(i18n::Text("cannot connect to the process that keeps the imported modules"));
  close(fd);
  return failed;
}

// Returns the resident bytes of a process and of its children. (With torchrun, a child is a second
// server, for the ranks.)
uint64_t ResidentBytes(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/statm", pid));
  uint64_t all = 0, resident = 0;
  file >> all >> resident;
  resident *= static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", pid));
  for (pid_t child = 0; children >> child;) resident += ResidentBytes(child);
  return resident;
}

}  // namespace

absl::StatusOr<WarmServer> FindWarmServer(const std::string& path) {
  const absl::StatusOr<int> fd = Connect(path);
  if (!fd.ok()) return fd.status();
  ucred peer{};
  socklen_t size = sizeof peer;
  const int got = getsockopt(*fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
  close(*fd);
  // The end of a program of another user, or in another PID namespace, cannot be observed.
  if (got != 0 || peer.pid <= 0 || peer.uid != geteuid())
    return absl::UnavailableError(i18n::Text("the peer of the socket cannot be identified"));
  return WarmServer{.pid = peer.pid, .resident_bytes = ResidentBytes(peer.pid)};
}

int UserNamespaceOf(const std::string& path) {
  const absl::StatusOr<WarmServer> server = FindWarmServer(path);
  if (!server.ok()) return -1;
  const int fd = open(fmt::format("/proc/{}/ns/user", server->pid).c_str(), O_RDONLY | O_CLOEXEC);
  struct stat theirs {
  }, own{};
  const bool other = fd >= 0 && fstat(fd, &theirs) == 0 && stat("/proc/self/ns/user", &own) == 0 &&
                     (theirs.st_ino != own.st_ino || theirs.st_dev != own.st_dev);
  if (fd < 0 || other) return fd;
  close(fd);
  return -1;
}

absl::StatusOr<std::unique_ptr<WarmProgram>> WarmProgram::Start(const std::string& path,
                                                                const WarmRequest& request) {
  const absl::StatusOr<int> connected = Connect(path);
  if (!connected.ok()) return connected.status();
  const int fd = *connected;
  // From here on, the destructor of `program` closes the descriptor.
  auto program = std::unique_ptr<WarmProgram>(new WarmProgram(fd, 0));
  const int output = open(request.output.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (output < 0) return Failed(request.output);
  std::vector<int> descriptors = {output};
  descriptors.insert(descriptors.end(), request.streams.begin(), request.streams.end());
  descriptors.insert(descriptors.end(), request.namespaces.begin(), request.namespaces.end());
  const absl::Status sent = Send(fd,
                                 json{{"command", request.command},
                                      {"folder", request.folder},
                                      {"environment", request.environment}}
                                     .dump(-1, ' ', false, json::error_handler_t::replace),
                                 descriptors);
  close(output);
  if (!sent.ok()) return sent;
  const std::optional<json> answer = Receive(fd, kAnswersWithinMs);
  if (!answer)
    return absl::UnavailableError(
        i18n::Text("the process that keeps the imported modules does not answer"));
  if (const auto refused = answer->find("refused"); refused != answer->end())
    return absl::UnavailableError(
        refused->is_string()
            ? refused->get<std::string>().substr(0, 500)
            : i18n::Text("the process that keeps the imported modules refused the command"));
  const auto process = answer->find("process");
  if (process == answer->end() || !process->is_number_unsigned())
    return absl::UnavailableError(
        i18n::Text("the process that keeps the imported modules sent an invalid answer"));
  program->pid_ = process->get<pid_t>();
  return program;
}

WarmProgram::~WarmProgram() { close(fd_); }

bool WarmProgram::Ended(int* status) {
  pollfd one = {.fd = fd_, .events = POLLIN, .revents = 0};
  if (poll(&one, 1, 0) <= 0) return false;
  const std::optional<json> answer = Receive(fd_, 0);
  const auto said = answer ? answer->find("status") : json::const_iterator{};
  *status =
      answer && said != answer->end() && said->is_number_integer() ? said->get<int>() : SIGKILL;
  return true;
}

}  // namespace vramscope::program
