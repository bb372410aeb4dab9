#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "overdue/base/time.h"
#include "overdue/latency/survival_curve.h"

namespace overdue {

// WouldReply says of calls given up what they would have done had they been watched on: with what chance each
// would have replied, and later than a threshold. By the whole log's curve, of the calls still open at c
//     (R_end - R(c)) / A(c)
// reply later, so a log's blocks can be compared whatever limits were in force in them. Where nobody gave up
// before the last reply all chances are 0.
//
// Why not by the block's own give-ups: in a block of fifty calls with a limit of 60 ms there is often none
// that reaches it. A chance by the whole log has the right mean in every block, however few its calls.
// Source: the step of Efron's self-consistency, "redistribute to the right" (1967), kept apart by block.
//
// Requires: the curve lives as long. Threads: const and shared.
class WouldReply {
 public:
  explicit WouldReply(const SurvivalCurve& curve);

  // No call given up could have replied.
  bool is_none() const { return parts_.empty(); }

  // Of one call.
  struct Chance {
    double replied = 0;
    double late = 0;  // Replied later than the threshold.
  };
  // By bucket of LatencyHistogram, from first_bucket() on: of a call given up in it. Empty where is_none().
  std::vector<Chance> chances(Duration threshold) const;
  std::uint32_t first_bucket() const { return parts_.empty() ? 0 : parts_.front().bucket; }

 private:
  // The calls given up in one bucket.
  struct Part {
    std::uint32_t bucket = 0;
    std::size_t first_row = 0;
    double calls = 0;
    double of_open = 0;  // The sum over them of 1 / A.
    double replied = 0;  // Their chances to reply, added up.
  };

  const SurvivalCurve* curve_;
  std::vector<Part> parts_;  // Ascending.
};

}  // namespace overdue
