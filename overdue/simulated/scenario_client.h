#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "overdue/base/time.h"
#include "overdue/call/operation.h"
#include "overdue/simulated/scenario_time.h"
#include "overdue/simulated/scenario_writes.h"

namespace overdue {

// From `at` the rate moves to `per_second`, in a straight line that takes `over` (0: at once).
struct RateChange {
  Duration at{};
  Duration over{};
  double per_second = 0;
};

// Arrivals that do not wait for answers: Poisson, of a rate that may change.
struct OpenArrivals {
  double per_second = 0;
  std::vector<RateChange> changes;  // Ascending, not overlapping. A spike is two of them.
};

// Users who call, wait for the verdict, think and call again. Each begins after a think time.
struct ClosedArrivals {
  std::uint32_t users = 1;
  TimeDistribution think;
};

// Calls at these offsets. The cli fills `at` from the log at `path`.
struct RecordedArrivals {
  std::string path;
  std::vector<Duration> at;  // Ascending.
  std::uint32_t line = 0;    // Where the file is named, for messages.
};

struct Client {
  std::string name;
  std::string calls;  // A dependency.
  CallKind kind = CallKind::read;
  // Processes: each has an even share of the arrivals and a Dependency of its own.
  std::uint32_t instances = 1;
  std::variant<OpenArrivals, ClosedArrivals, RecordedArrivals> arrivals;
  // Calls begin from `from` up to `to`; by default during the whole `duration`.
  Duration from{};
  std::optional<Duration> to;
  // The service whose executions count as the effect of this client's intents. Never empty: where the file
  // is silent it is the service that `calls` leads to.
  std::string ledger_at;
  // Writes that end confirmed. Only of a write whose policy has a write table; with a key where the policy
  // has a key_header.
  std::optional<ClientJournal> journal;
  std::uint32_t line = 0;  // Of its rate or users, for messages; 0 where --set said it.
};

}  // namespace overdue
