#include "tests/profiler/setup/torch_files.h"

#include <elf.h>
#include <stdlib.h>
#include <zlib.h>

#include <cstring>
#include <fstream>
#include <iterator>

namespace vramscope::setup::testing {
namespace {

namespace fs = std::filesystem;

void Put(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

std::string Deflate(const std::string& content) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, content.size()) + 16, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

Scratch::Scratch() {
  std::string name = (fs::temp_directory_path() / "vramscope-setup-XXXXXX").string();
  path_ = mkdtemp(name.data());
}
Scratch::~Scratch() {
  std::error_code none;
  fs::remove_all(path_, none);
}

void Write(const fs::path& path, const std::string& content) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}
std::string Read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string MakeZip(const std::vector<ZipFile>& files, bool zip64) {
  std::string out, directory;
  constexpr uint64_t kMask = 0xffffffff;
  for (const ZipFile& file : files) {
    const std::string stored = file.deflated ? Deflate(file.content) : file.content;
    const auto crc = file.stated_crc >= 0
                         ? static_cast<uint64_t>(file.stated_crc)
                         : crc32(0, reinterpret_cast<const Bytef*>(file.content.data()),
                                 static_cast<uInt>(file.content.size()));
    const uint64_t bytes =
        file.stated_bytes >= 0 ? static_cast<uint64_t>(file.stated_bytes) : file.content.size();
    const uint64_t header =
        file.stated_header >= 0 ? static_cast<uint64_t>(file.stated_header) : out.size();
    const uint64_t method = file.method != 0 ? file.method : file.deflated ? 8 : 0;
    const uint64_t flags = file.encrypted ? 1 : 0;
    std::string extra;
    if (zip64) {
      Put(extra, 1, 2);
      Put(extra, 24, 2);
      for (const uint64_t value : {bytes, uint64_t{stored.size()}, header}) Put(extra, value, 8);
    }
    if (!file.no_data) {
      Put(out, 0x04034b50, 4);
      for (const uint64_t value : {uint64_t{20}, flags, method, uint64_t{0}, uint64_t{0}})
        Put(out, value, 2);
      Put(out, crc, 4);
      Put(out, stored.size() & kMask, 4);
      Put(out, bytes & kMask, 4);
      Put(out, file.name.size(), 2);
      Put(out, 0, 2);
      out += file.name + stored;
    }
    Put(directory, 0x02014b50, 4);
    Put(directory, (3 << 8) | 20, 2);
    for (const uint64_t value : {uint64_t{20}, flags, method, uint64_t{0}, uint64_t{0}})
      Put(directory, value, 2);
    Put(directory, crc, 4);
    Put(directory, zip64 ? kMask : stored.size(), 4);
    Put(directory, zip64 ? kMask : bytes, 4);
    Put(directory, file.name.size(), 2);
    Put(directory, extra.size(), 2);
    Put(directory, 0, 2);
    Put(directory, 0, 2);
    Put(directory, 0, 2);
    Put(directory, uint64_t{file.mode} << 16, 4);
    Put(directory, zip64 ? kMask : header, 4);
    directory += file.name + extra;
  }
  const uint64_t at = out.size();
  out += directory;
  if (zip64) {
    const uint64_t record = out.size();
    Put(out, 0x06064b50, 4);
    Put(out, 44, 8);
    Put(out, 45, 2);
    Put(out, 45, 2);
    Put(out, 0, 4);
    Put(out, 0, 4);
    for (const uint64_t value :
         {uint64_t{files.size()}, uint64_t{files.size()}, uint64_t{directory.size()}, at})
      Put(out, value, 8);
    Put(out, 0x07064b50, 4);
    Put(out, 0, 4);
    Put(out, record, 8);
    Put(out, 1, 4);
  }
  Put(out, 0x06054b50, 4);
  Put(out, 0, 2);
  Put(out, 0, 2);
  Put(out, zip64 ? 0xffff : files.size(), 2);
  Put(out, zip64 ? 0xffff : files.size(), 2);
  Put(out, zip64 ? kMask : directory.size(), 4);
  Put(out, zip64 ? kMask : at, 4);
  Put(out, 0, 2);
  return out;
}

std::string FakeLibrary(size_t more) {
  Elf64_Ehdr header{};
  std::memcpy(static_cast<unsigned char*>(header.e_ident), ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) +
         std::string(more, 'x');
}

std::vector<ZipFile> TorchFiles(const std::string& version, const std::string& cuda) {
  std::vector<ZipFile> files = {
      {.name = "torch/__init__.py", .content = "raise SystemExit('executed')\n"},
      {.name = "torch/version.py",
       .content = "from typing import Optional\n__version__ = '" + version +
                  "'\ncuda: Optional[str] = " + cuda + "\nhip: Optional[str] = None\n",
       .deflated = true}};
  for (const char* name : {"libc10.so", "libc10_cuda.so", "libtorch_cpu.so", "libtorch_cuda.so",
                           "libtorch_cuda_linalg.so", "libtorch_nvshmem.so"})
    files.push_back(
        {.name = std::string("torch/lib/") + name, .content = FakeLibrary(), .deflated = true});
  return files;
}

void WriteTorch(const fs::path& packages, const std::string& version, const std::string& cuda) {
  for (const ZipFile& file : TorchFiles(version, cuda)) Write(packages / file.name, file.content);
}

}  // namespace vramscope::setup::testing
