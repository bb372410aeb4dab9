#include "overdue/recorded/nginx_rows.h"

#include <algorithm>
#include <cstring>

#include "overdue/recorded/number_text.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

// A request's and its upstream's times are read at different moments; a few milliseconds apart they are the
// same.
constexpr Duration kSameMoment = 5ms;

bool given(std::string_view value) { return value.data() != nullptr; }

// What nginx writes where a variable has no value: "-", or nothing under escape=json and escape=none.
bool is_nothing(std::string_view value) { return value.empty() || value == "-"; }

// Nothing where it is no time, or longer than any request lives: sums of such would leave the clock's range.
std::optional<Duration> seconds_of(std::string_view text) {
  constexpr Duration kLongest = 24h * 366;
  if (text.size() == 5 && text[1] == '.') [[likely]] {
    const auto digit = [&](std::size_t at) {
      return static_cast<unsigned>(static_cast<unsigned char>(text[at])) - '0';
    };
    const unsigned whole = digit(0);
    const unsigned tenths = digit(2);
    const unsigned hundredths = digit(3);
    const unsigned thousandths = digit(4);
    if (whole <= 9 && tenths <= 9 && hundredths <= 9 && thousandths <= 9) {
      return Duration(std::int64_t{whole * 1000 + tenths * 100 + hundredths * 10 + thousandths} * 1'000'000);
    }
  }
  const auto value = duration_text(text, TimeUnit::seconds);
  return value && *value <= kLongest ? value : std::nullopt;
}

// A three digit status, or 0 where there is none ("-", "000", "").
int status_of(std::string_view text) {
  if (text.size() != 3) return 0;
  int status = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return 0;
    status = status * 10 + (c - '0');
  }
  return status;
}

bool has_blank(std::string_view text) {
  if (text.empty()) return false;
  return std::memchr(text.data(), ' ', text.size()) != nullptr ||
         std::memchr(text.data(), ',', text.size()) != nullptr;
}

// Takes the list's next element; `redirect`: " : " came after it.
std::string_view take_element(std::string_view& rest, bool& redirect) {
  std::size_t end = 0;
  std::size_t next = rest.size();
  redirect = false;
  for (; end < rest.size(); ++end) {
    if (rest[end] == ',') {
      next = end + 1;
      break;
    }
    if (rest[end] == ' ' && rest.substr(end).starts_with(" : ")) {
      redirect = true;
      next = end + 3;
      break;
    }
  }
  const std::string_view element = rest.substr(0, end);
  rest.remove_prefix(next);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  return element;
}

// nginx names the group alone where no server of it could be tried; a server's name always has a colon.
bool is_group_name(std::string_view address) {
  return !address.empty() && address != "-" && address.find(':') == std::string_view::npos;
}

}  // namespace

template <typename Line>
std::string_view NginxRows::time_text_of(const Line& line) {
  for (const NginxField field : {NginxField::msec, NginxField::time_iso8601, NginxField::time_local}) {
    if (given(line.text(field))) return line.text(field);
  }
  return {};
}

std::optional<WallTime> NginxRows::time_of(std::string_view text) {
  if (!given(text)) return std::nullopt;
  if (text.size() == last_time_size_ && same_text(text.data(), last_time_text_.data(), text.size())) {
    return last_time_;
  }
  std::optional<WallTime> time;
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    time = time_text_.parse(text.substr(1, text.size() - 2));
  } else {
    time = time_text_.parse(text);
  }
  if (text.size() <= last_time_text_.size()) {
    std::memcpy(last_time_text_.data(), text.data(), text.size());
    last_time_size_ = text.size();
    last_time_ = time;
  }
  return time;
}

std::uint16_t NginxRows::route_of_target(std::string_view target, std::size_t readable_after) {
  if (!given(target) || target.empty()) return 0;
  return routes_.id_of(target, target.data() + target.size() + readable_after,
                       [&](std::string_view route) { return sink_.names.routes.id_of(route); });
}

