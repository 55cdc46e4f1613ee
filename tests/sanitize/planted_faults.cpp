// Contains faults, so that planted_faults_test.py can check whether this build's sanitizers find
// them. The argument names the fault to run; "nothing" runs none.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

namespace {

// Hides a value from the compiler's optimizer, which could otherwise remove the fault.
template <class T>
T Hidden(T value) {
  volatile T hidden = value;
  return hidden;
}

int UseAfterFree() {
  auto owner = std::make_unique<std::vector<int>>(Hidden(100), 1);
  const int* const first = owner->data();
  owner.reset();
  return first[Hidden(3)];
}

int BeyondTheEnd() {
  const std::unique_ptr<int[]> values(new int[Hidden(8)]());
  return values[Hidden(8)];
}

[[gnu::noinline]] int* LocalsAddress() {
  int local = Hidden(5);
  return Hidden(&local);
}
int UseAfterReturn() { return *LocalsAddress(); }

// Reads beyond a vector's size, but within its capacity. Assertions of the C++ library detect this;
// sanitizer builds enable them.
int BeyondTheSize() {
  std::vector<int> values(4);
  values.reserve(100);
  return values[Hidden(size_t{50})];
}

// Leaks many blocks: the last is not reported if a register or the stack still has its address.
int Leak() {
  for (int i = 0; i < 100; ++i) Hidden(new std::vector<int>(100));
  return 0;
}

int SignedOverflow() { return Hidden(INT32_MAX) + Hidden(1); }

int ShiftTooFar() { return 1 << Hidden(40); }

int FloatTooLarge() { return static_cast<int>(Hidden(1e20)); }

int Race() {
  int counter = 0;
  const auto count = [&counter] {
    for (int i = 0; i < 1000; ++i) *Hidden(&counter) += 1;
  };
  std::thread other(count);
  count();
  other.join();
  return counter;
}

struct Fault {
  std::string_view name;
  int (*commit)();
};
constexpr Fault kFaults[] = {
    {"use_after_free", UseAfterFree},
    {"beyond_the_end", BeyondTheEnd},
    {"use_after_return", UseAfterReturn},
    {"beyond_the_size", BeyondTheSize},
    {"leak", Leak},
    {"signed_overflow", SignedOverflow},
    {"shift_too_far", ShiftTooFar},
    {"float_too_large", FloatTooLarge},
    {"race", Race},
    {"nothing", [] { return 0; }},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  for (const Fault& fault : kFaults) {
    if (fault.name != name) continue;
    std::printf("%d\n", fault.commit());
    return 0;
  }
  std::fprintf(stderr, "planted_faults: \"%s\" is not a known fault\n", argc > 1 ? argv[1] : "");
  return 2;
}
