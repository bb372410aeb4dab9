#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "overdue/base/time.h"
#include "overdue/latency/survival_curve.h"

namespace overdue {

// What the calls still open at the longest wait look like (STATISTICS 2).
enum class WaitVerdict {
  enough,       // So few are open that it does not matter.
  lost,         // Hardly a reply came in the last stretch: they will not come.
  slow,         // Replies were still coming when the waiting ended: no timeout can be advised.
  cannot_tell,  // Too few calls to say which.
};
std::string_view name_of(WaitVerdict verdict);

// What was seen of the calls still watched at a share of the longest wait.
struct LastStretch {
  Duration from{};
  std::uint64_t watched = 0;  // Calls still watched just after `from`.
  std::uint64_t replies = 0;  // Replies of theirs up to the longest wait.
  double open = 0;            // A at `from`.
};

// OpenCalls judges the calls that had not replied when the longest wait ended, from the replies in the last
// half and the last fifth of it: a tail that falls like a power of t with index 1/2 or more cannot hide more
// than tail_bound. A second mode behind the longest wait cannot be seen by any rule.
struct OpenCalls {
  WaitVerdict verdict = WaitVerdict::cannot_tell;
  std::size_t last_row = 0;  // The row of the longest wait; later rows count as cut off there.
  Duration
      longest_wait{};  // T: of any ending; when some were cut earlier, the last time 5 calls were watched.
  std::uint64_t open_calls = 0;  // Calls watched to T that did not end before or at it in another way.
  double replied_share = 0;      // R(T), and so on: of all calls, rejected ones too.
  double open_share = 0;
  double reset_share = 0;
  double rejected_share = 0;
  double tail_point = 0;  // a: the share to come if the tail is Pareto of index 1.
  double tail_bound = 0;  // b: the most to come, index 1/2.
  double tail_least = 0;  // The least to come at 0.8 T: above the threshold they are slow.
  double threshold = 0;   // e R / (1 - e): the share that may come later without harm.
  LastStretch last_half;
  LastStretch last_fifth;
  double replied_ever = 0;  // R_inf by the verdict; R + tail_point, capped, also where declined.
};

// Requires: the curve is not empty; 0 <= accept_false < 1.
OpenCalls judge_open_calls(const SurvivalCurve& curve, double accept_false);

// For people: "80 calls were open after 1 s; only 0 of the 80 still waiting answered in the last half of it:
// they look lost. This is as far as the longest wait of 1 s shows ..."
std::string describe(const OpenCalls& open);

}  // namespace overdue
