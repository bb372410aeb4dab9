#include "overdue/recorded/field_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "overdue/recorded/outcome_names.h"
#include "overdue/recorded/time_text.h"

namespace overdue {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// In order of preference: a file that has both `backend` and `host` means its backends by the first.
constexpr std::string_view kLatencyNames[] = {
    "latency",       "responsetime", "elapsed",     "elapsedtime",     "duration",         "rtt",
    "roundtriptime", "roundtrip",    "requesttime", "requestduration", "responseduration", "timetaken",
    "took",          "servicetime",  "calltime",    "callduration",    "timetotal",        "totaltime",
    "durationtime",  "timespent",    "querytime"};
constexpr std::string_view kLatencyEndings[] = {"latency", "duration", "elapsed", "rtt", "responsetime"};
constexpr std::string_view kBackendNames[] = {
    "backend", "upstream", "upstreamaddr", "upstreamhost", "backendname", "backendaddr", "replica",
    "pod",     "podname",  "instance",     "server",       "serveraddr",  "target",      "node",
    "host",    "hostname", "address",      "addr",         "peer"};
constexpr std::string_view kStartNames[] = {
    "start",     "starttime",   "startedat",   "starttimestamp", "timestart",    "timestamp",
    "ts",        "time",        "datetime",    "date",           "requeststart", "sentat",
    "sent",      "epoch",       "at",          "begin",          "began",        "beganat",
    "begintime", "beginat",     "started",     "startat",        "received",     "receivedat",
    "arrivedat", "arrivaltime", "requestedat", "issuedat",       "calledat"};
constexpr std::string_view kConnectNames[] = {"connect",       "connecttime",     "timeconnect",
                                              "tcpconnect",    "connectduration", "upstreamconnecttime",
                                              "connectlatency"};
constexpr std::string_view kRouteNames[] = {"route",      "path",     "url",       "uri",   "requestpath",
                                            "requesturi", "endpoint", "operation", "label", "resource"};
constexpr std::string_view kMethodNames[] = {"method", "httpmethod", "requestmethod", "verb", "httpverb"};

struct RoleWords {
  Role role;
  std::span<const std::string_view> names;
};
constexpr RoleWords kRoles[] = {{Role::backend, kBackendNames},
                                {Role::start, kStartNames},
                                {Role::connect, kConnectNames},
                                {Role::route, kRouteNames},
                                {Role::method, kMethodNames}};

// 0 for the best; nothing for no latency at all.
std::optional<std::size_t> latency_rank(const std::string& joined) {
  const auto found = std::ranges::find(kLatencyNames, joined);
  if (found != std::end(kLatencyNames)) return 0;
  const bool ends =
      std::ranges::any_of(kLatencyEndings, [&](std::string_view end) { return joined.ends_with(end); });
  return ends ? std::optional<std::size_t>(1) : std::nullopt;
}

constexpr std::size_t kNoLatencyRank = 3;

// Last come names that are a latency's inside their object: "payload.took_ms".
std::size_t rank_of(const std::string& name, const ReadName& read) {
  if (const auto rank = latency_rank(read.joined)) return *rank;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return kNoLatencyRank;
  const ReadName last = read_name(std::string_view(name).substr(dot + 1));
  return latency_rank(last.joined) ? 2 : kNoLatencyRank;
}

// Of what a statistic is: "avg_latency", or just "avg".
bool says_latency(std::string_view joined) {
  static constexpr std::string_view kParts[] = {"latency", "duration", "rtt", "time"};
  if (joined == "avg" || joined == "mean" || joined == "p50" || joined == "p99") return true;
  return std::ranges::any_of(kParts, [&](std::string_view part) { return joined.find(part) != joined.npos; });
}

std::optional<Role> role_named(std::string_view word) {
  if (word == "upstream" || word == "host") return Role::backend;
  if (word == "success") return Role::ok;
  if (word == "path" || word == "url") return Role::route;
  const auto found = std::ranges::find(kRoleNames, word);
  if (found == kRoleNames.end()) return std::nullopt;
  return static_cast<Role>(found - kRoleNames.begin());
}

Result<void> take_maps(const std::vector<std::string>& names, const ReadOptions& options,
                       const std::string& path, FieldPlan& plan, SaidRoles& said) {
  for (const auto& [field, column] : options.columns) {
    const auto role = role_named(field);
    if (!role) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("--map {}={}: there is no '{}'; fields are {}", field, column, field,
                              fmt::join(kRoleNames, ", ")));
    }
    said[static_cast<std::size_t>(*role)] = true;
    if (column.empty()) continue;
    auto at = std::ranges::find(names, column);
    if (at == names.end()) {
      at = std::ranges::find_if(names, [&](const std::string& name) {
        return std::ranges::equal(name, column, [](char a, char b) { return lower(a) == lower(b); });
      });
    }
    auto index = static_cast<std::size_t>(at - names.begin());
    if (at == names.end() && std::ranges::all_of(column, is_digit) && column.size() < 6) {
      const auto position = static_cast<std::size_t>(std::stoul(column));
      if (position >= 1 && position <= names.size()) index = position - 1;
    }
    if (index == names.size()) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{}: --map {}={}: there is no such column; {}", path, field, column,
                              listed(names, "its columns are")));
    }
    plan.of(*role) = RoleField{static_cast<std::uint32_t>(index), names[index], unit_in_name(names[index])};
  }
  return {};
}

