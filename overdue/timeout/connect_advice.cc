#include "overdue/timeout/connect_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "overdue/base/quantity.h"
#include "overdue/latency/quantile_interval.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

constexpr std::array<Duration, 3> kSynSentAgain = {1s, 3s, 7s};
constexpr Duration kAnswerMin = 10ms;
constexpr Duration kConnectMin =
    100ms;  // A dead host noticed this much later hurts nobody; a shorter limit might.

// How long the answer to a SYN takes when none is lost: p99 of the connects that needed no second one.
Duration answer_time(const EndingTable& connects) {
  EndingTable quick;
  for (const EndingRow& row : connects) {
    if (row.mid < kSynSentAgain.front()) quick.push_back(row);
  }
  const std::optional<EndingRow> p99 = reply_at(quick, Quantile{0.99});
  return p99 ? std::max(kAnswerMin, p99->mid) : kAnswerMin;
}

double retransmitted_share(const EndingTable& connects) {
  std::uint64_t all = 0;
  std::uint64_t late = 0;
  for (const EndingRow& row : connects) {
    all += row.replied;
    if (row.mid >= kSynSentAgain.front()) late += row.replied;
  }
  return all == 0 ? 0.0 : static_cast<double>(late) / static_cast<double>(all);
}

// The retransmission a limit waits for in vain: one sent in the last third of it or just after it, or one
// whose answer it leaves no time for.
std::optional<Duration> retransmission_near(Duration timeout, Duration answer) {
  for (const Duration sent : kSynSentAgain) {
    if (timeout >= sent - sent / 4 && timeout < sent + answer) return sent;
  }
  return std::nullopt;
}

}  // namespace

ConnectAdvice advise_connect_timeout(const EndingTable& connects, const AdviceOptions& options) {
  ConnectAdvice result;
  // A connect of 0 took no time: a connection kept from before, or less than a tick of the log's clock.
  EndingTable timed;
  for (const EndingRow& row : connects) {
    if (row.high > Duration::zero()) timed.push_back(row);
  }
  result.advice = advise_timeout(timed, {}, options);
  // With too few others they are taken as what they may be, quick connects: the least limit below covers
  // them.
  if (!result.advice.request_timeout) result.advice = advise_timeout(connects, {}, options);
  result.retransmitted_share = retransmitted_share(connects);
  result.connect_timeout = result.advice.request_timeout;
  if (!result.connect_timeout) return result;
  const Duration answer = answer_time(connects);
  result.near_retransmission = retransmission_near(*result.connect_timeout, answer);
  if (result.near_retransmission) {
    const Duration moved = round_up_timeout(*result.near_retransmission + answer);
    result.note = fmt::format(
        "a lost SYN is sent again after {}: a limit of {} would wait for it in vain, {} lets it be answered",
        format_duration(*result.near_retransmission), format_duration(*result.connect_timeout),
        format_duration(moved));
    result.connect_timeout = moved;
  } else if (*result.connect_timeout < kSynSentAgain.front()) {
    const std::string needed = format_duration(*result.connect_timeout);
    const bool raised = *result.connect_timeout < kConnectMin;
    if (raised) result.connect_timeout = kConnectMin;
    result.note = fmt::format(
        "{}a lost SYN is sent again after 1, 3 and 7 s; a connect that loses one is best given up and "
        "retried, and a limit just under 1, 3 or 7 s never lets the repeated one succeed",
        raised ? fmt::format("this log needs no more than {}, and up to {} costs only the time to "
                             "notice a dead host; ",
                             needed, format_duration(kConnectMin))
               : "");
  }
  return result;
}

}  // namespace overdue
