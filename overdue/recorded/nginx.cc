#include "overdue/recorded/nginx.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "overdue/recorded/chunk_reader.h"
#include "overdue/recorded/nginx_format.h"
#include "overdue/recorded/nginx_quick.h"
#include "overdue/recorded/nginx_rows.h"
#include "overdue/recorded/nginx_shapes.h"
#include "overdue/recorded/number_text.h"

namespace overdue {
namespace {

// The literals of a format may be met by chance; then a status or time is none. No upstream's time where
// one might stand is nothing where nginx escapes for JSON or not at all; at the end of a line that is not
// known to be so, the line was cut off.
bool looks_right(const NginxLine& line, std::string_view whole, const NginxFormat& format) {
  const auto begins_as_number = [](std::string_view text) {
    if (text.data() == nullptr) return true;
    if (text.empty()) return false;
    const auto digit = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '9'; };
    return digit(0) || (text[0] == '-' && (text.size() == 1 || digit(1) || text[1] == ',' || text[1] == ' '));
  };
  const std::string_view upstream = line[NginxField::response_time];
  const bool absent = upstream.data() != nullptr && upstream.empty() &&
                      (format.writes_nothing_for_absent() || upstream.data() != whole.data() + whole.size());
  return begins_as_number(line[NginxField::status]) && begins_as_number(line[NginxField::request_time]) &&
         line[NginxField::request_time] != "-" && (absent || begins_as_number(upstream));
}

class NginxReader final : public ChunkReader {
 public:
  NginxReader(std::vector<NginxFormat> formats, NginxRows::Settings settings)
      : formats_(std::move(formats)), settings_(std::move(settings)) {
    if (!settings_.picks.by() && settings_.picks.wheres().empty()) quick_ = NginxQuick::create(formats_[0]);
  }

  std::uint64_t read(std::string_view lines, RowSink& sink) const override {
    NginxRows rows(settings_, sink);
    // One a format: what a format does not have must stay empty.
    std::vector<NginxLine> values(formats_.size());
    NginxQuickLine quick_values;
    const char* const end = lines.data() + lines.size();
    std::uint64_t number = 0;
    for (const char* at = lines.data(); at != end; ++number) {
      const auto* newline =
          static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
      std::string_view line(at, static_cast<std::size_t>((newline == nullptr ? end : newline) - at));
      if (line.ends_with('\r')) line.remove_suffix(1);
      const bool done = quick_ && quick_->read(line, quick_values) && rows.add_quick(quick_values);
      if (!done && !read_line(line, end + kReadableAfter, values, number, rows))
        sink.set_aside_for(reason_against(line), number, line);
      at = newline == nullptr ? end : newline + 1;
    }
    return number;
  }

 private:
  bool read_line(std::string_view line, const char* readable_end, std::vector<NginxLine>& values,
                 std::uint64_t number, NginxRows& rows) const {
    for (std::size_t i = 0; i < formats_.size(); ++i) {
      if (!formats_[i].split(line, readable_end, values[i])) continue;
      if (!looks_right(values[i], line, formats_[i])) continue;
      rows.add(values[i], number);
      return true;
    }
    return false;
  }

  static std::string_view reason_against(std::string_view line) {
    if (line.empty()) return "blank line";
    if (is_nginx_error_line(line)) return "line of an error log";
    return "not of the log_format";
  }