// k6's CSV has a row a metric, and durations are some of them.
bool is_k6(const std::vector<std::string>& names) {
  return std::ranges::find(names, "metric_name") != names.end() &&
         std::ranges::find(names, "metric_value") != names.end();
}

// Requires: is_k6(). All its metrics together would be taken for latencies.
Result<void> check_k6(const ReadOptions& options, const std::string& path) {
  const bool chosen =
      std::ranges::any_of(options.where, [](const auto& where) { return where.first == "metric_name"; });
  if (chosen && options.columns.contains("latency")) return {};
  return fail(
      ErrorCode::unreadable_input,
      fmt::format("{}: is k6's CSV, a row for each metric of each call: one of them is the latency, as "
                  "in --where metric_name=http_req_duration --map latency=metric_value --unit ms",
                  path));
}

// Says of each row which percentile it is, or which other statistic: minute, host, quantile, latency.
constexpr std::string_view kQuantileNames[] = {"quantile", "percentile", "pctl", "le"};
constexpr std::string_view kStatisticNames[] = {"stat", "statistic", "aggregation", "aggregate"};

bool says_statistic(std::string_view text) {
  const ReadName read = read_name(text);
  return read.statistic || read.joined == "count" || read.joined == "sum";
}

bool says_quantile(std::string_view text) {
  const bool number =
      !text.empty() && std::ranges::all_of(text, [](char c) { return is_digit(c) || c == '.' || c == '%'; });
  return number || text == "+Inf" || says_statistic(text);
}

// The field that says so of every row.
std::optional<std::string> statistic_field(const std::vector<std::string>& names, const FieldPlan& plan,
                                           const ValuesOf& values) {
  for (std::uint32_t i = 0; values && i < names.size(); ++i) {
    const std::string joined = read_name(names[i]).joined;
    const bool quantile = std::ranges::find(kQuantileNames, joined) != std::end(kQuantileNames);
    const bool other = std::ranges::find(kStatisticNames, joined) != std::end(kStatisticNames);
    if ((!quantile && !other) || is_taken(plan, i)) continue;
    const std::vector<std::string_view> held = values(i, plan.of(Role::latency)->index);
    if (!held.empty() && std::ranges::all_of(held, quantile ? says_quantile : says_statistic))
      return names[i];
  }
  return std::nullopt;
}

