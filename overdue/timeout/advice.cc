#include "overdue/timeout/advice.h"

#include <algorithm>
#include <cmath>

#include "overdue/base/check.h"
#include "overdue/latency/bounds.h"
#include "overdue/latency/quantile_interval.h"

namespace overdue {
namespace {

bool advisable(const OpenCalls& open) {
  return open.verdict == WaitVerdict::enough || open.verdict == WaitVerdict::lost;
}

std::optional<Duration> mid_of(const EndingTable& table, std::optional<std::size_t> row) {
  if (!row) return std::nullopt;
  return table[*row].mid;
}

// A give-up at 0 did not give up after no time at all: the log does not say when.
std::uint64_t untimed_give_ups(const EndingTable& table) {
  return !table.empty() && table.front().low == Duration::zero() ? table.front().gave_up() : 0;
}

std::uint64_t whole(double value) {
  return value < 9e18 ? static_cast<std::uint64_t>(value) : std::uint64_t{9'000'000'000'000'000'000};
}

constexpr double kRounding = 1e-12;  // Of a share: far less than one call of any log.

struct Setting {
  double accept_false;
  double keep;   // 1 - accept_false: the quantile, q.
  double alpha;  // 1 - confidence.
};

Setting setting_of(const AdviceOptions& options) {
  return {.accept_false = options.accept_false.value(),
          .keep = complement(options.accept_false).value(),
          .alpha = complement(options.confidence).value()};
}

void note_dependence(const SurvivalCurve& curve, const TailByBlock& tails, Duration late_above,
                     TimeoutAdvice& advice) {
  BlockInflation inflation;
  if (tails) inflation = block_inflation(tails(late_above));
  advice.vif_known = inflation.known;
  advice.vif = inflation.vif;
  advice.blocks_with_replies = inflation.blocks_with_replies;
  advice.late_calls =
      inflation.known ? inflation.late_calls : curve.back().replies - curve.at(late_above).replies;
  advice.effective_late_calls = static_cast<double>(advice.late_calls) / advice.vif;
}

// STATISTICS 3: the least n of independent replies whose greatest bounds the quantile, times what one of ours
// is worth less. At the last reply, where the upper end would have to lie.
std::uint64_t calls_for_upper_end(const SurvivalCurve& curve, const TimeoutAdvice& advice,
                                  const Setting& setting) {
  if (setting.accept_false <= 0.0 || setting.keep <= 0.0) return 0;
  std::size_t row = advice.open.last_row;
  while (row > 0 && curve.table()[row].replied == 0) --row;
  const double effective = effective_replies_before(curve, row, advice.open.last_row, true);
  const double counted = static_cast<double>(curve[advice.open.last_row].replies);
  return whole(
      std::ceil(std::log(setting.alpha) / std::log(setting.keep) * advice.vif * counted / effective));
}

// What it takes to say `lost` when no reply comes in the last half: (1 + sqrt 2) ln 40 / e calls, about.
std::uint64_t calls_to_tell(const OpenCalls& open, const Setting& setting) {
  if (open.verdict != WaitVerdict::cannot_tell || open.last_half.replies > 0) return 0;
  if (setting.accept_false <= 0.0) return 0;
  return whole((1.0 + std::sqrt(2.0)) * std::log(40.0) / setting.accept_false);
}

void find_interval(const SurvivalCurve& curve, const AdviceOptions& options, const Setting& setting,
                   TimeoutAdvice& advice) {
  const EndingTable& table = curve.table();
  const OpenCalls& open = advice.open;
  const IntervalRows rows = interval_rows(curve, {.quantile = setting.keep,
                                                  .alpha = setting.alpha,
                                                  .vif = advice.vif,
                                                  .replied_ever_low = open.replied_share,
                                                  .replied_ever_high = open.replied_ever,
                                                  .of_the_replied = true,
                                                  .last_row = open.last_row});
  if (rows.low) advice.low = table[*rows.low].low;
  advice.low_beyond = rows.low_beyond;
  if (rows.high) advice.high = table[*rows.high].high;
  if (!rows.high_one_sided) {
    advice.declined = "too_few_calls";
    return;
  }
  advice.recommended = table[*rows.high_one_sided].high;
  advice.effective_replies =
      effective_replies_before(curve, *rows.high_one_sided, open.last_row, true) / advice.vif;
  if (options.headroom) {
    const double stretched = static_cast<double>(advice.point->count()) * (1.0 + *options.headroom);
    advice.recommended = Duration(static_cast<Duration::rep>(std::ceil(stretched)));
  }
  advice.request_timeout = round_up_timeout(*advice.recommended);
}

// The table of a log like this one, of another number of calls.
EndingTable as_of(const EndingTable& table, double times) {
  EndingTable scaled = table;
  for (const auto counted : {&EndingRow::replied, &EndingRow::rejected, &EndingRow::reset,
                             &EndingRow::timed_out, &EndingRow::abandoned}) {
    double exact = 0;
    std::uint64_t given = 0;
    for (EndingRow& row : scaled) {
      exact += times * static_cast<double>(row.*counted);
      const std::uint64_t up_to = whole(std::floor(exact + 0.5));
      row.*counted = up_to - given;
      given = up_to;
    }
  }
  std::erase_if(scaled, [](const EndingRow& row) { return row.is_empty(); });
  return scaled;
}

bool gets_advice(const EndingTable& table, const AdviceOptions& options, const Setting& setting, double vif) {
  const SurvivalCurve curve(table);
  if (curve.empty()) return false;
  TimeoutAdvice advice;
  advice.vif = vif;
  advice.open = judge_open_calls(curve, setting.accept_false);
  if (!advisable(advice.open) || curve[advice.open.last_row].replies == 0) return false;
  advice.point =
      mid_of(table, curve.first_row_reaching(setting.keep * advice.open.replied_ever, advice.open.last_row));
  if (!advice.point) return false;
  find_interval(curve, options, setting, advice);
  return advice.declined.empty();
}

// Of calls like these, the number that gets advice: `estimate`, as specified, or, where so many are there
// already, the least that does. The estimate takes the last reply as the place of the upper end and all calls
// as replies; where callers gave up at different times more calls also move the longest wait. 0: no number
// within reason does.
std::uint64_t calls_for_advice(const SurvivalCurve& curve, const AdviceOptions& options,
                               const Setting& setting, double vif, std::uint64_t estimate) {
  constexpr std::uint64_t kTimesMax = 1024;
  constexpr std::uint64_t kNear = 128;  // Found within a 128th.
  if (estimate == 0 || estimate > curve.calls()) return estimate;
  const auto do_calls = [&](std::uint64_t calls) {
    const double times = static_cast<double>(calls) / static_cast<double>(curve.calls());
    return gets_advice(as_of(curve.table(), times), options, setting, vif);
  };
  std::uint64_t enough = curve.calls() + 1;
  const std::uint64_t most = enough < ~std::uint64_t{0} / kTimesMax ? enough * kTimesMax : enough;
  std::uint64_t too_few = curve.calls();
  if (do_calls(enough)) return enough;
  while (!do_calls(enough)) {
    if (enough > most / 2) return 0;
    too_few = enough;
    enough *= 2;
  }
  while (enough - too_few > std::max<std::uint64_t>(1, too_few / kNear)) {
    const std::uint64_t middle = too_few + (enough - too_few) / 2;
    (do_calls(middle) ? enough : too_few) = middle;
  }
  return enough;
}

// The same log with everybody who left first counted as never answered.
EndingTable with_abandoned_lost(const EndingTable& table) {
  EndingTable changed = table;
  for (EndingRow& row : changed) {
    row.reset += row.abandoned;
    row.abandoned = 0;
  }
  return changed;
}

AbandonmentRange abandonment_range(const SurvivalCurve& curve, const TimeoutAdvice& advice,
                                   const Setting& setting, Duration timeout) {
  AbandonmentRange range;
  std::uint64_t not_rejected = 0;
  for (const EndingRow& row : curve.table()) {
    not_rejected += row.replied + row.reset + row.gave_up();
    if (row.mid < timeout) range.abandoned_before += row.abandoned;
  }
  if (not_rejected == 0) return range;
  range.share = static_cast<double>(range.abandoned_before) / static_cast<double>(not_rejected);
  range.matters = range.share > setting.accept_false;
  if (!range.matters) return range;

  // Lost or slow, by the timeout they have not replied: the curve up to there is the same, and only what
  // would have come after it differs.
  const EndingTable changed = with_abandoned_lost(curve.table());
  const SurvivalCurve lost(changed);
  const std::size_t last_row = advice.open.last_row;
  const SurvivalCurve::Point then = lost.at(std::min(timeout, advice.open.longest_wait));
  const SurvivalCurve::Point end = lost[last_row];
  const double abandoned = static_cast<double>(range.abandoned_before) / static_cast<double>(curve.calls());
  const double ever_if_lost =
      end.replied + std::min(end.open, advice.open.replied_ever - advice.open.replied_share);
  const double ever_if_slow = ever_if_lost + abandoned;
  if (ever_if_lost <= 0.0) return range;
  range.false_rate_if_lost = std::max(0.0, 1.0 - then.replied / ever_if_lost);
  range.false_rate_if_slow = std::max(0.0, 1.0 - then.replied / ever_if_slow);
  range.timeout_if_lost = mid_of(changed, lost.first_row_reaching(setting.keep * ever_if_lost, last_row));
  range.timeout_if_slow = mid_of(changed, lost.first_row_reaching(setting.keep * ever_if_slow, last_row));
  return range;
}

void note_rates(const SurvivalCurve& curve, const Setting& setting, TimeoutAdvice& advice) {
  const std::optional<Duration> timeout = advice.request_timeout ? advice.request_timeout : advice.point;
  if (!timeout) return;
  const RatesAt rates = rates_at(curve, advice, *timeout);
  advice.false_timeout_rate = rates.false_timeout_rate;
  advice.lost_rate = rates.never_answered;
  advice.reset_rate = rates.reset;
  advice.visible_timeout_rate = rates.visible_timeout_rate;
  advice.abandonment = abandonment_range(curve, advice, setting, *timeout);
}

}  // namespace

Duration round_up_timeout(Duration timeout) {
  using std::chrono::microseconds;
  using std::chrono::milliseconds;
  const Duration step = timeout < milliseconds(1)    ? Duration(microseconds(1))
                        : timeout < milliseconds(10) ? Duration(microseconds(10))
                                                     : Duration(milliseconds(1));
  const Duration steps = std::max(timeout, Duration(1)) + step - Duration(1);
  return steps - steps % step;
}

TimeoutAdvice advise_timeout(const SurvivalCurve& curve, const TailByBlock& tails,
                             const AdviceOptions& options) {
  const Setting setting = setting_of(options);
  const EndingTable& table = curve.table();
  TimeoutAdvice advice;
  advice.calls = curve.calls();
  if (advice.calls == 0) {
    advice.declined = "no_calls";
    return advice;
  }
  advice.replies = curve.back().replies;
  advice.untimed_give_ups = untimed_give_ups(table);
  advice.open = judge_open_calls(curve, setting.accept_false);
  const OpenCalls& open = advice.open;
  advice.replied_ever = open.replied_ever;
  if (advice.untimed_give_ups > advice.calls / 2) {
    advice.declined = "too_many_untimed";
    return advice;
  }
  if (curve[open.last_row].replies == 0) {
    // Replies there are may all lie where hardly anybody was still watched.
    advice.declined = advice.replies > 0 ? "too_few_calls" : "no_replies";
    if (advice.replies > 0 && setting.accept_false > 0.0 && setting.keep > 0.0)
      advice.calls_needed = calls_for_advice(
          curve, options, setting, 1, whole(std::ceil(std::log(setting.alpha) / std::log(setting.keep))));
    return advice;
  }
  const auto reach = [&](double ever) {
    return mid_of(table, curve.first_row_reaching(setting.keep * ever, open.last_row));
  };
  advice.if_open_lost = reach(open.replied_share);
  advice.if_open_slow = reach(1.0 - open.reset_share - open.rejected_share);
  if (advisable(open)) advice.point = reach(open.replied_ever);
  if (const auto late_above = advice.point ? advice.point : advice.if_open_lost) {
    note_dependence(curve, tails, *late_above, advice);
  }
  if (advice.point) {
    find_interval(curve, options, setting, advice);
    advice.calls_needed = calls_for_upper_end(curve, advice, setting);
  } else {
    advice.declined = "not_identifiable";
    advice.calls_needed = calls_to_tell(open, setting);
  }
  const bool is_told = !advice.point && advice.calls_needed > advice.calls;  // By the specified rule.
  if (!advice.declined.empty() && !is_told)
    advice.calls_needed = calls_for_advice(curve, options, setting, advice.vif, advice.calls_needed);
  note_rates(curve, setting, advice);
  return advice;
}

TimeoutAdvice advise_timeout(const EndingTable& table, const TailByBlock& tails,
                             const AdviceOptions& options) {
  return advise_timeout(SurvivalCurve(table), tails, options);
}

double visible_timeout_rate(const SurvivalCurve::Point& then) {
  return then.rejected < 1.0 ? then.open / (1.0 - then.rejected) : 0.0;
}

RatesAt rates_at(const SurvivalCurve& curve, const TimeoutAdvice& advice, Duration timeout) {
  RatesAt rates;
  const double not_rejected = 1.0 - advice.open.rejected_share;
  if (curve.calls() == 0 || not_rejected <= 0.0) return rates;
  const SurvivalCurve::Point then = curve.at(std::min(timeout, advice.open.longest_wait));
  rates.known = timeout <= advice.open.longest_wait || advisable(advice.open);
  const double later = std::max(0.0, advice.replied_ever - then.replied);
  // Open, and rejected later: no lost calls, and in no share of those that were not rejected.
  const double rejected_later = std::max(0.0, advice.open.rejected_share - then.rejected);
  const double lost = then.open - later - rejected_later;
  rates.answered = then.replied / not_rejected;
  rates.cut_off = later / not_rejected;
  // What rounding leaves of nothing is nothing.
  rates.never_answered = lost < kRounding ? 0.0 : lost / not_rejected;
  rates.reset = then.reset / not_rejected;
  rates.visible_timeout_rate = visible_timeout_rate(then);
  rates.false_timeout_rate = advice.replied_ever > 0.0 ? later / advice.replied_ever : 0.0;
  return rates;
}

TimeoutCheck check_timeout(const SurvivalCurve& curve, const TimeoutAdvice& advice, Duration timeout,
                           Probability confidence) {
  TimeoutCheck check;
  check.rates = rates_at(curve, advice, timeout);
  check.beyond_longest_wait = timeout > advice.open.longest_wait;
  if (curve.calls() == 0) return check;
  const OpenCalls& open = advice.open;
  const std::optional<std::size_t> row = curve.row_at(std::min(timeout, open.longest_wait));
  check.replies = curve[open.last_row].replies;
  check.replies_above = check.replies - (row ? curve[*row].replies : 0);
  // Where the open calls may be slow, all of them are counted as cut off: a check must not pass on a guess.
  const bool of_the_replied = advisable(open);
  const double ever = of_the_replied ? open.replied_ever : 1.0 - open.reset_share - open.rejected_share;
  if (!row || curve[*row].replies == 0 || ever <= 0.0) return check;
  const double share = std::min(1.0, curve[*row].replied / ever);
  check.effective_replies = effective_replies_after(curve, *row, open.last_row, of_the_replied) / advice.vif;
  check.false_rate_upper = rate_upper_bound((1.0 - share) * check.effective_replies, check.effective_replies,
                                            complement(confidence).value());
  return check;
}

}  // namespace overdue
