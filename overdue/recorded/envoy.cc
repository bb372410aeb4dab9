#include "overdue/recorded/envoy.h"

#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "overdue/recorded/chunk_reader.h"
#include "overdue/recorded/envoy_flags.h"
#include "overdue/recorded/field_picks.h"
#include "overdue/recorded/name_cache.h"
#include "overdue/recorded/number_text.h"
#include "overdue/recorded/route_text.h"
#include "overdue/recorded/status_rules.h"
#include "overdue/recorded/time_text.h"

namespace overdue {
namespace {

constexpr std::uint32_t kRouteField = 100;
constexpr std::size_t kPrefixMax = 256;  // What kubectl and container runtimes write before a line.

constexpr std::pair<std::string_view, EnvoyLine::Field> kNames[] = {
    {"backend", EnvoyLine::upstream_host},
    {"upstream_host", EnvoyLine::upstream_host},
    {"method", EnvoyLine::method},
    {"response_code", EnvoyLine::response_code},
    {"response_flags", EnvoyLine::response_flags},
    {"authority", EnvoyLine::authority},
    {"upstream_cluster", EnvoyLine::upstream_cluster},
    {"route_name", EnvoyLine::route_name},
    {"response_code_details", EnvoyLine::response_code_details},
};

// What a line is once the prefix is off: "2025-12-31T17:37:40.49+01:00 stdout F {...".
struct Bare {
  enum Kind { text, json, partial, other } kind = other;
  std::string_view line;
};

bool begins_text(std::string_view text) {
  const auto digit = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '9'; };
  return text.size() > 30 && text[0] == '[' && digit(1) && digit(2) && digit(3) && digit(4) &&
         text[5] == '-' && text[8] == '-' && text[11] == 'T';
}

Bare without_prefix(std::string_view line) {
  const std::size_t last = std::min(line.size(), kPrefixMax);
  for (std::size_t at = 0; at < last; ++at) {
    const bool brace = line[at] == '{';
    if (!brace && line[at] != '[') continue;
    if (at > 0 && line[at - 1] != ' ') continue;
    const std::string_view prefix = line.substr(0, at);
    if (prefix.ends_with(" stdout P ") || prefix.ends_with(" stderr P ")) return {Bare::partial, line};
    if (brace) return {Bare::json, line.substr(at)};
    if (begins_text(line.substr(at))) return {Bare::text, line.substr(at)};
  }
  return {Bare::other, line};
}

struct Settings {
  StatusRules rules;
  FieldPicks picks;
  std::vector<std::string> asked;
  Level level = Level::attempts;
  std::size_t quoted_fields = kEnvoyQuotedFields;  // Of a line of text behind its times.
};

class EnvoyRows {
 public:
  EnvoyRows(const Settings& settings, RowSink& sink)
      : settings_(settings), sink_(sink), json_(settings.asked) {}

  void add(std::string_view text, std::uint64_t line_number) {
    line_number_ = line_number;
    const Bare bare = without_prefix(text);
    if (text.empty()) return set_aside("blank line");
    if (bare.kind == Bare::partial) return set_aside("part of a line of a container's log");
    const EnvoyText read = bare.kind == Bare::text
                               ? split_envoy_text(bare.line, settings_.quoted_fields, line_)
                           : bare.kind == Bare::json && json_.split(bare.line, line_) ? EnvoyText::read
                                                                                      : EnvoyText::other;
    if (read == EnvoyText::unsure) return set_aside("quotes in it hide its upstream");
    if (read == EnvoyText::other) return set_aside("not a line of Envoy's access log");
    judge();
  }

 private:
  void set_aside(std::string_view reason) { sink_.set_aside(reason, line_number_); }

  std::optional<Duration> milliseconds_of(EnvoyLine::Field field) const {
    if (!line_.has(field)) return std::nullopt;
    return duration_text(line_[field], TimeUnit::milliseconds);
  }

  // A log need not have the method. A TCP connection has no response code, and an empty method where it is
  // logged.
  bool is_call() const {
    if (line_.has(EnvoyLine::method)) return true;
    const auto code = decimal_scaled(line_[EnvoyLine::response_code], 0);
    if (code && *code > 0) return true;
    return !line_.names_method && has_flag_of_http(line_[EnvoyLine::response_flags]);
  }