std::uint16_t NginxRows::route_of(const NginxLine& line, Call& call) {
  std::string_view target = line[NginxField::uri];
  call.method = line[NginxField::method];
  if (given(line[NginxField::request])) {
    const RequestLine request = split_request(line[NginxField::request]);
    if (!given(call.method)) call.method = request.method;
    if (!given(target)) target = request.target;
  }
  return route_of_target(target, 0);
}

bool NginxRows::add_quick(const NginxQuickLine& line) {
  const std::int32_t status = line.number(NginxField::status);
  const std::int32_t request_time = line.number(NginxField::request_time);
  const std::int32_t response_time = line.number(NginxField::response_time);
  std::string_view address = line.text(NginxField::upstream_addr);
  const bool attempt = settings_.level == Level::attempts && response_time >= 0;
  std::int32_t deciding = status;
  if (attempt) {
    if (line.number(NginxField::upstream_status) >= 0) deciding = line.number(NginxField::upstream_status);
    // Why a server failed, and who left, takes a closer look.
    const bool no_address = address.size() <= 1 && given(address) && is_nothing(address);
    if (status == 499 || deciding >= 500 || no_address) return false;
  } else {
    if (request_time < 0) return false;
    if (has_blank(address) || address == "-") address = {};
  }
  if (!StatusRules::in_range(deciding)) return false;
  const auto end = time_of(time_text_of(line));
  std::string_view target = line.text(NginxField::uri);
  if (!given(target) && given(line.text(NginxField::request)))
    target = split_request(line.text(NginxField::request)).target;
  const std::uint16_t route = route_of_target(target, ChunkReader::kReadableAfter);
  Attempt& row = sink_.append();
  row.ending = settings_.rules.ending_of(deciding);
  row.elapsed = std::chrono::milliseconds(attempt ? response_time : request_time);
  row.has_start = end.has_value();
  if (end) row.start = *end - std::chrono::milliseconds(request_time >= 0 ? request_time : response_time);
  row.route = route;
  row.begins_call = true;
  const auto longer = [&] {
    return backends_.id_of(address, [&] { return sink_.names.backends.id_of(address); });
  };
  row.backend = short_backends_.id_of(address, longer);
  row.has_connect = line.number(NginxField::connect_time) >= 0;
  if (row.has_connect) row.connect = std::chrono::milliseconds(line.number(NginxField::connect_time));
  return true;
}

void NginxRows::add(const NginxLine& line, std::uint64_t line_number) {
  line_number_ = line_number;
  Call call;
  call.status = status_of(line[NginxField::status]);
  if (given(line[NginxField::request_time])) {
    call.elapsed = seconds_of(line[NginxField::request_time]);
    if (call.elapsed && *call.elapsed < 0s) return set_aside("negative duration");
  }
  const bool attempts = given(line[NginxField::response_time]);
  const bool as_call = settings_.level == Level::calls || !attempts;
  if (as_call && !call.elapsed && !attempts) return set_aside("no latency value");
  if (as_call && settings_.has_status && !StatusRules::in_range(call.status)) return set_aside("no status");
  call.end = time_of(time_text_of(line));
  call.route = route_of(line, call);
  return as_call ? add_call(line, call) : add_attempts(line, call);
}

// Without a status the last upstream's decides; without that too every call is a reply.
Ending NginxRows::ending_of_call(const NginxLine& line, const Call& call) const {
  if (StatusRules::in_range(call.status)) return settings_.rules.ending_of(call.status);
  std::string_view statuses = line[NginxField::upstream_status];
  if (is_nothing(statuses)) return Ending::replied;
  bool redirect = false;
  std::string_view last;
  while (!statuses.empty()) last = take_element(statuses, redirect);
  const int status = status_of(last);
  return StatusRules::in_range(status) ? settings_.rules.ending_of(status) : Ending::reset;
}

