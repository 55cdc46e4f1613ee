#include "emulated/core/device_code.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace vramscope::emulated {
namespace {

constexpr size_t kLargestImage = size_t{1} << 30;
constexpr uint32_t kElf = 0x464c457f, kFatBinary = 0xba55ed50, kWrapper = 0x466243b1;

template <typename T>
T At(const void* image, size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(image) + offset, sizeof value);
  return value;
}

// Reads within bounds, and returns zero beyond them.
class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes) {}
  template <typename T>
  T Get(uint64_t offset) const {
    return offset <= bytes_.size() && bytes_.size() - offset >= sizeof(T)
               ? At<T>(bytes_.data(), offset)
               : T{};
  }
  Bytes Part(uint64_t offset, uint64_t bytes) const {
    return offset <= bytes_.size() && bytes <= bytes_.size() - offset
               ? bytes_.subspan(offset, bytes)
               : Bytes{};
  }
  std::string_view Text(uint64_t offset) const {
    if (offset >= bytes_.size()) {
      return {};
    }
    const auto* first = reinterpret_cast<const char*>(bytes_.data()) + offset;
    return {first, strnlen(first, bytes_.size() - offset)};
  }
  uint64_t size() const { return bytes_.size(); }

 private:
  Bytes bytes_;
};

// Unpacks LZ4's block format. A sequence consists of a byte with two lengths, literals, and an
// offset back into the output.
std::optional<std::vector<unsigned char>> UnpackLz4(Bytes in, uint64_t out_bytes) {
  std::vector<unsigned char> out;
  out.reserve(out_bytes);
  size_t at = 0;
  const auto length = [&](size_t first) -> std::optional<size_t> {
    size_t total = first;
    if (first == 15) {
      unsigned char more = 255;
      while (more == 255) {
        if (at >= in.size() || total > out_bytes) {
          return std::nullopt;
        }
        more = in[at++];
        total += more;
      }
    }
    return total;
  };
  while (at < in.size()) {
    const unsigned char token = in[at++];
    const std::optional<size_t> literals = length(token >> 4);
    if (!literals || *literals > in.size() - at || *literals > out_bytes - out.size()) {
      return std::nullopt;
    }
    out.insert(out.end(), in.begin() + at, in.begin() + at + *literals);
    at += *literals;
    if (at == in.size() || out.size() == out_bytes) {
      break;  // the last sequence has only literals
    }
    if (in.size() - at < 2) {
      return std::nullopt;
    }
    const size_t back = in[at] | in[at + 1] << 8;
    at += 2;
    const std::optional<size_t> matched = length(token & 15);
    if (!matched || back == 0 || back > out.size() || *matched + 4 > out_bytes - out.size()) {
      return std::nullopt;
    }
    for (size_t i = 0; i < *matched + 4; ++i) {
      out.push_back(out[out.size() - back]);
    }
  }
  if (out.size() != out_bytes) {
    return std::nullopt;
  }
  return out;
}

// A section of an ELF file.
struct Section {
  std::string_view name;
  uint32_t information = 0;
  uint32_t link = 0;
  uint64_t bytes = 0;
  Bytes content;  // empty for sections without content (shared memory)
};

std::vector<Section> SectionsOf(const Reader& elf) {
  constexpr uint16_t kMostSections = 65535;
  constexpr uint32_t kNoBits = 8;
  const uint64_t table = elf.Get<uint64_t>(0x28);
  const uint16_t entry = elf.Get<uint16_t>(0x3a), names = elf.Get<uint16_t>(0x3e);
  const uint16_t count = std::min(elf.Get<uint16_t>(0x3c), kMostSections);
  std::vector<Section> sections;
  if (entry < 64 || table > elf.size() || uint64_t{entry} * count > elf.size() - table) {
    return sections;
  }
  const uint64_t name_header = table + uint64_t{entry} * names;
  const Reader text(
      elf.Part(elf.Get<uint64_t>(name_header + 24), elf.Get<uint64_t>(name_header + 32)));
  for (uint16_t i = 0; i < count; ++i) {
    const uint64_t at = table + uint64_t{entry} * i;
    Section section;
    section.name = text.Text(elf.Get<uint32_t>(at));
    section.bytes = elf.Get<uint64_t>(at + 32);
    section.link = elf.Get<uint32_t>(at + 40);
    section.information = elf.Get<uint32_t>(at + 44);
    if (elf.Get<uint32_t>(at + 4) != kNoBits) {
      section.content = elf.Part(elf.Get<uint64_t>(at + 24), section.bytes);
    }
    sections.push_back(section);
  }
  return sections;
}

