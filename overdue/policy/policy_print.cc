#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "overdue/base/quantity.h"
#include "overdue/policy/policy.h"
#include "overdue/policy/toml_text.h"

namespace overdue {
namespace toml_text {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string as_key(std::string_view name) {
  const bool bare = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return bare ? std::string(name) : quoted(name);
}

std::string as_rate(Probability rate) {
  std::string digits = fmt::format("{:.10f}", rate.value() * 100);
  while (digits.back() == '0') digits.pop_back();
  if (digits.back() == '.') digits.pop_back();
  return fmt::format("\"{}%\"", digits);
}

std::string as_duration(Duration value) { return fmt::format("\"{}\"", format_duration_exact(value)); }

namespace {

// Adds the keys that are set.
class Writer {
 public:
  void add(std::string_view key, std::string value) { settings_.emplace_back(key, std::move(value)); }
  void duration(std::string_view key, const std::optional<Duration>& value) {
    if (value) add(key, as_duration(*value));
  }
  void rate(std::string_view key, const std::optional<Probability>& value) {
    if (value) add(key, as_rate(*value));
  }
  void text(std::string_view key, const std::optional<std::string>& value) {
    if (value) add(key, quoted(*value));
  }
  void count(std::string_view key, const std::optional<std::uint32_t>& value) {
    if (value) add(key, fmt::format("{}", *value));
  }
  void number(std::string_view key, const std::optional<double>& value) {
    if (value) add(key, as_number(*value));
  }
  template <typename Enum>
  void name(std::string_view key, const std::optional<Enum>& value, std::span<const std::string_view> names) {
    if (value) add(key, quoted(names[static_cast<std::size_t>(*value)]));
  }
  void list(std::string_view key, const std::vector<std::string>& values) {
    if (values.empty()) return;
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : ", ") + quoted(value);
    add(key, "[" + text + "]");
  }
  Settings take() { return std::move(settings_); }

