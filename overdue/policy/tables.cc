#include "overdue/policy/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "overdue/base/quantity.h"

namespace overdue::reading {
namespace {

constexpr std::array<std::string_view, 3> kJitterNames = {"none", "full", "decorrelated"};
constexpr std::array<std::string_view, 4> kRetryOnNames = {"refused", "reset", "timed_out", "rejected"};
constexpr std::uint32_t kCountMax = 1'000'000;

std::uint32_t line_of(const Place& at) { return at.node.source().begin.line; }

// A limit that may be said to be none.
void read_limit(const Place& at, std::optional<Duration>& into) {
  if (!is_word(at.node, "none")) read_duration(at, into);
}

void read_backoff(const Place& at, std::optional<Backoff>& into) {
  if (is_word(at.node, "none")) {
    into = Backoff{.base = Duration(0), .cap = Duration(0), .jitter = Jitter::none};
    return;
  }
  if (at.node.is_string())
    return at.fault(
        "is a table, as in { base = \"25ms\", cap = \"1s\", jitter = \"full\" }, or \"none\" for no wait");
  std::optional<Duration> base;
  std::optional<Duration> cap;
  std::optional<Jitter> jitter;
  const Key keys[] = {{"base", [&](const Place& key) { read_duration(key, base); }},
                      {"cap", [&](const Place& key) { read_duration(key, cap); }},
                      {"jitter", [&](const Place& key) { read_enum(key, kJitterNames, jitter); }}};
  if (!read_table(at, "a backoff", keys)) return;
  const Backoff usual;
  // A base above the usual cap, with no cap said, is a constant wait.
  Backoff backoff{.base = base.value_or(usual.base), .jitter = jitter.value_or(usual.jitter)};
  backoff.cap = cap.value_or(std::max(usual.cap, backoff.base));
  if (backoff.base > backoff.cap) {
    return at.fault(fmt::format("has base {} above cap {}: the base is the first wait, the cap the longest",
                                format_duration_exact(backoff.base), format_duration_exact(backoff.cap)));
  }
  into = backoff;
}

void read_floor(const Place& at, std::int64_t& into) {
  const auto number = at.node.value<double>();
  if (!number || !at.node.is_number())
    return at.fault(fmt::format("= {}: write retries a second, as in 1.0", shown(at.node)));
  const double thousandths = *number * 1000;
  // 1.001 * 1000 is not quite 1001: as near as binary fractions come.
  if (!(thousandths >= 0 && thousandths <= 1e9) ||
      std::abs(thousandths - std::round(thousandths)) > 1e-9 * std::max(1.0, thousandths))
    return at.fault(
        fmt::format("= {}: write 0 to 1000000 retries a second, no finer than 0.001", shown(at.node)));
  into = static_cast<std::int64_t>(std::round(thousandths));
}

void read_ratio(const Place& at, std::int64_t& into) {
  std::optional<Probability> ratio;
  read_rate(at, ratio);
  if (!ratio) return;
  constexpr std::int64_t thousandth = Probability::kScale / 1000;
  if (ratio->parts() % thousandth != 0)
    return at.fault(fmt::format("= {}: no finer than 0.1%, one retry in 1000 calls", shown(at.node)));
  into = ratio->parts() / thousandth;
}

void read_budget(const Place& at, RetryPolicy& retry) {
  if (is_word(at.node, "none")) {
    retry.no_budget = true;
    return;
  }
  if (at.node.is_string())
    return at.fault(
        "is a table, as in { ratio = 0.1, floor_per_second = 1.0, window = \"10s\" }, or \"none\" for "
        "retries "
        "without limit");
  BudgetPolicy budget;
  std::optional<Duration> window;
  const Key keys[] = {
      {"ratio", [&](const Place& key) { read_ratio(key, budget.retries_per_1000_requests); }},
      {"floor_per_second", [&](const Place& key) { read_floor(key, budget.retries_per_1000_seconds_min); }},
      {"window", [&](const Place& key) { read_duration(key, window); }}};
  if (!read_table(at, "a retry budget", keys)) return;
  if (window && (*window < std::chrono::milliseconds(1) || *window > std::chrono::hours(1)))
    return fault_of_key(at, "window", fmt::format("= {}: write 1ms to 1h", format_duration_exact(*window)));
  budget.window = window.value_or(budget.window);
  retry.budget = budget;
}

void read_retry_on(const Place& at, std::optional<RetryOn>& into) {
  const auto places = read_choices(at, kRetryOnNames);
  if (!places) return;
  const auto has = [&](std::size_t place) { return std::ranges::find(*places, place) != places->end(); };
  into = RetryOn{.refused = has(0), .reset = has(1), .timed_out = has(2), .rejected = has(3)};
}

// "p95", "p99.9".
void read_percentile(const Place& at, std::optional<Quantile>& into) {
  const auto text = at.node.value<std::string>();
  if (text && at.node.is_string() && text->size() > 1 && text->front() == 'p') {
    const auto share = parse_rate(text->substr(1) + "%");
    if (share && share->parts() > 0 && share->parts() < Probability::kScale) {
      into = Quantile::from_parts(share->parts());
      return;
    }
  }
  at.fault(fmt::format("= {}: write a percentile between 0 and 100, as in \"p95\"", shown(at.node)));
}

void check_timeout(const Place& at, const TimeoutPolicy& timeout) {
  if (timeout.floor && timeout.ceiling && *timeout.floor >= *timeout.ceiling) {
    fault_of_key(at, "floor",
                 fmt::format("{} must be below ceiling {}", format_duration_exact(*timeout.floor),
                             format_duration_exact(*timeout.ceiling)));
  }
  if (timeout.window && timeout.window_max && *timeout.window > *timeout.window_max) {
    fault_of_key(
        at, "window",
        fmt::format("{} must not be longer than window_max {}", format_duration_exact(*timeout.window),
                    format_duration_exact(*timeout.window_max)));
  }
  if (timeout.accept_false && (timeout.accept_false->parts() == 0 || timeout.accept_false->value() >= 1)) {
    const toml::table* table = at.node.as_table();
    const toml::node* node = table == nullptr ? nullptr : table->get("accept_false");
    fault_of_key(
        at, "accept_false",
        fmt::format("{}must lie between 0 and 1: no timeout cuts off exactly none or all of the calls",
                    node == nullptr ? "" : fmt::format("= {} ", shown(*node))));
  }
}

}  // namespace

void read_timeout(const Place& at, TimeoutPolicy& timeout) {
  timeout.line = line_of(at);
  const auto request = [&](const Place& key) {
    if (is_word(key.node, "adaptive"))
      timeout.adaptive = true;
    else
      read_limit(key, timeout.request);
  };
  const Key keys[] = {{"accept_false", [&](const Place& key) { read_rate(key, timeout.accept_false); }},
                      {"connect", [&](const Place& key) { read_limit(key, timeout.connect); }},
                      {"request", request},
                      {"floor", [&](const Place& key) { read_duration(key, timeout.floor); }},
                      {"ceiling", [&](const Place& key) { read_duration(key, timeout.ceiling); }},
                      {"max_step", [&](const Place& key) { read_rate(key, timeout.max_step); }},
                      {"window", [&](const Place& key) { read_duration(key, timeout.window); }},
                      {"window_max", [&](const Place& key) { read_duration(key, timeout.window_max); }},
                      {"watch", [&](const Place& key) { read_rate(key, timeout.watch); }},
                      {"way", [&](const Place& key) { read_duration(key, timeout.way); }}};
  if (read_table(at, "a timeout table", keys)) check_timeout(at, timeout);
}

void read_retry(const Place& at, RetryPolicy& retry) {
  retry.line = line_of(at);
  const Key keys[] = {{"attempts", [&](const Place& key) { read_count(key, kAttemptsMax, retry.attempts); }},
                      {"backoff", [&](const Place& key) { read_backoff(key, retry.backoff); }},
                      {"budget", [&](const Place& key) { read_budget(key, retry); }},
                      {"on", [&](const Place& key) { read_retry_on(key, retry.on); }},
                      {"hedge_at", [&](const Place& key) { read_percentile(key, retry.hedge_at); }},
                      {"unsafe_retry_without_key",
                       [&](const Place& key) { read_bool(key, retry.unsafe_retry_without_key); }}};
  read_table(at, "a retry table", keys);
}

void read_health(const Place& at, HealthPolicy& health) {
  health.line = line_of(at);
  const auto read_factor = [](const Place& key, std::optional<double>& into) {
    const auto number = key.node.value<double>();
    if (!key.node.is_number() || !number || !(*number > 1 && *number <= 1000))
      return key.fault(
          fmt::format("= {}: write how many times the fleet's median, above 1 and at most 1000, as in 3.0",
                      shown(key.node)));
    into = number;
  };
  const Key keys[] = {
      {"probe", [&](const Place& key) { read_enum(key, kProbeNames, health.probe); }},
      {"calls", [&](const Place& key) { read_count(key, kCountMax, health.calls); }},
      {"fail_above", [&](const Place& key) { read_factor(key, health.fail_above); }},
      {"back_below", [&](const Place& key) { read_factor(key, health.back_below); }},
      {"out_after", [&](const Place& key) { read_count(key, kCountMax, health.out_after); }},
      {"back_after", [&](const Place& key) { read_count(key, kCountMax, health.back_after); }}};
  if (!read_table(at, "a health table", keys)) return;
  if (health.fail_above && health.back_below && *health.back_below >= *health.fail_above) {
    fault_of_key(at, "back_below",
                 fmt::format("{} must be below fail_above {}: between the two nothing changes",
                             *health.back_below, *health.fail_above));
  }
}

void read_eject(const Place& at, EjectPolicy& eject) {
  eject.line = line_of(at);
  const Key keys[] = {{"max_ejected", [&](const Place& key) { read_rate(key, eject.max_ejected); }},
                      {"panic_below", [&](const Place& key) { read_rate(key, eject.panic_below); }}};
  read_table(at, "an eject table", keys);
}

void read_shed(const Place& at, ShedPolicy& shed) {
  shed.line = line_of(at);
  const auto max_in_flight = [&](const Place& key) {
    if (is_word(key.node, "adaptive"))
      shed.adaptive = true;
    else
      read_count(key, kCountMax, shed.max_in_flight);
  };
  const Key keys[] = {{"max_in_flight", max_in_flight}};
  read_table(at, "a shed table", keys);
}

}  // namespace overdue::reading
