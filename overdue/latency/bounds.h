#pragma once

namespace overdue {

// Tails, quantiles and exact bounds of the distributions our statistics stand on (STATISTICS "bounds").
// Counts are real numbers: calls that depend on each other, or were cut off, are worth fewer than they are,
// and rarely a whole number of them. Definitions by the regularised incomplete beta and gamma functions,
// which Boost.Math computes; it is included in bounds.cc alone.
//
// Errors: none; an argument outside what a function states is a bug. Threads: any, nothing is shared.

// P(Bin(trials, probability) <= count) = 1 - I_q(count + 1, trials - count). Requires: trials >= 0, 0 <= q
// <= 1.
double binomial_at_most(double count, double trials, double probability);
// P(Bin(trials, probability) >= count) = I_q(count, trials - count + 1). Requires: the same.
double binomial_at_least(double count, double trials, double probability);

// One-sided Clopper-Pearson bounds of a rate from `events` in `trials`: the chance that the upper one lies
// below the true rate, or the lower one above it, is at most `miss`. 1 (or 0) where the sample says nothing.
// Requires: 0 <= events <= trials, 0 < miss < 1.
double rate_upper_bound(double events, double trials, double miss);
double rate_lower_bound(double events, double trials, double miss);

// Wilson's score interval of a rate from `events` in `trials` (Wilson, "Probable Inference", JASA 22, 1927):
// near the stated coverage on average, where exact bounds have it at the least. `z` is the normal
// quantile, 1.96 for 95 %. [0, 1] without trials. Requires: 0 <= events <= trials, z > 0.
struct RateInterval {
  double low = 0;
  double high = 1;
};
RateInterval wilson_interval(double events, double trials, double z);

// The value that `share` of the distribution lies below. Requires: degrees > 0, 0 < share < 1.
double chi_squared_quantile(double share, double degrees);
double student_t_quantile(double share, double degrees);
// P(T > value) of Student's t. Requires: degrees > 0.
double student_t_above(double value, double degrees);
// P(Z > value) of the standard normal.
double normal_above(double value);
// P(Poisson(mean) >= count) and P(Poisson(mean) <= count). Requires: mean >= 0.
double poisson_at_least(double count, double mean);
double poisson_at_most(double count, double mean);

}  // namespace overdue
