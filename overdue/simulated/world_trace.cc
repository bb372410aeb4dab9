#include <fmt/format.h>

#include "overdue/simulated/world.h"

// One line an event, for people and for comparing two runs: seconds, who, what.

namespace overdue::world {
namespace {

std::string at(Instant now) {
  const std::int64_t ns = now.time_since_epoch().count();
  return fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
}

}  // namespace

void WorldState::trace_call(const Call& call, std::string_view what) {
  const std::string_view link = links_[call.channel->link].link->name;
  std::string_view client = "a service";
  if (call.client != kNone) client = clients_[call.client].client->name;
  if (call.write != kNone) {
    const OperationId id = writes_->slots[call.write].operation;
    client = clients_[writes_->operation(id).client].client->name;
  }
  options_.trace(fmt::format("{} intent {} {} calls {}: {}", at(now_), call.key, client, link, what));
}

void WorldState::trace_attempt(const AttemptSlot& attempt, std::string_view what) {
  const Call& call = calls_[attempt.call];
  const std::string number = is_question(attempt)
                                 ? std::string("question")
                                 : fmt::format("attempt {}", static_cast<std::uint32_t>(attempt.number));
  options_.trace(fmt::format("{} intent {} {} {} at {}: {}", at(now_), call.key,
                             links_[call.channel->link].link->name, number, attempt.replica->name, what));
}

void WorldState::trace_part(std::string_view part, std::string_view what) {
  options_.trace(fmt::format("{} {}: {}", at(now_), part, what));
}

}  // namespace overdue::world
