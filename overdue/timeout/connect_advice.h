#pragma once

#include <optional>
#include <string>

#include "overdue/latency/survival_curve.h"
#include "overdue/timeout/advice.h"

namespace overdue {

// ConnectAdvice is a connect timeout by the rule of advise_timeout(), kept clear of TCP's own clock: a lost
// SYN is sent again after 1, 3 and 7 s (RFC 6298: 1 s, doubled each time), so a limit just under one of these
// waits for nothing, and one just over it leaves the answer no time to come. Never below 100 ms, however
// short the connects are: a longer limit costs only the time to notice a dead host, a shorter one may cut off
// healthy ones that the log's clock or a kept connection (0, left out where there are others enough) did not
// show.
struct ConnectAdvice {
  TimeoutAdvice advice;  // Of the connect times as they are.
  std::optional<Duration>
      connect_timeout;  // request_timeout, moved past the retransmission where it was near one.
  std::optional<Duration> near_retransmission;  // The 1, 3 or 7 s it was moved past.
  double retransmitted_share = 0;               // Connects that took 1 s or more: a lost SYN, most likely.
  std::string note;                             // For people; empty when there is nothing to say.
};

ConnectAdvice advise_connect_timeout(const EndingTable& connects, const AdviceOptions& options);

}  // namespace overdue
