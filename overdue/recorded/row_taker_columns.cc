#include <algorithm>
#include <cstring>

#include "overdue/recorded/four_numbers.h"
#include "overdue/recorded/row_taker.h"

// The usual rows of a block, column by column: a loop over one column keeps what it needs at hand, and
// numbers are read four at once. A row that is not usual among them, and the rows are read one by one.

namespace overdue {
namespace {

// Calls read_four(row) from the first row on, which returns the row it came to, and reads four one by one
// where it gets no further. False where read_one(row) is.
template <typename ReadFour, typename ReadOne>
bool read_column(std::size_t rows, const ReadFour& read_four, const ReadOne& read_one) {
  for (std::size_t row = read_four(0); row < rows; row = read_four(row)) {
    for (const std::size_t end = std::min(row + 4, rows); row < end; ++row) {
      if (!read_one(row)) return false;
    }
  }
  return true;
}

}  // namespace

bool RowTaker::read_latencies(const BlockFields& block, RowPass& pass) const {
  Duration* const elapsed = pass.columns.elapsed.data();
  return read_column(
      block.rows, [&](std::size_t row) { return four_decimals(block, latency_, power_, row, elapsed); },
      [&](std::size_t row) { return read_latency<true>(block.text_of(row, latency_), elapsed[row], pass); });
}

bool RowTaker::read_starts(const BlockFields& block, RowPass& pass) const {
  WallTime* const start = pass.columns.start.data();
  return read_column(
      block.rows,
      [&](std::size_t row) { return four_times(block, start_, pass.epochs.beginning(), row, start); },
      [&](std::size_t row) { return read_start<true>(block.text_of(row, start_), start[row], pass); });
}

// Most rows end as the one before: four characters, the separator behind the status among them, say so.
bool RowTaker::read_statuses(const BlockFields& block, RowPass& pass) const {
  Ending* const endings = pass.columns.ending.data();
  std::uint32_t known = 0;
  Ending ending = Ending::replied;
  const std::uint32_t* place = block.places + status_;
  for (std::size_t row = 0; row < block.rows; ++row, place += block.fields) {
    std::uint32_t four = 0;
    std::memcpy(&four, block.text + std::uint32_t{place[-1] + 1}, sizeof four);
    if (four != known || row == 0) {
      if (!read_status(block.text_of(row, status_), ending)) return false;
      if (ending == Ending::refused) return false;  // Never waited.
      known = four;
    }
    endings[row] = ending;
  }
  return true;
}

void RowTaker::read_backends(const BlockFields& block, RowPass& pass) const {
  std::uint16_t* const backends = pass.columns.backend.data();
  const std::uint32_t* place = block.places + backend_;
  for (std::size_t row = 0; row < block.rows; ++row, place += block.fields) {
    const std::uint32_t begin = place[-1] + 1;
    const std::string_view name(block.text + begin, *place - begin);
    backends[row] = pass.backends.id_of(name, [&] { return pass.sink.names.backends.id_of(name); });
  }
}

bool RowTaker::take_columns(const BlockFields& block, RowPass& pass) const {
  AttemptColumns& columns = pass.columns;
  columns.size = block.rows;
  if (!read_latencies(block, pass)) return false;
  if (status_ == kNone) {
    std::fill_n(columns.ending.begin(), block.rows, Ending::replied);
  } else if (!read_statuses(block, pass)) {
    return false;
  }
  columns.has_start = start_ != kNone;
  if (columns.has_start && !read_starts(block, pass)) return false;
  // Last, so that a row that is set aside names nothing.
  if (backend_ == kNone) {
    std::fill_n(columns.backend.begin(), block.rows, std::uint16_t{0});
  } else {
    read_backends(block, pass);
  }
  pass.sink.add(columns);
  return true;
}

}  // namespace overdue