  std::vector<NginxFormat> formats_;
  std::optional<NginxQuick> quick_;  // For lines of the first format.
  NginxRows::Settings settings_;
};

struct Found {
  std::vector<NginxFormat> formats;
  bool has_request_time = false;
  bool has_upstream_time = false;
  bool has_connect_time = false;
  bool has_time_of_day = false;
  bool has_upstream = false;
  bool has_status = false;
  bool has_upstream_status = false;
};

Error no_times(std::string_view path, std::string_view log_format) {
  if (log_format.empty()) {
    return {
        ErrorCode::unsupported,
        fmt::format(
            "{}: an access log without times: it says what was asked and answered, not how long that took. "
            "Add this line to nginx.conf, name it in access_log, and read what is logged from then on: {}",
            path, kNginxTimedLogFormat)};
  }
  return {ErrorCode::unsupported,
          fmt::format(
              "{}: the log_format has neither $request_time nor $upstream_response_time. Log this instead: "
              "log_format timed '{} rt=$request_time ua=\"$upstream_addr\" us=\"$upstream_status\" "
              "urt=\"$upstream_response_time\" uct=\"$upstream_connect_time\"';",
              path, log_format)};
}

std::vector<std::string> asked_of(const ReadOptions& options) {
  std::vector<std::string> asked;
  const auto add = [&](std::string_view name) {
    asked.emplace_back(name.starts_with('$') ? name.substr(1) : name);
  };
  if (!options.group_by.empty()) add(options.group_by);
  for (const auto& [name, value] : options.where) add(name);
  return asked;
}

Result<std::vector<NginxFormat>> formats_for(std::string_view head, const std::string& path,
                                             const ReadOptions& options) {
  const std::vector<std::string> asked = asked_of(options);
  std::vector<NginxFormat> formats;
  if (options.log_format) {
    auto format = NginxFormat::compile(*options.log_format, asked);
    if (!format) return std::unexpected(format.error());
    if (!format->has(NginxField::request_time) && !format->has(NginxField::response_time)) {
      return std::unexpected(no_times(path, format->text()));
    }
    formats.push_back(*std::move(format));
    return formats;
  }
  const NginxShapes shapes = nginx_shapes_of(head);
  if (shapes.labelled) {
    formats.push_back(NginxFormat::labelled(asked));
    return formats;
  }
  for (const std::string& text : shapes.log_formats) {
    if (auto format = NginxFormat::compile(text, asked)) formats.push_back(*std::move(format));
  }
  if (!formats.empty()) return formats;
  if (shapes.recognised > 0) return std::unexpected(no_times(path, ""));
  return fail(
      ErrorCode::unreadable_input,
      fmt::format("{}: not an nginx access log of a shape we know; give its log_format as it stands in "
                  "nginx.conf, as --log-format '$remote_addr ... $request_time'",
                  path));
}

// What the first lines hold; a format by labels is known only from them.
Result<Found> look_into(std::vector<NginxFormat> formats, std::string_view head, const std::string& path) {
  Found found;
  const char* const readable_end = head.data() + head.size();
  std::uint64_t number = 0;
  std::uint64_t first_unread = 0;
  std::uint64_t lines = 0;
  std::uint64_t matched = 0;
  std::uint64_t with_request_time = 0;
  std::uint64_t with_upstream_time = 0;
  std::string_view unread;
  for (std::string_view rest = head; !rest.empty() && number < 1000; ++number) {
    const std::size_t newline = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, newline);
    rest.remove_prefix(std::min(newline + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || is_nginx_error_line(line)) continue;
    ++lines;
    bool any = false;
    for (const NginxFormat& format : formats) {
      NginxLine values;
      if (!format.split(line, readable_end, values) || !looks_right(values, line, format)) continue;
      const auto has = [&](NginxField field) { return values[field].data() != nullptr; };
      any = true;
      with_request_time += has(NginxField::request_time) ? 1 : 0;
      with_upstream_time += has(NginxField::response_time) ? 1 : 0;
      found.has_connect_time |= has(NginxField::connect_time);
      found.has_upstream |= has(NginxField::upstream_addr);
      found.has_status |= has(NginxField::status);
      found.has_upstream_status |= has(NginxField::upstream_status);
      found.has_time_of_day |=
          has(NginxField::msec) || has(NginxField::time_iso8601) || has(NginxField::time_local);
      break;
    }
    matched += any ? 1 : 0;
    if (!any && unread.empty()) {
      unread = line.substr(0, 160);
      first_unread = number + 1;
    }
  }
  if (lines > 0 && matched == 0) {
    return fail(ErrorCode::unreadable_input,
                fmt::format("{}, line {}: '{}' is not written by the log_format '{}'", path, first_unread,
                            unread, formats.front().text()));
  }
  // A log that is too short to say has what its format has.
  found.has_request_time =
      matched == 0 ? formats.front().has(NginxField::request_time) : with_request_time * 2 > matched;
  if (matched == 0) found.has_status = true;
  found.has_upstream_time =
      matched == 0 ? formats.front().has(NginxField::response_time) : with_upstream_time * 2 > matched;
  found.formats = std::move(formats);
  if (matched > 0 && !found.has_request_time && !found.has_upstream_time)
    return std::unexpected(no_times(path, ""));
  return found;
}

Result<FieldPicks> picks_for(const Found& found, const ReadOptions& options) {
  const bool has_backend = std::ranges::any_of(
      found.formats, [](const NginxFormat& format) { return format.has(NginxField::upstream_addr); });
  const auto resolve = [&](std::string_view name) -> std::optional<std::uint32_t> {
    if (name.starts_with('$')) name.remove_prefix(1);
    for (const NginxFormat& format : found.formats) {
      if (const auto slot = format.slot_of(name)) return static_cast<std::uint32_t>(*slot);
    }
    if (name == "backend" && has_backend) return kNginxBackendField;
    if (name == "route") return kNginxRouteField;
    if (name == "method") return kNginxMethodField;
    return std::nullopt;
  };
  return FieldPicks::create(options, resolve,
                            fmt::format("there are {}route, method and the variables of '{}'",
                                        has_backend ? "upstream, " : "", found.formats.front().text()));
}

SourceSummary summary_of(const Found& found, const std::string& path, const ReadOptions& options) {
  SourceSummary summary;
  summary.path = path;
  summary.format = Format::nginx;
  const bool proxy = found.has_upstream_time || found.has_upstream;
  summary.vantage = options.vantage.value_or(proxy ? Vantage::proxy : Vantage::server);
  summary.detail = found.has_upstream_time && found.has_request_time ? "request and upstream times"
                   : found.has_upstream_time                         ? "upstream times"
                                                                     : "request times only";
  summary.has_start_times = found.has_time_of_day;
  summary.has_connect_times = found.has_connect_time;
  summary.outcome_unknown = !found.has_status && !found.has_upstream_status;
  summary.level_is_fixed = !found.has_upstream_time || !found.has_request_time;
  if (!options.log_format) {
    std::vector<std::string> others;
    for (const NginxFormat& format : std::span(found.formats).subspan(1))
      others.push_back(fmt::format("'{}'", format.text()));
    summary.notes.push_back(fmt::format("read as log_format '{}'{}{}", found.formats.front().text(),
                                        others.empty() ? "" : ", and where that does not fit as ",
                                        fmt::join(others, " or ")));
  }
  summary.notes.emplace_back("nginx writes whole milliseconds: 0.000 is less than one");
  if (summary.outcome_unknown) {
    summary.notes.emplace_back(
        "no status is logged: every answer counts as a reply, errors too; $status in the log_format tells "
        "them apart");
  }
  if (found.has_connect_time) {
    summary.notes.emplace_back("a connect time of 0.000 is less than 1 ms, or a connection kept from before");
  }
  return summary;
}

}  // namespace

