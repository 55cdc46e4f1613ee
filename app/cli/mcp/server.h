// Implements `vramscope mcp`: the Model Context Protocol over standard input and output.
//
//   Server server(access, version, input_fd, output_fd);
//   return server.Run();          // until the client closes its side
//
// There are two threads. One thread reads, and handles pings and cancellations immediately. The
// thread that calls Run() executes commands one after another. The output contains only messages.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/mcp/messages.h"
#include "app/cli/mcp/tools.h"
#include "app/cli/selfcheck/commands.h"
#include "profiler/program/scratch_folder.h"

namespace vramscope::cli::mcp {

class Server {
 public:
  Server(Access access, std::string version, int input, int output);
  ExitCode Run();

 private:
  // The responses to the messages of one line. They are sent together.
  struct Answers {
    bool batch = false;
    size_t expected = 0;  // responses that are still missing
    Json answers = Json::array();
  };
  struct Request {
    Message message;
    std::shared_ptr<Answers> answers;
  };

  // Called by the reading thread.
  void Read();
  void TakeLine(std::optional<std::string_view> line);
  void TakeRequest(Message message, const std::shared_ptr<Answers>& answers);
  void Cancel(const Json& params);

  // Called by either thread. `answer` is null for a message that gets no response.
  void Answer(const std::shared_ptr<Answers>& answers, Json answer);
  void Send(const Json& message);

  // Called by the thread that runs commands.
  Json Handle(const Request& request);
  Json Initialize(const Message& message);
  Json CallTool(const Message& message);
  Json RunHere(const Call& call);
  Json RunInChild(Call call, const Message& message);
  Json Show(const Call& call);
  Json ToolResult(const Json& json, bool failed, const std::string& text) const;
  Json Failed(const std::string& why) const { return ToolResult(Json(), true, why); }
  bool RunningIsCancelled();
  void ForgetWhatHasChanged(const Call& call);

  const Access access_;
  const std::string version_;
  const int input_, output_;
  LineReader reader_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> waiting_;
  std::optional<Json> running_;  // id of the request in progress
  bool running_cancelled_ = false, ended_ = false;

  std::mutex output_mutex_;
  std::atomic<bool> broken_{false};  // the client has stopped reading

  bool initialized_ = false;
  std::string protocol_;
  selfcheck::Commands commands_;
  // the modification time and the size of each opened file
  std::map<std::string, std::pair<int64_t, uint64_t>> known_;
  std::unique_ptr<program::ScratchFolder> traces_;
  int next_trace_ = 1;
};

}  // namespace vramscope::cli::mcp
