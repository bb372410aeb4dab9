#include "overdue/cli/simulate_tip.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "overdue/base/quantity.h"
#include "overdue/report/text_table.h"

namespace overdue {
namespace {

constexpr int kTrialsMax = 14;
constexpr double kFineEnough = 0.01;  // Of the higher end: a tip is no sharper than that over some seeds.

// A number and what stands behind it. Durations are in nanoseconds, and have no suffix.
struct Amount {
  double number = 0;
  std::string suffix;
  bool is_duration = false;
  bool is_whole = false;
};

std::optional<Amount> parse_amount(const std::string& text) {
  Amount amount;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount.number);
  if (error != std::errc()) return std::nullopt;
  amount.suffix = std::string(end, text.data() + text.size());
  amount.is_whole = amount.suffix.empty() && text.find_first_not_of("-0123456789") == std::string::npos;
  if (amount.suffix.empty() || amount.suffix == "%" || amount.suffix.starts_with('/')) return amount;
  const auto duration = parse_duration(text);
  if (!duration) return std::nullopt;
  return Amount{static_cast<double>(duration->count()), "", true, false};
}

std::string text_of(double number, const Amount& like) {
  if (like.is_duration) {
    // Three digits are plenty, and read better.
    const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(number)) - 2));
    return format_duration_exact(
        Duration(static_cast<std::int64_t>(std::llround(number / unit) * std::llround(unit))));
  }
  if (like.is_whole) return fmt::format("{}", std::llround(number));
  // A retry budget is read to a tenth of a per cent, and where a share is 1 % or more nobody needs finer.
  if (like.suffix == "%" && number >= 1) return fmt::format("{:g}%", std::round(number * 10) / 10);
  if (number >= 1e4) return fmt::format("{}{}", std::llround(number), like.suffix);
  return fmt::format("{:.4g}{}", number, like.suffix);
}

// A fault of the value that was tried was said of --set, whatever key it shows at.
Error said_of_tip(Error error) {
  constexpr std::string_view kSaid = "--set: ";
  for (std::size_t at = error.message.find(kSaid); at != std::string::npos;
       at = error.message.find(kSaid, at)) {
    if (at == 0 || error.message[at - 1] == '\n') error.message.replace(at, 5, "--tip");
    at += kSaid.size();
  }
  return error;
}

// The same amount, ever less fine: many a key is read to a grain of its own, as thousandths or whole seconds.
std::vector<std::string> rounded(const std::string& text) {
  const auto amount = parse_amount(text);
  std::vector<std::string> less_fine;
  if (!amount || amount->is_whole) return less_fine;
  const std::array<double, 3> grains =
      amount->is_duration ? std::array{1e6, 1e9, 60e9} : std::array{0.001, 0.1, 1.0};
  for (const double grain : grains) {
    const double number = std::round(amount->number / grain) * grain;
    if (number > 0) less_fine.push_back(text_of(number, *amount));
  }
  return less_fine;
}

bool holds(const TipTrial& trial) { return trial.held * 2 >= trial.runs; }

bool is_between(const std::string& low, const std::string& value, const std::string& high) {
  const double number = parse_amount(value)->number;
  return parse_amount(low)->number < number && number < parse_amount(high)->number;
}

struct Range {
  std::string key, low, high;
};

Result<Range> parse_range(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::size_t dots = equals == std::string::npos ? equals : text.find("..", equals);
  if (equals == std::string::npos || equals == 0 || dots == std::string::npos) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("--tip {}: write table.key=LOW..HIGH, as in fault.slowness.for=500ms..1s", text));
  }
  Range range{text.substr(0, equals), text.substr(equals + 1, dots - equals - 1), text.substr(dots + 2)};
  const auto low = parse_amount(range.low);
  const auto high = parse_amount(range.high);
  if (!low || !high || low->suffix != high->suffix || low->is_duration != high->is_duration ||
      low->number >= high->number) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format(
            "--tip {}: write two amounts of one kind, the lower first: 500ms..1s, 100/s..900/s, 5%..50% or "
            "1..64",
            text));
  }
  return range;
}

}  // namespace

