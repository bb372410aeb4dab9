#include "overdue/policy/lint.h"

#include <fmt/format.h>

#include <algorithm>

#include "overdue/base/quantity.h"
#include "overdue/policy/toml_text.h"

namespace overdue {
namespace {

// Of one dependency, by table.
class Lint {
 public:
  Lint(const DependencyPolicy& dependency, std::vector<PolicyWarning>& warnings)
      : dependency_(dependency), warnings_(warnings) {}

  void run() {
    const TimeoutPolicy& timeout = dependency_.timeout;
    request_ = timeout.adaptive ? timeout.ceiling : timeout.request;
    attempts_ = dependency_.retry.attempts.value_or(1);
    backoff_ = dependency_.retry.backoff.value_or(Backoff{});
    limits();
    if (attempts_ > 1) retries();
    errors();
    writes();
  }

 private:
  void warn(std::string_view table, std::uint32_t line, std::string_view text) {
    warnings_.push_back({.line = line == 0 ? dependency_.line : line,
                         .text = fmt::format("dependency.{}{}{}: {}", toml_text::as_key(dependency_.name),
                                             table.empty() ? "" : ".", table, text)});
  }

  void warn_of_errors(std::string_view key, std::string_view text) {
    warn("errors", dependency_.errors.key_lines.of(key, dependency_.errors.line), text);
  }
  void warn_of_write(std::string_view key, std::string_view text) {
    warn("write", dependency_.write.key_lines.of(key, dependency_.write.line), text);
  }

  void limits() {
    const TimeoutPolicy& timeout = dependency_.timeout;
    if (timeout.adaptive && !timeout.ceiling) {
      warn(
          "timeout", timeout.line,
          "request = \"adaptive\" has no ceiling: nothing stops it from following a slow dependency upwards");
    } else if (!request_ && !dependency_.promise) {
      warn("timeout", timeout.line, "nothing limits how long a call may wait: set promise, or request");
    }
    if (!timeout.adaptive && timeout.request && timeout.ceiling && *timeout.request > *timeout.ceiling) {
      warn("timeout", timeout.line,
           fmt::format(
               "request {} is above ceiling {}, which limits \"adaptive\" alone: one of the two is not "
               "what is meant",
               format_duration_exact(*timeout.request), format_duration_exact(*timeout.ceiling)));
    }
    if (timeout.connect && request_ && *timeout.connect >= *request_) {
      warn("timeout", timeout.line,
           fmt::format(
               "connect {} is no shorter than request {}, which ends the attempt first: a dead host is "
               "noticed no sooner than a slow one",
               format_duration_exact(*timeout.connect), format_duration_exact(*request_)));
    }
  }

  // The longest that the wait before a retry can be.
  Duration wait_max(std::uint32_t retry) const {
    // Decorrelated, each is at most three times the one before it, and the first three times the base.
    const bool decorrelated = backoff_.jitter == Jitter::decorrelated;
    const std::uint32_t factor = decorrelated ? 3 : 2;
    Duration wait = backoff_.base;
    for (std::uint32_t grown = decorrelated ? 0 : 1; grown < retry && wait < backoff_.cap; ++grown)
      wait = wait > backoff_.cap / factor ? backoff_.cap : wait * factor;
    return wait;
  }

  // How many whole attempts, with the waits between them, fit the promise.
  std::uint32_t attempts_that_fit() const {
    Duration left = *dependency_.promise;
    for (std::uint32_t attempt = 1; attempt <= attempts_; ++attempt) {
      const Duration wait = attempt == 1 ? Duration(0) : wait_max(attempt - 1);
      if (wait > left || *request_ > left - wait) return attempt - 1;
      left -= wait + *request_;
    }
    return attempts_;
  }

  void retries() {
    const RetryPolicy& retry = dependency_.retry;
    if (!dependency_.promise) {
      warn("retry", retry.line,
           fmt::format("nothing limits the whole of {} attempts: set promise{}", attempts_,
                       request_ ? fmt::format("; as it is a call may take {} and the waits between",
                                              format_duration(*request_ > Duration::max() / attempts_
                                                                  ? Duration::max()
                                                                  : *request_ * attempts_))
                                : std::string()));
    } else if (!request_) {
      warn("retry", retry.line,
           fmt::format(
               "no room to retry: without request the first of {} attempts may use up the whole promise "
               "of {}",
               attempts_, format_duration_exact(*dependency_.promise)));
    } else if (const std::uint32_t fit = attempts_that_fit(); fit < attempts_) {
      warn("retry", retry.line,
           fmt::format(
               "{} x {} and the waits between them > promise {}: {} whole attempt{} fit{}, a further one "
               "is cut short",
               attempts_, format_duration_exact(*request_), format_duration_exact(*dependency_.promise), fit,
               fit == 1 ? "" : "s", fit == 1 ? "s" : ""));
    }
    if (retry.no_budget) {
      warn("retry", retry.line,
           fmt::format(
               "budget = \"none\": a dependency that fails every call gets {} times the load for it; set "
               "a budget",
               attempts_));
    }
    if (retry.unsafe_retry_without_key) {
      warn("retry", retry.line,
           "unsafe_retry_without_key = true repeats writes that may have happened: it makes duplicates; give "
           "writes a key (write.key_header) instead");
    }
  }

