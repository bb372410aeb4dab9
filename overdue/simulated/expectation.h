#pragma once

#include <vector>

#include "overdue/simulated/result_fields.h"
#include "overdue/simulated/run_result.h"
#include "overdue/simulated/scenario.h"

namespace overdue {

// Holds the scenario's [[expect]] rows against a run of it, in their order. A value that is missing because
// it lies beyond every time (a quantile past all answers, a recovery that never came) is greater than
// anything; where no fault came there is nothing to recover from, and any expectation of it holds; one that
// is missing for another reason meets none.
std::vector<ExpectationResult> judge(const Scenario& scenario, const RunResult& result);

// A result with the scenario's names in it and no numbers: which fields its runs will have.
RunResult empty_result_of(const Scenario& scenario);

// The expectation as one line: "timeline.goodput_share >= 95% from 16 s to 30 s".
std::string text_of(const Expectation& expectation);

}  // namespace overdue
