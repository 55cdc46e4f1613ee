#include "app/cli/mcp/server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <thread>
#include <utility>

#include "app/cli/mcp/child.h"

namespace vramscope::cli::mcp {
namespace {

// Supported versions, newest first. A client that requests any other version is offered the newest.
constexpr std::array<std::string_view, 4> kProtocols = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                        "2024-11-05"};
constexpr std::string_view kFirstStructured = "2025-06-18";
constexpr size_t kMostWaiting = 64, kMostOpen = 4, kMostTraces = 20;
constexpr size_t kRows = 60;  // maximum length of an array in a response
constexpr auto kBetweenProgress = std::chrono::seconds(2);

constexpr char kInstructions[] =
    "vramscope shows the contents of GPU memory while a PyTorch model trains. Sizes are in bytes. "
    "Start with `open` and `peak` on a trace or a memory snapshot. `explain` shows why memory ran "
    "out. `plan` predicts the memory of a training without a GPU and returns a trace for the other "
    "tools. Results distinguish measured from modelled figures and list their assumptions.";

void Append(std::string& text, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) text += (text.empty() ? "" : "\n") + note;
}

}  // namespace

Server::Server(Access access, std::string version, int input, int output)
    : access_(std::move(access)),
      version_(std::move(version)),
      input_(input),
      output_(output),
      protocol_(kProtocols.front()) {}

ExitCode Server::Run() {
  std::thread reading([this] { Read(); });
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
    if (waiting_.empty()) break;
    const Request request = std::move(waiting_.front());
    waiting_.pop_front();
    running_ = request.message.id;
    running_cancelled_ = false;
    lock.unlock();
    Json answer = Handle(request);
    lock.lock();
    running_.reset();
    // A cancelled request gets no response.
    if (running_cancelled_) answer = Json();
    lock.unlock();
    Answer(request.answers, std::move(answer));
    lock.lock();
  }
  lock.unlock();
  reading.join();
  return kDone;
}

// --- reading ---

void Server::Read() {
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t got = read(input_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || broken_) break;
    reader_.Add({buffer.data(), static_cast<size_t>(got)},
                [this](std::optional<std::string_view> line) { TakeLine(line); });
  }
  // The client has closed its side or stopped reading. Once ended_ is set, RunningIsCancelled()
  // returns true, which cancels the running command. Then the server ends.
  std::lock_guard lock(mutex_);
  ended_ = true;
  running_cancelled_ = broken_ || running_cancelled_;
  changed_.notify_all();
}

void Server::TakeLine(std::optional<std::string_view> text) {
  auto answers = std::make_shared<Answers>();
  if (!text) {
    answers->expected = 1;
    Answer(answers, ErrorOf(Json(), kInvalidRequest,
                            fmt::format("a message has more than {} bytes", kLongestLine)));
    return;
  }
  Line line = ParseLine(*text);
  answers->batch = line.batch;
  for (const Message& message : line.messages)
    answers->expected +=
        message.kind == Message::Kind::kRequest || message.kind == Message::Kind::kWrong;
  for (Message& message : line.messages) {
    switch (message.kind) {
      case Message::Kind::kWrong:
        Answer(answers, ErrorOf(message.id, message.error, message.why));
        break;
      case Message::Kind::kRequest:
        TakeRequest(std::move(message), answers);
        break;
      case Message::Kind::kNotification:
        if (message.method == "notifications/cancelled") Cancel(message.params);
        break;
      case Message::Kind::kAnswer:
        break;  // the server sends no requests to the client
    }
  }
}

void Server::TakeRequest(Message message, const std::shared_ptr<Answers>& answers) {
  if (message.method == "ping") {
    Answer(answers, ResultOf(message.id, Json::object()));
    return;
  }
  std::unique_lock lock(mutex_);
  if (waiting_.size() >= kMostWaiting) {
    lock.unlock();
    Answer(answers, ErrorOf(message.id, kInternalError,
                            fmt::format("{} requests wait already", kMostWaiting)));
    return;
  }
  waiting_.push_back({std::move(message), answers});
  changed_.notify_all();
}

void Server::Cancel(const Json& params) {
  const auto id = params.find("requestId");
  if (id == params.end()) return;
  std::shared_ptr<Answers> answers;
  {
    std::lock_guard lock(mutex_);
    if (running_ && *running_ == *id) running_cancelled_ = true;
    const auto at = std::ranges::find_if(
        waiting_, [&](const Request& request) { return request.message.id == *id; });
    // The protocol does not allow cancelling `initialize`.
    if (at == waiting_.end() || at->message.method == "initialize") return;
    answers = at->answers;
    waiting_.erase(at);
  }
  Answer(answers, Json());
}

