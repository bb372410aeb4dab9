#pragma once

#include <vector>

#include "overdue/latency/doubt.h"
#include "overdue/latency/ending_row.h"

namespace overdue {

// find_doubts() in parts, one file each: what follows from the comparison of replicas, from how the calls
// went over time, and from when they were late. `table` is measurement.table().
std::vector<Doubt> doubts_of_replicas(const DoubtContext& context);
std::vector<Doubt> doubts_over_time(const Measurement& measurement, const EndingTable& table, bool filled_in);
std::vector<Doubt> doubts_of_late_calls(const Measurement& measurement, const EndingTable& table,
                                        const DoubtContext& context);

}  // namespace overdue