// Visits the attributes of .nv.info. Each attribute has a format, a number and a value of two bytes
// or of a given length.
template <typename Visit>
void EachAttribute(Bytes content, Visit&& visit) {
  constexpr unsigned char kNoValue = 1, kByte = 2, kHalf = 3, kSized = 4;
  const Reader reader(content);
  for (uint64_t at = 0; at + 4 <= content.size();) {
    const auto format = reader.Get<unsigned char>(at), number = reader.Get<unsigned char>(at + 1);
    const auto half = reader.Get<uint16_t>(at + 2);
    at += 4;
    switch (format) {
      case kNoValue:
      case kByte:
      case kHalf:
        visit(number, half, Reader({}));
        break;
      case kSized:
        visit(number, half, Reader(reader.Part(at, half)));
        at += half;
        break;
      default:
        return;
    }
  }
}

constexpr std::string_view kText = ".text.", kInfo = ".nv.info.", kShared = ".nv.shared.",
                           kConstant = ".nv.constant0.";

std::optional<std::string> After(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) ? std::optional(std::string(name.substr(prefix.size())))
                                  : std::nullopt;
}

Bytes Image(const void* image, size_t bytes) {
  return {static_cast<const unsigned char*>(image), bytes};
}

}  // namespace

size_t ImageBytes(const void* image) {
  if (image == nullptr) {
    return 0;
  }
  uint64_t bytes = 0;
  switch (At<uint32_t>(image, 0)) {
    case kElf: {
      const uint64_t sections = At<uint64_t>(image, 0x28) +
                                uint64_t{At<uint16_t>(image, 0x3a)} * At<uint16_t>(image, 0x3c);
      const uint64_t segments = At<uint64_t>(image, 0x20) +
                                uint64_t{At<uint16_t>(image, 0x36)} * At<uint16_t>(image, 0x38);
      bytes = std::max(sections, segments);
      break;
    }
    case kFatBinary:
      bytes = At<uint64_t>(image, 8) + At<uint16_t>(image, 6);
      break;
    default:
      break;
  }
  return bytes <= kLargestImage ? bytes : 0;
}

std::vector<CodeEntry> EntriesOf(Bytes fat_binary) {
  constexpr uint16_t kCubin = 2, kPtx = 1;
  constexpr uint64_t kLz4 = 0x2000, kZstd = 0x8000, kSpecific = 0x100000;
  const Reader reader(fat_binary);
  std::vector<CodeEntry> entries;
  if (reader.Get<uint32_t>(0) != kFatBinary) {
    return entries;
  }
  for (uint64_t at = reader.Get<uint16_t>(6); at < fat_binary.size();) {
    const auto kind = reader.Get<uint16_t>(at);
    const auto header = reader.Get<uint32_t>(at + 4);
    const auto bytes = reader.Get<uint64_t>(at + 8);
    const auto packed = reader.Get<uint32_t>(at + 16);
    const auto flags = reader.Get<uint64_t>(at + 40);
    if (header < 64 || header > fat_binary.size() - at || bytes > fat_binary.size() - at - header) {
      break;
    }
    CodeEntry entry;
    entry.is_cubin = kind == kCubin;
    entry.architecture = static_cast<int>(reader.Get<uint32_t>(at + 28));
    entry.specific = (flags & kSpecific) != 0;
    const bool is_packed = (flags & (kLz4 | kZstd)) != 0 && packed > 0;
    entry.compression = !is_packed             ? CodeEntry::Compression::kNone
                        : (flags & kZstd) != 0 ? CodeEntry::Compression::kZstd
                                               : CodeEntry::Compression::kLz4;
    entry.bytes = reader.Part(at + header, is_packed ? std::min<uint64_t>(packed, bytes) : bytes);
    entry.unpacked_bytes = is_packed ? reader.Get<uint64_t>(at + 56) : entry.bytes.size();
    if (kind == kCubin || kind == kPtx) {
      entries.push_back(entry);
    }
    at += header + bytes;
  }
  return entries;
}