  void judge() {
    if (line_[EnvoyLine::response_code].data() == nullptr && line_[EnvoyLine::duration].data() == nullptr) {
      return set_aside("not a line of Envoy's access log");
    }
    if (!is_call()) return set_aside("a TCP connection, no call");
    const EnvoyFlags flags = judge_envoy_flags(line_[EnvoyLine::response_flags]);
    if (!flags.set_aside.empty()) return set_aside(flags.set_aside);
    const auto duration = milliseconds_of(EnvoyLine::duration);
    const auto service_time = milliseconds_of(EnvoyLine::service_time);
    if (!duration || *duration > kLongest) return set_aside("no latency value");
    if (*duration < Duration(0) || (service_time && *service_time < Duration(0)))
      return set_aside("negative duration");
    const std::string_view code = line_[EnvoyLine::response_code];
    const auto status = decimal_scaled(code, 0);
    const bool known = status && *status >= 100 && *status <= 599;
    if (!flags.ending && !known) return set_aside("no status");
    const Ending ending = flags.ending ? *flags.ending : settings_.rules.ending_of(static_cast<int>(*status));
    Duration elapsed = *duration;
    if (settings_.level == Level::attempts) {
      if (!line_.has(EnvoyLine::upstream_host)) return set_aside("answered by Envoy itself, no upstream");
      const bool answered = !flags.ending;
      if (answered && service_time && *service_time <= kLongest) elapsed = *service_time;
      if (answered && !service_time)
        sink_.note("where there is no upstream service time, the duration stands for it");
    }
    append(ending, elapsed);
  }

  void append(Ending ending, Duration elapsed) {
    const std::uint16_t route = route_of();
    std::string_view host = line_.has(EnvoyLine::upstream_host) ? line_[EnvoyLine::upstream_host] : "";
    if (host.starts_with("tcp://")) host.remove_prefix(6);
    const auto text_of = [&](std::uint32_t field) -> std::string_view {
      if (field == kRouteField) return sink_.names.routes.name_of(route);
      return field == EnvoyLine::upstream_host ? host : line_.values[field];
    };
    if (!settings_.picks.keeps(text_of)) {
      ++sink_.filtered;
      return;
    }
    Attempt& row = sink_.append();
    row.ending = ending;
    row.elapsed = elapsed;
    row.begins_call = true;
    row.route = route;
    row.backend = backends_.id_of(host, [&] { return sink_.names.backends.id_of(host); });
    row.group = settings_.picks.group_of(sink_.names, text_of);
    if (const auto start = time_text_.parse(line_[EnvoyLine::start_time])) {
      row.has_start = true;
      row.start = *start;
    }
  }

  std::uint16_t route_of() {
    if (!line_.has(EnvoyLine::path)) return 0;
    const std::string_view route = route_text_.of(line_[EnvoyLine::path]);
    return routes_.id_of(route, [&] { return sink_.names.routes.id_of(route); });
  }

  static constexpr Duration kLongest = std::chrono::hours(24 * 366);

