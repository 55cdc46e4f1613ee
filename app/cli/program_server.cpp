#include "app/cli/program_server.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include "app/cli/command.h"
#include "app/cli/mcp/child.h"
#include "profiler/base/i18n.h"
#include "profiler/program/warm.h"

namespace vramscope::cli {
namespace {

// The reasons why the modules of a program can't be imported beforehand, as
// emulated/python/vramscope/warm.py writes them.
constexpr std::string_view kReasons[] = {
    TEXT_MARK("the program sets {} before it imports {}"),
    TEXT_MARK("the program starts threads before it uses CUDA"),
};

}  // namespace

std::vector<std::string> ReadModules(const std::string& path, std::string* why_not) {
  i18n::Know(kReasons);
  std::ifstream file(path);
  const Json told = Json::parse(file, nullptr, false);
  std::vector<std::string> modules;
  *why_not = TEXT_MARK("the program did not report its imports");
  if (!told.is_object() || !told.contains("modules") || !told["modules"].is_array()) return modules;
  *why_not = told.value("why_not", "");
  for (const Json& name : told["modules"])
    if (name.is_string()) modules.push_back(name.get<std::string>());
  return modules;
}

void ProgramServer::Start(std::vector<std::string> words, const std::vector<std::string>& command,
                          const std::string& modules) {
  Stop();
  modules_ = ReadModules(modules, &why_not_);
  if (!why_not_.empty()) return;
  absl::StatusOr<std::unique_ptr<program::ScratchFolder>> scratch = program::ScratchFolder::Make();
  if (!scratch.ok()) {
    why_not_ = std::string(scratch.status().message());
    return;
  }
  scratch_ = *std::move(scratch);
  // The folder of the first plan may be deleted before the list is read, so the list is copied.
  const std::string list = scratch_->path() + "/modules.json";
  std::error_code failed;
  std::filesystem::copy_file(modules, list, failed);
  if (failed) {
    why_not_ = failed.message();
    return;
  }
  wanted_ = scratch_->path() + "/server/socket";
  words.insert(words.end(), {"--keep", scratch_->path() + "/server", "--serve", wanted_,
                             "--modules", list, "--"});
  words.insert(words.end(), command.begin(), command.end());
  over_ = ended_ = false;
  server_ = std::thread([this, words = std::move(words)] {
    (void)mcp::RunChild(
        words, "", [this] { return over_.load(); }, [] {});
    ended_ = true;
  });
}

void ProgramServer::Stop() {
  over_ = true;
  if (server_.joinable()) server_.join();
  socket_.clear();
  scratch_.reset();
}

bool ProgramServer::Settled() {
  if (!server_.joinable() || !socket_.empty()) return true;
  std::error_code none;
  if (std::filesystem::exists(wanted_, none)) {
    socket_ = wanted_;
    return true;
  }
  if (ended_) why_not_ = TEXT_MARK("the program's modules could not be imported beforehand");
  return ended_;
}

uint64_t ProgramServer::ResidentBytes() const {
  if (socket_.empty()) return 0;
  const absl::StatusOr<program::WarmServer> server = program::FindWarmServer(socket_);
  return server.ok() ? server->resident_bytes : 0;
}

}  // namespace vramscope::cli
