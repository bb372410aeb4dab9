#include "overdue/cli/scenario_loading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <variant>

#include "overdue/cli/files.h"
#include "overdue/latency/duration_draw.h"
#include "overdue/latency/survival_curve.h"
#include "overdue/recorded/read.h"
#include "overdue/simulated/scenario_file.h"
#include "overdue/simulated/table_reader.h"
#include "overdue/simulated/toml_tree.h"
#include "overdue/timeout/open_calls.h"

namespace overdue {
namespace {

constexpr std::size_t kArrivalsMax = 5'000'000;  // Eight bytes each.

// Where a reader names an option: a scenario has none of them.
constexpr std::string_view kOptionsOfAdvise =
    "\n  (that is an option of overdue advise: write what it says with --json to a file, and name that one, "
    "NAME.json, as measured)";

using Buckets = std::vector<EmpiricalTime::Bucket>;

double number_or(const nlohmann::json& object, const char* key, double otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

struct Point {
  double share = 0;  // Of the calls that replied.
  double ms = 0;
};

// Quantiles of all calls as shares of those that ever replied, and beyond the last of them those of the
// replies alone, which lie lower where callers gave up early and are all that is told of so late ones.
std::vector<Point> reply_points(const nlohmann::json& quantiles, const nlohmann::json& advice) {
  const double replied_or_not = 1 - number_or(advice, "rejected_share", 0);
  const double replied =
      replied_or_not - number_or(advice, "open_share", 0) - number_or(advice, "reset_share", 0);
  const double scale = replied > 0 ? replied_or_not / replied : 1;
  std::vector<Point> points;
  const auto add = [&](const char* key, double factor) {
    for (const auto& one : quantiles) {
      const double ms = one.is_object() ? number_or(one, key, -1) : -1;
      const double share = ms < 0 ? 0 : number_or(one, "q", 0) * factor;
      const Point last = points.empty() ? Point{} : points.back();
      if (share > last.share && share <= 1 && ms >= last.ms) points.push_back({share, ms});
    }
  };
  add("all_calls_ms", scale);
  if (!points.empty()) add("replies_only_ms", 1);
  return points;
}

// Between two quantiles the time grows as a power of 1 / (1 - share): a straight line from one to the other
// would put too much above what is in the middle, 20 % in the mean of exponential times.
void add_between(const Point& from, const Point& to, Buckets& buckets) {
  constexpr int kParts = 16;
  const auto at = [](double ms) {
    return Duration(static_cast<std::int64_t>(std::clamp(ms * 1e6, 0.0, DurationDraw::kLongestNs)));
  };
  const bool curved = from.share > 0 && to.share < 1 && from.ms > 0;
  Point low = from;
  for (int part = 1; part <= (curved ? kParts : 1); ++part) {
    Point high = to;
    if (curved && part < kParts) {
      high.share = from.share + (to.share - from.share) * part / kParts;
      const double reached =
          std::log((1 - high.share) / (1 - from.share)) / std::log((1 - to.share) / (1 - from.share));
      high.ms = from.ms * std::pow(to.ms / from.ms, reached);
    }
    buckets.push_back({at(low.ms), at(high.ms), high.share - low.share});
    low = high;
  }
}

// The replies as an `overdue advise --json` tells of them, like those of its log; below the first quantile,
// the median, evenly from half of it on, and beyond the last up to the longest wait.
Result<Buckets> buckets_of_advice(const nlohmann::json& advice, const std::string& path) {
  const auto groups = advice.find("groups");
  if (groups == advice.end() || !groups->is_array() || groups->size() != 1 || !groups->front().is_object()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: is not of one group: make it without --by", path));
  }
  const auto& group = (*groups)[0];
  const auto advised = group.value("advice", nlohmann::json::object());
  const std::string declined = advised.is_object() ? advised.value("declined", "") : "";
  if (declined == "unit_unclear" || declined == "not_identifiable" || declined == "too_many_untimed") {
    return fail(ErrorCode::unsupported,
                fmt::format("{}: how long its calls take cannot be said: the advice was declined, {}", path,
                            declined));
  }
  const std::vector<Point> points = reply_points(group.value("quantiles", nlohmann::json::array()), advised);
  if (points.empty())
    return fail(ErrorCode::invalid_argument, fmt::format("{}: has no quantiles of all calls", path));
  Buckets buckets;
  Point before{.share = 0, .ms = points.front().ms / 2};
  for (const Point& point : points) {
    add_between(before, point, buckets);
    before = point;
  }
  const double longest = std::max(before.ms, number_or(advised, "longest_wait_ms", before.ms));
  if (before.share < 1) add_between(before, {.share = 1, .ms = longest}, buckets);
  return buckets;
}

// What advice is declined for, a distribution does not follow from either.
Result<void> check_distribution(const SourceSummary& source, const Measurement& measurement,
                                const SurvivalCurve& curve) {
  constexpr double kOpenMax = 0.01;
  const auto declined = [&](std::string_view why) {
    return fail(ErrorCode::unsupported,
                fmt::format("{}: how long its calls take cannot be said: {}", source.path, why));
  };
  if (!source.unit_doubt.empty()) return declined(source.unit_doubt);
  if (measurement.untimed_give_ups() > measurement.attempts() / 2)
    return declined("most calls were lost without a time; --limit gives them one");
  if (curve.empty()) return {};
  const OpenCalls open = judge_open_calls(curve, kOpenMax);
  if (open.verdict == WaitVerdict::slow)
    return declined(describe(open) + ". Replies that would have come later are not in the log");
  return {};
}

// The replies of a log as a survival curve has them: a call that was given up counts among those slower than
// that. Shares that never replied are left out; what is lost is the network's to say.
Result<Buckets> buckets_of_log(const std::string& path) {
  const auto log = read_log(path, {});
  if (!log) return std::unexpected(log.error());
  const Measurement& measurement = log->groups.begin()->second;
  const EndingTable table = measurement.table();
  const SurvivalCurve curve(table);
  if (const auto fine = check_distribution(log->source, measurement, curve); !fine)
    return std::unexpected(fine.error());
  Buckets buckets;
  double before = 0;
  for (std::size_t row = 0; row < curve.size(); ++row) {
    if (curve[row].replied > before)
      buckets.push_back({table[row].low, table[row].high, curve[row].replied - before});
    before = curve[row].replied;
  }
  if (buckets.empty())
    return fail(ErrorCode::invalid_argument, fmt::format("{}: has no reply to measure", path));
  return buckets;
}

Result<Buckets> measured_buckets(const std::string& path) {
  if (path.ends_with(".json")) {
    const auto text = read_small_file(path);
    if (!text) return std::unexpected(text.error());
    const auto document = nlohmann::json::parse(*text, nullptr, false);
    if (document.is_object() && document.value("schema", "") == "overdue.advice/1")
      return buckets_of_advice(document, path);
  }
  return buckets_of_log(path);
}

class Filler {
 public:
  explicit Filler(Scenario& scenario) : scenario_(scenario) {}

  Result<void> fill() {
    for (Service& service : scenario_.services) {
      visit(service.service_time);
      if (service.commit_to_reply) visit(*service.commit_to_reply);
      if (service.pauses) {
        visit(service.pauses->lasts);
        if (service.pauses->service_time) visit(*service.pauses->service_time);
      }
      if (service.lock) visit(service.lock->hold);
      if (service.store) visit_store(*service.store);
    }
    for (Network& network : scenario_.networks) {
      visit(network.request.delay);
      visit(network.reply.delay);
    }
    for (Link& link : scenario_.links) {
      if (link.repeats) visit(link.repeats->after);
    }
    for (Client& client : scenario_.clients) {
      if (client.journal) visit(client.journal->persist);
      if (auto* closed = std::get_if<ClosedArrivals>(&client.arrivals)) visit(closed->think);
      if (auto* recorded = std::get_if<RecordedArrivals>(&client.arrivals)) fill_arrivals(*recorded);
    }
    if (error_) return std::unexpected(*error_);
    return {};
  }

 private:
  void visit(TimeDistribution& time) {
    if (auto* empirical = std::get_if<EmpiricalTime>(&time.kind)) {
      auto buckets = measured_buckets(beside(scenario_.path, empirical->path));
      if (buckets)
        empirical->buckets = *std::move(buckets);
      else
        note(buckets.error(), empirical->line, "measured", empirical->path);
    } else if (auto* mixture = std::get_if<MixtureTime>(&time.kind)) {
      for (TimeDistribution& part : mixture->parts) visit(part);
    }
  }

  void visit_store(Store& store) {
    visit(store.answers);
    if (store.replica_lag) visit(*store.replica_lag);
    if (store.durable_after) visit(*store.durable_after);
  }

  void fill_arrivals(RecordedArrivals& recorded) {
    const std::string path = beside(scenario_.path, recorded.path);
    const auto bytes = read_small_file(path);
    const auto wrong = [&](const Error& error) { note(error, recorded.line, "recorded", recorded.path); };
    if (!bytes) return wrong(bytes.error());
    std::vector<WallTime> starts;
    const auto read = read_attempts(
        *bytes, path, {},
        [&](std::span<const Attempt> attempts, const NameTable&, const NameTable&, const NameTable&) {
          for (const Attempt& attempt : attempts) {
            if (attempt.begins_call && attempt.has_start && starts.size() < kArrivalsMax)
              starts.push_back(attempt.start);
          }
        });
    if (!read) return wrong(read.error());
    if (starts.empty())
      return wrong({ErrorCode::invalid_argument, fmt::format("{}: no line says when its call began", path)});
    std::ranges::sort(starts);
    for (const WallTime start : starts) recorded.at.push_back(start - starts.front());
  }

  // Said with the line that names the file.
  void note(Error error, std::uint32_t line, std::string_view key, const std::string& named) {
    if (error_) return;
    const bool names_option = key == "measured" && error.message.find(" --") != std::string::npos;
    error.message =
        fmt::format("{}: {} = \"{}\": {}{}", place_of_line(line, scenario_.path, scenario_.base_path), key,
                    named, error.message, names_option ? kOptionsOfAdvise : "");
    error_ = std::move(error);
  }

  Scenario& scenario_;
  std::optional<Error> error_;
};

}  // namespace

Result<Scenario> load_scenario(const ScenarioChoice& choice) {
  ScenarioSource source{.path = choice.path,
                        .text = {},
                        .sets = {},
                        .policy_path = choice.policy,
                        .read_file = read_small_file};
  auto text = read_small_file(choice.path);
  if (!text) return std::unexpected(text.error());
  source.text = *std::move(text);
  for (const std::string& set : choice.sets) {
    const std::size_t equals = set.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == set.size()) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("--set {}: write table.key=value, as in service.orders.workers=20", set));
    }
    source.sets.emplace_back(set.substr(0, equals), set.substr(equals + 1));
  }
  auto scenario = parse_scenario(source);
  if (!scenario) return scenario;
  if (const auto filled = Filler(*scenario).fill(); !filled) return std::unexpected(filled.error());
  return scenario;
}

