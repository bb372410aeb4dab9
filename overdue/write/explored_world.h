#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "overdue/write/checker.h"
#include "overdue/write/explored_settings.h"
#include "overdue/write/memory_idempotency_store.h"
#include "overdue/write/memory_journal.h"
#include "overdue/write/write_lifecycle.h"

namespace overdue::explored {

// A small world for tests that walk every interleaving: one write (operation 1, key "a", two attempts) of a
// process P, a second process R that may take it over, a server with two workers, and the caller's new
// operation (2, key "b") for the same intent, begun only where the first is said not to have been applied.
// The state machines, the journal and the store are the real ones; here is only who says what when.
//
// The network is a set of messages: on a "proxy" network delivery removes nothing, so loss, delay without
// bound, repetition and every order are in every state; on a direct one a request is consumed, or lost.
// Answers always repeat. Each process has a clock of its own, that moves by its own wakeups, to its deadline,
// or past the last send.

// Slots of a process: its two attempts, and all it sent again.
inline constexpr std::uint8_t kResend = 3;

struct Request {
  std::uint8_t process = 0, slot = 0, key = 0, body = 0;  // Key 0 is "a", 1 is "b", 2 a fresh one.
  auto operator<=>(const Request&) const = default;
};
enum class Says : std::uint8_t { attempt, record };
struct Answer {
  std::uint8_t process = 0;
  Says says = Says::attempt;
  std::uint8_t slot = 0;                    // Of an attempt,
  std::uint16_t status = 0;                 // with its status,
  RecordSays record = RecordSays::nothing;  // and what stands in the reply or the answer.
  OnUnknown kind = OnUnknown::retry;
  bool after_seal = false, limit_passed = false, at_primary = true;
  auto operator<=>(const Answer&) const = default;
};
struct Asked {
  std::uint8_t process = 0;
  OnUnknown kind = OnUnknown::query;
  bool after_seal = false;
  auto operator<=>(const Asked&) const = default;
};
struct Worker {
  bool busy = false, second_half = false;
  Request request;
  std::uint64_t epoch = 0;
};
enum class Slot : std::uint8_t { unused, starting, out, given_up, ended };

struct Client {
  bool alive = false;
  std::optional<WriteLifecycle> lifecycle;
  Instant now{};
  std::array<Slot, 4> slots{};
  std::array<std::uint16_t, 4> heard{};  // Of each slot, a bit an answer.
  std::optional<Verdict> told;
  bool heard_absent = false;
};

struct World {
  std::array<Client, 2> clients;
  MemoryJournal journal;
  std::vector<Request> requests;
  std::vector<Answer> answers;
  std::vector<Asked> questions;
  std::array<Worker, 2> workers;
  MemoryIdempotencyStore store;
  Instant server_now{};
  Ledger ledger;
  History history;
  bool crashed = false, recovered = false, begun_again = false, limit_passed = false, horizon = false;
  bool tombstone_due = false, ever_ended = false, stored_5xx = false, forgotten = false;
};

// Where a step leads. A fault is a step that nothing brings about by itself.
using Emit = std::function<void(const char* label, int about, World&& next, bool fault)>;

class Rules {
 public:
  explicit Rules(const Settings& settings);

  World first() const;
  void steps(const World& world, const Emit& emit) const;
  // Equal for worlds that no step and no check can tell apart.
  std::uint64_t digest(const World& world) const;

  const Settings& settings() const { return settings_; }
  // Rows taken, of those of WriteRow; then O17 and L21.
  const std::array<std::uint64_t, kWriteRowCount + 2>& rows() const { return rows_; }
  // Steps of the lifecycle from one state to another that were taken.
  const std::set<std::pair<std::string, std::string>>& transitions() const { return transitions_; }

 private:
  bool is(Mutant mutant) const { return settings_.mutant == mutant; }
  void client_steps(const World& world, std::uint8_t p, const Emit& emit) const;
  void clock_steps(const World& world, std::uint8_t p, const Emit& emit) const;
  void journal_steps(const World& world, const Emit& emit) const;
  void answer_steps(const World& world, std::uint8_t p, const Emit& emit) const;
  void person_steps(const World& world, std::uint8_t p, const Emit& emit) const;
  void caller_steps(const World& world, const Emit& emit) const;
  void recovery_steps(const World& world, const Emit& emit) const;
  void recover(const World& world, std::uint8_t p, const Emit& emit) const;
  void server_steps(const World& world, const Emit& emit) const;
  void request_steps(const World& world, const Request& request, const Emit& emit) const;
  void worker_steps(const World& world, std::size_t index, const Emit& emit) const;
  void question_steps(const World& world, const Asked& asked, const Emit& emit) const;
  void keeping_steps(const World& world, const Emit& emit) const;

  bool handle(World& world, std::uint8_t p, WriteEvent event) const;
  bool perform(World& world, std::uint8_t p, const WriteAction& action) const;
  void persist(World& world, std::uint8_t p, const Persist& what) const;
  void land(World& world, PersistTicket ticket) const;
  void hear_reports(World& world, std::uint8_t p) const;
  void hear(World& world, const Answer& answer) const;
  void tell(World& world, std::uint8_t p, Verdict verdict, const Outcome& outcome) const;
  void send(World& world, std::uint8_t p, std::uint8_t slot) const;
  void effect(World& world, const Request& request) const;
  void answer(World& world, const Request& request, std::uint16_t status,
              RecordSays record = RecordSays::nothing, bool limit_passed = false) const;
  bool resend_under_way(const World& world, std::uint8_t p) const;
  WriteLifecycle lifecycle() const;
  ClaimRequest claim_of(const Request& request) const;

  Settings settings_;
  mutable Dependency dependency_;  // Of its policy nothing depends on what it has seen.
  mutable std::array<std::uint64_t, kWriteRowCount + 2> rows_{};
  mutable std::set<std::pair<std::string, std::string>> transitions_;
};

KeyScope scope_of(std::uint8_t key);
inline constexpr OperationId kFirst{1}, kSecond{2};

// A set as a sorted list.
template <typename T>
bool insert(std::vector<T>& set, const T& value) {
  const auto at = std::lower_bound(set.begin(), set.end(), value);
  if (at != set.end() && *at == value) return false;
  set.insert(at, value);
  return true;
}

}  // namespace overdue::explored
