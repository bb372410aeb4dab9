#include "overdue/write/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overdue {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

ExplainOptions contract() {
  ExplainOptions options;
  options.errors.set(402, StatusMeaning::recorded_rejection);
  options.errors.set(409, StatusMeaning::in_flight);
  options.errors.set(422, StatusMeaning::other_payload);
  options.errors.set(429, StatusMeaning::nothing_happened);
  options.terms.on_unknown = {OnUnknown::retry, OnUnknown::query};
  return options;
}

TEST(Explain, SaysOfEachObservationWhatItProves) {
  ExplainOptions proxy = contract(), fencing = contract();
  proxy.via_proxy = true;
  fencing.terms.not_found = NotFound::fenced;
  const struct {
    std::string_view observation;
    ExplainOptions options;
    std::string_view proves;
  } rows[] = {{"Connection refused", contract(), "that this attempt did nothing"},
              {"ECONNREFUSED", proxy, "that this attempt did nothing"},
              {"reset after send", contract(), "nothing: "},
              {"timed out", contract(), "nothing: "},
              {"200", contract(), "the write is applied"},
              {"402 with key", contract(), "the write is not applied"},
              {"402 without key", contract(), "that this attempt did nothing"},
              {"402 without a key", proxy, "nothing: "},
              {"409 with key", contract(), "nothing: another attempt"},
              {"422 with the key", contract(), "nothing: the key belongs to other bytes"},
              {"429", contract(), "that this attempt did nothing"},
              {"429", proxy, "nothing: a proxy stands between"},
              {"503", contract(), "nothing: "},
              {"status: not found", contract(), "nothing."},
              {"status: not found", fencing, "the write is not applied"},
              {"status unreachable", fencing, "nothing."},
              {"status expired", contract(), "that the key is closed"},
              {"not listed", contract(), "nothing."},
              {"not listed after the seal", contract(), "the write is not applied"},
              {"fenced", contract(), "the write is not applied"}};
  for (const auto& row : rows) {
    const Result<Explanation> explained = explain(row.observation, row.options);
    ASSERT_TRUE(explained.has_value()) << row.observation;
    EXPECT_THAT(explained->proves, StartsWith(std::string(row.proves))) << row.observation;
    EXPECT_FALSE(explained->next.empty());
  }
}

TEST(Explain, ExplainsEveryObservationItNames) {
  for (const std::string_view name : explained_observations())
    EXPECT_TRUE(explain(name, {}).has_value()) << name;
}

TEST(Explain, NamesWhatItCanExplainWhereItCannot) {
  const auto none = explain("a bad feeling", {});
  ASSERT_FALSE(none.has_value());
  EXPECT_THAT(none.error().message, HasSubstr("\"reset after send\""));
}

}  // namespace
}  // namespace overdue