  void errors() {
    const ErrorsPolicy& errors = dependency_.errors;
    for (const std::string& text : errors.nothing_happened) {
      const auto status = status_of(text);
      if (status == 409) {
        warn_of_errors(
            "nothing_happened",
            "409 in nothing_happened: under a key it says that another attempt is at work, which may yet "
            "happen; "
            "put it in in_flight");
      }
    }
    if (std::ranges::find(errors.in_flight, "200") != errors.in_flight.end()) {
      warn_of_errors(
          "in_flight",
          "200 in in_flight: then no reply of 200 proves that a write was applied; for \"accepted, not done "
          "yet\" list the status that says it, as 202 does");
    }
    if (dependency_.via_proxy && !errors.nothing_happened.empty()) {
      warn_of_errors(
          "nothing_happened",
          "nothing_happened is not believed behind a proxy: it may say such a thing itself, or of its own "
          "second "
          "try");
    }
    if (!errors.recorded_rejection.empty() && !dependency_.write.key_header) {
      warn_of_errors(
          "recorded_rejection",
          "recorded_rejection without write.key_header: without a key nothing is recorded, so such an answer "
          "speaks of one attempt only");
    }
  }

  void writes() {
    const WritePolicy& write = dependency_.write;
    const auto offers = [&](OnUnknown step) {
      return std::ranges::find(write.on_unknown, step) != write.on_unknown.end();
    };
    const bool asks = offers(OnUnknown::query) || offers(OnUnknown::list);
    const bool sends_again = offers(OnUnknown::retry) && write.key_header;
    const bool sends = sends_again || offers(OnUnknown::fence);
    if (offers(OnUnknown::retry) && !write.key_header) {  // Else an error: unsafe_retry_without_key is set.
      warn_of_write(
          "on_unknown",
          "on_unknown has \"retry\", and there is no key_header: past the deadline nothing is sent again "
          "without a key, whatever unsafe_retry_without_key says; the step is passed over");
    }
    const std::string_view plan_key = write.after_deadline ? "after_deadline" : "on_unknown";
    const AfterDeadline plan = write.after_deadline.value_or(AfterDeadline::complete);
    if (!write.on_unknown.empty() && !asks && plan == AfterDeadline::settle) {
      warn_of_write(
          plan_key,
          "after_deadline = \"settle\" only asks, and on_unknown has neither \"query\" nor \"list\": every "
          "unknown write goes to a person");
    } else if (!write.on_unknown.empty() && !asks && plan == AfterDeadline::complete && !sends_again) {
      warn_of_write(plan_key,
                    fmt::format("after_deadline = \"complete\" uses nothing of on_unknown: every unknown "
                                "write goes to a person{}",
                                offers(OnUnknown::fence) ? "; \"revoke\" would fence it" : ""));
    }
    // A late request, or a late fence, would find no record and be taken for something new.
    if (write.expired == ExpiredKeys::deleted && sends && !(write.last_send && write.key_retention)) {
      warn_of_write("expired",
                    "expired = \"deleted\" without key_retention and last_send: what is sent after a key was "
                    "forgotten is "
                    "executed as new; say until when it may be sent");
    }
    times();
    tombstones();
  }

  void times() {
    const WritePolicy& write = dependency_.write;
    if (write.expired == ExpiredKeys::deleted && write.key_retention && write.message_life_max &&
        !write.last_send && *write.message_life_max >= *write.key_retention) {
      warn_of_write(
          "message_life_max",
          fmt::format("message_life_max {} does not end before key_retention {}: with expired = "
                      "\"deleted\" a request may come after its key was forgotten, and be executed as new, "
                      "however early it was sent",
                      format_duration_exact(*write.message_life_max),
                      format_duration_exact(*write.key_retention)));
    }
    if (!write.key_retention || !write.last_send || write.message_life_max) return;
    warn_of_write(
        "last_send",
        fmt::format(
            "message_life_max is left out and taken for 0: a request sent at last_send {} is held to "
            "arrive at once. Write the longest that one may be on its way, with every queue, proxy "
            "and repetition between, as in \"10m\"; last_send and it must end before key_retention {}",
            format_duration_exact(*write.last_send), format_duration_exact(*write.key_retention)));
  }

  // What is taken for proof that a key is closed, and may be none.
  void tombstones() {
    const WritePolicy& write = dependency_.write;
    if (write.not_found == NotFound::fenced && write.status) {
      const std::string_view status = *write.status;
      const std::string_view method = status.substr(0, status.find(' '));
      const bool only_looks = method == "GET" || method == "HEAD";
      warn_of_write(
          "not_found",
          fmt::format("not_found = \"fenced\" takes \"not found\" for proof that the write never happens. "
                      "That is right only where asking for the status itself writes a tombstone, in one "
                      "transaction with its answer, so that a request that comes later is refused{}; else "
                      "write \"proves_nothing\", and fence the key by a call of its own",
                      only_looks ? fmt::format(". A {} leaves none as a rule: have the vendor's word in "
                                               "writing that this one does",
                                               method)
                                 : std::string()));
    }
    if (write.fence && write.fence->starts_with("DELETE ")) {
      warn_of_write(
          "fence",
          "fence is a DELETE: of a key that the server has not seen yet it rarely leaves a tombstone (a 404 "
          "writes nothing), and a request that comes later is executed. It fences only where the server "
          "keeps the deletion of what it never had");
    }
  }

  const DependencyPolicy& dependency_;
  std::vector<PolicyWarning>& warnings_;
  std::optional<Duration> request_;
  std::uint32_t attempts_ = 1;
  Backoff backoff_;
};

}  // namespace

std::vector<PolicyWarning> lint_policy(const Policy& policy) {
  std::vector<PolicyWarning> warnings;
  for (const DependencyPolicy& dependency : policy.dependencies) Lint(dependency, warnings).run();
  std::ranges::stable_sort(warnings, {}, &PolicyWarning::line);
  return warnings;
}

}  // namespace overdue
