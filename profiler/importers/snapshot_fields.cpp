// Converts dicts to rows. The keys of a dict determine its table.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "profiler/base/i18n.h"
#include "profiler/importers/printable.h"
#include "profiler/importers/row_memory.h"
#include "profiler/importers/snapshot_builder.h"

namespace vramscope::importers {
namespace {

using Kind = Value::Kind;

constexpr size_t kMaxSegments = size_t{1} << 22;
// Times are limited to the years 1963 to 2255. The difference of any two, in ns, then fits into an
// int64.
constexpr int64_t kMinTimeUs = -200'000'000'000'000, kMaxTimeUs = 9'000'000'000'000'000;

constexpr uint64_t kSnapshotKeys =
    Bits(Key::kSegments, Key::kDeviceTraces, Key::kAllocatorSettings, Key::kExternalAnnotations,
         Key::kHostSegments, Key::kHostTraces);
constexpr uint64_t kSegmentKeys = Bits(Key::kTotalSize, Key::kSegmentType, Key::kBlocks);
constexpr uint64_t kBlockKeys = Bits(Key::kState, Key::kHistory);
constexpr uint64_t kFrameKeys = Bits(Key::kFilename, Key::kLine);
constexpr uint64_t kSettingsKeys = Bits(
    Key::kAllocConf, Key::kMaxSplitSize, Key::kGarbageCollectionThreshold, Key::kExpandableSegments,
    Key::kRoundupPower2Divisions, Key::kTraceAllocMaxEntries, Key::kTraceAllocOverflowed);

bool True(const Value& v) {
  return (v.kind == Kind::kBool || v.kind == Kind::kInt) && v.payload != 0;
}

}  // namespace

// --- The kind of a dict.

bool SnapshotBuilder::Fill(Value& dict, Items items) {
  if (items.size() % 2 != 0) return Fail(i18n::Text("a dict has a key without a value"));
  uint64_t keys = 0;
  for (size_t i = 0; i < items.size(); i += 2) {
    if (items[i].kind != Kind::kString)
      return Fail(i18n::Format("a dict has {} as a key", Name(items[i].kind)));
    keys |= Bit(items[i].key);
  }
  switch (dict.kind) {
    case Kind::kOpenDict:
      return items.empty() || FillNew(dict, keys, items);
    case Kind::kDict: {
      Dict& d = dicts_[dict.row()];
      d.keys |= keys;
      d.items.insert(d.items.end(), items.begin(), items.end());
      if (!Charge(items.size() * sizeof(Value))) return false;
      const Dict all = std::move(d);
      Drop({&dict, 1});
      dict.kind = Kind::kOpaque;
      return all.items.size() > 256 || FillNew(dict, all.keys, all.items);
    }
    case Kind::kOpaque:
      Drop(items);
      return true;
    case Kind::kEntries:
      return ChangeEntry(dict.row() + dict.count() - 1, items);
    case Kind::kFrame:
      return FillFrame(dict, items);
    case Kind::kBlocks:
      return FillBlock(dict.row() + dict.count() - 1, items);
    case Kind::kSegments:
      return FillSegment(dict.row() + dict.count() - 1, items);
    case Kind::kAnnotations:
      return FillAnnotation(dict.row() + dict.count() - 1, items);
    case Kind::kHistory:
      return FillHistory(dict.row(), items);
    case Kind::kSettings:
      return FillSettings(items);
    case Kind::kSnapshot:
      return FillSnapshot(items);
    case Kind::kMarks:
      return true;
    default:
      return Fail(i18n::Format("keys are set in {}, which is not a dict", Name(dict.kind)));
  }
}

bool SnapshotBuilder::FillNew(Value& dict, uint64_t keys, Items items) {
  const auto rows = [&](Kind kind, size_t row) {
    const uint32_t memo = dict.memo;
    dict = Value::Rows(kind, static_cast<uint32_t>(row), 1);
    dict.memo = memo;
  };
  if (keys & Bit(Key::kAction)) {
    rows(Kind::kEntries, rows_);
    return AddEntry(items);
  }
  if (keys & kSegmentKeys) {
    if (segments_.size() == kMaxSegments)
      return Fail(i18n::Text("the file has more segments than any device can have"));
    if (!Charge(kMemoryOfSegment)) return false;
    rows(Kind::kSegments, segments_.size());
    segments_.emplace_back();
    return FillSegment(dict.row(), items);
  }
  if (keys & kBlockKeys) {
    if (!Charge(kMemoryOfBlock)) return false;
    rows(Kind::kBlocks, blocks_.size());
    blocks_.emplace_back();
    return FillBlock(dict.row(), items);
  }
  if (keys & Bit(Key::kStage)) {
    if (!Charge(kMemoryOfAnnotation)) return false;
    rows(Kind::kAnnotations, parts_.annotations.size());
    parts_.annotations.emplace_back();
    return FillAnnotation(dict.row(), items);
  }
  if (keys & kFrameKeys) return FillFrame(dict, items);
  if (keys & Bit(Key::kRealSize)) {
    if (!Charge(2 * sizeof(History))) return false;
    rows(Kind::kHistory, histories_.size());
    histories_.emplace_back();
    return FillHistory(dict.row(), items);
  }
  if (keys & kSnapshotKeys) {
    dict.kind = Kind::kSnapshot;
    return FillSnapshot(items);
  }
  if (keys & kSettingsKeys) {
    dict.kind = Kind::kSettings;
    return FillSettings(items);
  }
  if (keys & Bit(Key::kInferred)) {
    dict.kind = Kind::kMarks;
    dict.payload = 0;
    for (size_t i = 0; i < items.size(); i += 2)
      if (items[i].key == Key::kInferred) dict.payload = True(items[i + 1]);
    Drop(items);
    return true;
  }
  return Keep(dict, items);
}

bool SnapshotBuilder::Keep(Value& dict, Items items) {
  if (!Charge(MemoryOfDict(items.size()))) return false;
  uint32_t row;
  if (free_dicts_.empty()) {
    row = static_cast<uint32_t>(dicts_.size());
    dicts_.emplace_back();
  } else {
    row = free_dicts_.back();
    free_dicts_.pop_back();
  }
  Dict& d = dicts_[row];
  for (size_t i = 0; i < items.size(); i += 2) d.keys |= Bit(items[i].key);
  d.items.assign(items.begin(), items.end());
  for (size_t i = 1; i < items.size(); i += 2)
    if (items[i].kind == Kind::kDict) {
      Drop(items.subspan(i, 1));
      dicts_[row].items[i] = Value();
    }
  dict.kind = Kind::kDict;
  dict.payload = row;
  return true;
}

// --- Values.

bool SnapshotBuilder::Number(const Value& key, const Value& value, uint64_t* out) {
  switch (value.kind) {
    case Kind::kInt:
    case Kind::kBool:
      *out = value.payload;
      return true;
    case Kind::kFloat: {
      const double number = std::bit_cast<double>(value.payload);
      if (!(number >= 0 && number < 0x1p63))
        return Fail(i18n::Format("'{}' is {}, which is not a size, address or time",
                                 Printable(Text(key)), number));
      *out = static_cast<uint64_t>(number);
      return true;
    }
    case Kind::kOpaque:  // None
      return true;
    default:
      return Fail(i18n::Format("'{}' is {}, not a number", Printable(Text(key)), Name(value.kind)));
  }
}

bool SnapshotBuilder::Bytes(const Value& key, const Value& value, uint64_t* out) {
  if (!Number(key, value, out)) return false;
  if (*out <= kMaxBytes) return true;
  return Fail(
      i18n::Format("'{}' is {} bytes, more than any device has", Printable(Text(key)), *out));
}

// Also accepts negative times in two's complement. Some old files, and files of vramscope, give
// them to entries whose time is unknown.
bool SnapshotBuilder::Time(const Value& value, int64_t* us) {
  if (value.kind == Kind::kInt || value.kind == Kind::kBool) {
    *us = static_cast<int64_t>(value.payload);
  } else if (value.kind == Kind::kFloat &&
             std::abs(std::bit_cast<double>(value.payload)) < 0x1p63) {
    *us = static_cast<int64_t>(std::bit_cast<double>(value.payload));
  } else {
    return Fail(i18n::Format("'time_us' is {}, not a time", Name(value.kind)));
  }
  if (*us > kMaxTimeUs || *us < kMinTimeUs)
    return Fail(i18n::Format("'time_us' is {}, outside the range of a clock", *us));
  return true;
}

bool SnapshotBuilder::Stack(const Value& value, trace::StackId* out) {
  if (value.kind == Kind::kStack)
    out->value = value.row();
  else if (value.kind != Kind::kOpenList && value.kind != Kind::kOpaque)
    return Fail(i18n::Format("'frames' is {}", Name(value.kind)));
  return true;
}

uint32_t SnapshotBuilder::Stream(uint64_t stream) {
  if (stream == last_stream_) return last_stream_row_;
  std::vector<uint64_t>& all = parts_.recording.streams;
  const auto [it, fresh] = streams_.try_emplace(stream, static_cast<uint32_t>(all.size()));
  if (fresh) all.push_back(stream);
  last_stream_ = stream;
  last_stream_row_ = it->second;
  return last_stream_row_;
}

bool SnapshotBuilder::RecordedString(const Value& value, uint32_t* out) {
  *out = 0;
  if (value.kind != Kind::kString || value.row() == 0) return true;
  if (recorded_.size() <= value.row()) recorded_.resize(strings_.size(), 0);
  uint32_t& id = recorded_[value.row()];
  if (id == 0) {
    const std::string_view text = Text(value);
    if (!Charge(kMemoryOfString + kMemoryOfStringByte * text.size())) return false;
    id = static_cast<uint32_t>(parts_.recording.strings.size());
    parts_.recording.strings.emplace_back(text);
  }
  *out = id;
  return true;
}

// --- Frames, blocks, segments, annotations.

bool SnapshotBuilder::FillFrame(Value& frame, Items items) {
  trace::StackTable& table = parts_.recording.stacks;
  trace::StringId function, file;
  uint32_t line = 0;
  if (frame.kind == Kind::kFrame) {
    function = table.function[frame.row()];
    file = table.file[frame.row()];
    line = table.line[frame.row()];
  }
  for (size_t i = 0; i < items.size(); i += 2) {
    const Value& v = items[i + 1];
    if (items[i].key == Key::kName) {
      if (!RecordedString(v, &function.value)) return false;
    } else if (items[i].key == Key::kFilename) {
      if (!RecordedString(v, &file.value)) return false;
    } else if (items[i].key == Key::kLine) {
      uint64_t number = 0;
      if (!Number(items[i], v, &number)) return false;
      // Some tools write a negative int32 as the line number of a frame without a line.
      const auto below = static_cast<int64_t>(number);
      const bool kept = number <= UINT32_MAX || (below < 0 && below >= INT32_MIN);
      line = kept ? static_cast<uint32_t>(number) : 0;
    }
  }
  Drop(items);
  if (table.frame_count() == UINT32_MAX)
    return Fail(i18n::Text("the file has more frames than can be stored"));
  const uint32_t frames = table.frame_count();
  frame.kind = Kind::kFrame;
  frame.payload = stacks_.Frame(function, file, line);
  return table.frame_count() == frames || Charge(kMemoryOfFrame);
}

bool SnapshotBuilder::FillBlock(uint32_t row, Items items) {
  recording::BlockState& b = blocks_[row];
  for (size_t i = 0; i < items.size(); i += 2) {
    const Value& v = items[i + 1];
    bool good = true;
    switch (items[i].key) {
      case Key::kAddress:
        good = Number(items[i], v, &b.address);
        break;
      case Key::kSize:
        good = Bytes(items[i], v, &b.bytes);
        break;
      case Key::kRequestedSize:
        good = Bytes(items[i], v, &b.requested);
        break;
      case Key::kState:
        if (v.kind != Kind::kString) return Fail(i18n::Text("'state' is not a string"));
        b.use = UseOf(Text(v));
        good = b.use == recording::BlockUse::kInactive || Charge(kMemoryOfUsedBlock);
        break;
      case Key::kFrames:
        good = Stack(v, &b.stack);
        break;
      case Key::kHistory:
        if (v.kind == Kind::kHistory && v.row() < histories_.size()) {
          const History& h = histories_[v.row()];
          if (b.requested == 0) b.requested = h.real_size;
          if (b.stack.value == 0) b.stack = h.stack;
        }
        break;
      case Key::kCategory:
        if (const uint8_t category = RecordedCategory(v); category != SnapshotParts::kNoCategory)
          b.recorded_category =
              static_cast<trace::Category>(category + 1);  // FinishSnapshot converts it
        break;
      default:
        break;
    }
    if (!good) return false;
  }
  Drop(items);
  return true;
}

// Returns the category of an entry. A number is an index into the file's `categories`.
uint8_t SnapshotBuilder::RecordedCategory(const Value& v) {
  if (v.kind == Kind::kInt && !v.negative && v.payload < SnapshotParts::kNamedCategory)
    return static_cast<uint8_t>(v.payload);
  if (v.kind != Kind::kString) return SnapshotParts::kNoCategory;
  return SnapshotParts::kNamedCategory + static_cast<uint8_t>(strings_.category(v.row()));
}

bool SnapshotBuilder::FillHistory(uint32_t row, Items items) {
  History& h = histories_[row];
  for (size_t i = 0; i < items.size(); i += 2) {
    if (items[i].key == Key::kFrames && !Stack(items[i + 1], &h.stack)) return false;
    if (items[i].key == Key::kRealSize && !Bytes(items[i], items[i + 1], &h.real_size))
      return false;
  }
  Drop(items);
  return true;
}

bool SnapshotBuilder::FillSegment(uint32_t row, Items items) {
  recording::SegmentState& s = segments_[row];
  for (size_t i = 0; i < items.size(); i += 2) {
    const Value& v = items[i + 1];
    bool good = true;
    uint64_t number = 0;
    switch (items[i].key) {
      case Key::kAddress:
        good = Number(items[i], v, &s.address);
        break;
      case Key::kTotalSize:
        good = Bytes(items[i], v, &s.bytes);
        break;
      case Key::kStream:
        good = Number(items[i], v, &number);
        s.stream = Stream(number);
        break;
      case Key::kDevice:
        good = Number(items[i], v, &number);
        if (number > 255)
          return Fail(i18n::Format("a segment is on device {}; the limit is 255", number));
        s.device = static_cast<uint8_t>(number);
        break;
      case Key::kSegmentType:
        s.pool = v.kind == Kind::kString && Text(v) == "large" ? trace::Pool::kLarge
                                                               : trace::Pool::kSmall;
        break;
      case Key::kSegmentPoolId:
        if (v.kind == Kind::kPair)
          s.mempool = static_cast<uint32_t>(std::min<uint64_t>(v.payload >> 32, 0xffff) << 16 |
                                            std::min<uint64_t>(v.payload & 0xffffffff, 0xffff));
        break;
      case Key::kIsExpandable:
        s.expandable = True(v);
        break;
      case Key::kFrames:
        good = Stack(v, &s.stack);
        break;
      case Key::kBlocks:
        if (v.kind == Kind::kBlockList) {
          if (size_t{v.row()} + v.count() > blocks_.size())
            return Fail(i18n::Text("a list of blocks is used twice"));
          const auto from = blocks_.begin() + v.row();
          s.blocks.assign(from, from + v.count());
          // The blocks of this segment are usually the last rows of blocks_. Removing them keeps
          // blocks_ as small as one segment needs.
          if (size_t{v.row()} + v.count() == blocks_.size()) blocks_.resize(v.row());
        } else if (v.kind != Kind::kOpenList && v.kind != Kind::kOpaque) {
          return Fail(i18n::Format("'blocks' is {}", Name(v.kind)));
        }
        break;
      default:
        break;
    }
    if (!good) return false;
  }
  Drop(items);
  return true;
}

bool SnapshotBuilder::FillAnnotation(uint32_t row, Items items) {
  SnapshotParts::AnnotationMark& a = parts_.annotations[row];
  for (size_t i = 0; i < items.size(); i += 2) {
    const Value& v = items[i + 1];
    uint64_t number = 0;
    if (items[i].key == Key::kStage) {
      a.begin = v.kind == Kind::kString && Text(v) == "START";
    } else if (items[i].key == Key::kName) {
      if (!RecordedString(v, &a.name)) return false;
    } else if (items[i].key == Key::kDevice) {
      if (!Number(items[i], v, &number)) return false;
      a.device = number > 255 ? 0 : static_cast<uint8_t>(number);
    } else if (items[i].key == Key::kTimeUs) {
      if (!Time(v, &a.time_us)) return false;
    }
  }
  Drop(items);
  return true;
}

// --- Settings and the outermost dict.

bool SnapshotBuilder::FillSettings(Items items) {
  run::AllocConf& conf = parts_.settings;
  for (size_t i = 0; i < items.size(); i += 2) {
    const Value& v = items[i + 1];
    switch (items[i].key) {
      case Key::kAllocConf:
        if (v.kind == Kind::kString && Text(v).size() < 4096) parts_.alloc_conf = Text(v);
        break;
      case Key::kMaxSplitSize:  // -1: none
        if (v.kind == Kind::kInt && !v.negative && v.payload > 0 && v.payload <= kMaxBytes)
          conf.max_split_size = v.payload;
        break;
      case Key::kGarbageCollectionThreshold:
        if (v.kind == Kind::kFloat) {
          const double share = std::bit_cast<double>(v.payload);
          if (share > 0 && share < 1) conf.garbage_collection_threshold = share;
        }
        break;
      case Key::kExpandableSegments:
        conf.expandable_segments = True(v);
        break;
      case Key::kRoundupPower2Divisions:
        if (v.kind != Kind::kDict) break;
        // Keys are powers of two in MiB: "1", "2", "4" ...
        for (Items d = dicts_[v.row()].items; d.size() >= 2; d = d.subspan(2)) {
          const std::string_view power = Text(d[0]);
          uint32_t mib = 0;
          const auto [end, error] = std::from_chars(power.data(), power.data() + power.size(), mib);
          if (error != std::errc() || end != power.data() + power.size()) continue;
          const auto interval = static_cast<size_t>(std::bit_width(mib)) - 1;
          if (std::has_single_bit(mib) && interval < conf.roundup_power2_divisions.size() &&
              d[1].kind == Kind::kInt && d[1].payload <= 64)
            conf.roundup_power2_divisions[interval] = static_cast<uint32_t>(d[1].payload);
        }
        break;
      case Key::kTraceAllocMaxEntries:
        if (v.kind == Kind::kInt && !v.negative) parts_.max_entries = v.payload;
        break;
      case Key::kTraceAllocOverflowed:
        parts_.recording.overflowed = True(v);
        break;
      default:
        break;
    }
  }
  Drop(items);
  return true;
}

std::vector<SnapshotParts::Rows> SnapshotBuilder::Traces(const Value& value) {
  if (value.kind == Kind::kTrace) return {{value.row(), value.count()}};
  if (value.kind == Kind::kTraces) return traces_[value.row()];
  return {};
}

bool SnapshotBuilder::FillSnapshot(Items items) {
  const auto rows = [](const Value& v) { return SnapshotParts::Rows{v.row(), v.count()}; };
  for (size_t i = 0; i < items.size(); i += 2) {
    const Value& v = items[i + 1];
    const bool empty = v.kind == Kind::kOpenList || v.kind == Kind::kOpaque;
    bool fits = true;
    switch (items[i].key) {
      case Key::kSegments:
        fits = empty || v.kind == Kind::kSegmentList;
        parts_.recording.has_segments = true;
        if (v.kind == Kind::kSegmentList) kept_segments_ = rows(v);
        break;
      case Key::kHostSegments:
        if (v.kind == Kind::kSegmentList) host_segments_ = rows(v);
        break;
      case Key::kDeviceTraces:
        fits = empty || v.kind == Kind::kTraces;
        parts_.traces = Traces(v);
        break;
      case Key::kHostTraces:
        host_traces_ = Traces(v);
        break;
      case Key::kExternalAnnotations:
        fits = empty || v.kind == Kind::kAnnotationList;
        break;
      case Key::kCategories:
        if (v.kind == Kind::kStrings)
          for (const uint32_t row : string_lists_[v.row()])
            parts_.category_names.emplace_back(strings_.Text(row));
        break;
      case Key::kVramscope:
        if (v.kind != Kind::kMarks) break;
        parts_.is_marked = true;
        parts_.recording.labels_are_inferred = v.payload != 0;
        break;
      default:
        break;
    }
    if (!fits) return Fail(i18n::Format("'{}' is {}", Printable(Text(items[i])), Name(v.kind)));
  }
  Drop(items);
  return true;
}

}  // namespace vramscope::importers
