// Parses devices that are not in the table: slices, changed figures, figures without a name, files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "profiler/run/check_run.h"
#include "profiler/run/compute_capability.h"
#include "profiler/run/context_growth.h"
#include "profiler/run/device_file.h"
#include "profiler/run/emulated_gpu.h"
#include "profiler/run/run_config.h"

namespace vramscope::run {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr uint64_t kGiB = uint64_t{1} << 30;

std::string TextError(std::string_view text) {
  const absl::StatusOr<Device> device = ReadDevice(text);
  EXPECT_FALSE(device.ok()) << text << " is " << (device.ok() ? device->key : "");
  return std::string(device.status().message());
}

std::string FileError(std::string_view json) {
  const absl::StatusOr<Device> device = DeviceFromJson(json);
  EXPECT_FALSE(device.ok()) << json;
  return std::string(device.status().message());
}

class DeviceFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = (std::filesystem::temp_directory_path() / "device-file-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return (folder_ / name).string();
  }
  std::filesystem::path folder_;
};

TEST(DeviceText, ReadsSpellingVariantsOfNames) {
  EXPECT_EQ(ReadDevice("a100-sxm-80gb")->key, "a100-80gb");
  EXPECT_EQ(ReadDevice("RTX 4090")->key, "rtx-4090");
  EXPECT_EQ(ReadDevice("NVIDIA GeForce RTX 3070 Laptop GPU")->key, "rtx-3070-laptop");
  EXPECT_EQ(ReadDevice("Tesla T4")->key, "t4");
}

TEST(DeviceText, ReadsMigSlices) {
  const Device slice = ReadDevice("a100-sxm-80gb:1g.10gb").value();
  EXPECT_EQ(slice.key, "a100-80gb:1g.10gb");
  EXPECT_EQ(slice.name, "NVIDIA A100-SXM4-80GB MIG 1g.10gb");
  EXPECT_EQ(slice.sm_count, 14u);
  EXPECT_EQ(slice.memory_bytes, uint64_t{9728} << 20);
  const Device whole = ReadDevice("a100-80gb").value();
  EXPECT_DOUBLE_EQ(slice.bandwidth_bytes_per_s, whole.bandwidth_bytes_per_s / 8);
  EXPECT_DOUBLE_EQ(slice.bf16_flops, whole.bf16_flops * 14 / 108);
  EXPECT_EQ(slice.l2_bytes, whole.l2_bytes / 8);
  EXPECT_THAT(slice.sources.Assumed(), Contains("context"));
  EXPECT_EQ(ReadDevice("h100-sxm:3g.40gb+me")->sm_count, 60u);
  EXPECT_THAT(TextError("a100-80gb:1g.5gb"), AllOf(HasSubstr("1g.5gb"), HasSubstr("1g.10gb")));
  EXPECT_THAT(TextError("rtx-4090:1g.5gb"), AllOf(HasSubstr("no MIG"), HasSubstr("a100-80gb")));
}

// Defines a GTX 1650 by its advertised figures, and compares it with the one in the table.
TEST(DeviceText, ReadsGpuFromFiguresAlone) {
  const Device d =
      ReadDevice("name=My GPU,memory=4GiB,compute_capability=7.5,multiprocessors=14").value();
  EXPECT_EQ(d.name, "My GPU");
  EXPECT_EQ(d.memory_bytes, 4 * kGiB);
  EXPECT_EQ(d.sm_count, 14u);
  EXPECT_EQ(d.max_threads_per_sm, 1024u);
  EXPECT_EQ(d.blas_workspace_bytes, 8519680u);
  EXPECT_FALSE(d.integrated);
  const Device like = ReadDevice("gtx-1650").value();
  EXPECT_EQ(d.bandwidth_bytes_per_s, like.bandwidth_bytes_per_s);
  EXPECT_EQ(d.context_bytes, like.context_bytes);
  EXPECT_THAT(d.sources.Assumed(), AllOf(Contains("bandwidth"), Contains("clock"),
                                         Contains("context"), Not(Contains("memory"))));
  EXPECT_EQ(d.key, "name=My GPU,memory=4GiB,compute_capability=7.5,multiprocessors=14");
  EXPECT_EQ(EmulatedGpu(d).find("name=My GPU;memory_bytes=4294967296;"), 0u);
}

