#pragma once

#include <vector>

#include "overdue/latency/doubt.h"
#include "overdue/latency/ending_row.h"

namespace overdue {

// find_doubts() in parts, one file each: what follows from the comparison of replicas, and from the order of
// calls in time. `table` is measurement.table().
std::vector<Doubt> doubts_of_replicas(const DoubtContext& context);
std::vector<Doubt> doubts_over_time(const Measurement& measurement, const EndingTable& table,
                                    const DoubtContext& context);

}  // namespace overdue