  const Settings& settings_;
  RowSink& sink_;
  EnvoyJson json_;
  EnvoyLine line_;
  TimeText time_text_;
  RouteText route_text_;
  NameCache routes_;
  NameCache backends_;
  std::uint64_t line_number_ = 0;
};

template <typename Each>
std::uint64_t for_each_line(std::string_view lines, const Each& each) {
  std::uint64_t number = 0;
  for (; !lines.empty(); ++number) {
    const std::size_t newline = lines.find('\n');
    std::string_view line = lines.substr(0, newline);
    lines.remove_prefix(newline == std::string_view::npos ? lines.size() : newline + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    each(line, number);
  }
  return number;
}

class EnvoyReader final : public ChunkReader {
 public:
  explicit EnvoyReader(Settings settings) : settings_(std::move(settings)) {}

  std::uint64_t read(std::string_view lines, RowSink& sink) const override {
    EnvoyRows rows(settings_, sink);
    return for_each_line(lines, [&](std::string_view line, std::uint64_t number) { rows.add(line, number); });
  }

 private:
  Settings settings_;
};

bool is_access_line(std::string_view line) {
  const Bare bare = without_prefix(line);
  EnvoyLine fields;
  if (bare.kind == Bare::text)
    return split_envoy_text(bare.line, kEnvoyQuotedFields, fields) != EnvoyText::other;
  const auto has = [&](std::string_view key) { return bare.line.find(key) != std::string_view::npos; };
  return bare.kind == Bare::json && has("\"response_flags\"") && has("\"response_code\"") &&
         has("\"duration\"");
}

// What a value's quotes add is left out: the least that more than a few lines have.
std::size_t quoted_fields_of(std::string_view head) {
  std::map<std::size_t, std::size_t> lines;
  std::size_t all = 0;
  for_each_line(head, [&](std::string_view line, std::uint64_t) {
    const Bare bare = without_prefix(line);
    const std::size_t fields = bare.kind == Bare::text ? envoy_quoted_fields(bare.line) : 0;
    if (fields == 0) return;
    ++lines[fields];
    ++all;
  });
  for (const auto& [fields, count] : lines) {
    if (count * 10 >= all) return fields;
  }
  return kEnvoyQuotedFields;
}

}  // namespace

bool looks_like_envoy(std::string_view head) {
  std::size_t lines = 0;
  std::size_t recognised = 0;
  for_each_line(head.substr(0, std::size_t{64} * 1024), [&](std::string_view line, std::uint64_t) {
    lines += line.empty() ? 0 : 1;
    recognised += is_access_line(line) ? 1 : 0;
  });
  // The shape is like no other; lines of the program's own log may stand between.
  return recognised > 0 && recognised * 4 >= lines;
}

Result<OpenedFormat> open_envoy(std::string_view head, const std::string& path, const ReadOptions& options) {
  Settings settings{*StatusRules::create({}, Vantage::proxy), {}, {}, options.level};
  OpenedFormat opened;
  opened.summary.path = path;
  opened.summary.format = Format::envoy;
  opened.summary.vantage = options.vantage.value_or(Vantage::proxy);
  opened.summary.detail = options.level == Level::calls ? "durations" : "upstream service times";
  opened.summary.has_start_times = true;
  opened.summary.notes.emplace_back("Envoy writes whole milliseconds: 0 is less than one");
  const auto says_outcome = [](const std::string& name) {
    return name == "response_code" || name == "response_flags" || name == "grpc_status";
  };
  if (std::string note = note_of_outcome_filter(options, says_outcome); !note.empty())
    opened.summary.notes.push_back(std::move(note));
  auto rules = StatusRules::create(options, opened.summary.vantage);
  if (!rules) return std::unexpected(rules.error());
  settings.rules = *std::move(rules);
  settings.quoted_fields = quoted_fields_of(head.substr(0, std::size_t{64} * 1024));
  if (!options.group_by.empty()) settings.asked.push_back(options.group_by);
  for (const auto& [name, value] : options.where) settings.asked.push_back(name);
  const auto resolve = [&](std::string_view name) -> std::optional<std::uint32_t> {
    for (const auto& [known, field] : kNames) {
      if (known == name) return field;
    }
    if (name == "route") return kRouteField;
    const auto place = std::find(settings.asked.begin(), settings.asked.end(), name);
    const auto index = static_cast<std::size_t>(place - settings.asked.begin());
    const bool in_json = head.find(fmt::format("\"{}\":", name)) != std::string_view::npos;
    if (place == settings.asked.end() || index >= EnvoyLine::kAskedMax || !in_json) return std::nullopt;
    return static_cast<std::uint32_t>(EnvoyLine::known_fields + index);
  };
  auto picks =
      FieldPicks::create(options, resolve,
                         "there are upstream, route, method, authority, response_code, response_flags, "
                         "upstream_cluster, route_name and the keys of JSON lines");
  if (!picks) return std::unexpected(picks.error());
  settings.picks = *std::move(picks);
  opened.reader = std::make_unique<EnvoyReader>(std::move(settings));
  return opened;
}

}  // namespace overdue
