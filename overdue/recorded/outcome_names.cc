#include "overdue/recorded/outcome_names.h"

#include <string>
#include <vector>

#include "overdue/recorded/ending_words.h"
#include "overdue/recorded/status_rules.h"

namespace overdue {
namespace {

using Names = std::span<const std::string_view>;

// Each list in order of preference.
constexpr std::string_view kStatusNames[] = {"status",     "statuscode",   "httpstatus",     "httpstatuscode",
                                             "httpcode",   "responsecode", "responsestatus", "code",
                                             "grpcstatus", "grpccode",     "resultcode",     "result"};
constexpr std::string_view kRareStatusNames[] = {"respcode",
                                                 "httpresponsecode",
                                                 "httpresponsestatus",
                                                 "respstatus",
                                                 "resstatus",
                                                 "rpcstatus",
                                                 "replystatus",
                                                 "callstatus",
                                                 "requeststatus",
                                                 "finalstatus",
                                                 "upstreamstatus",
                                                 "targetstatuscode",
                                                 "backendstatus",
                                                 "elbstatuscode",
                                                 "scstatus",
                                                 "returncode",
                                                 "rc",
                                                 "sc",
                                                 "state",
                                                 "finalstate",
                                                 "verdict",
                                                 "disposition",
                                                 "endreason",
                                                 "reason",
                                                 "terminationstate",
                                                 "termination",
                                                 "outcomecode",
                                                 "calloutcome"};
constexpr std::string_view kStatusEndings[] = {"status", "statuscode", "responsecode", "outcome"};
constexpr std::string_view kEndingNamesInFiles[] = {"ending", "outcome"};
constexpr std::string_view kOkNames[] = {"ok",        "success", "succeeded", "successful",
                                         "issuccess", "isok",    "passed"};
constexpr std::string_view kRareOkNames[] = {"completed", "answered", "replied", "responded",
                                             "received",  "gotreply", "up",      "alive"};
// Yes means not ok. Believed only where no status does: `error` may hold many things.
constexpr std::string_view kNotOkNames[] = {"failed",   "isfailed",   "hasfailed", "error",
                                            "err",      "errors",     "iserror",   "haserror",
                                            "timedout", "istimedout", "didtimeout"};
constexpr std::string_view kErrorNames[] = {
    "exception",   "exceptionclass", "exceptiontype", "exc",           "excclass", "errorcode",  "errortype",
    "errorkind",   "errorclass",     "errorname",     "errormessage",  "errormsg", "errmessage", "errmsg",
    "errorreason", "lasterror",      "failure",       "failurereason", "fault",    "returncode", "rc"};
// These may give reasons for anything.
constexpr std::string_view kReasonNames[] = {"cause", "reason", "endreason", "failuremessage"};
constexpr std::string_view kErrorEndings[] = {"error", "exception"};
constexpr std::string_view kFlagNames[] = {"timeout",  "istimeout", "errored", "aborted", "cancelled",
                                           "canceled", "lost",      "dropped", "expired"};
// Where a latency and a status may both have been taken.
constexpr std::string_view kSides[] = {"upstream", "backend", "target", "origin", "downstream", "server"};

// Of whom a nested status is the status: "res.statusCode" is the call's, "user.status" is not.
constexpr std::string_view kAnswerNames[] = {"http",   "response", "resp", "res", "reply",
                                             "answer", "result",   "grpc", "rpc", "upstream"};

// What loggers call a line's level, and what stands there where all is well.
constexpr std::string_view kLevels[] = {"trace",     "debug",   "info",  "information", "notice",
                                        "warn",      "warning", "error", "critical",    "fatal",
                                        "emergency", "alert",   "ok"};

bool is_among(std::string_view name, Names names) { return std::ranges::find(names, name) != names.end(); }

// "http.response.status_code": a status by its last key, of an answer by the one before it.
bool is_status_of_answer(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return false;
  const auto joined = [](std::string_view key) {
    const ReadName read = read_name(key);
    return read.joined;
  };
  const std::string_view above = name.substr(0, dot);
  const std::size_t before = above.rfind('.');  // The whole of `above` where there is none.
  const std::string owner = joined(above.substr(before == std::string_view::npos ? 0 : before + 1));
  return is_among(owner, kAnswerNames) && is_among(joined(name.substr(dot + 1)), kStatusNames);
}

// What the values of one field read as.
struct Reading {
  std::size_t count = 0;
  std::size_t none = 0;      // Say that there is no value.
  std::size_t statuses = 0;  // Statuses and the words in their place.
  std::size_t answers = 0;   // Of these, HTTP's and words.
  std::size_t endings = 0;   // DESIGN's words.
  std::size_t flags = 0;     // A yes or a no.
  std::size_t yes = 0;
  std::size_t no_error = 0;
  std::size_t words = 0;   // Say how a call failed.
  std::size_t levels = 0;  // May be a log's.
  std::size_t held() const { return count - none; }
};

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

Reading reading_of(const std::vector<std::string_view>& values) {
  Reading reading;
  reading.count = values.size();
  for (const std::string_view text : values) {
    if (says_no_error(text)) ++reading.no_error;
    if (is_no_value(text)) {
      ++reading.none;
      continue;
    }
    const auto status = status_in_text(text);
    const auto said = ending_in_words(text);
    const auto flag = yes_or_no(text);
    const bool answer = (status && StatusRules::in_range(*status)) || said;
    if (answer) ++reading.answers;
    if (answer || (status && *status <= 16) || is_minus_one(text)) ++reading.statuses;
    if (std::ranges::find(kEndingNames, text) != kEndingNames.end()) ++reading.endings;
    if (flag) ++reading.flags;
    if (flag && *flag) ++reading.yes;
    if (said && said->ending != Ending::replied) ++reading.words;
    if (is_among(in_lower_case(text), kLevels)) ++reading.levels;
  }
  return reading;
}

bool reads_as_status(const Reading& is) { return is.held() == 0 || is.statuses > 0; }
// Statuses for certain: a line's level says little of how its call ended.
bool reads_as_more_than_levels(const Reading& is) { return is.statuses > 0 && is.levels < is.held(); }
bool reads_as_ok(const Reading& is) { return is.held() == 0 || is.flags > 0 || is.words > 0; }
bool reads_as_ending(const Reading& is) { return is.held() == 0 || is.endings > 0; }
// Every value is a word for how a call ended, and not all are among DESIGN's.
bool reads_as_words(const Reading& is) {
  return is.held() > 0 && is.answers == is.held() && is.endings < is.held();
}
// Of a rarer name. A status that most do not have is an error.
bool is_clearly_status(const Reading& is) {
  return is.answers > 0 && is.statuses == is.held() && 2 * is.none < is.count;
}
bool is_clearly_ok(const Reading& is) {
  return is.yes > 0 && is.flags == is.held() && 2 * is.none < is.count;
}
bool is_clearly_flag(const Reading& is) {
  return is.held() > 0 && is.no_error > 0 && is.flags + is.words >= is.held();
}
// What is no value, 0 or a no in most rows, or else says how calls failed.
bool is_clearly_error(const Reading& is) {
  return is.count > 0 && (2 * is.no_error > is.count || is.no_error + is.words == is.count);
}
bool is_clearly_reason(const Reading& is) { return is.words > 0 && is.words == is.held(); }
bool may_be_error(const Reading& is) {
  return is.count == 0 || is.no_error > 0 || is.flags > 0 || is.words > 0;
}
bool may_be_anything(const Reading&) { return true; }

// Looks for one role after the other among the fields of one object.
class Guess {
 public:
  Guess(std::span<const FieldOfScope> fields, const ValuesOf& values, const SaidRoles& said, FieldPlan& plan)
      : fields_(fields), values_(values), said_(said), plan_(plan) {}