TEST(DeviceText, ReadsUnitsAndRates) {
  const Device d = ReadDevice(
                       "memory=24GiB, compute_capability=8.6, multiprocessors=28, clock=1.7GHz, "
                       "bandwidth=448GB/s, fp32=12TFLOPS, bf16=5e13, l2=3MiB, memory_bus=192, "
                       "peers=pcie, integrated=true, context=250MiB")
                       .value();
  EXPECT_EQ(d.boost_mhz, 1700u);
  EXPECT_EQ(d.bandwidth_bytes_per_s, 448e9);
  EXPECT_EQ(d.fp32_flops, 12e12);
  EXPECT_EQ(d.bf16_flops, 5e13);
  EXPECT_EQ(d.l2_bytes, uint64_t{3} << 20);
  EXPECT_EQ(d.bus_bits, 192u);
  EXPECT_EQ(d.peers, Peers::kPcie);
  EXPECT_TRUE(d.integrated);
  EXPECT_EQ(d.context_bytes, uint64_t{250} << 20);
  EXPECT_EQ(d.name, "GPU of compute capability 8.6");
}

TEST(DeviceText, OverridesFiguresOfTableEntry) {
  const Device d = ReadDevice("rtx-4090,memory=12GiB").value();
  EXPECT_EQ(d.memory_bytes, 12 * kGiB);
  EXPECT_EQ(d.sm_count, 128u);
  EXPECT_EQ(d.name, "NVIDIA GeForce RTX 4090 (12.00 GiB)");
  EXPECT_EQ(EmulatedGpu(d).find("name=NVIDIA GeForce RTX 4090;"), 0u)
      << "the emulated GPU keeps the name that its driver reports";
  EXPECT_EQ(d.context_bytes, ReadDevice("rtx-4090")->context_bytes);
  const Device half = ReadDevice("rtx-4090,multiprocessors=64").value();
  EXPECT_DOUBLE_EQ(half.bf16_flops, ReadDevice("rtx-4090")->bf16_flops / 2);
  EXPECT_THAT(half.sources.Assumed(), Contains("fp32"));
  EXPECT_EQ(ReadDevice("rtx-4090,memory=12GiB")->key, WithMemory("rtx-4090", "12GiB").value());
  EXPECT_EQ(WithMemory("rtx-4090,memory=12GiB", "8GiB").value(), "rtx-4090,memory=8GiB");
  // A measured context also applies to the same GPU with more memory, but not to other changes.
  EXPECT_GT(GrowthOf("h200,memory=107374182400").bare, 0u);
  EXPECT_EQ(GrowthOf("h200,multiprocessors=66").bare, 0u);
  EXPECT_EQ(GrowthOf("h200:1g.18gb").bare, 0u);
}

// For all kinds of definitions, the text of a GPU can be parsed again and gives the same
// GPU.
TEST(DeviceText, RoundTripsItsOwnText) {
  for (const char* text :
       {"rtx-4090", "a100-80gb:1g.10gb", "rtx-4090,memory=12GiB", "h200:7g.141gb,name=Slice",
        "memory=9e9,compute_capability=12.0,multiprocessors=33,clock=1234,bandwidth=333.3GB/s"}) {
    SCOPED_TRACE(text);
    const Device d = ReadDevice(text).value();
    const Device again = ReadDevice(d.key).value();
    EXPECT_EQ(again.key, d.key);
    EXPECT_EQ(again.name, d.name);
    EXPECT_EQ(EmulatedGpu(again), EmulatedGpu(d));
    EXPECT_EQ(again.sources.Assumed(), d.sources.Assumed());
  }
}

TEST(DeviceText, RoundTripsTableEntriesThroughJson) {
  for (const Device& d : DeviceTable()) {
    SCOPED_TRACE(d.key);
    const absl::StatusOr<Device> read = DeviceFromJson(DeviceJson(d));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_THAT(read->sources.Assumed(), IsEmpty());
    EXPECT_EQ(read->memory_bytes, d.memory_bytes);
    EXPECT_EQ(read->sm_count, d.sm_count);
    EXPECT_EQ(read->l2_bytes, d.l2_bytes);
    EXPECT_EQ(read->integrated, d.integrated);
    EXPECT_DOUBLE_EQ(read->bandwidth_bytes_per_s, d.bandwidth_bytes_per_s);
    EXPECT_DOUBLE_EQ(read->bf16_flops, d.bf16_flops);
  }
}

