#include "overdue/latency/ending_row.h"

namespace overdue {

void EndingRow::add(Ending ending, std::uint64_t count) {
  switch (ending) {
    case Ending::replied:
      replied += count;
      return;
    case Ending::rejected:
      rejected += count;
      return;
    case Ending::refused:
      return;
    case Ending::reset:
      reset += count;
      return;
    case Ending::timed_out:
      timed_out += count;
      return;
    case Ending::abandoned:
      abandoned += count;
      return;
  }
}

std::uint64_t EndingRow::count_of(Ending ending) const {
  switch (ending) {
    case Ending::replied:
      return replied;
    case Ending::rejected:
      return rejected;
    case Ending::refused:
      return 0;
    case Ending::reset:
      return reset;
    case Ending::timed_out:
      return timed_out;
    case Ending::abandoned:
      return abandoned;
  }
  return 0;
}

std::optional<EndingRow> reply_at(const EndingTable& table, Quantile q) {
  std::uint64_t replied = 0;
  for (const EndingRow& row : table) replied += row.replied;
  if (replied == 0) return std::nullopt;
  const std::uint64_t rank = rank_of(q, replied);
  std::uint64_t seen = 0;
  for (const EndingRow& row : table) {
    seen += row.replied;
    if (seen >= rank) return row;
  }
  return std::nullopt;
}

}  // namespace overdue
