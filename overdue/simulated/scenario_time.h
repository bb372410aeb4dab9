#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "overdue/base/time.h"

namespace overdue {

// How long something takes, as a scenario file says it: data only, the world draws from it. Durations are
// whole nanoseconds and positive, or zero where something may take no time.

struct ConstantTime {
  Duration value{};
};

struct UniformTime {
  Duration low{};
  Duration high{};  // Above low.
};

struct ExponentialTime {
  Duration mean{};
};

struct LognormalTime {
  Duration median{};
  double log_sigma = 0;  // Of the natural logarithm.
};

// P(T > t) = (scale / t)^shape for t >= scale; values above `max` are drawn as `max`.
struct ParetoTime {
  Duration scale{};
  double shape = 2;
  Duration max{};
};

// What was measured: within a bucket values are uniform. Weights need not sum to one. The parser fills `path`
// with what the file says; whoever joins the worlds (cli) fills `buckets`, in ascending order.
struct EmpiricalTime {
  struct Bucket {
    Duration low{};
    Duration high{};
    double weight = 0;
  };
  std::string path;  // Output of `overdue advise --json`, or a log.
  std::vector<Bucket> buckets;
  std::uint32_t line = 0;  // Where the file is named, for messages.
};

struct TimeDistribution;

// One of several, by share; the shares sum to one within 1e-9.
struct MixtureTime {
  std::vector<double> shares;
  std::vector<TimeDistribution> parts;
};

struct TimeDistribution {
  std::variant<ConstantTime, UniformTime, ExponentialTime, LognormalTime, ParetoTime, EmpiricalTime,
               MixtureTime>
      kind;
};

}  // namespace overdue
