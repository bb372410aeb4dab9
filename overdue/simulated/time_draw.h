#pragma once

#include "overdue/latency/duration_draw.h"
#include "overdue/simulated/scenario_time.h"

namespace overdue {

// What a scenario says of how long something takes, as something to draw from.
// Requires: a distribution as parse_scenario() gives it, with the buckets of measured ones filled in.
DurationDraw draw_of(const TimeDistribution& said);

}  // namespace overdue
