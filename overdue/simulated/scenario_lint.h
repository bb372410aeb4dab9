#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "overdue/simulated/scenario.h"

namespace overdue {

// What a valid scenario may still be warned about: it can be meant, and then shows something that is not so.
struct ScenarioWarning {
  std::uint32_t line = 0;  // 1-based; 0 for what was said on the command line.
  std::string text;        // With what would be right.
};

// In the order of their lines; those of no line first. What a policy says and the world does not do yet is
// warned about. A client that is told that nothing between repeats a request (via_proxy =
// false) takes an answer for proof that its attempt did nothing; on a way that does repeat requests it is
// none. A client that keeps idle connections no shorter than their server meets the server's close (field
// case C37).
std::vector<ScenarioWarning> lint_scenario(const Scenario& scenario);

}  // namespace overdue
