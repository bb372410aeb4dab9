#pragma once

#include <cstdint>

namespace overdue {

// What can go wrong on purpose: one vocabulary for the simulated world and the proxy.
enum class FaultKind : std::uint8_t {
  slow,          // Work that begins takes `factor` times as long.
  pause,         // Workers stand still and go on afterwards.
  crash,         // The process dies: what it holds is gone, connections are reset, connects refused.
  dead,          // The host is gone: nothing is answered, connects are swallowed.
  half_broken,   // A ping passes; work fails with an explicit error after its service time (factor times it).
  partition,     // Nothing gets through in one direction of a link.
  loss,          // Messages of one direction of a link are lost with `probability`.
  client_crash,  // A client's processes die with all they knew; others take their journal over later.
  takeover,      // Another process of a client takes over what one at work has not ended.
  failover,      // A service's store changes its primary: commits that are not durable are gone.
};

// Where in a piece of work a crash that is drawn per request strikes.
enum class CrashPoint : std::uint8_t {
  before_effect,  // After the service time, nothing committed.
  after_effect,   // Committed, the reply never leaves.
  after_reply,    // The reply has left.
};

enum class Way : std::uint8_t { request, reply };

}  // namespace overdue
