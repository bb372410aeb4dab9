#pragma once

#include <cstddef>
#include <string>

#include "overdue/report/advice_report.h"
#include "overdue/simulated/run_result.h"

namespace overdue {

// What became of writes that end confirmed, and what the checker found of them, for people.

inline constexpr std::size_t kFirstFindings = 5;  // In words; of the others there are counts.

// A row a count, of one run.
std::string writes_table(const WriteCounts& writes);
// The same in a line or two, of many runs.
std::string writes_line(const WriteCounts& writes);
// "checker: 3 duplicates, 1 lost" and the first of them in words, or that there is nothing.
std::string checker_lines(const CheckCounts& checker, const TextStyle& style);

}  // namespace overdue
