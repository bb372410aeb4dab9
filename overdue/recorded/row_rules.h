#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/recorded/chunk_reader.h"
#include "overdue/recorded/ending_words.h"
#include "overdue/recorded/field_names.h"
#include "overdue/recorded/status_rules.h"

namespace overdue {

// A row's texts by role; only those of the plan mean anything.
using RowTexts = std::array<std::string_view, kRoleCount>;

// RowRules says how a row of a log with free columns (CSV, NDJSON) ended and after how long. In this order:
//     ending   DESIGN's words as they stand
//     status   HTTP by StatusRules; gRPC's codes and names; ending_in_words(); 0, -1, "" and "-": no answer
//              was seen, the caller gave up
//     ok       (or the opposite of a column like `failed` or `error`, where any text but a no, 0 and nothing
//              is an error) no: rejected where an answer's status is there too, else what its words say
//              (ending_in_words()), else the caller gave up
//     none of them: a reply
// A field that a row does not have at all (NDJSON) says nothing, but for a status that most rows have:
// without it no answer was seen. A give-up without a time (nothing, 0, -1, a word) ended at --limit, or is
// untimed. Any other negative time is set aside.
//
// Threads: const and shared.
class RowRules {
 public:
  // `sample`: some rows from the head of the file, from which the unit is judged and gRPC codes are told from
  // HTTP's. Errors: those of StatusRules and unit_of; unsupported with "unit_unclear:" where nothing says the
  // unit.
  static Result<RowRules> create(const FieldPlan& plan, const ReadOptions& options, Vantage vantage,
                                 const std::vector<RowTexts>& sample, const std::string& path);

  // Fills in ending, elapsed and untimed, and returns "", or why the row is set aside.
  std::string_view judge(const RowTexts& texts, Attempt& row, RowSink& sink) const;

  // Whose text a person should be shown with that reason.
  static std::optional<Role> role_at_fault(std::string_view reason);

  TimeUnit unit() const { return unit_; }
  const StatusRules& statuses() const { return statuses_; }
  // Whether a row with a plain HTTP status and a positive time needs no more than statuses() and the time.
  bool status_is_plain() const {
    return has_(Role::status) && !has_(Role::ending) && !has_(Role::ok) && !grpc_codes_;
  }
  // Most rows of the sample have no field that says how the call ended: such rows were answered.
  bool few_say() const { return few_say_; }
  bool only_latency() const { return !has_(Role::status) && !has_(Role::ending) && !has_(Role::ok); }
  // False where each value carries its own unit: one without it is set aside.
  bool has_unit() const { return has_unit_; }
  // What the sample makes doubtful; unit_claim() is for whoever has seen the whole log.
  const std::string& unit_doubt() const { return unit_doubt_; }
  const std::optional<UnitClaim>& unit_claim() const { return unit_claim_; }
  const std::string& unit_note() const { return unit_note_; }  // Empty: nothing to tell.

 private:
  struct Judged {
    Ending ending = Ending::replied;
    std::string_view set_aside;
  };
  explicit RowRules(const StatusRules& statuses) : statuses_(statuses) {}
  bool has_(Role role) const { return has_role_[static_cast<std::size_t>(role)]; }
  Result<void> settle_unit(const FieldPlan& plan, const ReadOptions& options,
                           const std::vector<RowTexts>& sample, const std::string& path);
  void doubt_unit(const std::vector<RowTexts>& sample);
  Judged judge_ending(const RowTexts& texts, RowSink& sink) const;
  Judged judge_status(std::string_view text, RowSink& sink) const;
  std::optional<SaidEnding> judge_ok(std::string_view text) const;

  StatusRules statuses_;
  std::array<bool, kRoleCount> has_role_{};
  bool grpc_codes_ = false;
  bool few_say_ = false;                // Most rows have no field that says how the call ended,
  bool none_says_ = false;              // or none of the sample has.
  bool status_is_of_failures_ = false;  // Most rows have no status: those were answered.
  bool ok_is_inverse_ = false;
  bool empty_is_not_ok_ = false;  // Beside a yes.
  TimeUnit unit_ = TimeUnit::milliseconds;
  std::optional<Duration> limit_;
  bool has_unit_ = true;
  std::optional<UnitClaim> unit_claim_;
  std::string unit_doubt_;
  std::string unit_note_;
};

// Why a row is set aside for one text of it.
inline constexpr std::string_view kNoNumber = "latency is no number";
inline constexpr std::string_view kNoUnit = "latency without its unit";
inline constexpr std::string_view kUnknownStatus = "unknown status";
inline constexpr std::string_view kUnknownEnding = "unknown ending word";
inline constexpr std::string_view kNeitherOk = "neither ok nor not ok";

inline constexpr std::string_view kFewSayNote =
    "only some lines say how the call ended: those that do not are read as replies";

// A time with its unit in the text ("12.5ms", "1.2s", "250µs", "1m30.5s"), else in `unit`.
std::optional<Duration> duration_with_unit(std::string_view text, TimeUnit unit);

// Takes the start from the plan where the sample's values are no times, and notes a zone taken for UTC.
void settle_start(FieldPlan& plan, const std::vector<RowTexts>& sample, std::vector<std::string>& notes);

}  // namespace overdue
