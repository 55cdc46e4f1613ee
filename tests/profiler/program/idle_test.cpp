#include "profiler/program/idle.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>

#include "profiler/program/launch.h"
#include "profiler/program/scratch_folder.h"

namespace vramscope::program {
namespace {

constexpr char kEnough[] =
    R"(echo '{"pid":1,"ended":"enough"}' > $VRAMSCOPE_PROGRAM_OUTPUT/process-1.json; )";

class IdleTest : public ::testing::Test {
 protected:
  void SetUp() override { folder_ = *ScratchFolder::Make(); }
  // Runs a shell script as the program. After its steps, it may be idle for half a second.
  Outcome Run(const std::string& script) {
    Outcome outcome = Launch(Platform{}, {.command = {"sh", "-c", script},
                                          .planned = false,
                                          .output = folder_->path(),
                                          .most_idle = std::chrono::milliseconds(500)});
    EXPECT_TRUE(outcome.started.ok()) << outcome.started;
    return outcome;
  }
  void ExpectNotEnded(const std::string& script) {
    const Outcome outcome = Run(script);
    EXPECT_FALSE(outcome.idle) << script;
    EXPECT_EQ(outcome.exit_status, 7) << script;
  }

  std::unique_ptr<ScratchFolder> folder_;
};

TEST_F(IdleTest, EndsProgramThatWaitsForeverAfterItsSteps) {
  const Outcome outcome = Run(std::string(kEnough) + "sleep 60");
  EXPECT_TRUE(outcome.idle);
  EXPECT_EQ(outcome.exit_status, 0);
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_FALSE(outcome.interrupted);
  EXPECT_LT(outcome.seconds, 20);
}

TEST_F(IdleTest, WaitsForEndOfProcessesThatHaveEnough) {
  // The other rank, with an optimizer, also has completed its steps.
  EXPECT_TRUE(Run(std::string(kEnough) +
                  R"(echo '{"pid":'$$',"rank":1,"world_size":2,"trains":true,"ended":"enough"}')"
                  " > $VRAMSCOPE_PROGRAM_OUTPUT/process-$$.json; sleep 60")
                  .idle);
}

TEST_F(IdleTest, DoesNotEndProgramBeforeItsSteps) { ExpectNotEnded("sleep 1.5; exit 7"); }

TEST_F(IdleTest, DoesNotEndRankThatStillTrains) {
  for (const char* process : {R"("rank":1,"world_size":2)", R"("trains":true)"})
    ExpectNotEnded(std::string(kEnough) + R"(echo '{"pid":'$$',"ended":"",)" + process +
                   "}' > $VRAMSCOPE_PROGRAM_OUTPUT/process-$$.json; sleep 1.5; exit 7");
}

TEST_F(IdleTest, DoesNotEndProgramThatComputes) {
  ExpectNotEnded(std::string(kEnough) + "timeout 1.5 sh -c 'while :; do :; done'; exit 7");
}

TEST_F(IdleTest, DoesNotEndProgramThatReadsStandardInput) {
  if (access("/proc/self/syscall", R_OK) != 0) GTEST_SKIP() << "no /proc/self/syscall";
  const std::string pipe = folder_->path() + "/pipe";
  ExpectNotEnded(std::string(kEnough) + "mkfifo " + pipe + "; timeout 1.5 cat 0<> " + pipe +
                 "; exit 7");
}

TEST_F(IdleTest, DoesNotEndProgramThatIsConnectedToAnotherComputer) {
  // A connection to this computer, but through an address that others use, too.
  sockaddr_in address{};
  ifaddrs* all = nullptr;
  ASSERT_EQ(getifaddrs(&all), 0);
  for (const ifaddrs* at = all; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET) continue;
    const auto* found = reinterpret_cast<const sockaddr_in*>(at->ifa_addr);
    if (ntohl(found->sin_addr.s_addr) >> 24 != 127) address = *found;
  }
  freeifaddrs(all);
  if (address.sin_family != AF_INET) GTEST_SKIP() << "this computer has only the loopback address";
  address.sin_port = 0;
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int client = socket(AF_INET, SOCK_STREAM, 0);  // the program inherits it
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(server, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(server, 1), 0);
  ASSERT_EQ(getsockname(server, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ASSERT_EQ(connect(client, reinterpret_cast<sockaddr*>(&address), size), 0);
  ExpectNotEnded(std::string(kEnough) + "sleep 1.5; exit 7");
  close(client);
  close(server);
}

}  // namespace
}  // namespace vramscope::program