bool looks_like_nginx(std::string_view head) {
  const NginxShapes shapes = nginx_shapes_of(head);
  return shapes.recognised > 0 && shapes.recognised * 2 >= shapes.lines;
}

Result<OpenedFormat> open_nginx(std::string_view head, const std::string& path, const ReadOptions& options) {
  auto formats = formats_for(head, path, options);
  if (!formats) return std::unexpected(formats.error());
  auto found = look_into(*std::move(formats), head, path);
  if (!found) return std::unexpected(found.error());
  auto picks = picks_for(*found, options);
  if (!picks) return std::unexpected(picks.error());
  const bool has_status = found->has_status;
  OpenedFormat opened;
  opened.summary = summary_of(*found, path, options);
  const auto says_outcome = [](const std::string& name) {
    return name == "status" || name == "upstream_status";
  };
  if (std::string note = note_of_outcome_filter(options, says_outcome); !note.empty())
    opened.summary.notes.push_back(std::move(note));
  if (options.unit != length_of(TimeUnit::seconds)) {
    const bool attempts =
        options.level == Level::attempts ? found->has_upstream_time : !found->has_request_time;
    opened.unit_claim = UnitClaim{.unit = TimeUnit::seconds,
                                  .name = attempts ? "$upstream_response_time" : "$request_time",
                                  .by_format = true};
  }
  auto rules = StatusRules::create(options, opened.summary.vantage);
  if (!rules) return std::unexpected(rules.error());
  opened.reader = std::make_unique<NginxReader>(
      std::move(found->formats),
      NginxRows::Settings{*std::move(rules), *std::move(picks), options.level, has_status});
  return opened;
}

}  // namespace overdue
