// Stores shadow contents. Bytes that the host wrote to device memory can be read back until a
// launch may have overwritten them. All other bytes read as zero, never as contents of an earlier
// tensor at that address.
//
//   bytes.Write(device_address, host, 8);
//   bool known = bytes.Read(host, device_address, 8);     // false: zeros
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "emulated/core/api.h"

namespace vramscope::emulated {

class VRAMSCOPE_EMULATED_API HostBytes {
 public:
  static constexpr uint64_t kLargest = uint64_t{4}
                                       << 20;  // limit for a copy; larger copies are not kept
  // The limit for all stored bytes. The oldest bytes are dropped first.
  static constexpr uint64_t kBudget = uint64_t{128} << 20;

  // Stores bytes that the host copied to `address`. There need not be real memory at `address`.
  void Write(uint64_t address, const void* from, uint64_t bytes);
  void Fill(uint64_t address, const void* pattern, uint64_t pattern_bytes, uint64_t count);
  void Move(uint64_t to, uint64_t from, uint64_t bytes);  // device to device
  // Returns false if a byte is unknown. It then reads the known bytes before the first unknown
  // byte, and zeros from there on, because ranks pad their messages to the length of the longest
  // message.
  bool Read(void* to, uint64_t address, uint64_t bytes);

  // Sets the value that this thread reads for a single unknown byte, such as a boolean that PyTorch
  // itself reads back. The default is kFalse.
  enum class Truth : uint8_t { kFalse, kTrue, kTrueOnce };
  static void SetUnknownTruth(Truth truth);

  // For callers that compute values themselves. Marks bytes as equal or as not equal to the bytes
  // on a real GPU. Marked bytes stay known after launches, unlike bytes that were only copied in.
  void Keep(uint64_t address, uint64_t bytes, bool known);
  bool IsKnown(uint64_t address, uint64_t bytes) const;
  // Returns the number of bytes before the first unknown byte of the range.
  uint64_t KnownPrefix(uint64_t address, uint64_t bytes) const;
  // Returns the number of nonzero elements, or nullopt if any byte is unknown.
  std::optional<uint64_t> CountNonZero(uint64_t address, uint64_t elements,
                                       uint64_t element_bytes) const;

  // Announces that another process sends a message into the range. A GPU would receive the message
  // while the host continues. `arrive` is called once, without locks held: with true before the
  // bytes are read (it must then wait for the message and write its bytes), or with false if
  // something else was written into the range. Returns a number for ExpectNoMore.
  using Arrive = std::function<void(bool needed)>;
  uint64_t Expect(uint64_t address, uint64_t bytes, Arrive arrive);
  void ExpectNoMore(uint64_t number);
  // Waits for all messages, as cudaDeviceSynchronize does.
  void AwaitMessages() const { Due(0, ~uint64_t{0}, true); }

  // Call Overwritten() when a library's call wrote to the range, and Freed() when the range was
  // freed.
  void Overwritten(uint64_t address, uint64_t bytes);
  void Freed(uint64_t address, uint64_t bytes);
  // Call when a kernel was launched that writes at most `extent` bytes from each of `pointers`.
  void Launched(std::span<const uint64_t> pointers, uint64_t extent);
  // Call when an unknown kernel was launched. The kernel may overwrite all bytes that were only
  // copied in.
  void LaunchedUnknown();

  // Returns whether there are bytes or expected messages that a launch could overwrite.
  bool HasFleeting() const {
    return fleeting_.load(std::memory_order_relaxed) > 0 ||
           expecting_.load(std::memory_order_relaxed) > 0;
  }
  uint64_t known_bytes() const;

 private:
  struct Range {
    uint64_t bytes = 0;
    uint64_t age = 0;
    bool pinned = false;
  };
  using Ranges = std::map<uint64_t, Range>;
  void Remove(uint64_t address, uint64_t bytes, bool also_pinned);
  void Insert(uint64_t address, uint64_t bytes, bool pinned);
  uint64_t PrefixLocked(uint64_t address, uint64_t bytes) const;
  bool KnownLocked(uint64_t address, uint64_t bytes) const;
  // Calls the functions of the messages that are expected in the range.
  void Due(uint64_t address, uint64_t bytes, bool needed) const;
  Ranges::iterator Put(uint64_t address, const Range& range);
  Ranges::iterator Drop(Ranges::iterator it);

  mutable std::mutex mutex_;
  Ranges ranges_;
  uint64_t bytes_ = 0;
  uint64_t age_ = 0;
  std::atomic<uint64_t> fleeting_{0};  // ranges that launches can make unknown

  struct Expected {
    uint64_t number = 0, address = 0, bytes = 0;
    Arrive arrive;
  };
  mutable std::mutex expected_mutex_;  // never locked at the same time as mutex_
  mutable std::vector<Expected> expected_;
  mutable std::atomic<size_t> expecting_{0};
  uint64_t last_expected_ = 0;
};

}  // namespace vramscope::emulated