  // With a point, so that it stays a number with one.
  static std::string as_number(double value) {
    std::string text = fmt::format("{}", value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }

 private:
  Settings settings_;
};

Settings settings_of(const RetryPolicy& retry) {
  Writer writer;
  writer.count("attempts", retry.attempts);
  if (const auto& backoff = retry.backoff) {
    constexpr std::array<std::string_view, 3> jitters = {"none", "full", "decorrelated"};
    if (backoff->cap == Duration(0)) {
      writer.add("backoff", "\"none\"");
    } else {
      writer.add("backoff",
                 fmt::format("{{ base = {}, cap = {}, jitter = \"{}\" }}", as_duration(backoff->base),
                             as_duration(backoff->cap), jitters[static_cast<std::size_t>(backoff->jitter)]));
    }
  }
  if (retry.no_budget) {
    writer.add("budget", "\"none\"");
  } else if (const auto& budget = retry.budget) {
    const Probability ratio =
        Probability::from_parts(budget->retries_per_1000_requests * (Probability::kScale / 1000));
    writer.add(
        "budget",
        fmt::format("{{ ratio = {}, floor_per_second = {}, window = {} }}", as_rate(ratio),
                    Writer::as_number(static_cast<double>(budget->retries_per_1000_seconds_min) / 1000),
                    as_duration(budget->window)));
  }
  if (const auto& on = retry.on) {
    std::string text;
    const auto add = [&](bool has, std::string_view name) {
      if (has) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", name);
    };
    add(on->refused, "refused");
    add(on->reset, "reset");
    add(on->timed_out, "timed_out");
    add(on->rejected, "rejected");
    writer.add("on", "[" + text + "]");
  }
  if (retry.hedge_at) {
    const std::string percent = as_rate(Probability::from_parts(retry.hedge_at->parts()));
    writer.add("hedge_at", "\"p" + percent.substr(1, percent.size() - 3) + "\"");
  }
  if (retry.unsafe_retry_without_key) writer.add("unsafe_retry_without_key", "true");
  return writer.take();
}

Settings settings_of(const WritePolicy& write) {
  Writer writer;
  std::vector<std::string> steps;
  steps.reserve(write.on_unknown.size());
  for (const OnUnknown step : write.on_unknown)
    steps.emplace_back(kOnUnknownNames[static_cast<std::size_t>(step)]);
  writer.list("on_unknown", steps);
  writer.name("after_deadline", write.after_deadline, kAfterDeadlineNames);
  writer.text("key_header", write.key_header);
  writer.duration("key_retention", write.key_retention);
  writer.duration("last_send", write.last_send);
  writer.duration("message_life_max", write.message_life_max);
  writer.name("expired", write.expired, kExpiredKeysNames);
  writer.text("status", write.status);
  writer.text("fence", write.fence);
  writer.name("not_found", write.not_found, kNotFoundNames);
  return writer.take();
}

Settings settings_of(const ErrorsPolicy& errors) {
  Writer writer;
  writer.list("nothing_happened", errors.nothing_happened);
  writer.list("recorded_rejection", errors.recorded_rejection);
  writer.list("in_flight", errors.in_flight);
  writer.list("other_payload", errors.other_payload);
  return writer.take();
}

Settings settings_of(const HealthPolicy& health) {
  Writer writer;
  writer.name("probe", health.probe, kProbeNames);
  writer.count("calls", health.calls);
  writer.number("fail_above", health.fail_above);
  writer.number("back_below", health.back_below);
  writer.count("out_after", health.out_after);
  writer.count("back_after", health.back_after);
  return writer.take();
}

Settings settings_of(const EjectPolicy& eject) {
  Writer writer;
  writer.rate("max_ejected", eject.max_ejected);
  writer.rate("panic_below", eject.panic_below);
  return writer.take();
}

Settings settings_of(const ShedPolicy& shed) {
  Writer writer;
  if (shed.adaptive)
    writer.add("max_in_flight", "\"adaptive\"");
  else
    writer.count("max_in_flight", shed.max_in_flight);
  return writer.take();
}

Settings own_settings_of(const DependencyPolicy& dependency) {
  Writer writer;
  writer.list("backends", dependency.backends);
  if (dependency.via_proxy) writer.add("via_proxy", "true");
  writer.duration("promise", dependency.promise);
  return writer.take();
}

std::string printed(const Policy& policy) {
  std::string text;
  const auto add_table = [&](const std::string& header, const Settings& settings, bool always) {
    if (settings.empty() && !always) return;
    text += fmt::format("{}[dependency.{}]\n", text.empty() ? "" : "\n", header);
    for (const auto& [key, value] : settings) text += fmt::format("{} = {}\n", key, value);
  };
  for (const DependencyPolicy& one : policy.dependencies) {
    const std::string name = as_key(one.name);
    add_table(name, own_settings_of(one), true);
    add_table(name + ".timeout", toml_text::settings_of(one.timeout), false);
    add_table(name + ".retry", settings_of(one.retry), false);
    add_table(name + ".write", settings_of(one.write), false);
    add_table(name + ".errors", settings_of(one.errors), false);
    add_table(name + ".health", settings_of(one.health), false);
    add_table(name + ".eject", settings_of(one.eject), false);
    add_table(name + ".shed", settings_of(one.shed), false);
  }
  return text;
}

}  // namespace

Settings settings_of(const TimeoutPolicy& timeout) {
  Writer writer;
  writer.rate("accept_false", timeout.accept_false);
  writer.duration("connect", timeout.connect);
  if (timeout.adaptive)
    writer.add("request", "\"adaptive\"");
  else
    writer.duration("request", timeout.request);
  writer.duration("floor", timeout.floor);
  writer.duration("ceiling", timeout.ceiling);
  writer.rate("max_step", timeout.max_step);
  writer.duration("window", timeout.window);
  writer.duration("window_max", timeout.window_max);
  writer.rate("watch", timeout.watch);
  writer.duration("way", timeout.way);
  return writer.take();
}

}  // namespace toml_text

std::string print_policy(const Policy& policy) { return toml_text::printed(policy); }

}  // namespace overdue
