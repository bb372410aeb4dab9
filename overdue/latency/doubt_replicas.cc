#include "overdue/latency/doubt_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "overdue/base/quantity.h"
#include "overdue/latency/compare.h"

namespace overdue {
namespace {

constexpr std::size_t kNamesShown = 3;

std::string shown(const std::optional<Duration>& value) {
  return value ? format_duration(*value) : "beyond the limit";
}

class ReplicaDoubts {
 public:
  explicit ReplicaDoubts(const DoubtContext& context) : context_(context) {}

  std::vector<Doubt> find() {
    slow_replica();
    failing_replica();
    return std::move(doubts_);
  }

 private:
  template <typename... Values>
  void raise(std::string_view code, fmt::format_string<Values...> text, Values&&... values) {
    doubts_.push_back({std::string(code), fmt::format(text, std::forward<Values>(values)...)});
  }

  // "a", "a and b", "a, b, c and 4 more".
  template <typename Pick>
  std::string names_where(const Pick& pick, const ReplicaRow** first) const {
    std::vector<const ReplicaRow*> rows;
    for (const ReplicaRow& row : context_.comparison->rows) {
      if (pick(row)) rows.push_back(&row);
    }
    *first = rows.empty() ? nullptr : rows.front();
    std::string text;
    for (std::size_t i = 0; i < std::min(rows.size(), kNamesShown); ++i) {
      const bool last = i + 1 == rows.size();
      text += (i == 0 ? "" : last ? " and " : ", ") + rows[i]->name;
    }
    if (rows.size() > kNamesShown) text += fmt::format(" and {} more", rows.size() - kNamesShown);
    return text;
  }

  void slow_replica() {
    const ReplicaRow* first = nullptr;
    const std::string differing =
        names_where([](const ReplicaRow& row) { return row.judgement == ReplicaJudgement::differ; }, &first);
    if (first != nullptr) {
      const bool two = context_.comparison->fleet == FleetJudgement::differ;
      return raise("slow_replica",
                   "{} ({}: median {}){}. Nothing says which are abnormal, so all are counted in. Compare "
                   "each with its "
                   "own past.",
                   differing + (two ? " differ" : " are slower than the rest"), first->name,
                   shown(first->median), two ? "" : ", half of the fleet or more");
    }
    const std::string slow = names_where([](const ReplicaRow& row) { return row.slow; }, &first);
    if (first != nullptr) return raise_slow(slow, slow_figures(*first), first->backend);
    const std::string tail = names_where([](const ReplicaRow& row) { return row.slow_tail; }, &first);
    if (first == nullptr) return;
    raise_slow(tail,
               fmt::format("slow in the tail: {} of its calls above the fleet's p95, {} of the others'",
                           format_rate(first->tail_share), format_rate(first->tail_share_of_others)),
               first->backend);
  }

  static std::string slow_figures(const ReplicaRow& row) {
    if (!row.times_fleet_median) return fmt::format("slow, median {}", shown(row.median));
    return fmt::format("slow, median {}, {:.1f} times the fleet's", shown(row.median),
                       *row.times_fleet_median);
  }

  void raise_slow(const std::string& names, const std::string& figures, std::uint16_t backend) {
    const bool left_out = std::ranges::binary_search(context_.comparison->left_out, backend);
    std::string consequence = "Counted in.";
    if (left_out && context_.pooled) {
      consequence = fmt::format("Left out; counted in, the timeout would be {}.", shown(context_.pooled));
    } else if (left_out) {
      consequence = "Left out; counted in, there would be no timeout to advise.";
    }
    raise("slow_replica", "{}: {}. {} Mend or eject it.", names, figures, consequence);
  }

  void failing_replica() {
    const ReplicaRow* first = nullptr;
    const std::string names = names_where([](const ReplicaRow& row) { return row.failing; }, &first);
    if (first == nullptr) return;
    const std::string whose = names == first->name ? "its attempts" : "the attempts of " + first->name;
    raise("failing_replica",
          "{}: {} of {} ({}) were rejected, reset or refused, far more than of the others'. Left out; fast "
          "failures are "
          "no fast replies. Mend or eject it.",
          names, format_rate(first->failure_rate), whose, format_count(first->attempts));
  }

  const DoubtContext& context_;  // With a comparison.
  std::vector<Doubt> doubts_;
};

}  // namespace

std::vector<Doubt> doubts_of_replicas(const DoubtContext& context) {
  if (context.comparison == nullptr) return {};
  return ReplicaDoubts(context).find();
}

}  // namespace overdue