Result<void> guess_latency(const std::vector<std::string>& names, const std::vector<ReadName>& read,
                           const std::string& path, std::string_view known, FieldPlan& plan) {
  std::vector<std::size_t> best;
  std::size_t best_rank = kNoLatencyRank;
  std::vector<std::string> statistics;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (read[i].statistic && says_latency(read[i].joined)) statistics.push_back(names[i]);
    const std::size_t rank = read[i].statistic ? kNoLatencyRank : rank_of(names[i], read[i]);
    if (rank == kNoLatencyRank || rank > best_rank) continue;
    if (rank < best_rank) best.clear();
    best_rank = rank;
    best.push_back(i);
  }
  if (!known.empty()) best = {static_cast<std::size_t>(std::ranges::find(names, known) - names.begin())};
  if (best.size() > 1) {
    std::vector<std::string> several;
    for (const std::size_t i : best) several.push_back(names[i]);
    return fail(ErrorCode::unreadable_input,
                fmt::format("{}: several columns may be the latency: {}; choose one, as in --map latency={}",
                            path, fmt::join(several, ", "), several[0]));
  }
  if (best.size() == 1) {
    plan.of(Role::latency) =
        RoleField{static_cast<std::uint32_t>(best[0]), names[best[0]], read[best[0]].unit};
    return {};
  }
  const auto has = [&](std::string_view name) {
    return std::ranges::find(read, name, &ReadName::joined) != read.end();
  };
  if (has("metric") && has("value")) {
    return fail(ErrorCode::unsupported, fmt::format("{}: its rows are samples of metrics, not calls: "
                                                    "averages cannot be merged into a distribution, so "
                                                    "no timeout follows from them",
                                                    path));
  }
  if (!statistics.empty()) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("{}: its rows hold percentiles or averages ({}), not calls: they cannot be merged into a "
                    "distribution, so no timeout follows from them. Give the calls themselves or histograms",
                    path, fmt::join(statistics, ", ")));
  }
  return fail(ErrorCode::unreadable_input,
              fmt::format("{}: no column is known to be the latency; {}. Say which, as in "
                          "--map latency=COLUMN --unit ms",
                          path, listed(names, "its columns are")));
}

// The objects around a field, the nearest first: "a.b." and "a." and "" of "a.b.latency".
std::vector<std::string> scopes_around(std::string_view name) {
  std::vector<std::string> scopes;
  for (std::size_t dot = name.rfind('.'); dot != std::string_view::npos && dot > 0;
       dot = name.rfind('.', dot - 1))
    scopes.emplace_back(name.substr(0, dot + 1));
  scopes.emplace_back();
  return scopes;
}

std::vector<FieldOfScope> fields_in(std::string_view scope, const std::vector<std::string>& names) {
  std::vector<FieldOfScope> fields;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].starts_with(scope)) continue;
    const std::string_view name = std::string_view(names[i]).substr(scope.size());
    fields.push_back({static_cast<std::uint32_t>(i), names[i], name, read_name(name)});
  }
  return fields;
}

// Without `values` a start may be anything.
bool may_start(const FieldOfScope& field, std::uint32_t latency, const ValuesOf& values) {
  if (!values || field.read.unit) return true;
  TimeText times;
  return std::ranges::any_of(values(field.index, latency),
                             [&](std::string_view text) { return times.parse(text).has_value(); });
}

void guess_others(std::span<const FieldOfScope> fields, bool jmeter, const ValuesOf& values,
                  const SaidRoles& said, FieldPlan& plan) {
  for (const RoleWords& words : kRoles) {
    if (said[static_cast<std::size_t>(words.role)]) continue;
    for (const std::string_view wanted : words.names) {
      if (plan.of(words.role)) break;
      // Where JMeter ran is no backend.
      if (jmeter && wanted == "hostname") continue;
      const auto found = std::ranges::find_if(
          fields, [&](const FieldOfScope& field) { return field.read.joined == wanted; });
      if (found == fields.end() || found->read.statistic || is_taken(plan, found->index)) continue;
      if (words.role == Role::start && !may_start(*found, plan.of(Role::latency)->index, values)) continue;
      plan.of(words.role) = RoleField{found->index, std::string(found->whole), found->read.unit};
    }
  }
}

}  // namespace