std::string middle_of(const std::string& low, const std::string& high) {
  const auto from = parse_amount(low);
  const auto to = parse_amount(high);
  if (!from || !to || to->number - from->number <= kFineEnough * std::abs(to->number)) return "";
  Amount like = *from;
  like.is_whole = from->is_whole && to->is_whole;
  std::string middle = text_of((from->number + to->number) / 2, like);
  return middle == low || middle == high ? "" : middle;
}

Result<TipReport> find_tip(const ScenarioChoice& choice, const std::string& range_text, SeedRange seeds,
                           unsigned threads, RunProgress& progress) {
  const auto range = parse_range(range_text);
  if (!range) return std::unexpected(range.error());
  TipReport report{.key = range->key, .low = range->low, .high = range->high};
  const auto attempt = [&](const std::string& value) -> Result<TipTrial> {
    ScenarioChoice tried = choice;
    tried.sets.push_back(range->key + "=" + value);
    const auto scenario = load_scenario(tried);
    if (!scenario) {
      // What somebody did write with --set has its own faults.
      if (!choice.sets.empty()) {
        if (const auto without = load_scenario(choice); !without) return std::unexpected(without.error());
      }
      return std::unexpected(said_of_tip(scenario.error()));
    }
    if (scenario->expectations.empty())
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{}: has no [[expect]], so nothing can tip", choice.path));
    const SeedsReport ran = run_seeds(*scenario, seeds, threads, progress);
    if (ran.too_many || ran.stands_still)
      return std::unexpected(too_many_error(choice.path, ran.stands_still));
    TipTrial trial = {value, ran.held, ran.runs};
    if (trial.runs > 0) report.trials.push_back(trial);
    return trial;
  };
  const auto low = attempt(report.low);
  if (!low) return std::unexpected(low.error());
  const auto high = attempt(report.high);
  if (!high) return std::unexpected(high.error());
  report.found = holds(*low) != holds(*high);
  for (int i = 0; report.found && i < kTrialsMax && !progress.stop; ++i) {
    std::string middle = middle_of(report.low, report.high);
    if (middle.empty()) break;
    auto tried = attempt(middle);
    // Refused between two that were not: it is finer than its key.
    bool finest = false;
    for (const std::string& value : tried ? std::vector<std::string>{} : rounded(middle)) {
      finest = !is_between(report.low, value, report.high);
      if (finest) break;
      tried = attempt(middle = value);
      if (tried) break;
    }
    if (finest) break;
    if (!tried) return std::unexpected(tried.error());
    if (progress.stop) break;  // Of some of the seeds alone nothing follows.
    (holds(*tried) == holds(*low) ? report.low : report.high) = middle;
  }
  report.interrupted = progress.stop;
  report.found = report.found && !report.interrupted;
  std::ranges::stable_sort(report.trials, {},
                           [](const TipTrial& trial) { return parse_amount(trial.value)->number; });
  return report;
}

std::string tip_text(const TipReport& report) {
  TextTable table;
  table.add({report.key, "seeds on which everything holds"});
  for (const TipTrial& trial : report.trials)
    table.add({trial.value, fmt::format("{} of {}", trial.held, trial.runs)});
  std::string text = table.text(2);
  if (report.interrupted)
    text += "stopped before it was found\n";
  else if (!report.found)
    text += fmt::format(
        "no tip found: expectations {} at both ends, and what lies between was not tried; a narrower range "
        "may "
        "have one\n",
        !report.trials.empty() && holds(report.trials.front()) ? "hold" : "fail");
  else
    text += fmt::format("tips between {} and {}\n", report.low, report.high);
  return text;
}

std::string tip_json(const TipReport& report) {
  nlohmann::ordered_json trials = nlohmann::ordered_json::array();
  for (const TipTrial& trial : report.trials)
    trials.push_back({{"value", trial.value}, {"held", trial.held}, {"seeds", trial.runs}});
  const nlohmann::ordered_json root = {{"schema", "overdue.tip/1"}, {"key", report.key},
                                       {"found", report.found},     {"interrupted", report.interrupted},
                                       {"low", report.low},         {"high", report.high},
                                       {"trials", trials}};
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace overdue