const CodeEntry* ChooseEntry(std::span<const CodeEntry> entries, int compute_capability) {
  const CodeEntry* chosen = nullptr;
  for (const CodeEntry& entry : entries) {
    const bool runs = entry.is_cubin
                          ? entry.architecture / 10 == compute_capability / 10 &&
                                entry.architecture <= compute_capability &&
                                (!entry.specific || entry.architecture == compute_capability)
                          : entry.architecture <= compute_capability && !entry.specific;
    if (!runs) {
      continue;
    }
    const auto rank = [](const CodeEntry& e) {
      return std::make_pair(e.is_cubin, int64_t{e.architecture} * 2 + (e.specific ? 1 : 0));
    };
    if (chosen == nullptr || rank(*chosen) < rank(entry)) {
      chosen = &entry;
    }
  }
  return chosen;
}

std::optional<std::vector<unsigned char>> Unpack(const CodeEntry& entry) {
  // Refuses compression ratios above 300, because real files have none. A damaged length could
  // otherwise cause a huge allocation.
  if (entry.unpacked_bytes == 0 || entry.unpacked_bytes > kLargestImage ||
      entry.unpacked_bytes / 300 > entry.bytes.size() + 1024) {
    return std::nullopt;
  }
  switch (entry.compression) {
    case CodeEntry::Compression::kNone:
      return std::vector<unsigned char>(entry.bytes.begin(), entry.bytes.end());
    case CodeEntry::Compression::kLz4:
      return UnpackLz4(entry.bytes, entry.unpacked_bytes);
    case CodeEntry::Compression::kZstd: {
      std::vector<unsigned char> out(entry.unpacked_bytes);
      const size_t got =
          ZSTD_decompress(out.data(), out.size(), entry.bytes.data(), entry.bytes.size());
      if (ZSTD_isError(got) != 0 || got != out.size()) {
        return std::nullopt;
      }
      return out;
    }
    case CodeEntry::Compression::kUnknown:
      break;
  }
  return std::nullopt;
}

