// The sentences of an advice that stand alone, apart from the layout.
#include <fmt/format.h>

#include "overdue/base/quantity.h"
#include "overdue/report/advice_report.h"

namespace overdue {
namespace {

std::string both_ends(const TimeoutAdvice& advice) {
  const std::string longest = format_duration(advice.open.longest_wait);
  const std::string lost =
      advice.if_open_lost ? format_duration(*advice.if_open_lost) : "nothing up to " + longest;
  const std::string slow =
      advice.if_open_slow ? format_duration(*advice.if_open_slow) : "nothing below " + longest;
  return fmt::format(
      "If the open calls are lost, {} keeps the accepted rate; if they are only slow, {} does.", lost, slow);
}

std::string describe_not_identifiable(const TimeoutAdvice& advice, const AdviceOptions& options) {
  std::string text = describe(advice.open) + ". " + both_ends(advice);
  const double accept = options.accept_false.value();
  if (advice.open.verdict == WaitVerdict::slow) {
    text += fmt::format(" What would help: a log written with a limit longer than {}.",
                        format_duration(advice.open.longest_wait));
  } else if (advice.calls_needed > advice.calls) {
    text += fmt::format(" What would help: about {} calls at {}, or a longer limit.",
                        format_count(advice.calls_needed), format_rate(accept));
  } else {
    text += " What would help: more calls, or a longer limit.";
  }
  return text;
}

}  // namespace

std::string describe_declined(const TimeoutAdvice& advice, const AdviceOptions& options) {
  const std::string accept = format_rate(options.accept_false.value());
  if (advice.declined == "not_identifiable") return describe_not_identifiable(advice, options);
  if (advice.declined == "too_few_calls") {
    const std::string needed = advice.calls_needed > 0 ? fmt::format("about {} calls like these are needed.",
                                                                     format_count(advice.calls_needed))
                                                       : "more calls, and a longer limit, are needed.";
    return fmt::format("{} replies cannot bound {} of false timeouts with {} confidence: {}",
                       format_count(advice.replies), accept, format_rate(options.confidence.value()), needed);
  }
  if (advice.declined == "too_many_untimed") {
    return fmt::format(
        "{} of {} calls ended without an answer and the log does not say after how long: more than half. "
        "Name the limit that was in force with --limit.",
        format_count(advice.untimed_give_ups), format_count(advice.calls));
  }
  if (advice.declined == "below_resolution") {
    return fmt::format(
        "all but {} of the calls that replied did so in a time that the log gives as 0: they were faster "
        "than its "
        "clock can tell. Log finer times.",
        accept);
  }
  if (advice.declined == "no_replies")
    return "not one call was answered: there is no latency to choose a timeout from.";
  if (advice.declined == "no_calls") return "there is no call in it to measure.";
  if (advice.declined == "unit_unclear")
    return "the unit of the latencies is not clear: name it with --unit.";
  if (advice.declined == "unsupported_source")
    return "the source holds no calls with their times; its notes say what it is.";
  return advice.declined;
}

}  // namespace overdue
