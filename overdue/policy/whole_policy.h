#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace overdue {

// For tests: a policy that sets every key and is warned of nothing.
inline constexpr std::string_view kWholePolicy = R"([dependency.payments]
backends  = ["10.0.0.1:8080", "10.0.0.2:8080"]
via_proxy = false
promise   = "2s"

[dependency.payments.timeout]
accept_false = "0.1%"
connect      = "250ms"
request      = "385ms"
floor = "50ms"
ceiling = "1s"
max_step = "10%"
window = "5m"
window_max = "6h"
watch = "100%"
way = "2ms"

[dependency.payments.retry]
attempts = 3
backoff  = { base = "25ms", cap = "1s", jitter = "full" }
budget   = { ratio = 0.1, floor_per_second = 1.0, window = "10s" }
on       = ["refused", "reset", "timed_out", "rejected"]
hedge_at = "p95"

[dependency.payments.write]
on_unknown     = ["retry", "query", "fence", "list"]
after_deadline = "settle"
key_header     = "Idempotency-Key"
key_retention  = "24h"
last_send      = "1h"
message_life_max = "10m"
expired = "remembered"
status         = "GET /operations/{key}"
fence          = "POST /operations/{key}/fence"
not_found      = "proves_nothing"

[dependency.payments.errors]
nothing_happened = ["400", "429", "UNAVAILABLE"]
recorded_rejection = ["402"]
in_flight        = ["409"]
other_payload    = ["422"]

[dependency.payments.health]
probe = "deep"
calls = 5
fail_above = 3.0
back_below = 2.0
out_after = 3
back_after = 3
[dependency.payments.eject]
max_ejected = "30%"
panic_below = "50%"
[dependency.payments.shed]
max_in_flight = "adaptive"
)";

// With the first `what` of it replaced.
inline std::string changed(std::string_view what, std::string_view with) {
  std::string text(kWholePolicy);
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

}  // namespace overdue