// An invalid figure must be refused with its name and the allowed values.
TEST(DeviceText, RejectsInvalidFiguresByName) {
  const std::string good = "memory=8GiB,compute_capability=8.6,multiprocessors=28";
  struct Case {
    const char* figure;
    const char* value;
    const char* allowed;
  };
  for (const Case& c : {Case{"memory", "lots", "256 MiB"},
                        Case{"memory", "100MiB", "256 MiB"},
                        Case{"memory", "5TiB", "4 TiB"},
                        Case{"memory", "-1", "256 MiB"},
                        Case{"compute_capability", "8.5", "8.6"},
                        Case{"compute_capability", "86", "8.6"},
                        Case{"multiprocessors", "0", "1 to 1024"},
                        Case{"multiprocessors", "1.5", "1 to 1024"},
                        Case{"multiprocessors", "99999999999999999999", "1 to 1024"},
                        Case{"l2", "1", "16 KiB"},
                        Case{"clock", "12", "100 MHz"},
                        Case{"clock", "fast", "100 MHz"},
                        Case{"memory_bus", "7", "16 to 65536"},
                        Case{"bandwidth", "448", "448GB/s"},
                        Case{"bandwidth", "inf", "448GB/s"},
                        Case{"bandwidth", "nan", "448GB/s"},
                        Case{"bandwidth", "1e400", "448GB/s"},
                        Case{"fp32", "0", "1 GFLOPS"},
                        Case{"tf32", "-3TFLOPS", "1 GFLOPS"},
                        Case{"bf16", "12 apples", "1 GFLOPS"},
                        Case{"peers", "yes", "nvlink"},
                        Case{"integrated", "maybe", "or false"},
                        Case{"ecc", "1", "true or false"},
                        Case{"context", "65GiB", "64 GiB"},
                        Case{"name", "", "120 characters"},
                        Case{"name", "a;b", "semicolon"},
                        Case{"name", "a\nb", "120 characters"}}) {
    SCOPED_TRACE(std::string(c.figure) + "=" + c.value);
    std::string text = "rtx-3060-12gb,";
    EXPECT_THAT(TextError(text + c.figure + "=" + c.value),
                AllOf(HasSubstr(std::string("device: ") + c.figure + ": "), HasSubstr(c.allowed)));
  }
  EXPECT_TRUE(ReadDevice(good).ok());
  EXPECT_THAT(TextError("compute_capability=8.6,multiprocessors=28"),
              HasSubstr("memory is missing"));
  EXPECT_THAT(TextError("memory=8GiB,multiprocessors=28"),
              HasSubstr("compute_capability is missing"));
  EXPECT_THAT(TextError("memory=8GiB,compute_capability=8.6"),
              HasSubstr("multiprocessors is missing"));
  EXPECT_THAT(TextError(good + ",memroy=4GiB"),
              AllOf(HasSubstr("memroy"), HasSubstr("did you mean \"memory\"")));
  EXPECT_THAT(TextError(good + ",memory=4GiB"), HasSubstr("memory is set twice"));
  EXPECT_THAT(TextError(good + ","), HasSubstr("comma"));
  EXPECT_THAT(TextError(good + ",rtx-4090"), HasSubstr("NAME=VALUE"));
  EXPECT_THAT(TextError("rtx-4091,memory=8GiB"), HasSubstr("did you mean \"rtx-4090\""));
  EXPECT_THAT(TextError(good + ",context=8GiB"), HasSubstr("cannot hold the CUDA context"));
  EXPECT_THAT(TextError("my_gpu.json"), HasSubstr("is the name of a file"));
  EXPECT_THAT(TextError(std::string(5000, 'a')), HasSubstr("too long for a GPU name"));
  EXPECT_THAT(TextError(""), HasSubstr("device: the device table has no \"\""));
}

TEST_F(DeviceFileTest, ReadsFiguresFromNamedFile) {
  const std::string path = Write("my_gpu.json", R"({
    "name": "Lab GPU", "memory": "24GiB", "compute_capability": 8.6, "multiprocessors": 28,
    "bandwidth": "448GB/s", "source": "our own data sheet"})");
  const std::string text = DeviceTextOf(path).value();
  EXPECT_EQ(text,
            "name=Lab GPU,memory=24GiB,compute_capability=8.6,multiprocessors=28,"
            "bandwidth=448GB/s");
  EXPECT_EQ(DeviceTextOf("rtx-4090").value(), "rtx-4090");
  EXPECT_EQ(DeviceTextOf("rtx-4090,bandwidth=1TB/s").value(), "rtx-4090,bandwidth=1TB/s");
  // The run must store the figures, so that computers without the file can read it.
  RunConfigBuilder builder;
  ASSERT_TRUE(builder.SetRunJson("{\"device\": \"" + path + "\"}").ok());
  EXPECT_EQ(builder.Build()->device, text);
  EXPECT_THAT(std::string(builder.Set("device", path).message()),
              HasSubstr("is the name of a file"));
}

