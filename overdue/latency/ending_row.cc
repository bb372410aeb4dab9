#include "overdue/latency/ending_row.h"

namespace overdue {

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