  using Is = bool (*)(const Reading&);

  bool by_name(Role role, Names names, Is believed) {
    return std::ranges::any_of(names, [&](std::string_view name) {
      return first(role, believed, [&](const FieldOfScope& field) { return field.read.joined == name; });
    });
  }
  // Of a name in this object, not in one inside it.
  bool by_end(Role role, Names ends, Is believed) {
    return std::ranges::any_of(ends, [&](std::string_view end) {
      return first(role, believed, [&](const FieldOfScope& field) {
        return field.name.find('.') == std::string_view::npos && field.read.joined.ends_with(end);
      });
    });
  }
  template <typename Named>
  bool first(Role role, Is believed, const Named& named) {
    if (said_[static_cast<std::size_t>(role)] || plan_.of(role)) return false;
    for (const FieldOfScope& field : fields_) {
      if (field.read.statistic || is_taken(plan_, field.index) || !named(field)) continue;
      const std::uint32_t latency = plan_.of(Role::latency)->index;
      if (!believed(values_ ? reading_of(values_(field.index, latency)) : Reading{})) continue;
      plan_.of(role) = RoleField{field.index, std::string(field.whole), field.read.unit};
      return true;
    }
    return false;
  }
  bool not_ok(bool found) {
    plan_.ok_is_inverse = plan_.ok_is_inverse || found;
    return found;
  }