void NginxRows::add_call(const NginxLine& line, const Call& call) {
  Judged judged{ending_of_call(line, call), call.elapsed};
  std::string_view address = line[NginxField::upstream_addr];
  if (!judged.elapsed) {
    // No request time in the format: the attempts one after the other are the call.
    if (!read_upstreams(line)) return;
    Duration sum{};
    bool timed = false;
    for (std::size_t i = 0; i < upstream_count_; ++i) {
      timed = timed || upstreams_[i].elapsed.has_value();
      sum += upstreams_[i].elapsed.value_or(0ns);
    }
    if (!timed) return set_aside("no latency value");
    judged.elapsed = sum;
  }
  // A call that several servers had is charged to none of them.
  if (has_blank(address) || address == "-") address = {};
  const auto start = call.end ? std::optional(*call.end - *judged.elapsed) : std::nullopt;
  std::string_view connect = line[NginxField::connect_time];
  append(line, call, address, judged, start, connect, true);
}

bool NginxRows::has_no_upstream(const NginxLine& line, const Call& call) const {
  if (given(line[NginxField::upstream_addr])) return is_nothing(line[NginxField::upstream_addr]);
  if (!is_nothing(line[NginxField::response_time])) return false;
  const bool no_status = is_nothing(line[NginxField::upstream_status]);
  // Without the address, a call its caller left may have been waiting for an upstream: it is read as such.
  return no_status && call.status != 499;
}

void NginxRows::add_attempts(const NginxLine& line, const Call& call) {
  if (has_no_upstream(line, call)) {
    ++sink_.calls_without_attempts;
    return set_aside("answered by nginx itself, no upstream");
  }
  if (!read_upstreams(line)) return;
  Duration total{};
  for (std::size_t i = 0; i < upstream_count_; ++i) total += upstreams_[i].elapsed.value_or(0ns);
  if (call.elapsed) total = *call.elapsed;
  Duration used{};
  bool first = true;
  for (std::size_t i = 0; i < upstream_count_; ++i) {
    const Upstream& upstream = upstreams_[i];
    const Judged judged = judge(upstream, i + 1 == upstream_count_, line, call, used);
    if (judged.ending == Ending::replied && !judged.elapsed) {
      set_aside("reply without a time");
      continue;
    }
    const auto start = call.end ? std::optional(*call.end - total + used) : std::nullopt;
    if (append(line, call, upstream.address, judged, start, upstream.connect, first)) first = false;
    used += upstream.elapsed.value_or(0ns);
  }
}

bool NginxRows::read_upstreams(const NginxLine& line) {
  const std::string_view time = line[NginxField::response_time];
  const std::string_view address = line[NginxField::upstream_addr];
  if (!line.may_have_lists) [[likely]] {
    upstream_count_ = 1;
    Upstream& only = upstreams_[0];
    only.address = address;
    only.status = line[NginxField::upstream_status];
    only.time = time;
    only.connect = line[NginxField::connect_time];
    only.header = line[NginxField::header_time];
    only.elapsed.reset();
    only.redirect_follows = false;
  } else if (!read_lists(line)) {
    return false;
  }
  for (std::size_t i = 0; i < upstream_count_; ++i) {
    Upstream& upstream = upstreams_[i];
    if (is_nothing(upstream.time)) continue;
    upstream.elapsed = seconds_of(upstream.time);
    if (!upstream.elapsed) {
      set_aside("no latency value");
      return false;
    }
    if (*upstream.elapsed < 0s) {
      set_aside("negative duration");
      return false;
    }
  }
  return true;
}