// --- writing ---

void Server::Answer(const std::shared_ptr<Answers>& answers, Json answer) {
  if (!answers->batch) {
    if (!answer.is_null()) Send(answer);
    return;
  }
  Json all;
  {
    std::lock_guard lock(output_mutex_);
    if (!answer.is_null()) answers->answers.push_back(std::move(answer));
    if (--answers->expected > 0 || answers->answers.empty()) return;
    all = std::move(answers->answers);
  }
  Send(all);
}

void Server::Send(const Json& message) {
  // The text has no line ends, because dump() escapes everything except printable ASCII.
  const std::string line = message.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
  std::lock_guard lock(output_mutex_);
  for (size_t at = 0; at < line.size() && !broken_;) {
    const ssize_t wrote = write(output_, line.data() + at, line.size() - at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0)
      broken_ = true;
    else
      at += static_cast<size_t>(wrote);
  }
}

// --- requests ---

Json Server::Handle(const Request& request) {
  const Message& message = request.message;
  try {
    if (message.method == "initialize") return ResultOf(message.id, Initialize(message));
    if (!initialized_)
      return ErrorOf(message.id, kInvalidRequest, "the first request has to be \"initialize\"");
    if (message.method == "tools/list") return ResultOf(message.id, ToolsJson());
    if (message.method == "tools/call") return CallTool(message);
  } catch (const std::bad_alloc&) {
    commands_.Forget();
    return ResultOf(message.id, Failed(std::string(OutOfMemory("").message())));
  } catch (const std::exception& error) {
    return ErrorOf(message.id, kInternalError, error.what());
  }
  return ErrorOf(message.id, kMethodNotFound,
                 fmt::format("there is no method \"{}\"", message.method.substr(0, 100)));
}

Json Server::Initialize(const Message& message) {
  const auto wanted = message.params.find("protocolVersion");
  protocol_ = kProtocols.front();
  if (wanted != message.params.end() && wanted->is_string())
    for (const std::string_view known : kProtocols)
      if (*wanted == known) protocol_ = known;
  initialized_ = true;
  return {{"protocolVersion", protocol_},
          {"capabilities", {{"tools", {{"listChanged", false}}}}},
          {"serverInfo", {{"name", "vramscope"}, {"title", "vramscope"}, {"version", version_}}},
          {"instructions", kInstructions}};
}

Json Server::CallTool(const Message& message) {
  const auto name = message.params.find("name");
  if (name == message.params.end() || !name->is_string())
    return ErrorOf(message.id, kInvalidParams, "tools/call: \"name\" must be the name of a tool");
  const Tool* const tool = FindTool(name->get_ref<const std::string&>());
  if (tool == nullptr)
    return ErrorOf(message.id, kInvalidParams,
                   fmt::format("there is no tool \"{}\"", name->get<std::string>().substr(0, 100)));
  const Json arguments = message.params.value("arguments", Json::object());
  if (!arguments.is_object())
    return ErrorOf(message.id, kInvalidParams, "tools/call: \"arguments\" must be an object");
  // An error in a call is returned as the call's result, so that the model can read it.
  if (const absl::Status s = CheckArguments(tool->schema(), arguments); !s.ok())
    return ResultOf(message.id, Failed(std::string(s.message())));
  absl::StatusOr<Call> call = tool->call(arguments, access_);
  if (!call.ok()) return ResultOf(message.id, Failed(std::string(call.status().message())));
  switch (call->how) {
    case Call::How::kHere:
      return ResultOf(message.id, RunHere(*call));
    case Call::How::kChild:
      return ResultOf(message.id, RunInChild(*std::move(call), message));
    case Call::How::kShow:
      break;
  }
  return ResultOf(message.id, Show(*call));
}

Json Server::ToolResult(const Json& json, bool failed, const std::string& text) const {
  Json result;
  // Structured content must be an object.
  const Json shorter =
      json.is_null() ? json : Shortened(json.is_array() ? Json{{"items", json}} : json, kRows);
  std::string said = text;
  if (!json.is_null())
    said +=
        (said.empty() ? "" : "\n") + shorter.dump(-1, ' ', false, Json::error_handler_t::replace);
  result["content"] = Json::array({{{"type", "text"}, {"text", said}}});
  if (!json.is_null() && !failed && protocol_ >= kFirstStructured)
    result["structuredContent"] = shorter;
  result["isError"] = failed;
  return result;
}

