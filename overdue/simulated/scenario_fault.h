#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "overdue/base/probability.h"
#include "overdue/base/time.h"

namespace overdue {

enum class FaultKind : std::uint8_t {
  slow,         // Work that begins takes `factor` times as long.
  pause,        // Workers stand still and go on afterwards.
  crash,        // The process dies: what it holds is gone, connections are reset, connects refused.
  dead,         // The host is gone: nothing is answered, connects are swallowed.
  half_broken,  // A ping passes; work fails with an explicit error after its service time (factor times it).
  partition,    // Nothing gets through in one direction of a link.
  loss,         // Messages of one direction of a link are lost with `probability`.
};

// Where in a piece of work a crash that is drawn per request strikes.
enum class CrashPoint : std::uint8_t {
  before_effect,  // After the service time, nothing committed.
  after_effect,   // Committed, the reply never leaves.
  after_reply,    // The reply has left.
};

enum class Way : std::uint8_t { request, reply };

// What goes wrong on purpose, and when. It lasts from `at` for `lasts`, or to the end; then what it broke
// works again (a process restarts empty).
//
// Drawn: with `drawn` there is one with that probability in a run, and it begins at a moment uniform in
// [at, at_latest]. Both come from the seed.
struct Fault {
  std::uint32_t line = 0;
  FaultKind kind = FaultKind::slow;
  std::string service;                 // For what happens to replicas.
  std::optional<std::string> replica;  // None: all of the service's.
  std::string link;                    // For partition and loss: the dependency whose messages are meant,
  Way way = Way::request;              // in this direction.
  Duration at{};
  std::optional<Duration> lasts;
  double factor = 1;
  Probability probability;
  // Only crash: strikes during the spell at this point of a request's work, each request with `probability`,
  // and the replica is back after `restart_after`. None: one crash at `at`, back after `lasts`.
  std::optional<CrashPoint> crash_point;
  Duration restart_after{};
  std::optional<Probability> drawn;
  Duration at_latest{};
};

}  // namespace overdue
