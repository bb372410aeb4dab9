#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "overdue/base/attempt.h"
#include "overdue/base/time.h"
#include "overdue/call/operation.h"
#include "overdue/simulated/event_queue.h"
#include "overdue/simulated/run_result.h"

// What lives as long as a call does. Everything refers to everything else by slot.

namespace overdue::world {

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};
// Later than any run; kept within the world, where a comparison is all that is asked of it.
inline constexpr Instant kNever = Instant::max();

// How a call stands for its caller; the classes of CallCounts.
enum class Outcome : std::uint8_t { open, answered, rejected, not_sent, unknown };

constexpr bool said_no(Outcome outcome) {
  return outcome == Outcome::rejected || outcome == Outcome::not_sent;
}

struct Channel;
struct ReplicaState;

// A call: a client's, or one that a service makes while it works. A client's call is also the record of its
// intent, and stays until nothing is left in the world that could still have an effect for it.
//
// In the order in which they are asked for: a line of the cache for what each event looks at, one and a half
// for the operation's decisions, and at the end what a call is begun with.
struct alignas(64) Call {
  // One timer a slot, kept when the slot changes hands: one that is due too early looks again and is set
  // anew, so a call that ends in time leaves nothing in the queue.
  Instant timer_at = kNever;  // kNever: none in the queue.
  EventQueue::Ticket timer = 0;
  Instant wakeup_at = kNever;  // When the operation wants to be woken.
  Channel* channel = nullptr;
  std::uint32_t root = kNone;     // The client's call this is for; itself where it is that.
  std::uint32_t parent = kNone;   // The piece of work that waits for it.
  std::uint32_t attempt = kNone;  // The latest.
  std::uint32_t references = 0;   // Attempts, calls further on, and whoever is at work on it.
  std::uint32_t executions = 0;   // At the service that counts.
  std::uint32_t client = kNone;
  std::uint32_t user = kNone;  // Of a closed loop.
  CallKind kind = CallKind::read;
  Outcome outcome = Outcome::open;
  bool in_use = false;
  bool has_operation = false;
  union {
    Operation operation;
  };
  std::uint64_t key = 0;         // Of the intent.
  std::uint64_t remembered = 0;  // A bit for each link under whose key the effect is stored.
  Instant started{};
  std::uint32_t write = kNone;  // Its part in a write that ends confirmed; it has no operation then.
  std::uint32_t holds = 0;      // Such writes whose root it is, and that have not ended.

  Call() {}  // NOLINT(cppcoreguidelines-pro-type-member-init,modernize-use-equals-default): no operation yet.
};
static_assert(std::is_trivially_destructible_v<Operation> && sizeof(Call) == 320);

enum class Phase : std::uint8_t {
  away,      // Not at a server.
  queued,    // Waits for a worker.
  working,   // Its service time passes.
  locking,   // Waits for the lock.
  holding,   // Has the lock.
  calling,   // Waits for calls of its own.
  replying,  // Committed; the reply has not left.
  asking,    // A question, which takes no worker.
};

// It takes a worker.
constexpr bool is_at_work(Phase phase) {
  return phase != Phase::away && phase != Phase::queued && phase != Phase::asking;
}

// What a server keeps of one copy of a request, from the beginning of its work on. Without initial values, on
// purpose: most of what waits in a long queue never gets as far.
struct Work {
  Instant begun;            // By a worker.
  EventQueue::Ticket step;  // The event that ends the present step.
  Duration paused;          // The replica's pauses up to where its present step began.
  Duration server_time;     // From the arrival to the answer.
  std::uint8_t group;       // Of calls, the one that runs.
  std::uint8_t pending;     // Calls of it without a verdict.
  bool fails;               // It will end in an error.
};

// One attempt as its caller sees it, and what of it waits in a server's queue: one line of the cache, for of
// a service that is behind there are as many as its queue is long.
struct alignas(64) Attempt {
  Channel* channel = nullptr;
  ReplicaState* replica = nullptr;
  Instant started{};          // By its caller.
  Instant arrived{};          // At the server.
  Instant deadline = kNever;  // As told to the server; kNever: it was told of none.
  std::uint32_t call = kNone;
  std::uint32_t next = kNone;     // In the queue it waits in.
  std::uint32_t message = kNone;  // What it carries of a write; without a store or a journal nothing.
  AttemptNumber number{};
  std::uint16_t references = 0;  // Its caller, messages under way, the server.
  std::uint16_t status = 0;      // Of the answer that is on its way.
  Phase phase = Phase::away;
  Ending answer = Ending::replied;  // What is on its way.
  bool awaited : 1 = false;         // Its caller waits for it.
  bool watched : 1 = false;         // Given up, and a late answer is still heard.
  bool timed_out : 1 = false;       // Given up by a limit, and no answer has come yet.
  bool connected : 1 = false;
  bool in_use : 1 = false;
  bool in_pool_queue : 1 = false;
  bool has_connection : 1 = false;  // Of a pool.
  bool cancelled : 1 = false;       // A cancellation has come.
  bool wasted : 1 = false;          // The work ended, and its caller had left.
  bool is_copy : 1 = false;
  bool meets_closed : 1 = false;  // Its connection is closed by the server before it gets there.
};
static_assert(sizeof(Attempt) == 64);
inline constexpr Attempt kFreshAttempt{};

// A message that arrives twice has a second slot, a copy.
struct AttemptSlot : Attempt {
  Work work;
  Instant sent;            // By its caller, where it tells a deadline.
  std::uint32_t original;  // Of a copy.

  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init,modernize-use-equals-default): no work yet.
  AttemptSlot() {}
};
static_assert(sizeof(AttemptSlot) == 128);

inline std::optional<Instant> deadline_of(const AttemptSlot& attempt) {
  if (attempt.deadline == kNever) return std::nullopt;
  return attempt.deadline;
}

// Asked about a write: its attempts count from 1.
constexpr bool is_question(const AttemptSlot& attempt) { return attempt.number == AttemptNumber{0}; }

// What an event in the queue is about; the rest of its slot is the number of that.
enum class Kind : std::uint8_t {
  arrival,       // Source.
  user,          // User of a closed loop, done thinking.
  wakeup,        // Call.
  connected,     // Attempt.
  refused,       // Attempt: its connection was.
  request,       // Attempt, whose request arrives.
  step,          // Attempt, whose present step of work is over.
  reply,         // Attempt, whose answer arrives.
  cancellation,  // Attempt.
  check,         // Attempt: its work looks whether it is cancelled.
  fault_begins,  // Fault.
  fault_ends,    // Fault.
  restart,       // Replica.
  pause,         // Source of pauses: begins or ends.
  probe,         // Replica.
  write,         // Of journals and stores: one of WriteWorld::later.
};
inline constexpr unsigned kIndexBits = 24;
inline constexpr std::uint32_t kIndexMax = (std::uint32_t{1} << kIndexBits) - 1;
// Looked at now and then: a run with more of them than kInUseMax (run.h) ends before an event's slot has no
// room for their numbers.
static_assert(kInUseMax + (std::uint32_t{1} << 20) < kIndexMax);

}  // namespace overdue::world
