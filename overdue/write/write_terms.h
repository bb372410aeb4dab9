#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "overdue/base/time.h"
#include "overdue/call/backoff.h"

namespace overdue {

// What the server offers to end an unknown write.
enum class OnUnknown : std::uint8_t { retry, query, fence, list };
inline constexpr std::array<std::string_view, 4> kOnUnknownNames = {"retry", "query", "fence", "list"};
// What becomes of a write that is still unknown at its deadline.
enum class AfterDeadline : std::uint8_t {
  complete,  // Send it again under its key: the effect may come later.
  settle,    // Only ask.
  revoke,    // Fence it: what has not happened by then never will.
};
inline constexpr std::array<std::string_view, 3> kAfterDeadlineNames = {"complete", "settle", "revoke"};
// What the server does with a key's record when its retention ends.
enum class ExpiredKeys : std::uint8_t { remembered, deleted };
inline constexpr std::array<std::string_view, 2> kExpiredKeysNames = {"remembered", "deleted"};
// What a "not found" of the status query is worth.
enum class NotFound : std::uint8_t { proves_nothing, fenced, after_limit };
inline constexpr std::array<std::string_view, 3> kNotFoundNames = {"proves_nothing", "fenced", "after_limit"};

// WriteTerms is what one dependency's server offers and how far we use it to end an unknown write; the write
// table of a policy, in the form a WriteLifecycle takes. One for all writes to a dependency.
struct WriteTerms {
  std::vector<OnUnknown> on_unknown;  // In the order we use them.
  AfterDeadline after_deadline = AfterDeadline::complete;
  NotFound not_found = NotFound::proves_nothing;
  ExpiredKeys expired = ExpiredKeys::remembered;
  bool keyed = true;                       // Requests carry an idempotency key that the server honours.
  Duration answer_within{10'000'000'000};  // For a question, and for a request sent again.
  // Between one step and the next.
  Backoff between_steps{.base = Duration(1'000'000'000), .cap = Duration(300'000'000'000)};
  // Steps that change nothing may be taken this often past the last send; then a person is asked.
  std::uint32_t steps_after_last_send_max = 16;

  bool offers(OnUnknown step) const { return std::ranges::find(on_unknown, step) != on_unknown.end(); }
};

}  // namespace overdue
