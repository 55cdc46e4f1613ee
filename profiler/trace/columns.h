// Lists the columns of every table of a Trace, for code that treats all columns alike.
//
//   ForEachColumn([n](auto& column) { column.reserve(n); }, trace.retags);
//   ForEachColumn([&](const auto& from, auto& to) { Keep(rows, from, &to); }, a.retags, b.retags);
//
// Stateless.
#pragma once

#include <tuple>
#include <utility>

#include "profiler/trace/trace.h"

namespace vramscope::trace {

// The overloads accept const and non-const tables.
constexpr auto ColumnsOf(const EventTable&) {
  using T = EventTable;
  return std::tuple(&T::kind, &T::time_ns, &T::id, &T::category, &T::detail, &T::bytes,
                    &T::bytes_rounded, &T::name, &T::stack, &T::user_metadata, &T::compile_context);
}
constexpr auto ColumnsOf(const AllocationTable&) {
  using T = AllocationTable;
  return std::tuple(&T::alloc_event, &T::free_requested_event, &T::free_event, &T::begin_ns,
                    &T::end_ns, &T::bytes, &T::bytes_rounded, &T::address, &T::stream, &T::device,
                    &T::pool, &T::birth_category, &T::category, &T::main_category, &T::op,
                    &T::module, &T::phase, &T::step, &T::micro_batch, &T::segment);
}
constexpr auto ColumnsOf(const RetagTable&) {
  using T = RetagTable;
  return std::tuple(&T::event, &T::allocation, &T::from, &T::to);
}
constexpr auto ColumnsOf(const SegmentTable&) {
  using T = SegmentTable;
  return std::tuple(&T::alloc_event, &T::free_event, &T::bytes, &T::address, &T::stream, &T::device,
                    &T::pool, &T::expandable, &T::mempool);
}
constexpr auto ColumnsOf(const SliceTable&) {
  using T = SliceTable;
  return std::tuple(&T::kind, &T::begin_ns, &T::end_ns, &T::begin_event, &T::end_event, &T::name,
                    &T::module, &T::number, &T::step, &T::depth, &T::thread);
}
constexpr auto ColumnsOf(const OtherEventTable&) {
  using T = OtherEventTable;
  return std::tuple(&T::event, &T::address, &T::stream, &T::thread, &T::device, &T::pool,
                    &T::module);
}

constexpr auto ColumnsOf(const ActivityTable&) {
  using T = ActivityTable;
  return std::tuple(&T::kind, &T::device, &T::from, &T::to, &T::stream, &T::thread, &T::name,
                    &T::op, &T::module, &T::correlation, &T::address, &T::bytes, &T::begin_ns,
                    &T::end_ns);
}

// Calls visit(column of the first table, same column of the second, ...) for every column.
template <class Visit, class Table, class... Tables>
void ForEachColumn(Visit visit, Table& table, Tables&... more) {
  const auto visit_one = [&](auto column) { visit(table.*column, more.*column...); };
  std::apply(
      [&](auto... column) {
        // This fails if a column was added to a table, but not to the lists above.
        static_assert(sizeof(table) == (sizeof(table.*column) + ...));
        (visit_one(column), ...);
      },
      ColumnsOf(table));
}

}  // namespace vramscope::trace
