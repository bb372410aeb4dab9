#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/recorded/read.h"

namespace overdue {

// For tests: what is read of a log, a text for each row ("replied 7", in milliseconds, or "timed_out
// untimed") and then for each reason that rows were set aside ("no latency value x2"); or the error's message
// alone.
using Rows = std::vector<std::string>;

inline Rows rows_of(std::string_view bytes, const ReadOptions& options = {}) {
  Rows rows;
  const auto summary =
      read_attempts(bytes, "log", options,
                    [&](std::span<const Attempt> read, const NameTable&, const NameTable&, const NameTable&) {
                      for (const Attempt& row : read) {
                        const std::string_view ending = kEndingNames[static_cast<std::size_t>(row.ending)];
                        const double elapsed_ms = static_cast<double>(row.elapsed.count()) / 1e6;
                        rows.push_back(row.untimed ? fmt::format("{} untimed", ending)
                                                   : fmt::format("{} {}", ending, elapsed_ms));
                      }
                    });
  if (!summary) return {summary.error().message};
  for (const SetAside& aside : summary->set_aside)
    rows.push_back(fmt::format("{} x{}", aside.reason, aside.count));
  return rows;
}

}  // namespace overdue