TEST_F(DeviceFileTest, RejectsInvalidFiles) {
  EXPECT_THAT(std::string(DeviceTextOf(Write("bad.json", "{")).status().message()),
              AllOf(HasSubstr("bad.json"), HasSubstr("not JSON")));
  EXPECT_THAT(std::string(DeviceTextOf((folder_ / "none.json").string()).status().message()),
              HasSubstr("not a file"));
  EXPECT_THAT(std::string(DeviceTextOf(folder_.string()).status().message()),
              HasSubstr("not a file"));
  EXPECT_THAT(
      std::string(DeviceTextOf(Write("long.json", std::string(100'000, ' '))).status().message()),
      HasSubstr("larger than"));
  EXPECT_THAT(FileError("[1]"), HasSubstr("one JSON object"));
  EXPECT_THAT(FileError("7"), HasSubstr("one JSON object"));
  EXPECT_THAT(FileError(R"({"memory": {"a": 1}})"), HasSubstr("without nested lists or objects"));
  EXPECT_THAT(FileError(std::string(60'000, '[')), HasSubstr("device: "));
  EXPECT_THAT(FileError(R"({"memory": "8GiB", "memory": "9GiB"})"), HasSubstr("set twice"));
  EXPECT_THAT(FileError(R"({"memory": null})"), HasSubstr("expected a number"));
  EXPECT_THAT(FileError(R"({"sm_count": 8})"), HasSubstr("sm_count"));
  EXPECT_THAT(FileError(R"({"like": "rtx-4090", "memory": "1MiB"})"), HasSubstr("256 MiB"));
}

TEST(RunJson, StoresFiguresOfADevice) {
  RunConfigBuilder builder;
  ASSERT_TRUE(builder
                  .SetRunJson(R"({"model": "gpt2", "device": {"name": "Lab", "memory": "24GiB",
                                "compute_capability": 8.6, "multiprocessors": 28}, "batch": 4})")
                  .ok());
  const RunConfig config = builder.Build().value();
  EXPECT_EQ(config.batch, 4);
  EXPECT_EQ(ResolveDevice(config)->memory_bytes, 24 * kGiB);
  // What was written must be readable again.
  RunConfigBuilder again;
  ASSERT_TRUE(again.SetRunJson(ToJson(config)).ok());
  EXPECT_EQ(again.Build()->device, config.device);
  EXPECT_EQ(FromProtoBytes(ToProtoBytes(config))->device, config.device);
  for (const char* bad :
       {R"({"device": {"memory": "lots"}})", R"({"device": {"memory": null}})",
        R"({"device": {"memory": [1]}})", R"({"device": {"memory": {}}})", R"({"device": {}})",
        R"({"device": {"memory": "8GiB"}, "device": "t4"})"}) {
    RunConfigBuilder refused;
    EXPECT_THAT(std::string(refused.SetRunJson(bad).message()), HasSubstr("device")) << bad;
  }
}

// If LibTorch has no kernels for a GPU, a run on it must be refused before it starts. Programs must
// not be refused, because their own PyTorch may have such kernels.
TEST(CheckRun, RejectsGpusWithoutLibTorchKernels) {
  const auto check = [](const char* device) {
    RunConfigBuilder builder;
    EXPECT_TRUE(builder.SetPreset("gpt2").ok());
    EXPECT_TRUE(builder.Set("device", device).ok()) << device;
    return CheckRun(builder.Build().value()).status();
  };
  for (const char* device : {"gtx-1650", "t4", "rtx-4090", "jetson-orin-nano-8gb", "b300", "gb10"})
    EXPECT_TRUE(check(device).ok()) << device;
  for (const char* device :
       {"p100-pcie-16gb", "v100-sxm2-32gb", "gtx-1080-ti", "jetson-thor-t5000"})
    EXPECT_THAT(std::string(check(device).message()),
                AllOf(HasSubstr("has no kernels"), HasSubstr("7.5"), HasSubstr(device)));
}

TEST(ComputeCapability, RoundTripsThroughText) {
  for (const ComputeCapability& chip : ComputeCapabilities()) {
    EXPECT_EQ(ParseComputeCapability(ComputeCapabilityText(chip.number)), chip.number);
    EXPECT_FALSE(ArchitectureName(chip.number).empty());
  }
  EXPECT_EQ(ComputeCapabilityText(121), "12.1");
  EXPECT_EQ(ParseComputeCapability("12"), 0u);
  EXPECT_EQ(FindComputeCapability(85), nullptr);
}

}  // namespace
}  // namespace vramscope::run