// Forgets all opened files if the call reads one that has been rewritten, or if too many are open.
void Server::ForgetWhatHasChanged(const Call& call) {
  bool forget = false;
  for (const std::string& file : call.files) {
    struct stat now {};
    const bool there = stat(file.c_str(), &now) == 0;
    const std::pair<int64_t, uint64_t> state = {
        there ? int64_t{now.st_mtim.tv_sec} * 1'000'000'000 + now.st_mtim.tv_nsec : 0,
        there ? static_cast<uint64_t>(now.st_size) : 0};
    const auto [at, added] = known_.emplace(file, state);
    forget = forget || at->second != state || known_.size() > kMostOpen;
    at->second = state;
  }
  if (!forget) return;
  commands_.Forget();
  std::erase_if(known_, [&](const auto& entry) {
    return std::ranges::find(call.files, entry.first) == call.files.end();
  });
}

Json Server::RunHere(const Call& call) {
  ForgetWhatHasChanged(call);
  const selfcheck::Answer answer = commands_.Run(call.arguments);
  if (!answer.ok() || answer.json.is_null())
    return Failed(answer.error.empty() ? "it failed without a message" : answer.error);
  return ToolResult(answer.json, false, "");
}

bool Server::RunningIsCancelled() {
  std::lock_guard lock(mutex_);
  return running_cancelled_ || ended_ || broken_;
}

Json Server::RunInChild(Call call, const Message& message) {
  std::error_code none;
  if (!call.folder.empty() && !std::filesystem::is_directory(call.folder, none))
    return Failed(fmt::format("folder: '{}' is not a folder", call.folder));
  std::string trace = call.save_as;
  if (call.makes_trace && trace.empty()) {
    if (traces_ == nullptr) {
      absl::StatusOr<std::unique_ptr<program::ScratchFolder>> folder =
          program::ScratchFolder::Make();
      if (!folder.ok()) return Failed(std::string(folder.status().message()));
      traces_ = *std::move(folder);
    }
    trace = fmt::format("{}/plan-{}.trace", traces_->path(), next_trace_);
    const int oldest = next_trace_++ - static_cast<int>(kMostTraces);
    unlink(fmt::format("{}/plan-{}.trace", traces_->path(), oldest).c_str());
  }
  if (!trace.empty()) call.arguments.push_back("--output=" + trace);
  if (!call.program.empty()) {
    call.arguments.emplace_back("--");
    call.arguments.insert(call.arguments.end(), call.program.begin(), call.program.end());
  }
  const auto meta = message.params.find("_meta");
  const Json token = meta != message.params.end() && meta->is_object()
                         ? meta->value("progressToken", Json())
                         : Json();
  const auto begun = std::chrono::steady_clock::now();
  auto next = begun + kBetweenProgress;
  const absl::StatusOr<ChildOutcome> outcome = RunChild(
      call.arguments, call.folder, [this] { return RunningIsCancelled(); },
      [&] {
        const auto now = std::chrono::steady_clock::now();
        if (token.is_null() || now < next) return;
        next = now + kBetweenProgress;
        const double seconds = std::chrono::duration<double>(now - begun).count();
        Send({{"jsonrpc", "2.0"},
              {"method", "notifications/progress"},
              {"params",
               {{"progressToken", token},
                {"progress", seconds},
                {"message", fmt::format("{} runs, {:.0f} s", call.arguments[0], seconds)}}}});
      });
  if (!outcome.ok()) return Failed(std::string(outcome.status().message()));
  if (outcome->cancelled) return Failed("cancelled");
  Json json = Json::parse(outcome->out, nullptr, false);
  if (!json.is_object()) json = Json();
  const bool failed = outcome->status != kDone && outcome->status != kNo;
  if (!json.is_null() && !trace.empty() && std::filesystem::exists(trace)) json["trace"] = trace;
  std::string text;
  if (failed || json.is_null()) Append(text, outcome->notes);
  if (failed && text.empty()) text = fmt::format("exit status {}", outcome->status);
  return ToolResult(json, failed || json.is_null(), text);
}

Json Server::Show(const Call& call) {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  if (!set("WAYLAND_DISPLAY") && !set("DISPLAY") && !set("QT_QPA_PLATFORM"))
    return Failed("this server has no display for a window");
  for (const std::string& file : call.files)
    if (!std::filesystem::exists(file)) return Failed(fmt::format("'{}': no such file", file));
  std::vector<std::string> arguments = {"--in-open-window"};
  arguments.insert(arguments.end(), call.files.begin(), call.files.end());
  const absl::StatusOr<int> window = StartDetached(arguments);
  if (!window.ok()) return Failed(std::string(window.status().message()));
  return ToolResult({{"opened", call.files}, {"process", *window}}, false, "");
}

}  // namespace vramscope::cli::mcp
