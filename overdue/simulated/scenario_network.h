#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "overdue/base/probability.h"
#include "overdue/base/time.h"
#include "overdue/simulated/scenario_time.h"
#include "overdue/simulated/scenario_writes.h"

namespace overdue {

enum class Balance : std::uint8_t { round_robin, random, least_loaded_of_two };

// Connections to each replica, kept between calls. A call that finds none free and may open none waits.
struct Pool {
  std::uint32_t connections_max = 0;  // Per caller and replica, at least 1.
  std::optional<std::uint32_t> waiting_max;
  std::optional<Duration> idle_max;  // A connection idle for longer is closed; the next call connects anew.
  std::uint32_t line = 0;            // Of the file, 0 where it is not from one.
};

// How calls to dependency `name` get to their service.
struct Link {
  std::string name;     // That of the dependency.
  std::string service;  // By default the one of the same name.
  std::string network;
  Balance balance = Balance::round_robin;
  // None: a connection is always there unless the network has a connect phase; then each attempt connects.
  std::optional<Pool> pool;
  // On: an abandoned attempt sends a cancellation to the server, one network delay away. Whether the server's
  // code looks at it is the service's cancel_checks.
  bool cancellation = false;
  std::optional<Repeats> repeats;
};

struct Direction {
  TimeDistribution delay;  // One way.
  Probability loss;
  Probability duplication;  // Of a message that is not lost: it arrives twice, each copy with its own delay.
  // Bursts: the way alternates between good and bad, both exponential; while bad, messages are lost with
  // `burst_loss` instead.
  std::optional<Duration> burst_every;  // Mean good time.
  std::optional<Duration> burst_lasts;  // Mean bad time.
  Probability burst_loss;
  std::uint32_t duplication_line = 0;  // Where duplication stands; 0 where it is said on the command line.
};

// The connect phase: one round trip over both directions, then this happens to it.
struct Connect {
  Probability refused;    // At once after the round trip: never sent.
  Probability swallowed;  // Nothing ever comes back: only the connect timeout ends it.
};

struct Network {
  std::string name;
  Direction request;
  Direction reply;
  std::optional<Connect> connect;  // None: connecting takes no time and cannot fail.
};

}  // namespace overdue
