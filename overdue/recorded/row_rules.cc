#include "overdue/recorded/row_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "overdue/base/quantity.h"
#include "overdue/recorded/time_text.h"

namespace overdue {
namespace {

constexpr std::string_view kStatusZeroNote =
    "rows with status 0 or none are read as lost: the caller gave up";
constexpr std::string_view kNotOkNote =
    "rows that are not ok and have no status are read as lost where they ended";
constexpr std::string_view kZeroNote =
    "some latencies are exactly 0 and no column says whether those calls were answered: if 0 marks a lost "
    "call, name "
    "the column that says so, as in --map ok=COLUMN";

std::string folded(std::string_view text) {
  std::string word;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') word += static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) word += c;
  }
  return word;
}

std::optional<bool> yes_or_no(std::string_view text) {
  static constexpr std::string_view kYes[] = {"1", "true",    "yes",       "ok",   "t",
                                              "y", "success", "succeeded", "pass", "passed"};
  static constexpr std::string_view kNo[] = {"0",    "false",  "no",      "f",     "n",
                                             "fail", "failed", "failure", "error", "ko"};
  const std::string word = folded(text);
  if (std::ranges::find(kYes, word) != std::end(kYes)) return true;
  if (std::ranges::find(kNo, word) != std::end(kNo)) return false;
  return std::nullopt;
}

// In a column `error` the word "error" says yes: these are the words that say no of anything.
bool is_plain_no(std::string_view text) {
  static constexpr std::string_view kNo[] = {"0", "false", "no", "f", "n"};
  return std::ranges::find(kNo, folded(text)) != std::end(kNo);
}

struct StatusWord {
  std::string_view word;
  Ending ending;
};
// gRPC's names among them (google/rpc/code.proto): an answer about the request itself is a reply.
constexpr StatusWord kStatusWords[] = {{"ok", Ending::replied},
                                       {"success", Ending::replied},
                                       {"succeeded", Ending::replied},
                                       {"invalidargument", Ending::replied},
                                       {"notfound", Ending::replied},
                                       {"alreadyexists", Ending::replied},
                                       {"permissiondenied", Ending::replied},
                                       {"failedprecondition", Ending::replied},
                                       {"outofrange", Ending::replied},
                                       {"unauthenticated", Ending::replied},
                                       {"timeout", Ending::timed_out},
                                       {"timedout", Ending::timed_out},
                                       {"deadlineexceeded", Ending::timed_out},
                                       {"cancelled", Ending::abandoned},
                                       {"canceled", Ending::abandoned},
                                       {"abandoned", Ending::abandoned},
                                       {"unknown", Ending::rejected},
                                       {"resourceexhausted", Ending::rejected},
                                       {"aborted", Ending::rejected},
                                       {"unimplemented", Ending::rejected},
                                       {"internal", Ending::rejected},
                                       {"unavailable", Ending::rejected},
                                       {"dataloss", Ending::rejected},
                                       {"error", Ending::rejected},
                                       {"failed", Ending::rejected},
                                       {"failure", Ending::rejected},
                                       {"ko", Ending::rejected},
                                       {"rejected", Ending::rejected},
                                       {"refused", Ending::refused},
                                       {"connectionrefused", Ending::refused},
                                       {"reset", Ending::reset},
                                       {"connectionreset", Ending::reset}};
// gRPC's codes 0 to 16, in their order.
constexpr Ending kGrpcEndings[] = {Ending::replied,   Ending::abandoned, Ending::rejected, Ending::replied,
                                   Ending::timed_out, Ending::replied,   Ending::replied,  Ending::replied,
                                   Ending::rejected,  Ending::replied,   Ending::rejected, Ending::replied,
                                   Ending::rejected,  Ending::rejected,  Ending::rejected, Ending::rejected,
                                   Ending::replied};

// What JMeter writes in place of a status when no answer came.
std::optional<Ending> ending_of_exception(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (has("Timeout") || has("timed out")) return Ending::timed_out;
  if (has("UnknownHost") || has("HostConnect") || has("ConnectException") || has("refused"))
    return Ending::refused;
  if (has("SocketException") || has("NoHttpResponse") || has("SSLException") || has("reset"))
    return Ending::reset;
  if (text.starts_with("Non HTTP response code")) return Ending::reset;
  return std::nullopt;
}

// Whole numbers of at most three digits, and "200.0": a column with gaps in it is written so by some
// programs.
std::optional<int> small_number(std::string_view text) {
  if (const std::size_t point = text.find('.'); point != std::string_view::npos) {
    const std::string_view fraction = text.substr(point + 1);
    if (fraction.empty() || fraction.find_first_not_of('0') != std::string_view::npos) return std::nullopt;
    text = text.substr(0, point);
  }
  if (text.empty() || text.size() > 3) return std::nullopt;
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::string_view text_of(const RowTexts& texts, Role role) { return texts[static_cast<std::size_t>(role)]; }

// The row has no such field at all; one that is there and empty has a text.
bool is_absent(const RowTexts& texts, Role role) { return text_of(texts, role).data() == nullptr; }

// Of how its call ended.
bool says_nothing(const RowTexts& texts) {
  return is_absent(texts, Role::ending) && is_absent(texts, Role::status) && is_absent(texts, Role::ok);
}

// "1h2m3.5s", "1m0.001s", "1.5m" as Go writes a time.Duration, or "1m 30s": pieces of a number and its unit,
// each unit shorter than the one before.
std::optional<Duration> duration_in_pieces(std::string_view text) {
  struct Unit {
    std::string_view name;
    unsigned power;  // The unit is `times` x 10^power ns.
    std::int64_t times;
  };
  static constexpr Unit kUnits[] = {{"h", 9, 3600}, {"m", 9, 60},        {"s", 9, 1},         {"ms", 6, 1},
                                    {"us", 3, 1},   {"\xc2\xb5s", 3, 1}, {"\xce\xbcs", 3, 1}, {"ns", 0, 1}};
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const auto skip_blanks = [&] {
    while (text.starts_with(' ')) text.remove_prefix(1);
  };
  std::int64_t sum = 0;
  std::int64_t before = INT64_MAX;
  bool any = false;
  for (; !text.empty(); skip_blanks(), any = true) {
    const std::string_view number = text.substr(0, text.find_first_not_of("0123456789."));
    text.remove_prefix(number.size());
    skip_blanks();
    const std::string_view name = text.substr(0, text.find_first_of("0123456789. "));
    text.remove_prefix(name.size());
    const auto unit = std::ranges::find(kUnits, name, &Unit::name);
    if (unit == std::end(kUnits)) return std::nullopt;
    const std::int64_t length = unit->times * kPowersOfTen[unit->power];
    const auto value = decimal_scaled(number, unit->power);
    std::int64_t piece = 0;
    if (!value || length >= before || __builtin_mul_overflow(*value, unit->times, &piece) ||
        __builtin_add_overflow(sum, piece, &sum))
      return std::nullopt;
    before = length;
  }
  if (!any) return std::nullopt;
  return Duration(negative ? -sum : sum);
}

bool gave_up(Ending ending) { return ending == Ending::timed_out || ending == Ending::abandoned; }

}  // namespace

bool is_no_value(std::string_view text) {
  static constexpr std::string_view kNone[] = {"",    "-",   "null",     "NULL", "nil", "None",
                                               "NaN", "nan", "NA",       "N/A",  "\\N", "*",
                                               "inf", "Inf", "Infinity", "+Inf"};
  return std::ranges::find(kNone, text) != std::end(kNone);
}

std::optional<Duration> duration_with_unit(std::string_view text, TimeUnit unit) {
  static constexpr std::pair<std::string_view, TimeUnit> kSuffixes[] = {
      {"ns", TimeUnit::nanoseconds},         {"us", TimeUnit::microseconds},
      {"\xc2\xb5s", TimeUnit::microseconds}, {"\xce\xbcs", TimeUnit::microseconds},
      {"ms", TimeUnit::milliseconds},        {"s", TimeUnit::seconds}};
  for (const auto& [suffix, its] : kSuffixes) {
    if (!text.ends_with(suffix)) continue;
    std::string_view number = text.substr(0, text.size() - suffix.size());
    while (number.ends_with(' ')) number.remove_suffix(1);
    if (const auto duration = duration_text(number, its)) return duration;
    break;
  }
  if (const auto duration = duration_text(text, unit)) return duration;
  return duration_in_pieces(text);
}

void settle_start(FieldPlan& plan, const std::vector<RowTexts>& sample, std::vector<std::string>& notes) {
  const auto& start = plan.of(Role::start);
  if (!start || sample.empty()) return;
  TimeText times;
  const auto readable = [&](const RowTexts& texts) {
    const std::string_view text = text_of(texts, Role::start);
    return times.parse(text) || (start->unit && duration_text(text, *start->unit));
  };
  if (std::ranges::count_if(sample, readable) == 0) {
    notes.push_back(fmt::format(
        "'{}' holds no times of day since 1970 and has no unit in its name: start times are not used",
        start->name));
    plan.of(Role::start).reset();
  } else if (times.zone_was_missing()) {
    notes.push_back(fmt::format("times in '{}' have no zone: taken for UTC", start->name));
  }
}

Result<RowRules> RowRules::create(const FieldPlan& plan, const ReadOptions& options, Vantage vantage,
                                  const std::vector<RowTexts>& sample, const std::string& path) {
  auto statuses = StatusRules::create(options, vantage);
  if (!statuses) return std::unexpected(statuses.error());
  RowRules rules(*statuses);
  for (std::size_t i = 0; i < kRoleCount; ++i) rules.has_role_[i] = plan.fields[i].has_value();
  rules.limit_ = options.limit;
  rules.ok_is_inverse_ = plan.ok_is_inverse;
  if (auto unit = rules.settle_unit(plan, options, sample, path); !unit) return std::unexpected(unit.error());
  const auto most = [&](const auto& is_so) {
    return 2 * std::ranges::count_if(sample, is_so) > static_cast<std::ptrdiff_t>(sample.size());
  };
  rules.few_say_ = most(says_nothing);
  rules.none_says_ = std::ranges::all_of(sample, says_nothing);
  if (plan.of(Role::status)) {
    bool all_small = !sample.empty();
    bool any_above_zero = false;
    rules.status_is_of_failures_ = most([](const RowTexts& texts) { return is_absent(texts, Role::status); });
    for (const RowTexts& texts : sample) {
      if (rules.status_is_of_failures_ && is_absent(texts, Role::status)) continue;
      const auto code = small_number(text_of(texts, Role::status));
      all_small = all_small && code && *code <= 16;
      any_above_zero = any_above_zero || (code && *code > 0);
    }
    const bool named = folded(plan.of(Role::status)->name).find("grpc") != std::string::npos;
    rules.grpc_codes_ = all_small && (named || any_above_zero);
  }
  return rules;
}

Result<void> RowRules::settle_unit(const FieldPlan& plan, const ReadOptions& options,
                                   const std::vector<RowTexts>& sample, const std::string& path) {
  const RoleField& latency = *plan.of(Role::latency);
  if (options.unit) {
    auto unit = unit_of(*options.unit);
    if (!unit) return std::unexpected(unit.error());
    unit_ = *unit;
    if (latency.unit && *latency.unit != unit_) {
      unit_note_ = fmt::format("--unit {} is believed, and not the unit in the name '{}'", name_of(unit_),
                               latency.name);
    }
    return {};
  }
  if (latency.unit || plan.unit_by_format) {
    unit_ = latency.unit ? *latency.unit : *plan.unit_by_format;
    unit_claim_ = UnitClaim{.unit = unit_, .name = latency.name};
    doubt_unit(sample);
    return {};
  }
  // Values that carry their unit need none from elsewhere, and a number among them is at fault alone. 0 is 0
  // in any unit.
  std::size_t bare = 0;
  std::size_t others = 0;
  for (const RowTexts& texts : sample) {
    const std::string_view text = text_of(texts, Role::latency);
    if (is_no_value(text)) continue;
    const auto number = duration_text(text, TimeUnit::nanoseconds);
    if (!number) ++others;
    if (number && number->count() != 0) ++bare;
  }
  if (others > bare) {
    has_unit_ = false;
    return {};
  }
  return fail(
      ErrorCode::unsupported,
      fmt::format(
          "unit_unclear: {}: neither the name '{}' nor its values say their unit; give it, as in --unit ms "
          "(or s, us, ns)",
          path, latency.name));
}

void RowRules::doubt_unit(const std::vector<RowTexts>& sample) {
  std::vector<Duration> values;
  for (const RowTexts& texts : sample) {
    const auto value = duration_text(text_of(texts, Role::latency), unit_);
    if (value && value->count() > 0) values.push_back(*value);
  }
  if (values.size() < 3) return;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  unit_doubt_ = unit_doubt_of(*middle, *unit_claim_);
}

RowRules::Judged RowRules::judge_status(std::string_view text, RowSink& sink) const {
  const auto number = small_number(text);
  if (grpc_codes_ && number && *number <= 16) return {kGrpcEndings[*number], {}};
  if (number && StatusRules::in_range(*number)) return {statuses_.ending_of(*number), {}};
  if ((number && *number == 0) || is_no_value(text)) {
    sink.note(kStatusZeroNote);
    return {Ending::timed_out, {}};
  }
  const std::string word = folded(text);
  for (const StatusWord& known : kStatusWords) {
    if (word == known.word) return {known.ending, {}};
  }
  if (const auto ending = ending_of_exception(text)) return {*ending, {}};
  return {Ending::replied, kUnknownStatus};
}

RowRules::Judged RowRules::judge_ending(const RowTexts& texts, RowSink& sink) const {
  if (says_nothing(texts)) {
    if (has_(Role::status) && !status_is_of_failures_) return judge_status({}, sink);
    return {Ending::replied, {}};
  }
  if (none_says_) sink.note(kFewSayNote);
  if (has_(Role::ending) && !is_absent(texts, Role::ending)) {
    const auto found = std::ranges::find(kEndingNames, text_of(texts, Role::ending));
    if (found == kEndingNames.end()) return {Ending::replied, kUnknownEnding};
    return {static_cast<Ending>(found - kEndingNames.begin()), {}};
  }
  std::optional<bool> ok;
  if (has_(Role::ok) && !is_absent(texts, Role::ok)) {
    const std::string_view text = text_of(texts, Role::ok);
    ok = ok_is_inverse_ ? std::optional(is_no_value(text) || is_plain_no(text)) : yes_or_no(text);
    if (!ok) return {Ending::replied, kNeitherOk};
  }
  if (has_(Role::status) && !(status_is_of_failures_ && is_absent(texts, Role::status))) {
    const std::string_view status = text_of(texts, Role::status);
    // Said to be ok: a status of 0 or none is then no sign of loss.
    if (ok == true && (is_no_value(status) || small_number(status) == 0)) return {Ending::replied, {}};
    Judged judged = judge_status(status, sink);
    if (ok == false && judged.set_aside == kUnknownStatus) judged = {Ending::rejected, {}};
    // An answer that its caller did not accept (a failed assertion) is no latency of success.
    if (ok == false && judged.ending == Ending::replied) judged.ending = Ending::rejected;
    return judged;
  }
  if (ok == false) {
    sink.note(kNotOkNote);
    return {Ending::timed_out, {}};
  }
  return {Ending::replied, {}};
}

std::optional<Role> RowRules::role_at_fault(std::string_view reason) {
  if (reason == kNoNumber || reason == kNoUnit || reason == "negative duration") return Role::latency;
  if (reason == kUnknownStatus) return Role::status;
  if (reason == kUnknownEnding) return Role::ending;
  if (reason == kNeitherOk) return Role::ok;
  return std::nullopt;
}

std::string_view RowRules::judge(const RowTexts& texts, Attempt& row, RowSink& sink) const {
  const Judged judged = judge_ending(texts, sink);
  if (!judged.set_aside.empty()) return judged.set_aside;
  row.ending = judged.ending;
  const std::string_view text = text_of(texts, Role::latency);
  std::optional<Duration> elapsed;
  if (!is_no_value(text) && !(gave_up(row.ending) && text == "-1")) {
    elapsed = duration_with_unit(text, unit_);
    if (!elapsed) return kNoNumber;
    if (elapsed->count() < 0) return "negative duration";
    if (!has_unit_ && elapsed->count() > 0 && duration_text(text, unit_)) return kNoUnit;
  }
  if (gave_up(row.ending)) {
    if (elapsed && elapsed->count() == 0) elapsed.reset();
    if (!elapsed) elapsed = limit_;
  } else if (row.ending == Ending::replied) {
    if (!elapsed) return "no latency value";
    if (elapsed->count() == 0 && only_latency()) sink.note(kZeroNote);
  }
  row.untimed = !elapsed;
  row.elapsed = elapsed.value_or(Duration(0));
  return {};
}

}  // namespace overdue