 private:
  std::span<const FieldOfScope> fields_;
  const ValuesOf& values_;
  const SaidRoles& said_;
  FieldPlan& plan_;
};

bool has_outcome(const FieldPlan& plan) {
  return plan.of(Role::status) || plan.of(Role::ending) || plan.of(Role::ok);
}

}  // namespace

bool guess_outcome(std::span<const FieldOfScope> fields, const ReadName& latency, const ValuesOf& values,
                   const SaidRoles& said, FieldPlan& plan) {
  Guess guess(fields, values, said, plan);
  if (is_among(latency.first, kSides)) {
    guess.first(Role::status, is_clearly_status, [&](const FieldOfScope& field) {
      if (field.read.first != latency.first) return false;
      return is_among(std::string_view(field.read.joined).substr(latency.first.size()), kStatusNames);
    });
  }
  for (const Guess::Is believed : {reads_as_more_than_levels, reads_as_status}) {
    guess.by_name(Role::status, kStatusNames, believed);
    guess.first(Role::status, believed,
                [](const FieldOfScope& field) { return is_status_of_answer(field.name); });
  }
  if (!guess.by_name(Role::status, kEndingNamesInFiles, reads_as_words))
    guess.by_name(Role::ending, kEndingNamesInFiles, reads_as_ending);
  guess.by_name(Role::ok, kOkNames, reads_as_ok);
  if (has_outcome(plan)) return true;
  return guess.by_name(Role::status, kRareStatusNames, is_clearly_status) ||
         guess.not_ok(guess.by_name(Role::ok, kNotOkNames, may_be_error)) ||
         guess.by_end(Role::status, kStatusEndings, is_clearly_status) ||
         guess.not_ok(guess.by_name(Role::ok, kErrorNames, is_clearly_error) ||
                      guess.by_name(Role::ok, kReasonNames, is_clearly_reason) ||
                      guess.by_name(Role::ok, kFlagNames, is_clearly_flag)) ||
         guess.by_name(Role::ok, kRareOkNames, is_clearly_ok) ||
         guess.not_ok(guess.by_end(Role::ok, kErrorEndings, is_clearly_error));
}

bool take_outcome_unread(std::span<const FieldOfScope> fields, const SaidRoles& said, FieldPlan& plan) {
  const ValuesOf none;
  Guess guess(fields, none, said, plan);
  guess.by_name(Role::status, kStatusNames, may_be_anything);
  guess.by_name(Role::ending, kEndingNamesInFiles, may_be_anything);
  guess.by_name(Role::ok, kOkNames, may_be_anything);
  return has_outcome(plan);
}

}  // namespace overdue