std::unordered_map<std::string, KernelFacts> KernelsOf(Bytes cubin) {
  constexpr unsigned char kMaxThreads = 0x05, kRequiredThreads = 0x10, kFrameBytes = 0x11,
                          kParameterBytes = 0x19, kParameter = 0x17, kParameterV2 = 0x45,
                          kRegisters = 0x2f;
  std::unordered_map<std::string, KernelFacts> kernels;
  const Reader elf(cubin);
  if (elf.Get<uint32_t>(0) != kElf) {
    return kernels;
  }
  const std::vector<Section> sections = SectionsOf(elf);
  for (const Section& section : sections) {
    if (const auto name = After(section.name, kText)) {
      KernelFacts& facts = kernels[*name];
      facts.read = true;
      // Older files store the number of registers here. Newer files store it in .nv.info (read
      // below).
      if (const int registers = static_cast<int>(section.information >> 24); registers > 0) {
        facts.registers = registers;
      }
    }
  }
  const auto find = [&](const std::optional<std::string>& name) -> KernelFacts* {
    const auto it = name ? kernels.find(*name) : kernels.end();
    return it == kernels.end() ? nullptr : &it->second;
  };
  for (const Section& section : sections) {
    if (KernelFacts* facts = find(After(section.name, kShared))) {
      facts->static_shared = static_cast<int>(std::min<uint64_t>(section.bytes, 1 << 20));
    } else if (KernelFacts* facts = find(After(section.name, kConstant))) {
      facts->constant_bytes = static_cast<int>(std::min<uint64_t>(section.bytes, 1 << 20));
    } else if (KernelFacts* facts = find(After(section.name, kInfo))) {
      EachAttribute(section.content, [&](unsigned char number, uint16_t half, Reader value) {
        if (number == kMaxThreads || number == kRequiredThreads) {
          const uint64_t threads =
              uint64_t{value.Get<uint32_t>(0)} * value.Get<uint32_t>(4) * value.Get<uint32_t>(8);
          if (threads > 0) {
            facts->most_threads = static_cast<int>(std::min<uint64_t>(threads, 1024));
          }
        } else if (number == kParameterBytes) {
          facts->parameter_bytes = half;
        } else if (number == kParameter || number == kParameterV2) {
          // Kernels whose parameters take more than 4 KiB use the second form.
          const uint64_t bytes =
              number == kParameter ? value.Get<uint32_t>(8) >> 18 : value.Get<uint16_t>(8);
          const auto index = value.Get<uint16_t>(4);
          if (index < KernelFacts::kMostParameters) {
            facts->parameters.resize(std::max<size_t>(facts->parameters.size(), index + 1));
            facts->parameters[index] = static_cast<uint16_t>(bytes);
          }
        }
      });
    } else if (section.name == ".nv.info" && section.link < sections.size()) {
      const Reader symbols(sections[section.link].content);
      const uint32_t text = sections[section.link].link;
      const Reader names(text < sections.size() ? sections[text].content : Bytes{});
      EachAttribute(section.content, [&](unsigned char number, uint16_t, Reader value) {
        if (number != kRegisters && number != kFrameBytes) {
          return;
        }
        const uint64_t symbol = uint64_t{value.Get<uint32_t>(0)} * 24;
        KernelFacts* facts = find(std::string(names.Text(symbols.Get<uint32_t>(symbol))));
        const int amount = static_cast<int>(std::min<uint32_t>(value.Get<uint32_t>(4), 1 << 20));
        if (facts != nullptr && number == kRegisters && amount > 0) {
          facts->registers = std::min(amount, 255);
        } else if (facts != nullptr && number == kFrameBytes) {
          facts->local_bytes = amount;
        }
      });
    }
  }
  return kernels;
}

DeviceCode ParseImage(const void* image, int compute_capability) {
  DeviceCode code;
  code.architecture = code.ptx_architecture = compute_capability;
  if (image != nullptr && At<uint32_t>(image, 0) == kWrapper) {
    image = At<const void*>(image, 8);
  }
  const size_t bytes = ImageBytes(image);
  if (bytes == 0) {
    return code;
  }
  if (At<uint32_t>(image, 0) == kElf) {
    CodeEntry entry;
    entry.is_cubin = true;
    entry.bytes = Image(image, bytes);
    entry.unpacked_bytes = bytes;
    code.entry = entry;
    return code;
  }
  const std::vector<CodeEntry> entries = EntriesOf(Image(image, bytes));
  const CodeEntry* entry = ChooseEntry(entries, compute_capability);
  code.runs = entry != nullptr || entries.empty();
  if (entry != nullptr) {
    code.entry = *entry;
    code.ptx_architecture = entry->architecture;
    code.architecture = entry->is_cubin ? entry->architecture : compute_capability;
  }
  return code;
}

void ReadKernels(DeviceCode* code) {
  if (!code->entry) {
    code->problem = code->runs ? "no machine code" : "no code for this GPU";
  } else if (!code->entry->is_cubin) {
    code->problem = "PTX, which the driver compiles";
  } else if (code->entry->compression == CodeEntry::Compression::kNone) {
    code->kernels = KernelsOf(code->entry->bytes);
  } else if (const auto cubin = Unpack(*code->entry)) {
    code->kernels = KernelsOf(*cubin);
  } else {
    code->problem = "unknown compression, or damaged";
  }
}

}  // namespace vramscope::emulated
