#include "overdue/latency/bounds.h"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>

#include "overdue/base/check.h"

namespace overdue {
namespace {

namespace policies = boost::math::policies;

// No exceptions of Boost's: arguments are checked here, and an underflow to 0 is the right answer of a tail.
// Plain double arithmetic is exact to about 1e-11 for the counts we have, and several times faster than long
// double.
using Quiet = policies::policy<
    policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
    policies::overflow_error<policies::ignore_error>, policies::underflow_error<policies::ignore_error>,
    policies::evaluation_error<policies::ignore_error>, policies::promote_double<false>>;

void check_binomial(double trials, double probability) {
  OVERDUE_CHECK(trials >= 0.0);
  OVERDUE_CHECK(probability >= 0.0 && probability <= 1.0);
}

}  // namespace

double binomial_at_most(double count, double trials, double probability) {
  check_binomial(trials, probability);
  if (count >= trials) return 1.0;
  if (count <= -1.0) return 0.0;
  return boost::math::ibetac(count + 1.0, trials - count, probability, Quiet());
}

double binomial_at_least(double count, double trials, double probability) {
  check_binomial(trials, probability);
  if (count <= 0.0) return 1.0;
  if (count >= trials + 1.0) return 0.0;
  return boost::math::ibeta(count, trials - count + 1.0, probability, Quiet());
}

double rate_upper_bound(double events, double trials, double miss) {
  OVERDUE_CHECK(events >= 0.0 && events <= trials);
  OVERDUE_CHECK(miss > 0.0 && miss < 1.0);
  if (events >= trials) return 1.0;
  return boost::math::ibetac_inv(events + 1.0, trials - events, miss, Quiet());
}

double rate_lower_bound(double events, double trials, double miss) {
  OVERDUE_CHECK(events >= 0.0 && events <= trials);
  OVERDUE_CHECK(miss > 0.0 && miss < 1.0);
  if (events <= 0.0) return 0.0;
  return boost::math::ibeta_inv(events, trials - events + 1.0, miss, Quiet());
}

RateInterval wilson_interval(double events, double trials, double z) {
  OVERDUE_CHECK(events >= 0.0 && events <= trials);
  OVERDUE_CHECK(z > 0.0);
  if (trials == 0.0) return {};
  const double rate = events / trials;
  const double weight = z * z / trials;
  const double middle = (rate + weight / 2) / (1 + weight);
  const double half = z / (1 + weight) * std::sqrt(rate * (1 - rate) / trials + weight / (4 * trials));
  // At the ends the sum is exact but for rounding.
  return {events == 0.0 ? 0.0 : std::max(0.0, middle - half),
          events == trials ? 1.0 : std::min(1.0, middle + half)};
}

double chi_squared_quantile(double share, double degrees) {
  OVERDUE_CHECK(share > 0.0 && share < 1.0);
  OVERDUE_CHECK(degrees > 0.0);
  return boost::math::quantile(boost::math::chi_squared_distribution<double, Quiet>(degrees), share);
}

double student_t_quantile(double share, double degrees) {
  OVERDUE_CHECK(share > 0.0 && share < 1.0);
  OVERDUE_CHECK(degrees > 0.0);
  return boost::math::quantile(boost::math::students_t_distribution<double, Quiet>(degrees), share);
}

double student_t_above(double value, double degrees) {
  OVERDUE_CHECK(degrees > 0.0);
  if (std::isinf(value)) return value > 0 ? 0.0 : 1.0;
  return boost::math::cdf(
      boost::math::complement(boost::math::students_t_distribution<double, Quiet>(degrees), value));
}

double normal_above(double value) { return 0.5 * std::erfc(value / std::sqrt(2.0)); }

double poisson_at_least(double count, double mean) {
  OVERDUE_CHECK(mean >= 0.0);
  if (count <= 0.0) return 1.0;
  return boost::math::gamma_p(count, mean, Quiet());
}

double poisson_at_most(double count, double mean) {
  OVERDUE_CHECK(mean >= 0.0);
  if (count < 0.0) return 0.0;
  return boost::math::gamma_q(count + 1.0, mean, Quiet());
}

}  // namespace overdue
