#include "overdue/write/explain_next.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "overdue/base/check.h"
#include "overdue/base/quantity.h"
#include "overdue/call/operation.h"
#include "overdue/write/reconciler.h"

namespace overdue {
namespace {

// The policy with times at which everything that may happen does: no budget that is spent, no deadline too
// near. Whether there is a retry, and how many, stays as it was.
CallPolicyOptions with_time_for_all(CallPolicyOptions call) {
  call.promise = std::chrono::hours(1);
  call.connect_timeout = std::chrono::seconds(1);
  call.request_timeout = std::chrono::seconds(2);
  call.backoff = {
      .base = std::chrono::milliseconds(1), .cap = std::chrono::milliseconds(1), .jitter = Jitter::none};
  call.retry_budget.reset();
  if (call.watch.parts() > 0) call.watch = Probability::from_parts(Probability::kScale);
  return call;
}

bool is_answer(Ending ending) { return ending == Ending::replied || ending == Ending::rejected; }

std::string_view step_text(OnUnknown step, bool keyed) {
  switch (step) {
    case OnUnknown::retry:
      return "sends the same bytes again under the same key, before the last send";
    case OnUnknown::query:
      return keyed ? "asks for the key's status" : "asks for its status";
    case OnUnknown::fence:
      return "fences the key, before the last send";
    case OnUnknown::list:
      return "looks for it in the listing";
  }
  return "";
}

// Why no second attempt is made.
std::string why_only_one(const AttemptSeen& seen, const ExplainOptions& options) {
  if (options.call.attempts_max == 1) return "attempts is 1";
  if (seen.ending == Ending::abandoned) return "its caller has left";
  if (is_answer(seen.ending)) {
    const StatusMeaning meaning = options.call.errors.meaning_of(seen.status);
    if (meaning == StatusMeaning::other_answer) return "an answer that is no failure is not asked for again";
    if (meaning == StatusMeaning::recorded_rejection) return "a recorded no is not asked for again";
  }
  ExplainOptions keyed = options;
  keyed.terms.keyed = true;
  if (course_of(seen, keyed).attempts > 1) return "without a key that may be a second effect";
  return "retry.on leaves this failure out";
}

// The steps in the order of a reconciler that never gets a proof, each once.
std::vector<OnUnknown> steps_of(const WriteTerms& terms) {
  Reconciler reconciler(terms, 1);
  std::vector<OnUnknown> steps;
  for (std::size_t turn = 0; turn < terms.on_unknown.size(); ++turn) {
    const auto next = reconciler.next({});
    const auto* step = std::get_if<Reconciler::Step>(&next);
    if (step == nullptr) break;
    if (std::ranges::find(steps, step->kind) == steps.end()) steps.push_back(step->kind);
    reconciler.on_taken({});
  }
  return steps;
}

}  // namespace

Course course_of(const AttemptSeen& seen, const ExplainOptions& options) {
  const auto policy = CallPolicy::create(with_time_for_all(options.call));
  OVERDUE_CHECK(policy.has_value());
  Instant now{};
  Dependency dependency(*policy, now);
  Operation operation(dependency, options.terms.keyed ? CallKind::keyed_write : CallKind::unkeyed_write, 1);
  Course course;
  const auto follow = [&](const ActionList& actions) {
    for (const Action& action : actions) {
      if (const auto* finish = std::get_if<FinishCall>(&action)) course.verdict = finish->verdict;
    }
  };
  follow(operation.handle(now, CallStarted{}));
  for (std::uint32_t ended = 0; !operation.finished();) {
    const AttemptNumber attempt{operation.attempts()};
    if (ended == operation.attempts()) {  // Waits for its next attempt, or for a late reply.
      now = operation.next_wakeup().value();
      course.listens = now == operation.deadline();
      follow(operation.handle(now, WakeupReached{}));
      continue;
    }
    ended = operation.attempts();
    const bool connects = !seen.nothing_written || is_answer(seen.ending);
    if (connects) follow(operation.handle(now, AttemptConnected{attempt}));
    if (seen.ending == Ending::timed_out) {
      now = operation.next_wakeup().value();
      follow(operation.handle(now, WakeupReached{}));
    } else if (seen.ending == Ending::abandoned) {
      follow(operation.handle(now, CallerLeft{}));
    } else {
      follow(operation.handle(now, AttemptEnded{.attempt = attempt,
                                                .ending = seen.ending,
                                                .status = seen.status,
                                                .nothing_written = seen.nothing_written}));
    }
  }
  course.attempts = operation.attempts();
  return course;
}

std::string until_answered(const AttemptSeen& seen, const ExplainOptions& options) {
  const Course course = course_of(seen, options);
  std::string text;
  if (course.attempts == 1)
    text = fmt::format("sends nothing again before the deadline, for {}", why_only_one(seen, options));
  else if (options.terms.keyed)
    text = fmt::format(
        "waits and sends the same bytes again under the same key, {} attempts in all, while budget and "
        "deadline allow",
        course.attempts);
  else
    text = fmt::format(
        "waits and sends it again without a key, {} attempts in all, as unsafe_retry_without_key says: each "
        "may be one more effect",
        course.attempts);
  return text + (course.listens
                     ? "; listens on for a late reply, and at the deadline the caller is told "
                       "\"unknown\", with an id"
                     : "; the caller is told \"unknown\", with an id, once no attempt may still be "
                       "answered, at the latest at the deadline");
}

std::string once_unknown(const ExplainOptions& options) {
  const WriteTerms& terms = options.terms;
  const std::vector<OnUnknown> steps = steps_of(terms);
  if (terms.on_unknown.empty()) return "asks a person, for the policy offers nothing that would tell";
  if (steps.empty() && !terms.keyed)
    return "asks a person, for without a key nothing of what the server offers would tell";
  if (steps.empty()) {
    return fmt::format("asks a person, for after_deadline = \"{}\" uses nothing of what on_unknown offers",
                       kAfterDeadlineNames[static_cast<std::size_t>(terms.after_deadline)]);
  }
  std::string text;
  for (const OnUnknown step : steps)
    text += (text.empty() ? "" : ", then ") + std::string(step_text(step, terms.keyed));
  if (steps.size() > 1) text += ", in turn";
  return text +
         ", with growing waits, until one proves what became of it; past the last send it soon asks a "
         "person";
}

std::string retry_after_of_steps(const ExplainOptions& options) {
  if (steps_of(options.terms).empty()) return {};
  return fmt::format(
      " These steps begin without the Retry-After that the attempts were told; one that is told to a step is "
      "waited for, {} at most.",
      format_duration_exact(options.terms.between_steps.cap));
}

}  // namespace overdue
