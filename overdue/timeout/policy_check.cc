#include "overdue/timeout/policy_check.h"

#include <fmt/format.h>

#include <utility>

#include "overdue/base/quantity.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

struct Supported {
  std::optional<Duration> low;
  std::optional<Duration> high;
};

// A timeout is only advised rounded up, so the rounded low end would refuse what the unrounded one supports.
Supported supported_by(const TimeoutAdvice& advice, std::optional<Duration> advised, double slack) {
  if (!advice.declined.empty() || !advised || !advice.point) return {};
  const Duration slackened(
      static_cast<std::int64_t>(static_cast<double>(advice.point->count()) * (1 + slack)));
  const Duration upper = std::max({*advised, slackened, advice.high.value_or(Duration(0))});
  return {.low = advice.low.value_or(Duration(0)), .high = round_up_timeout(upper)};
}

// To the last digit: an end that is rounded may lie on the other side of the timeout it is held against.
std::string exactly(Duration value) {
  std::string rounded = format_duration(value);
  std::string as_written = rounded;
  std::erase(as_written, ' ');
  if (parse_duration(as_written) == value) return rounded;
  const auto ns = static_cast<double>(value.count());
  const auto [unit, scale] = ns >= 1e9   ? std::pair("s", 1e9)
                             : ns >= 1e6 ? std::pair("ms", 1e6)
                             : ns >= 1e3 ? std::pair("us", 1e3)
                                         : std::pair("ns", 1.0);
  return fmt::format("{} {}", ns / scale, unit);
}

// The low end as a timeout that could be set: rounded up, for any shorter it would be too short itself, but
// not past `set` where that is supported.
Duration low_to_show(Duration low, Duration set) {
  if (low == Duration(0)) return low;
  const Duration rounded = round_up_timeout(low);
  if (set < low || rounded <= set) return rounded;
  for (const Duration step : {Duration(100us), Duration(10us), Duration(1us)}) {
    const Duration finer = (low + step - Duration(1)) / step * step;
    if (finer <= set) return finer;
  }
  return low;
}

std::string span_of(const Supported& supported, Duration set) {
  const std::string low = exactly(low_to_show(*supported.low, set));
  if (*supported.high == Duration::max()) return fmt::format("the log supports {} and longer", low);
  return fmt::format("the log supports {} to {}", low, exactly(*supported.high));
}

PolicyCheck::Row judged(std::string key, Duration set, const Supported& supported,
                        const AdviceOptions& options) {
  PolicyCheck::Row row{.key = std::move(key), .set = set, .low = supported.low, .high = supported.high};
  if (!supported.low || !supported.high) {
    row.text = "the log cannot say";
  } else if (set < *supported.low) {
    row.outcome = PolicyCheck::Outcome::too_short;
    row.text = fmt::format("cuts off more than the accepted {}; {}",
                           format_rate(options.accept_false.value()), span_of(supported, set));
  } else if (set > *supported.high) {
    row.outcome = PolicyCheck::Outcome::too_long;
    row.text = fmt::format("waits for replies that hardly ever come; {}", span_of(supported, set));
  } else {
    row.outcome = PolicyCheck::Outcome::supported;
    row.text = span_of(supported, set);
  }
  return row;
}

// A sick backend does not choose the timeout, and is there for the callers all the same.
void note_left_out(const Measurement& measurement, Duration timeout, PolicyCheck::Row& row) {
  const EndingTable table = measurement.table();
  const SurvivalCurve curve(table);
  row.visible_rate_pooled = visible_timeout_rate(curve.at(timeout));
  row.text += fmt::format(" ({} until what is left out is mended)", format_rate(*row.visible_rate_pooled));
}

}  // namespace

std::string_view name_of(PolicyCheck::Outcome outcome) {
  switch (outcome) {
    case PolicyCheck::Outcome::supported:
      return "supported";
    case PolicyCheck::Outcome::too_short:
      return "too_short";
    case PolicyCheck::Outcome::too_long:
      return "too_long";
    case PolicyCheck::Outcome::cannot_say:
      return "cannot_say";
  }
  return "";
}

PolicyCheck check_timeouts(const TimeoutsSet& set, const Measurement& measurement, const Analysis& analysis,
                           const AdviceOptions& options, double slack) {
  PolicyCheck check;
  for (const BackendAnalysis& backend : analysis.backends) {
    if (backend.left_out) check.left_out.push_back(backend.row.name);
  }
  const Supported request = supported_by(analysis.advice, analysis.advice.request_timeout, slack);
  if (set.request) {
    PolicyCheck::Row row = judged("request", *set.request, request, options);
    const EndingTable table = measurement.table(analysis.comparison.leave_out_mask());
    const SurvivalCurve curve(table);
    if (!curve.empty()) {
      const RatesAt rates = rates_at(curve, analysis.advice, *set.request);
      if (rates.known) {
        row.visible_rate = rates.visible_timeout_rate;
        row.text += fmt::format("; at {} callers see {} time out", exactly(*set.request),
                                format_rate(rates.visible_timeout_rate));
        if (!check.left_out.empty()) note_left_out(measurement, *set.request, row);
      } else {
        row.text += fmt::format("; replies were not seen past {}, the longest wait, and may still come",
                                format_duration(analysis.advice.open.longest_wait));
      }
      if (analysis.advice.declined.empty()) {
        row.false_rate = rates.false_timeout_rate;
        row.text +=
            fmt::format(", {} of the healthy calls are cut off", format_rate(rates.false_timeout_rate));
      }
    }
    check.rows.push_back(std::move(row));
  }
  if (set.floor) {
    Supported below = request;
    if (below.low) below.low = Duration(0);
    check.rows.push_back(judged("floor", *set.floor, below, options));
  }
  if (set.ceiling) {
    Supported above = request;
    if (above.high) above.high = Duration::max();
    PolicyCheck::Row row = judged("ceiling", *set.ceiling, above, options);
    if (row.outcome == PolicyCheck::Outcome::supported)
      row.text = "leaves room for " + format_duration(*request.low);
    row.high = std::nullopt;
    check.rows.push_back(std::move(row));
  }
  if (set.connect) {
    Supported connect;
    if (analysis.connect)
      connect = supported_by(analysis.connect->advice, analysis.connect->connect_timeout, slack);
    // Its low end may be a kept connection's 0; less than the connects need is too short.
    if (connect.low) connect.low = analysis.connect->advice.request_timeout;
    PolicyCheck::Row row = judged("connect", *set.connect, connect, options);
    if (!analysis.connect) row.text = "the log has no connect times";
    // A connect timeout is generous by nature: only one that is too short is a fault.
    if (row.outcome == PolicyCheck::Outcome::too_long) {
      row.outcome = PolicyCheck::Outcome::supported;
      row.text = fmt::format(
          "longer than the {} the log would need, which costs only the time to notice a dead host",
          exactly(*analysis.connect->advice.request_timeout));
    }
    check.rows.push_back(std::move(row));
  }
  return check;
}

}  // namespace overdue
