// Tests functions of the emulated math libraries that need no state: sizes, versions, and results
// of collectives. Also tests the files through which ranks find each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "emulated/core/platform.h"
#include "emulated/libraries/attributes.h"
#include "emulated/libraries/cudnn_sizes.h"
#include "emulated/libraries/cufft_sizes.h"
#include "emulated/libraries/cusparse_sizes.h"
#include "emulated/libraries/nccl_memory.h"
#include "emulated/libraries/nccl_rendezvous.h"
#include "emulated/libraries/nccl_values.h"
#include "emulated/libraries/program_version.h"
#include "emulated/libraries/toolkit_versions.h"

namespace vramscope::emulated {
namespace {

cudnn::Shape Packed(std::vector<int64_t> dims, int type, bool channels_last = false) {
  cudnn::Shape shape;
  shape.type = type;
  shape.count = static_cast<int>(dims.size());
  int64_t step = channels_last ? dims[1] : 1;
  for (int i = shape.count - 1; i >= 0; --i) {
    shape.dims[i] = dims[i];
    if (channels_last && i == 1) {
      shape.strides[i] = 1;
      continue;
    }
    shape.strides[i] = step;
    // Multiplies unsigned numbers, because the product overflows in some tests.
    step = static_cast<int64_t>(static_cast<uint64_t>(step) * static_cast<uint64_t>(dims[i]));
  }
  return shape;
}

TEST(CudnnSizes, WorkspaceDependsOnLayoutAndPass) {
  constexpr int kHalf = 2;
  constexpr cudnn::Chip kHopper = {.compute_capability = 90, .sm_count = 132};
  cudnn::Convolution c{.kind = cudnn::ConvolutionKind::kForward,
                       .image = Packed({2, 64, 8, 8}, kHalf, true),
                       .filter = Packed({32, 64, 3, 3}, kHalf),
                       .out = Packed({2, 32, 8, 8}, kHalf, true)};
  EXPECT_TRUE(c.image.channels_last());
  EXPECT_EQ(cudnn::ConvolutionWorkspace(c, kHopper, true).bytes, 0u);
  c.kind = cudnn::ConvolutionKind::kBackwardFilter;
  EXPECT_EQ(cudnn::ConvolutionWorkspace(c, kHopper, true).bytes, 32u * 64 * 9 * 4);
  c.kind = cudnn::ConvolutionKind::kForward;
  c.image = Packed({2, 64, 8, 8}, kHalf);
  EXPECT_EQ(cudnn::ConvolutionWorkspace(c, kHopper, true).bytes,
            2u * (2 * 64 * 64 + 32 * 64 * 9 + 2 * 32 * 64) + 16);
  EXPECT_EQ(cudnn::ConvolutionWorkspace(c, kHopper, false).bytes, 0u);
}

TEST(CudnnSizes, Tf32WorkspaceNeedsAmpere) {
  cudnn::Convolution c{.kind = cudnn::ConvolutionKind::kForward,
                       .image = Packed({32, 64, 32, 32}, 0),
                       .filter = Packed({64, 64, 3, 3}, 0),
                       .out = Packed({32, 64, 32, 32}, 0)};
  EXPECT_EQ(cudnn::ConvolutionWorkspace(c, {75, 40}, true).bytes, 0u);
  EXPECT_EQ(cudnn::ConvolutionWorkspace(c, {80, 108}, true).bytes,
            4u * (2 * 32 * 64 * 1024 + 64 * 64 * 9) + 16);
  EXPECT_DOUBLE_EQ(cudnn::ConvolutionFlops(c), 2.0 * 32 * 64 * 1024 * 64 * 9);
}

TEST(CudnnSizes, HugeShapesDoNotOverflow) {
  const cudnn::Shape huge = Packed({INT64_MAX, 4, 4, 4}, 0);
  EXPECT_GT(huge.bytes(), uint64_t{1} << 58);
  EXPECT_GT(cudnn::RecurrentWorkspace({.hidden = INT64_MAX}, 1000, 1000), uint64_t{1} << 55);
}

TEST(CudnnSizes, PlacesParametersOfProjectedBidirectionalLstm) {
  cudnn::Recurrent lstm{
      .cell = cudnn::kLstm, .layers = 2, .directions = 2, .input = 3, .hidden = 5, .projection = 2};
  const uint64_t first = 4 * 5 * 3 + 4 * 5 * 2 + 2 * 5, second = 4 * 5 * 4 + 4 * 5 * 2 + 2 * 5;
  EXPECT_EQ(cudnn::RecurrentWeightElements(lstm), 2 * first + 2 * second + 4 * 2 * 4 * 5);
  const cudnn::Parameter projection = cudnn::RecurrentParameter(lstm, 1, 8);
  EXPECT_EQ(projection.rows, 2);
  EXPECT_EQ(projection.columns, 5);
  EXPECT_EQ(projection.matrix_offset, first + 4 * 5 * 3 + 4 * 5 * 2);
  EXPECT_EQ(projection.bias, 0);
  EXPECT_EQ(cudnn::RecurrentParameter(lstm, 4, 0).rows, 0);  // no such layer
  lstm.bias = false;
  EXPECT_EQ(cudnn::RecurrentParameter(lstm, 0, 0).bias, 0);
}

TEST(CufftSizes, RealTransformStoresHalfTheSpectrum) {
  cufft::Transform t{
      .bits = 64, .real_in = true, .real_out = false, .rank = 1, .n = {1000}, .batch = 2};
  EXPECT_EQ(cufft::InputBytes(t), 2u * 1000 * 4);
  EXPECT_EQ(cufft::OutputBytes(t), 2u * 501 * 8);
  EXPECT_EQ(cufft::WorkArea(t), 2u * 501 * 8);
  t.n[0] = 1024;
  EXPECT_EQ(cufft::WorkArea(t), 0u);
}

TEST(CusparseSizes, SpgemmNonzerosAreLimitedByMatrixSize) {
  const cusparse::Matrix a{.rows = 4, .columns = 4, .nonzeros = 8, .sparse = true};
  EXPECT_EQ(cusparse::SpgemmNonzeros(a, a), 16);
  const cusparse::Matrix none{.rows = 4, .columns = 4, .sparse = true};
  EXPECT_EQ(cusparse::SpgemmNonzeros(a, none), 0);
}

TEST(ProgramVersion, ReadsRequiredVersionsOfPackage) {
  constexpr char kMetadata[] =
      "Name: torch\nRequires-Dist: nvidia-cudnn-cu12 (==9.1.0.70) ; platform_system == \"Linux\"\n"
      "Requires-Dist: nvidia-nccl-cu13==2.28.9; platform_system == \"Linux\"\nRequires-Dist: "
      "triton>=3\n";
  Version version;
  ASSERT_TRUE(RequiredVersion(kMetadata, "nvidia-cudnn-cu", &version));
  EXPECT_THAT((std::vector<int>{version.major, version.minor, version.patch}),
              testing::ElementsAre(9, 1, 0));
  ASSERT_TRUE(RequiredVersion(kMetadata, "nvidia-nccl-cu", &version));
  EXPECT_THAT((std::vector<int>{version.major, version.minor, version.patch}),
              testing::ElementsAre(2, 28, 9));
  EXPECT_FALSE(RequiredVersion(kMetadata, "triton", &version));
  EXPECT_FALSE(
      RequiredVersion("\nRequires-Dist: nvidia-cudnn-cu12==x", "nvidia-cudnn-cu", &version));
  ASSERT_TRUE(CudaOfVersionFile("debug = False\ncuda: Optional[str] = '13.0'\n", &version));
  EXPECT_EQ(version.major, 13);
  EXPECT_FALSE(CudaOfVersionFile("\ncuda: Optional[str] = None\n", &version));
}

TEST(AttributeStore, ReturnsZerosAndRejectsUnknownDescriptors) {
  AttributeStore store;
  void* descriptor = store.Create();
  int value = 7;
  size_t written = 0;
  EXPECT_TRUE(store.Copy(descriptor, 3, &value, sizeof value, &written));
  EXPECT_EQ(value, 0);
  EXPECT_FALSE(store.Set(&value, 3, &value, sizeof value));
  EXPECT_FALSE(store.Set(descriptor, 3, nullptr, 4));
  std::vector<char> big(AttributeStore::kMostBytes + 1);
  EXPECT_FALSE(store.Set(descriptor, 3, big.data(), big.size()));
}

template <class T>
std::vector<T> Reduced(int type, int operation, std::vector<T> a, const std::vector<T>& b) {
  EXPECT_TRUE(nccl::Reduce(type, operation, std::as_writable_bytes(std::span(a)),
                           std::as_bytes(std::span(b))));
  return a;
}

TEST(Toolkits, UnknownMajorVersionUsesNewestWithAssumption) {
  EXPECT_EQ(CublasVersion(12).major, 12);
  EXPECT_TRUE(ThePlatform().assumptions.All().empty());
  EXPECT_EQ(CublasVersion(14).major, 13);
  EXPECT_EQ(CudaVersion(14).major, 13);
  const auto assumed = ThePlatform().assumptions.All();
  ASSERT_EQ(assumed.size(), 1u);
  EXPECT_TRUE(assumed[0].what.starts_with("CUDA 14 is unknown")) << assumed[0].what;
}

TEST(Toolkits, DriverIsAsNewAsTheProgramNeeds) {
  const auto of = [](const char* cuda) {
    setenv("VRAMSCOPE_EMULATED_VERSIONS", cuda, 1);
    const int version = DriverVersion();
    unsetenv("VRAMSCOPE_EMULATED_VERSIONS");
    return version;
  };
  EXPECT_EQ(of("cuda=12.4"), 13000);
  EXPECT_EQ(of("cuda=13.2"), 13020);
  EXPECT_EQ(of("cuda=14.1"), 14010);
  EXPECT_EQ(of("cuda=99999.1"), 13000);  // not a real version
}

// The file has a random name, and only its owner can access it. Links, and files that other users
// can write to, are rejected.
TEST(NcclRendezvous, RejectsUntrustedFiles) {
  char folder[] = "/tmp/vramscope-rooms-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  setenv("VRAMSCOPE_EMULATED_ROOMS", folder, 1);
  const nccl::UniqueId id = nccl::MakeUniqueId(), other = nccl::MakeUniqueId();
  EXPECT_NE(std::memcmp(id.bytes + 40, other.bytes + 40, 16), 0);
  std::string problem;
  const auto file_of = [&] {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) return entry.path();
    return std::filesystem::path();
  };
  // The object is leaked, so that its destructor never runs, as if the rank was killed.
  static const auto* const killed = nccl::Rendezvous::Join(id, 2, 0, &problem).release();
  ASSERT_NE(killed, nullptr) << problem;
  const std::filesystem::path room = file_of();
  struct stat facts = {};
  ASSERT_EQ(stat(room.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  EXPECT_NE(nccl::Rendezvous::Join(id, 2, 1, &problem), nullptr) << problem;
  std::filesystem::remove(room);
  // A file that other users can write to, and a link.
  std::ofstream(room).put(' ');
  std::filesystem::permissions(room, std::filesystem::perms::all);
  EXPECT_EQ(nccl::Rendezvous::Join(id, 2, 0, &problem), nullptr);
  std::filesystem::remove(room);
  std::filesystem::create_symlink("/dev/null", room);
  EXPECT_EQ(nccl::Rendezvous::Join(id, 2, 0, &problem), nullptr);
  unsetenv("VRAMSCOPE_EMULATED_ROOMS");
  std::filesystem::remove_all(folder);
}

TEST(NcclMemory, OneRankMatchesMeasurement) {
  const auto one = nccl::MemoryOfCommunicator(1, Peers::kNvlink, {});
  EXPECT_EQ(one.most, uint64_t{388} << 20);
  EXPECT_EQ(one.least, one.most);
}

// Published figures are 544 MiB for two A100 with NVLink and 688 MiB for four (NVIDIA/nccl#964).
// The largest published figure is 1.6 GB for one communicator (#864).
TEST(NcclMemory, RangeContainsPublishedFigures) {
  const auto two = nccl::MemoryOfCommunicator(2, Peers::kNvlink, {});
  const auto four = nccl::MemoryOfCommunicator(4, Peers::kNvlink, {});
  EXPECT_LT(two.least, uint64_t{544} << 20);
  EXPECT_GE(two.most, uint64_t{544} << 20);
  EXPECT_LT(four.least, uint64_t{688} << 20);
  EXPECT_GE(four.most, uint64_t{688} << 20);
  EXPECT_LT(four.most, uint64_t{1600} << 20);
}

TEST(NcclMemory, DependsOnLinksAndSettings) {
  const auto most = [](Peers peers, const nccl::MemorySettings& settings) {
    return nccl::MemoryOfCommunicator(8, peers, settings).most;
  };
  EXPECT_GT(most(Peers::kNvlink, {}), most(Peers::kPcie, {}));
  EXPECT_GT(most(Peers::kPcie, {}),
            most(Peers::kNone, {}));  // without peer access, buffers are in host memory
  EXPECT_GT(most(Peers::kPcie, {.buffer_bytes = uint64_t{16} << 20}), most(Peers::kPcie, {}));
  EXPECT_EQ(most(Peers::kNvlink, {.max_channels = 4}), most(Peers::kPcie, {}));
  EXPECT_GT(most(Peers::kPcie, {.min_channels = 8}), most(Peers::kPcie, {}));
}

TEST(NcclMemory, ReadsSettingsFromEnvironment) {
  setenv("NCCL_BUFFSIZE", "8388608", 1);
  setenv("NCCL_MAX_CTAS", "12", 1);
  setenv("NCCL_MIN_NCHANNELS", "1e9", 1);  // not a number of channels
  const auto settings = nccl::MemorySettingsFromEnvironment();
  for (const char* name : {"NCCL_BUFFSIZE", "NCCL_MAX_CTAS", "NCCL_MIN_NCHANNELS"}) unsetenv(name);
  EXPECT_EQ(settings.buffer_bytes, uint64_t{8} << 20);
  EXPECT_EQ(settings.max_channels, 12);
  EXPECT_EQ(settings.min_channels, 1);
}

TEST(NcclValues, ReducesEveryOperationAndNarrowFloats) {
  EXPECT_THAT(Reduced<int64_t>(4, 0, {1, -5}, {2, 3}), testing::ElementsAre(3, -2));
  EXPECT_THAT(Reduced<int64_t>(4, 2, {1, -5}, {2, -7}), testing::ElementsAre(2, -5));
  EXPECT_THAT(Reduced<uint8_t>(1, 0, {200}, {100}), testing::ElementsAre(44));  // wraps around
  EXPECT_THAT(Reduced<float>(7, 1, {2.5f}, {4}), testing::ElementsAre(10));
  EXPECT_THAT(Reduced<double>(8, 3, {2.5}, {4}), testing::ElementsAre(2.5));
  EXPECT_THAT(Reduced<uint16_t>(9, 0, {0x3f80}, {0x4000}),
              testing::ElementsAre(0x4040));  // bfloat16: 1 + 2
  EXPECT_THAT(Reduced<uint16_t>(6, 0, {0x3c00}, {0x3c01}),
              testing::ElementsAre(0x4000));  // half: ties to even
  EXPECT_THAT(Reduced<uint16_t>(6, 0, {0x7bff}, {0x7bff}),
              testing::ElementsAre(0x7c00));  // infinity
  EXPECT_THAT(Reduced<uint16_t>(6, 0, {0x0001}, {0x0001}),
              testing::ElementsAre(0x0002));  // subnormal
  std::vector<float> average = {9};
  nccl::Divide(7, 3, std::as_writable_bytes(std::span(average)));
  EXPECT_EQ(average[0], 3);
  std::vector<float> untouched = {9};
  EXPECT_FALSE(nccl::Reduce(7, 5, std::as_writable_bytes(std::span(untouched)),
                            std::as_bytes(std::span(average))));
  EXPECT_EQ(nccl::ElementBytes(12), 0u);
}

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }
std::string Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Runs three rounds as one rank. Returns the values that the rank saw, or an empty string if it
// could not join.
std::string Rounds(const nccl::UniqueId& id, int ranks, int rank) {
  std::string problem;
  const auto room = nccl::Rendezvous::Join(id, ranks, rank, &problem);
  if (!room) return {};
  std::string seen;
  for (uint64_t number = 1; number <= 3; ++number) {
    room->Publish(number, Bytes(std::to_string(rank * 10 + static_cast<int>(number))), true);
    for (int i = 0; i < 1000 && !room->Arrived(number); ++i)
      room->WaitForNews(std::chrono::milliseconds(20));
    for (int other = 0; other < ranks; ++other) seen += Text(room->Part(other, number).bytes) + ",";
  }
  return seen;
}

TEST(NcclRendezvous, ProcessesExchangeTheirParts) {
  const nccl::UniqueId id = nccl::MakeUniqueId();
  constexpr char kExpected[] = "1,11,21,2,12,22,3,13,23,";
  std::vector<pid_t> children;
  for (int rank = 1; rank < 3; ++rank) {
    const pid_t child = fork();
    if (child == 0) _exit(Rounds(id, 3, rank) == kExpected ? 0 : 1);
    children.push_back(child);
  }
  EXPECT_EQ(Rounds(id, 3, 0), kExpected);
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

TEST(NcclRendezvous, MessagesWaitUntilReceived) {
  const nccl::UniqueId id = nccl::MakeUniqueId();
  std::string problem;
  const auto first = nccl::Rendezvous::Join(id, 2, 0, &problem),
             second = nccl::Rendezvous::Join(id, 2, 1, &problem);
  ASSERT_TRUE(first && second) << problem;
  EXPECT_TRUE(first->AllJoined());
  EXPECT_TRUE(first->Send(1, Bytes("ab"), true));
  EXPECT_TRUE(first->Send(1, Bytes("cd"), false));
  EXPECT_FALSE(first->Send(1, Bytes("ef"), true));  // the queue is full
  std::vector<std::byte> message(2);
  size_t known = 0;
  EXPECT_TRUE(second->Receive(0, message, &known));
  EXPECT_EQ(known, 2u);
  EXPECT_EQ(Text(message), "ab");
  EXPECT_TRUE(second->Receive(0, message, &known));
  EXPECT_EQ(known, 0u);  // the sender does not know any value
  EXPECT_FALSE(second->Receive(0, message, &known));
}

TEST(NcclRendezvous, ReportsInvalidJoinsAndEndedRanks) {
  const nccl::UniqueId id = nccl::MakeUniqueId();
  std::string problem;
  EXPECT_EQ(nccl::Rendezvous::Join(id, 2, 2, &problem), nullptr);
  EXPECT_THAT(problem, testing::HasSubstr("is invalid"));
  const auto first = nccl::Rendezvous::Join(id, 2, 0, &problem);
  ASSERT_TRUE(first);
  EXPECT_EQ(nccl::Rendezvous::Join(id, 2, 0, &problem), nullptr);
  EXPECT_THAT(problem, testing::HasSubstr("has already joined"));
  EXPECT_EQ(nccl::Rendezvous::Join(id, 3, 1, &problem), nullptr);
  EXPECT_THAT(problem, testing::HasSubstr("has 3 ranks, that of another rank has 2"));
  // The other ranks notice that a rank has ended.
  const pid_t child = fork();
  if (child == 0) {
    nccl::Rendezvous::Join(id, 2, 1, &problem).release();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(first->AllJoined());
  EXPECT_EQ(first->EndedRank(), 1);
  first->Unlink();
}

// Ranks that are killed before all ranks have arrived leave their files behind. The next process
// removes these files, but not those of running processes.
TEST(NcclRendezvous, RemovesOldFilesOfKilledRanks) {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "rooms-test-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  ASSERT_EQ(setenv("VRAMSCOPE_EMULATED_ROOMS", folder.c_str(), 1), 0);
  const auto rooms = [&] {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  };
  const auto make_old = [&] {
    for (const auto& entry : fs::directory_iterator(folder))
      fs::last_write_time(entry, fs::file_time_type::clock::now() - std::chrono::hours(1));
  };
  std::string problem;
  const auto running = nccl::Rendezvous::Join(nccl::MakeUniqueId(), 2, 0, &problem);
  ASSERT_TRUE(running) << problem;
  const pid_t child = fork();
  if (child == 0) {
    nccl::Rendezvous::Join(nccl::MakeUniqueId(), 2, 1, &problem).release();
    kill(getpid(), SIGKILL);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  std::ofstream(folder + "/vramscope-nccl-report") << "not a rank's";
  std::ofstream(folder + "/other") << "not a rank's";
  EXPECT_EQ(rooms(), 4);
  nccl::Rendezvous::RemoveOfKilled(folder);
  EXPECT_EQ(rooms(), 4);  // the files are recent, so ranks may still arrive
  make_old();
  nccl::Rendezvous::RemoveOfKilled(folder);
  EXPECT_EQ(rooms(), 2);  // the running rank's file, and one that is not vramscope's
  EXPECT_TRUE(fs::exists(folder + "/other"));
  EXPECT_EQ(unsetenv("VRAMSCOPE_EMULATED_ROOMS"), 0);
  fs::remove_all(folder);
}

// If all users can write to the folder, ranks use a subfolder that other users cannot
// enter.
TEST(NcclRendezvous, PrivateFolderExcludesOtherUsers) {
  namespace fs = std::filesystem;
  std::string parent = (fs::temp_directory_path() / "rooms-test-XXXXXX").string();
  ASSERT_NE(mkdtemp(parent.data()), nullptr);
  const std::string folder = nccl::Rendezvous::PrivateFolder(parent);
  ASSERT_EQ(fs::path(folder).parent_path(), parent);
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
  EXPECT_EQ(nccl::Rendezvous::PrivateFolder(parent), folder);
  fs::permissions(folder, fs::perms::group_exec, fs::perm_options::add);
  EXPECT_EQ(nccl::Rendezvous::PrivateFolder(parent), "");
  fs::remove(folder);
  fs::create_directory(parent + "/elsewhere");
  fs::permissions(parent + "/elsewhere", fs::perms::owner_all);
  fs::create_directory_symlink(parent + "/elsewhere", folder);
  EXPECT_EQ(nccl::Rendezvous::PrivateFolder(parent), "");
  fs::remove(folder);
  std::ofstream(folder) << "a file";
  EXPECT_EQ(nccl::Rendezvous::PrivateFolder(parent), "");
  fs::remove_all(parent);
}

}  // namespace
}  // namespace vramscope::emulated
