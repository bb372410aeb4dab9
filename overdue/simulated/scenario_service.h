#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "overdue/base/probability.h"
#include "overdue/base/time.h"
#include "overdue/simulated/scenario_time.h"
#include "overdue/simulated/scenario_writes.h"

namespace overdue {

enum class QueueOrder : std::uint8_t { fifo, lifo };
// With a full queue: an explicit error goes back (the caller sees Ending::rejected), or silence.
enum class WhenFull : std::uint8_t { reject, drop };

// Standing still, or slow, together. Spells begin after exponential times of mean `every`.
struct Pauses {
  Duration every{};
  TimeDistribution lasts;
  bool whole_service = false;  // All replicas at once; otherwise each by itself.
  // None: workers stand still and go on afterwards. Else work that begins in a spell takes this long instead
  // of the service time, so that the same mixture drawn independently has the same marginal distribution.
  std::optional<TimeDistribution> service_time;
};

// A lock that a share of the work takes, one holder at a time in the whole service, while a worker waits.
struct SharedLock {
  Probability share;
  TimeDistribution hold;  // On top of the service time.
};

enum class ProbeKind : std::uint8_t { ping, deep };

// What a health check sees. A ping is answered while the process runs; a deep check also takes the service
// time of one piece of work (without queueing) and fails where work fails.
struct ServiceProbe {
  ProbeKind kind = ProbeKind::ping;
  Duration every{};
  Duration timeout{};
};

struct Service {
  std::string name;
  std::vector<std::string> replicas;     // Their names, at least one.
  std::optional<std::uint32_t> workers;  // Per replica. None: as many as there is work, nobody queues.
  QueueOrder queue_order = QueueOrder::fifo;
  std::optional<std::uint32_t> queue_max;  // Per replica, waiting only. None: without bound.
  WhenFull when_full = WhenFull::reject;
  TimeDistribution service_time;
  // After the service time, group after group; the calls of one group run together. The worker waits with
  // them. A call that is not answered makes the work fail (an explicit error goes back), unless ignored.
  std::vector<std::vector<std::string>> calls;  // Dependencies.
  bool ignores_failed_calls = false;
  // The effect is committed when service time and calls are through; the reply leaves after this.
  std::optional<TimeDistribution> commit_to_reply;
  bool remembers_keys = false;   // A keyed write is executed once; a repeat gets the stored reply.
  std::optional<Store> store;    // Keeps a record of each key in full; in place of remembers_keys.
  bool refuses_expired = false;  // Work whose deadline has passed: before starting and before committing.
  // On arrival, work that would end at or past its deadline if each piece took this long. None: never.
  std::optional<Duration> sheds_late;
  // What it asks to wait where it turns away for want of room. None: it says nothing.
  std::optional<Duration> retry_after;
  bool passes_deadline_on = false;  // Its own calls get what is left of the caller's deadline.
  // Looks for a cancellation before starting and then this often while working. None: never looks.
  std::optional<Duration> cancel_checks;
  // It closes a connection of a pool that was idle for so long. A request that is on its way then ends in a
  // reset (field case C37).
  std::optional<Duration> keep_alive;
  std::uint32_t keep_alive_line = 0;  // Of the file, 0 where it is not from one.
  std::optional<Pauses> pauses;
  std::optional<SharedLock> lock;
  std::optional<ServiceProbe> probe;
};

}  // namespace overdue
