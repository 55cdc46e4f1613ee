// Tests that exceptions become statuses, even if there is no memory for a message.
#include "profiler/trace/catch_status.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

namespace {
bool out_of_memory = false;  // every allocation fails

void* Allocate(std::size_t size) {
  if (out_of_memory) throw std::bad_alloc();
  if (void* at = std::malloc(size == 0 ? 1 : size)) return at;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t size) { return Allocate(size); }
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }

namespace vramscope::trace {
namespace {

template <class Exception>
absl::Status Thrown(const Exception& exception) {
  absl::Status status = CatchStatus([&]() -> absl::Status {
    out_of_memory = true;
    throw exception;
  });
  out_of_memory = false;
  return status;
}

TEST(CatchStatus, WorksWithoutFreeMemory) {
  const absl::Status memory =
      absl::ResourceExhaustedError("this computer does not have enough free memory");
  EXPECT_EQ(Thrown(std::bad_alloc()), memory);
  EXPECT_EQ(Thrown(std::bad_alloc()), memory) << "the second time";
  EXPECT_EQ(Thrown(std::length_error("vector")), memory);
  EXPECT_EQ(Thrown(std::runtime_error("a reason that takes memory to say")),
            absl::InternalError("unexpected error"));
  EXPECT_EQ(Thrown(42), absl::InternalError("unexpected error"));
}

TEST(CatchStatus, ReportsMessageOfTheException) {
  EXPECT_EQ(CatchStatus([]() -> absl::Status { throw std::runtime_error("why"); }),
            absl::InternalError("unexpected error: why"));
  EXPECT_EQ(CatchStatus([] {}), absl::OkStatus());
  EXPECT_EQ(*CatchStatus([] { return 7; }), 7);
}

}  // namespace
}  // namespace vramscope::trace
