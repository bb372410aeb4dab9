#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/timeout/analysis.h"

namespace overdue {

// The timeouts that are set somewhere, to be held against a log.
struct TimeoutsSet {
  std::optional<Duration> connect;
  std::optional<Duration> request;
  std::optional<Duration> floor;
  std::optional<Duration> ceiling;
};

// What a log says of each.
struct PolicyCheck {
  enum class Outcome {
    supported,   // Within the interval the log gives, or above its point by no more than the slack.
    too_short,   // Below the low end: cuts off more than the accepted share.
    too_long,    // Above the high end and the slack: callers wait for nothing.
    cannot_say,  // The log declines.
  };
  struct Row {
    std::string key;  // "request", "connect", "floor", "ceiling".
    Duration set{};
    std::optional<Duration> low;  // What is supported, from .. to.
    std::optional<Duration> high;
    std::optional<double> false_rate;  // At the timeout set.
    std::optional<double> visible_rate;
    // The same over all backends, until those left out are mended. Where none is: nothing.
    std::optional<double> visible_rate_pooled;
    Outcome outcome = Outcome::cannot_say;
    std::string text;
  };
  std::vector<Row> rows;
  std::vector<std::string> left_out;  // Backends that are not in what the log supports, by name.

  bool any(Outcome outcome) const {
    return std::ranges::any_of(rows, [&](const Row& row) { return row.outcome == outcome; });
  }
};

std::string_view name_of(PolicyCheck::Outcome outcome);

// `slack`: 0.2 lets a timeout lie 20 % above the point even where the interval is narrower.
// A floor must not lie above what is supported, a ceiling not below it.
PolicyCheck check_timeouts(const TimeoutsSet& set, const Measurement& measurement, const Analysis& analysis,
                           const AdviceOptions& options, double slack);

}  // namespace overdue
