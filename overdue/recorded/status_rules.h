#pragma once

#include <array>

#include "overdue/base/attempt.h"
#include "overdue/base/result.h"
#include "overdue/recorded/read.h"

namespace overdue {

// StatusRules says how an attempt with an HTTP status ended, in logs that have no ending of their own:
//     2xx, 3xx, 4xx but 408, 429, 499    replied
//     429, 5xx                           rejected
//     408, and 504 unless a server's own   timed_out (whoever saw a 504, a gateway before it gave up)
//     499                                abandoned
// --success ("2xx,404") overrides which count as replies: what it names replied, and what else would have
// replied was rejected. A status outside 100..599 is for the format to judge. Threads: const and shared.
class StatusRules {
 public:
  // Fails with invalid_argument naming the part of `success` that is no status.
  static Result<StatusRules> create(const ReadOptions& options, Vantage vantage);

  static constexpr bool in_range(int status) { return status >= 100 && status <= 599; }
  // Requires: in_range(status).
  Ending ending_of(int status) const { return endings_[static_cast<std::size_t>(status - 100)]; }

 private:
  std::array<Ending, 500> endings_{};
};

}  // namespace overdue