std::optional<std::string> policy_file_of(const ScenarioChoice& choice) {
  if (choice.policy) return choice.policy;
  const auto text_at = [](const TomlValue& root, std::string_view key) {
    const TomlValue* value = root.find(key);
    return value != nullptr && value->kind == TomlValue::Kind::text ? value->text : std::string();
  };
  std::string path = choice.path;
  for (int depth = 0; depth < 2 && !path.empty(); ++depth) {  // What is based on a variant is refused.
    const auto text = read_small_file(path);
    if (!text) return std::nullopt;
    const auto root = parse_toml(*text, path);
    if (!root) return std::nullopt;
    const std::string policy = text_at(*root, "policy"), base = text_at(*root, "based_on");
    if (!policy.empty()) return beside(choice.path, policy);
    path = base.empty() ? base : beside(path, base);
  }
  return std::nullopt;
}

std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./=%:,+").find(c) != std::string_view::npos;
  });
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string command_for_seed(const ScenarioChoice& choice, std::uint64_t seed) {
  std::string command = fmt::format("overdue simulate {}", shell_word(choice.path));
  if (choice.policy) command += fmt::format(" --policy {}", shell_word(*choice.policy));
  for (const std::string& set : choice.sets) command += fmt::format(" --set {}", shell_word(set));
  return command + fmt::format(" --seed {}", seed);
}

}  // namespace overdue