bool NginxRows::read_lists(const NginxLine& line) {
  constexpr std::pair<NginxField, std::string_view Upstream::*> kLists[] = {
      {NginxField::upstream_addr, &Upstream::address},  {NginxField::response_time, &Upstream::time},
      {NginxField::upstream_status, &Upstream::status}, {NginxField::connect_time, &Upstream::connect},
      {NginxField::header_time, &Upstream::header},
  };
  upstream_count_ = 0;
  for (const auto& [field, member] : kLists) {
    std::string_view rest = line[field];
    if (!given(rest)) {
      for (Upstream& upstream : upstreams_) upstream.*member = {};
      continue;
    }
    std::size_t count = 0;
    do {
      if (count == kUpstreamsMax) {
        set_aside("more upstream attempts than are read");
        return false;
      }
      upstreams_[count].*member = take_element(rest, upstreams_[count].redirect_follows);
      ++count;
    } while (!rest.empty());
    // Which time belongs to which server must not be guessed.
    if (upstream_count_ != 0 && count != upstream_count_) {
      set_aside("upstream lists of different lengths");
      return false;
    }
    upstream_count_ = count;
  }
  for (std::size_t i = 0; i < upstream_count_; ++i) upstreams_[i].elapsed.reset();
  return upstream_count_ != 0;
}

NginxRows::Judged NginxRows::judge(const Upstream& upstream, bool last, const NginxLine& line,
                                   const Call& call, Duration used) const {
  const bool own_status = given(upstream.status);
  const int status = own_status ? status_of(upstream.status) : last ? call.status : 0;
  const std::optional<Duration> elapsed = upstream.elapsed;
  const bool answered = StatusRules::in_range(status);
  if (last && call.status == 499 && (!answered || settings_.rules.ending_of(status) != Ending::rejected)) {
    // The caller left. A reply that was whole before that is a reply; else the attempt waited to the end.
    const bool whole = answered && own_status && status != 499 && elapsed && *elapsed > 0s && call.elapsed &&
                       *elapsed + kSameMoment < *call.elapsed - used;
    if (whole) return {settings_.rules.ending_of(status), elapsed};
    if (call.elapsed) return {Ending::abandoned, std::max(*call.elapsed - used, Duration(0))};
    return {Ending::abandoned, elapsed && *elapsed > 0s ? elapsed : std::nullopt};
  }
  if ((!answered || status >= 500) && is_group_name(upstream.address)) return {Ending::refused, elapsed};
  if (!answered) {
    if (own_status) return {Ending::reset, elapsed};
    // nginx asked no other server after the last one: without a status that is all there is to go by.
    const bool taken_as_reply = upstream.redirect_follows || (last && !settings_.has_status);
    return {taken_as_reply ? Ending::replied : Ending::rejected, elapsed};
  }
  if (status == 502 && given(line[NginxField::connect_time]) && is_nothing(upstream.connect)) {
    return {Ending::refused, elapsed};
  }
  if (status == 502 && given(line[NginxField::header_time]) && is_nothing(upstream.header)) {
    return {Ending::reset, elapsed};
  }
  return {settings_.rules.ending_of(status), elapsed};
}

bool NginxRows::append(const NginxLine& line, const Call& call, std::string_view address,
                       const Judged& judged, std::optional<WallTime> start, std::string_view connect,
                       bool begins_call) {
  const auto text_of = [&](std::uint32_t field) -> std::string_view {
    if (field == kNginxBackendField) return address;
    if (field == kNginxRouteField) return sink_.names.routes.name_of(call.route);
    if (field == kNginxMethodField) return call.method;
    return line.values[field];
  };
  if (!settings_.picks.keeps(text_of)) {
    ++sink_.filtered;
    return false;
  }
  Attempt& row = sink_.append();
  row.ending = judged.ending;
  row.elapsed = judged.elapsed.value_or(Duration(0));
  row.untimed = !judged.elapsed.has_value();
  row.has_start = start.has_value();
  row.start = start.value_or(WallTime{});
  row.route = call.route;
  row.begins_call = begins_call;
  row.backend = backends_.id_of(address, [&] { return sink_.names.backends.id_of(address); });
  row.group = settings_.picks.group_of(sink_.names, text_of);
  if (given(connect) && connect != "-") {
    const auto time = seconds_of(connect);
    row.has_connect = time && *time >= 0s;
    if (row.has_connect) row.connect = *time;
  }
  return true;
}

}  // namespace overdue
