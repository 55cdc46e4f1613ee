// For the rules that know PyTorch's kernels: parses the C++ names of kernels and reads words from
// launch parameters. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vramscope::emulated {

std::string Demangled(const char* name);  // empty: the name is not mangled
bool Contains(std::string_view text, std::string_view part);
std::string_view Trimmed(std::string_view text);
// Splits "int, std::array<char*, 2ul>" at its outermost commas.
std::vector<std::string> Parts(std::string_view list);
// Splits "void f<int>(A, B)" into "void f<int>" and {"A", "B"}.
std::pair<std::string, std::vector<std::string>> SignatureOf(const std::string& text);
// "at::native::Functor<float, 2, 1, 1>" becomes "Functor" and its arguments.
struct Template {
  std::string_view name;
  std::vector<std::string> arguments;
};
Template TemplateOf(std::string_view type);
int NumberOf(std::string_view text);  // -1: not a number

constexpr uint64_t kLeastAddress = uint64_t{1} << 32;  // larger than any number of elements
uint64_t WordAt(void** parameters, size_t parameter, size_t at);

// Returns the size of an at::OffsetCalculator for `tensors` tensors of up to 25
// dimensions.
constexpr size_t OffsetCalculatorBytes(int tensors) { return 4 + 25 * 12 + 25 * 4 * tensors; }
constexpr size_t BehindOffsetCalculator(int tensors) {
  return (OffsetCalculatorBytes(tensors) + 7) / 8 * 8;
}

}  // namespace vramscope::emulated