Result<FieldPlan> plan_fields(const std::vector<std::string>& names, const ReadOptions& options,
                              const std::string& path, const ValuesOf& values) {
  if (is_k6(names)) {
    if (auto fine = check_k6(options, path); !fine) return std::unexpected(fine.error());
  }
  FieldPlan plan;
  SaidRoles said{};
  if (auto maps = take_maps(names, options, path, plan, said); !maps) return std::unexpected(maps.error());
  std::vector<ReadName> read;
  for (const std::string& name : names) read.push_back(read_name(name));
  const auto has = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  const bool jmeter = has("timeStamp") && has("elapsed") && (has("success") || has("responseCode"));
  const bool ab = has("ctime") && has("dtime") && has("ttime") && has("wait");
  // In a JTL `Latency` is the time to the first byte and `elapsed` the whole; ab's total is `ttime`. Both in
  // ms.
  if (!said[static_cast<std::size_t>(Role::latency)]) {
    const std::string_view known = jmeter ? "elapsed" : ab ? "ttime" : "";
    if (auto guessed = guess_latency(names, read, path, known, plan); !guessed)
      return std::unexpected(guessed.error());
    if (jmeter || ab) plan.unit_by_format = TimeUnit::milliseconds;
  }
  const auto give = [&](Role role, std::string_view name) {
    if (said[static_cast<std::size_t>(role)]) return;
    const auto index = static_cast<std::uint32_t>(std::ranges::find(names, name) - names.begin());
    plan.of(role) = RoleField{index, std::string(name), std::nullopt};
  };
  if (ab) give(Role::connect, "ctime");
  if (ab && has("seconds")) give(Role::start, "seconds");
  if (!plan.of(Role::latency)) {
    return fail(ErrorCode::invalid_argument, fmt::format("{}: --map latency= names no column", path));
  }
  if (const auto field = statistic_field(names, plan, values)) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("{}: its rows hold percentiles or averages, as {} says, not calls: they cannot be "
                    "merged into a distribution, so no timeout follows from them. Give the calls "
                    "themselves or histograms",
                    path, *field));
  }
  const std::vector<std::string> scopes = scopes_around(plan.of(Role::latency)->name);
  bool outcome = false;
  for (const std::string& scope : scopes) {
    const std::vector<FieldOfScope> fields = fields_in(scope, names);
    outcome = outcome || guess_outcome(fields, read[plan.of(Role::latency)->index], values, said, plan);
    guess_others(fields, jmeter, values, said, plan);
  }
  for (const std::string& scope : scopes) {
    const std::vector<FieldOfScope> fields = fields_in(scope, names);
    outcome = outcome || take_outcome_unread(fields, said, plan);
    guess_others(fields, jmeter, {}, said, plan);
  }
  return plan;
}

std::optional<TimeUnit> unit_in_name(std::string_view name) { return read_name(name).unit; }

bool names_a_latency(std::string_view name) {
  const ReadName read = read_name(name);
  return !read.statistic && latency_rank(read.joined).has_value();
}

Result<TimeUnit> unit_of(Duration given) {
  for (const TimeUnit unit :
       {TimeUnit::nanoseconds, TimeUnit::microseconds, TimeUnit::milliseconds, TimeUnit::seconds}) {
    if (length_of(unit) == given) return unit;
  }
  return fail(ErrorCode::invalid_argument, "--unit is one of ns, us, ms, s");
}

std::string in_words(const FieldPlan& plan) {
  std::vector<std::string> parts;
  for (std::size_t role = 0; role < kRoleCount; ++role) {
    const auto& field = plan.fields[role];
    if (field && role == static_cast<std::size_t>(Role::ok) && plan.ok_is_inverse) {
      parts.push_back(fmt::format("{} as not ok", field->name));
    } else if (field)
      parts.push_back(field->name == kRoleNames[role]
                          ? field->name
                          : fmt::format("{} as {}", field->name, kRoleNames[role]));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

Result<FieldPicks> pick_fields(const ReadOptions& options, const std::vector<std::string>& names,
                               const FieldPlan& plan) {
  const auto resolve = [&](std::string_view name) -> std::optional<std::uint32_t> {
    const auto exact = std::ranges::find(names, name);
    if (exact != names.end()) return static_cast<std::uint32_t>(exact - names.begin());
    const auto role = std::ranges::find(kRoleNames, name);
    if (role == kRoleNames.end()) return std::nullopt;
    const auto& field = plan.fields[static_cast<std::size_t>(role - kRoleNames.begin())];
    return field ? std::optional(field->index) : std::nullopt;
  };
  return FieldPicks::create(options, resolve, listed(names, "its columns are"));
}

std::string listed(const std::vector<std::string>& names, std::string_view what) {
  constexpr std::size_t kShown = 20;
  const std::span<const std::string> shown(names.data(), std::min(names.size(), kShown));
  return fmt::format("{} {}{}", what, fmt::join(shown, ", "), names.size() > kShown ? ", ..." : "");
}

}  // namespace overdue
