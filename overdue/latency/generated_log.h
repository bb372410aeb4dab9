#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "overdue/base/attempt.h"
#include "overdue/base/name_table.h"
#include "overdue/base/random.h"
#include "overdue/latency/distribution.h"
#include "overdue/latency/measurement.h"

namespace overdue {

// GeneratedLog draws a log of the lesson's world for tests: calls arrive at random, independent of each
// other, at one of a few replicas; two one-way delays are lognormal(0, 0.4) ms, service is lognormal(2, 0.5)
// ms or, for 2 % of calls, uniform 40..400 ms; 0.4 % never reply; all are cut at 1 s. A test spoils what it
// wants found. Used by tests only. Replay: equal seeds give equal logs.
class GeneratedLog {
 public:
  struct Options {
    std::size_t calls = 10'000;
    double calls_per_second = 200;
    std::uint16_t replicas = 4;
    std::uint16_t routes = 4;
    double lost_probability = 0.004;
  };

  GeneratedLog(std::uint64_t seed, const Options& options) : random_(seed) {
    for (std::uint16_t i = 0; i < options.replicas; ++i) backends_.id_of("10.0.0." + std::to_string(i + 1));
    for (std::uint16_t i = 0; i < options.routes; ++i) routes_.id_of("/route/" + std::to_string(i + 1));
    const Exponential gap{.mean = 1e9 / options.calls_per_second};
    double at = 1.7e18;
    for (std::size_t i = 0; i < options.calls; ++i) {
      Attempt row;
      row.start = WallTime(Duration(static_cast<std::int64_t>(at)));
      at += gap.draw(random_);
      row.has_start = true;
      row.begins_call = true;
      row.backend = static_cast<std::uint16_t>(1 + random_.below(options.replicas));
      row.route = static_cast<std::uint16_t>(1 + random_.below(options.routes));
      row.elapsed = random_.uniform() < options.lost_probability ? Duration::max() : latency();
      rows.push_back(row);
    }
  }
  explicit GeneratedLog(std::uint64_t seed) : GeneratedLog(seed, Options{}) {}

  // A latency of the world, its service slowed.
  Duration latency(double slow_factor = 1) {
    const double service =
        random_.uniform() < 0.02 ? Uniform{40, 400}.draw(random_) : Lognormal{2, 0.5}.draw(random_);
    const Lognormal way{0, 0.4};
    const double ms = way.draw(random_) + way.draw(random_) + slow_factor * service;
    return Duration(static_cast<std::int64_t>(ms * 1e6));
  }

  // What a client that gives up at `limit` logs.
  Measurement measure(Duration limit = std::chrono::seconds(1)) const {
    std::vector<Attempt> cut = rows;
    for (Attempt& row : cut) {
      if (row.elapsed <= limit) continue;
      row.elapsed = limit;
      row.ending = Ending::timed_out;
    }
    Measurement measurement;
    measurement.add(cut, backends_, routes_);
    return measurement;
  }

  Random& random() { return random_; }
  std::vector<Attempt> rows;  // Duration::max(): never replies.

 private:
  Random random_;
  NameTable backends_;
  NameTable routes_;
};

}  // namespace overdue
