#include "overdue/latency/quantile_interval.h"

#include <algorithm>
#include <cmath>

#include "overdue/base/check.h"
#include "overdue/latency/bounds.h"

namespace overdue {
namespace {

constexpr std::size_t kTogether = 64;  // A multiple of the curve's stride, whose states cost nothing to ask.

// True where P(Bin(n, q) <= n F) is so far below alpha / 2 that computing it cannot be needed. By Chernoff
// the tail is at most exp(-n KL(F, q)), and KL >= (q - F)^2 / (2 max p (1 - p) over [F, q]). The 15 in the
// exponent, a factor of three million, more than covers what real n and k may differ from whole ones.
bool surely_below(double share, double n, double q, double exponent) {
  if (share >= q) return false;
  const double variance_max = share >= 0.5 ? share * (1.0 - share) : q <= 0.5 ? q * (1.0 - q) : 0.25;
  const double gap = q - share;
  return n * gap * gap > 2.0 * variance_max * exponent;
}

// The tests of STATISTICS 3 at one row.
struct RowTests {
  double q = 0;
  double alpha = 0;
  double n = 0;
  double exponent = 15.0 - std::log(alpha / 2.0);

  // Rounding must not push a count of n F that is whole just below itself.
  bool can_be_low(double share) const {
    if (surely_below(share, n, q, exponent)) return false;
    return binomial_at_most(n * share * (1.0 + 1e-12), n, q) > alpha / 2.0;
  }
  // Below q the chance of so many or more is a half at least, the median of Bin(n, q) being no less than n q
  // - 1.
  bool is_above(double share, double miss) const {
    return share >= q && binomial_at_least(n * share, n, q) <= miss;
  }
};

double effective_replies(const SurvivalCurve::Point& here, const SurvivalCurve::Point& end,
                         bool of_the_replied) {
  const double counted = static_cast<double>(end.replies);
  if (!of_the_replied) {
    // g = 1 - a and Var(g) = a^2 V, so n = g (1 - g) / Var(g) = (1 - a) / (a V).
    const double unreplied = here.unreplied();
    if (unreplied <= 0.0 || here.greenwood <= 0.0) return counted;
    return here.replied / (unreplied * here.greenwood);
  }
  // With g = (1 - a) / (1 - b) the variance of STATISTICS 3 is the same as
  //     ((1 - g)^2 V(t) + g^2 b^2 (V(T) - V(t))) / (1 - b)^2,
  // which loses no digits as a comes close to b. b^2 V(T) is 0 where everything replied.
  const double share = here.replied / end.replied;
  const double rest = (end.replied - here.replied) / end.replied;
  if (!(rest > 0.0)) return counted;
  const double left = end.unreplied();
  const double later = left > 0.0 ? share * share * left * left * (end.greenwood - here.greenwood) : 0.0;
  const double variance = (rest * rest * here.greenwood + later) / (end.replied * end.replied);
  return variance > 0.0 ? share * rest / variance : counted;
}

// Of the rows between two states no n_e is less than this: it rises with the share that replied and falls
// with S and with V, so the worst of either state is taken for each.
double least_effective(const SurvivalCurve::Point& before, const SurvivalCurve::Point& last,
                       const SurvivalCurve::Point& end, bool of_the_replied) {
  if (!of_the_replied) return before.replied / (before.unreplied() * last.greenwood);
  const double share = before.replied / end.replied;
  const double rest = (end.replied - last.replied) / end.replied;
  const double most_share = last.replied / end.replied;
  const double most_rest = (end.replied - before.replied) / end.replied;
  const double left = end.unreplied();
  const double later =
      left > 0.0 ? most_share * most_share * left * left * (end.greenwood - before.greenwood) : 0.0;
  const double variance = (most_rest * most_rest * last.greenwood + later) / (end.replied * end.replied);
  return share * rest / variance;
}

// How far from `row` on no row can be an end of the interval, looked at many at a time. In between a
// share is at most the last one's; the bound of surely_below() falls with n and rises with the share
// (its derivative by the share has the sign of (2 p - 1) / (p (1 - p)) - 2 / (q - p), and 1 - p >= q - p).
// Requires: row > 0, and a multiple of kTogether.
std::size_t first_in_question(const SurvivalCurve& curve, const SurvivalCurve::Point& end,
                              const IntervalQuestion& question, double exponent, std::size_t row) {
  const double ever = std::min(question.replied_ever_low, question.replied_ever_high);
  for (; row + kTogether <= question.last_row; row += kTogether) {
    const SurvivalCurve::Point before = curve[row - 1];
    const SurvivalCurve::Point last = curve[row + kTogether - 1];
    if (before.replies == 0 || !(before.unreplied() > 0.0) || !(last.greenwood > 0.0)) break;
    const double n = least_effective(before, last, end, question.of_the_replied) / question.vif;
    if (!surely_below(std::min(1.0, last.replied / ever), n, question.quantile, exponent)) break;
  }
  return row;
}

QuantileOfAll without_interval(const SurvivalCurve& curve, Quantile quantile) {
  QuantileOfAll result;
  result.quantile = quantile;
  result.replies_only = reply_quantile(curve, quantile);
  if (!curve.empty()) result.beyond = curve.table().back().low;
  return result;
}

}  // namespace

double effective_replies_after(const SurvivalCurve& curve, std::size_t row, std::size_t last_row,
                               bool of_the_replied) {
  OVERDUE_CHECK(row <= last_row && last_row < curve.size());
  return effective_replies(curve[row], curve[last_row], of_the_replied);
}

double effective_replies_before(const SurvivalCurve& curve, std::size_t row, std::size_t last_row,
                                bool of_the_replied) {
  // S and V do not change between replies, so the row before will do for the reply before.
  const bool first = row == 0 || curve[row - 1].replies == 0;
  return effective_replies_after(curve, first ? row : row - 1, last_row, of_the_replied);
}

IntervalRows interval_rows(const SurvivalCurve& curve, const IntervalQuestion& question) {
  OVERDUE_CHECK(question.last_row < curve.size());
  OVERDUE_CHECK(question.alpha > 0.0 && question.alpha < 1.0);
  OVERDUE_CHECK(question.vif >= 1.0);
  IntervalRows rows;
  RowTests tests{.q = question.quantile, .alpha = question.alpha};
  const SurvivalCurve::Point end = curve[question.last_row];
  bool first = true;
  for (std::size_t row = 0; row <= question.last_row && !(rows.low && rows.high); ++row) {
    if (!first && !rows.low && row % kTogether == 0)
      row = first_in_question(curve, end, question, tests.exponent, row);
    if (curve.table()[row].replied == 0) continue;
    const SurvivalCurve::Point here = curve[row];
    // S and V do not change between replies: just before this one they are what they were after the last.
    const SurvivalCurve::Point before = first ? here : curve[row - 1];
    tests.n = effective_replies(before, end, question.of_the_replied) / question.vif;
    if (first) rows.low_unbounded = binomial_at_most(0.0, tests.n, tests.q) > question.alpha / 2.0;
    first = false;
    const double share_low = std::min(1.0, here.replied / question.replied_ever_low);
    const double share_high = std::min(1.0, here.replied / question.replied_ever_high);
    if (!rows.low && tests.can_be_low(share_low)) rows.low = row;
    if (!rows.high_one_sided && tests.is_above(share_high, question.alpha)) rows.high_one_sided = row;
    if (!rows.high && tests.is_above(share_high, question.alpha / 2.0)) rows.high = row;
  }
  if (rows.low_unbounded) rows.low.reset();
  rows.low_beyond = !rows.low && !rows.low_unbounded;
  return rows;
}

std::vector<QuantileOfAll> quantiles_of_all(const SurvivalCurve& curve, const TailByBlock& tails,
                                            const std::vector<Quantile>& quantiles, Probability confidence) {
  std::vector<QuantileOfAll> results;
  double vif = 1;  // Beyond the longest wait nothing is late: the dependence last seen is the best guess.
  for (const Quantile quantile : quantiles) {
    QuantileOfAll result = without_interval(curve, quantile);
    if (curve.empty() || curve.back().replies == 0) {
      results.push_back(result);
      continue;
    }
    const EndingTable& table = curve.table();
    const double ever = 1.0 - curve.back().rejected;
    const std::size_t last_row = curve.size() - 1;
    if (const auto row = curve.first_row_reaching(quantile.value() * ever, last_row)) {
      result.all_calls = table[*row].mid;
      result.beyond.reset();
      if (tails) vif = block_inflation(tails(table[*row].mid)).vif;
    }
    result.vif = vif;
    const IntervalRows rows = interval_rows(curve, {.quantile = quantile.value(),
                                                    .alpha = complement(confidence).value(),
                                                    .vif = vif,
                                                    .replied_ever_low = ever,
                                                    .replied_ever_high = ever,
                                                    .of_the_replied = false,
                                                    .last_row = last_row});
    if (rows.low) result.low = table[*rows.low].low;
    result.low_beyond = rows.low_beyond;
    if (rows.high) result.high = table[*rows.high].high;
    results.push_back(result);
  }
  return results;
}

const std::vector<Quantile>& reported_quantiles() {
  static const std::vector<Quantile> quantiles = {Quantile{0.5},  Quantile{0.9},   Quantile{0.95},
                                                  Quantile{0.99}, Quantile{0.999}, Quantile{0.9999}};
  return quantiles;
}

std::optional<Duration> reply_quantile(const SurvivalCurve& curve, Quantile quantile) {
  if (curve.empty() || curve.back().replies == 0) return std::nullopt;
  return curve.table()[curve.row_of_reply(rank_of(quantile, curve.back().replies))].mid;
}

}  // namespace overdue
