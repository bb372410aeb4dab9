#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "overdue/base/probability.h"
#include "overdue/base/time.h"
#include "overdue/fault/fault_kind.h"

namespace overdue {

// What goes wrong on purpose, and when. It lasts from `at` for `lasts`, or to the end; then what it broke
// works again (a process restarts empty).
//
// Drawn: with `drawn` there is one with that probability in a run, and it begins at a moment uniform in
// [at, at_latest]. Both come from the seed.
struct Fault {
  std::string name;
  std::uint32_t line = 0;
  FaultKind kind = FaultKind::slow;
  std::string service;                 // For what happens to replicas.
  std::optional<std::string> replica;  // None: all of the service's.
  std::string link;                    // For partition and loss: the dependency whose messages are meant,
  Way way = Way::request;              // in this direction.
  std::string client;                  // For client_crash and takeover: one with a journal.
  Duration at{};
  std::optional<Duration> lasts;
  double factor = 1;
  Probability probability;
  // Only crash: strikes during the spell at this point of a request's work, each request with `probability`,
  // and the replica is back after `restart_after`. None: one crash at `at`, back after `lasts`.
  std::optional<CrashPoint> crash_point;
  Duration restart_after{};  // Of client_crash: when another process takes over.
  std::optional<Probability> drawn;
  Duration at_latest{};
};

}  // namespace overdue
