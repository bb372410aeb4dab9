#include "overdue/recorded/row_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "overdue/base/quantity.h"
#include "overdue/recorded/ending_words.h"
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
constexpr std::string_view kNoLatencyNote =
    "some rows have no latency and no column says whether those calls were answered: if they were lost, name "
    "the column that says so, as in --map ok=COLUMN";

// gRPC's codes 0 to 16, in their order.
constexpr Ending kGrpcEndings[] = {Ending::replied,   Ending::abandoned, Ending::rejected, Ending::replied,
                                   Ending::timed_out, Ending::replied,   Ending::replied,  Ending::replied,
                                   Ending::rejected,  Ending::replied,   Ending::rejected, Ending::replied,
                                   Ending::rejected,  Ending::rejected,  Ending::rejected, Ending::rejected,
                                   Ending::replied};

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

// ">1000", ">= 1s": what was given up on then.
bool is_more_than(std::string_view text, TimeUnit unit) {
  if (!text.starts_with('>')) return false;
  text.remove_prefix(1);
  if (text.starts_with('=')) text.remove_prefix(1);
  while (text.starts_with(' ')) text.remove_prefix(1);
  return duration_with_unit(text, unit).has_value();
}

bool gave_up(Ending ending) { return ending == Ending::timed_out || ending == Ending::abandoned; }

}  // namespace

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
  rules.empty_is_not_ok_ = !plan.ok_is_inverse && std::ranges::any_of(sample, [](const RowTexts& texts) {
    return yes_or_no(text_of(texts, Role::ok)) == true;
  });
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
    const bool named = folded_word(plan.of(Role::status)->name).find("grpc") != std::string::npos;
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
  if ((number && *number == 0) || is_no_value(text) || is_minus_one(text)) {
    sink.note(kStatusZeroNote);
    return {Ending::timed_out, {}};
  }
  const auto status = status_in_text(text);
  if (status && StatusRules::in_range(*status)) return {statuses_.ending_of(*status), {}};
  if (const auto said = ending_in_words(text)) {
    if (!said->kind_known) sink.note(kNotOkNote);
    return {said->ending, {}};
  }
  return {Ending::replied, kUnknownStatus};
}

// Nothing where the text is neither a yes nor a no.
std::optional<SaidEnding> RowRules::judge_ok(std::string_view text) const {
  if (ok_is_inverse_ && says_no_error(text)) return SaidEnding{};
  if (empty_is_not_ok_ && is_no_value(text))
    return SaidEnding{.ending = Ending::timed_out, .kind_known = false};
  const auto said = ending_in_words(text);
  std::optional<bool> ok = ok_is_inverse_ ? std::optional(false) : yes_or_no(text);
  if (!ok && said) ok = said->ending == Ending::replied;
  if (!ok) return std::nullopt;
  if (*ok) return SaidEnding{};
  // "503 Service Unavailable": an answer, and not the one that was wanted. A cause wins over an answer that
  // was fine ("HTTP 200: unexpected EOF"); numbers below may be errno's.
  const auto status = status_in_text(text);
  const bool is_answer = status && *status >= 200 && StatusRules::in_range(*status);
  const bool says_kind = said && said->kind_known && said->ending != Ending::replied;
  if (is_answer && (*status >= 400 || !says_kind)) {
    const Ending ending = statuses_.ending_of(*status);
    return SaidEnding{.ending = ending == Ending::replied ? Ending::rejected : ending};
  }
  if (said && said->is_fault) return SaidEnding{.ending = Ending::rejected};
  if (said && said->ending != Ending::replied) return said;
  return SaidEnding{.ending = Ending::timed_out, .kind_known = false};
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
  std::optional<SaidEnding> ok;
  if (has_(Role::ok) && !is_absent(texts, Role::ok)) {
    ok = judge_ok(text_of(texts, Role::ok));
    if (!ok) return {Ending::replied, kNeitherOk};
  }
  const bool is_ok = ok && ok->ending == Ending::replied;
  const bool not_ok = ok && !is_ok;
  if (has_(Role::status) && !(status_is_of_failures_ && is_absent(texts, Role::status))) {
    const std::string_view status = text_of(texts, Role::status);
    const bool no_answer = is_no_value(status) || small_number(status) == 0 || is_minus_one(status);
    // Said to be ok: a status of 0 or none is then no sign of loss.
    if (is_ok && no_answer) return {Ending::replied, {}};
    if (not_ok && ok->kind_known && no_answer) return {ok->ending, {}};
    Judged judged = judge_status(status, sink);
    if (not_ok && judged.set_aside == kUnknownStatus) judged = {Ending::rejected, {}};
    // An answer that its caller did not accept (a failed assertion) is no latency of success.
    if (not_ok && judged.ending == Ending::replied) judged.ending = Ending::rejected;
    return judged;
  }
  if (not_ok) {
    if (!ok->kind_known) sink.note(kNotOkNote);
    return {ok->ending, {}};
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

// A negative number of 64 bits that was written as one without a sign.
static bool is_wrapped(std::string_view text) {
  constexpr std::string_view kLeast = "9223372036854775808", kGreatest = "18446744073709551615";
  const bool digits = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || text.size() < kLeast.size() || text.size() > kGreatest.size()) return false;
  return text.size() == kLeast.size() ? text >= kLeast : text <= kGreatest;
}

std::string_view RowRules::judge(const RowTexts& texts, Attempt& row, RowSink& sink) const {
  const Judged judged = judge_ending(texts, sink);
  if (!judged.set_aside.empty()) return judged.set_aside;
  row.ending = judged.ending;
  const std::string_view text = text_of(texts, Role::latency);
  std::optional<Duration> elapsed;
  const bool answered = row.ending == Ending::replied || row.ending == Ending::rejected;
  const bool is_none = is_no_value(text) || (!answered && is_minus_one(text));
  if (!is_none) {
    elapsed = duration_with_unit(text, unit_);
    // "timeout" in place of a time, or ">1000".
    auto said = elapsed ? std::nullopt : ending_in_words(text);
    if (!elapsed && is_more_than(text, unit_)) said = SaidEnding{.ending = Ending::timed_out};
    if (said && says_nothing(texts)) row.ending = said->ending;
    if (!elapsed && !(said && said->ending != Ending::replied && row.ending != Ending::replied))
      return is_wrapped(text) ? kNegativeDuration : kNoNumber;
    if (elapsed && elapsed->count() < 0) return kNegativeDuration;
    if (elapsed && !has_unit_ && elapsed->count() > 0 && duration_text(text, unit_)) return kNoUnit;
  }
  if (gave_up(row.ending)) {
    if (elapsed && elapsed->count() == 0) elapsed.reset();
    if (!elapsed) elapsed = limit_;
  } else if (row.ending == Ending::replied) {
    if (!elapsed && only_latency()) sink.note(kNoLatencyNote);
    if (!elapsed) return kNoLatency;
    if (elapsed->count() == 0 && only_latency()) sink.note(kZeroNote);
  }
  row.untimed = !elapsed;
  row.elapsed = elapsed.value_or(Duration(0));
  return {};
}

}  // namespace overdue
