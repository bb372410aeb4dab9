#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "overdue/base/quantity.h"
#include "overdue/cli/commands.h"
#include "overdue/cli/lesson_output.h"
#include "overdue/cli/subcommands.h"
#include "overdue/cli/terminal.h"
#include "overdue/simulated/lesson_fast.h"

namespace overdue {
namespace {

constexpr std::uint64_t kThreadsMax = 256;
constexpr double kFailAboveMax = 1'000;

// The words as they were typed. Read by functions of ours, so that every refusal says what would be right.
struct Words {
  std::string seed = "7";
  std::string lost_request = "0.002";
  std::string lost_reply = "0.002";
  std::string slow_path = "0.02";
  std::string slow_factor = "8";
  std::string sample = "50000";
  std::string calls = "100000";
  std::string replica_calls = "20000";
  std::string health = "ping";
  std::optional<std::string> probe_calls;
  std::optional<std::string> fail_above;
  std::optional<std::string> threads;
  bool fast = false;
  bool json = false;
};

struct Request {
  LessonOptions options;
  unsigned threads = 1;
};

// Reads options one after another and keeps the first complaint.
class Reader {
 public:
  std::uint64_t whole(std::string_view option, std::string_view text, std::uint64_t low, std::uint64_t high) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= low && value <= high)
      return value;
    complain(fmt::format("{} '{}': write a whole number from {} to {}", option, text, low, high));
    return low;
  }

  // A number above `low`, or from it on.
  double number(std::string_view option, std::string_view text, double low, bool low_allowed, double high) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool read = error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
    if (read && (low_allowed ? value >= low : value > low) && value <= high) return value;
    complain(fmt::format("{} '{}': write a number {} {:g} and at most {:.0f}", option, text,
                         low_allowed ? "of at least" : "above", low, high));
    return high;
  }

  Probability rate(std::string_view option, std::string_view text) {
    const auto value = parse_rate(text);
    if (value) return *value;
    complain(fmt::format("{}: {}", option, value.error().message));
    return {};
  }

  void complain(std::string message) {
    if (!complaint_) complaint_ = std::move(message);
  }
  const std::optional<std::string>& complaint() const { return complaint_; }

 private:
  std::optional<std::string> complaint_;
};

std::optional<DeepCheck> read_health(Reader& reader, const Words& words) {
  if (words.health != "ping" && words.health != "deep") {
    reader.complain(fmt::format("--health '{}': write ping or deep", words.health));
  }
  if (words.health != "deep") {
    if (words.probe_calls) reader.complain("--probe-calls is of the deep check: add --health deep");
    if (words.fail_above) reader.complain("--fail-above is of the deep check: add --health deep");
    return std::nullopt;
  }
  DeepCheck check;
  if (words.probe_calls) check.calls = reader.whole("--probe-calls", *words.probe_calls, 1, kDeepCallsMax);
  if (words.fail_above)
    check.fail_above = reader.number("--fail-above", *words.fail_above, 1, true, kFailAboveMax);
  return check;
}

Result<Request> read(const Words& words) {
  Reader reader;
  Request request;
  LessonOptions& options = request.options;
  const std::uint64_t calls_max = words.fast ? kFastCallsMax : kExactCallsMax;
  options.seed = reader.whole("--seed", words.seed, 0, UINT64_MAX);
  options.lost_request = reader.rate("--lost-request", words.lost_request);
  options.lost_reply = reader.rate("--lost-reply", words.lost_reply);
  options.slow_path = reader.rate("--slow-path", words.slow_path);
  options.slow_factor = reader.number("--slow-factor", words.slow_factor, 0, false, kSlowFactorMax);
  options.sample = reader.whole("--sample", words.sample, 1, calls_max);
  options.calls = reader.whole("--calls", words.calls, 1, calls_max);
  options.replica_calls = reader.whole("--replica-calls", words.replica_calls, 1, calls_max);
  options.deep = read_health(reader, words);
  if (words.threads) {
    request.threads = static_cast<unsigned>(reader.whole("--threads", *words.threads, 1, kThreadsMax));
    if (!words.fast)
      reader.complain("--threads needs --fast: CPython's generator is one stream, drawn in order");
  } else if (words.fast) {
    request.threads = std::max(1U, std::thread::hardware_concurrency());
  }
  if (reader.complaint()) return fail(ErrorCode::invalid_argument, *reader.complaint());
  return request;
}

Result<int> run(const Words& words) {
  const auto request = read(words);
  if (!request) return std::unexpected(request.error());
  const LessonOptions& options = request->options;
  const auto figures = words.fast ? run_lesson_fast(options, request->threads) : run_lesson(options);
  if (!figures) return std::unexpected(figures.error());
  if (!print_out(words.json ? lesson_json(*figures, options, words.fast) : lesson_text(*figures))) {
    return fail(ErrorCode::unreadable_input, "standard output cannot be written");
  }
  return exit_done;
}

}  // namespace

void add_lesson(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("lesson", "The lesson's experiment, figure for figure");
  command->footer(
      "Page: docs/lesson-command.md. The lesson's exercises and questions, answered: docs/lesson.md.");
  const auto words = std::make_shared<Words>();
  const auto option = [&](const char* name, auto& word, const char* type, const char* help) {
    return command->add_option(name, word, help)->type_name(type);
  };
  option("--seed", words->seed, "N", "0 to 2^64-1")->capture_default_str();
  option("--lost-request", words->lost_request, "RATE", "Share of requests lost before the server sees them")
      ->capture_default_str();
  option("--lost-reply", words->lost_reply, "RATE", "Share of replies lost after the server did the work")
      ->capture_default_str();
  option("--slow-path", words->slow_path, "RATE", "Share of requests that take 40 to 400 ms")
      ->capture_default_str();
  option("--slow-factor", words->slow_factor, "X", "How much slower the service of replica d is")
      ->capture_default_str();
  option("--sample", words->sample, "N", "Calls whose replies are measured")->capture_default_str();
  option("--calls", words->calls, "N", "Calls on which each timeout is tried")->capture_default_str();
  option("--replica-calls", words->replica_calls, "N", "Calls to each replica")->capture_default_str();
  option("--health", words->health, "ping|deep", "How replicas are checked")->capture_default_str();
  option("--probe-calls", words->probe_calls, "N", "With --health deep: calls a check makes (5)");
  option("--fail-above", words->fail_above, "X", "With --health deep: times the fleet's median (3)");
  command->add_flag("--fast", words->fast, "Our own generator and every core: other draws, the same model");
  option("--threads", words->threads, "N", "With --fast; figures do not depend on it");
  command->add_flag("--json", words->json, "One document of schema overdue.lesson/1");
  command->callback([&status, words] { status = finish(run(*words)); });
}

}  // namespace overdue
