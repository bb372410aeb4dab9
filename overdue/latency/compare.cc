#include "overdue/latency/compare.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "overdue/base/check.h"
#include "overdue/latency/bounds.h"
#include "overdue/latency/redistribution.h"

// Every call gets a score, its mid-rank among all calls divided by their number, so that one test serves any
// shape of latency. A replica is compared with all others inside each block of time and the blocks are the
// sample: what slows every replica for a while cancels in the difference, and a pause counts once and not
// once a call.

namespace overdue {
namespace {

constexpr double kSignificance = 0.01;  // Shared among the replicas (Bonferroni).
constexpr std::uint64_t kCallsMin = 50;
constexpr std::uint64_t kCallsForLowFloor = 200;
constexpr double kSlowFloor = 1.25;
constexpr double kSlowFloorFewCalls = 2.0;
constexpr std::size_t kBlocksMin = 8;
constexpr double kRateFactor = 2.0;
constexpr double kTailSharePlus = 0.02;
constexpr double kFailureRatePlus = 0.01;
constexpr std::uint64_t kFailuresMin = 3;

// A median of 0 says "below one tick of the log's clock", which is a millisecond at the coarsest.
constexpr Duration kTickMax = std::chrono::milliseconds(1);

// Calls of one replica, or of the fleet, in one block.
struct BlockSums {
  double score = 0;
  std::uint64_t calls = 0;
  double tail = 0;

  void add(const BlockSums& other) {
    score += other.score;
    calls += other.calls;
    tail += other.tail;
  }
  BlockSums without(const BlockSums& part) const {
    return {score - part.score, calls - part.calls, tail - part.tail};
  }
  double mean_score() const { return score / static_cast<double>(calls); }
  double tail_share() const { return tail / static_cast<double>(calls); }
};

using Blocks = std::vector<BlockSums>;

BlockSums total_of(const Blocks& blocks) {
  BlockSums total;
  for (const BlockSums& block : blocks) total.add(block);
  return total;
}

// What a call counts that ended so in `bucket`.
struct Place {
  std::uint32_t bucket = 0;
  double score = 0;  // Its rank / n; where it was given up, the mean one of the calls still open then.
  double tail = 0;   // The chance that it is later than the fleet's p95.
};

// All waited calls of the fleet in one ranking.
struct Ranking {
  std::vector<Place> blocks;  // Of ReplicaCalls::blocks, ascending,
  std::vector<Place> left;    // and of ReplicaCalls::left.
  std::uint64_t calls = 0;
  double rank_squares = 0;  // Of all calls' distances from the middle rank.
};

// Buckets are small numbers, nearly all of them: these are added up at their places.
SparseCounts pooled_counts(const FleetCalls& fleet, std::vector<SparseCounts> ReplicaCalls::* blocks) {
  constexpr std::uint32_t kPlacesMax = 1U << 14;
  std::vector<std::uint64_t> sums;
  std::map<std::uint32_t, std::uint64_t> beyond;
  for (const ReplicaCalls& replica : fleet.replicas) {
    for (const SparseCounts& block : replica.*blocks) {
      for (const BucketCount& entry : block) {
        if (entry.bucket >= kPlacesMax) {
          beyond[entry.bucket] += entry.count;
          continue;
        }
        if (entry.bucket >= sums.size()) sums.resize(entry.bucket + 1);
        sums[entry.bucket] += entry.count;
      }
    }
  }
  SparseCounts pooled;
  const auto add = [&pooled](std::uint32_t bucket, std::uint64_t count) {
    if (count > 0) pooled.push_back({bucket, count});
  };
  for (std::uint32_t bucket = 0; bucket < sums.size(); ++bucket) add(bucket, sums[bucket]);
  for (const auto& [bucket, count] : beyond) add(bucket, count);
  return pooled;
}

std::uint64_t total_of(const SparseCounts& counts) {
  std::uint64_t total = 0;
  for (const BucketCount& entry : counts) total += entry.count;
  return total;
}

Ranking rank_fleet(const FleetCalls& fleet) {
  const SparseCounts replied = pooled_counts(fleet, &ReplicaCalls::blocks);
  const SparseCounts left = pooled_counts(fleet, &ReplicaCalls::left);
  Ranking ranking;
  ranking.calls = total_of(replied) + total_of(left);
  const auto n = static_cast<double>(ranking.calls);
  // Of n calls without a reply before, `after` are without one then: the mean rank of those between.
  const auto place = [&](std::uint32_t bucket, double before, double after, std::uint64_t count) {
    const double rank = n - before + (before - after + 1) / 2;
    ranking.rank_squares += static_cast<double>(count) * (rank - (n + 1) / 2) * (rank - (n + 1) / 2);
    return Place{.bucket = bucket, .score = rank / n};
  };
  const std::uint64_t tail_calls = ranking.calls / 20;  // Whole ones.
  const auto open_at_p95 = static_cast<double>(tail_calls);
  std::optional<double> open_in_tail;
  std::vector<double> open_when_left;
  Redistribution calls(ranking.calls);
  auto leaving = left.begin();
  const auto leave_before = [&](std::uint32_t bucket) {
    for (; leaving != left.end() && leaving->bucket < bucket; ++leaving) {
      open_when_left.push_back(calls.still_open());
      ranking.left.push_back(place(leaving->bucket, calls.still_open(), 0, leaving->count));
      calls.give_up(leaving->count);
    }
  };
  for (const BucketCount& entry : replied) {
    leave_before(entry.bucket);
    const double before = calls.still_open();
    calls.reply(entry.count);
    ranking.blocks.push_back(place(entry.bucket, before, calls.still_open(), entry.count));
    // With more than 5 % beyond the limit those are the tail: they are later than anything seen.
    ranking.blocks.back().tail = open_in_tail || entry.bucket == ReplicaCalls::kBeyondLimit ? 1 : 0;
    if (open_in_tail) continue;
    if (entry.bucket == ReplicaCalls::kBeyondLimit) {
      open_in_tail = before;
    } else if (calls.still_open() <= open_at_p95) {
      open_in_tail = calls.still_open();
    }
  }
  const double open_after_last_reply = calls.still_open();
  leave_before(ReplicaCalls::kBeyondLimit);
  for (std::size_t i = 0; i < ranking.left.size(); ++i)
    ranking.left[i].tail = std::min(1.0, open_in_tail.value_or(open_after_last_reply) / open_when_left[i]);
  return ranking;
}

void add_placed(Blocks& blocks, const std::vector<SparseCounts>& counts, const std::vector<Place>& places) {
  for (std::size_t b = 0; b < counts.size(); ++b) {
    std::size_t at = 0;  // Of the entry's bucket among the fleet's; both ascend.
    for (const BucketCount& entry : counts[b]) {
      if (entry.count == 0) continue;
      while (places[at].bucket < entry.bucket) ++at;
      blocks[b].score += places[at].score * static_cast<double>(entry.count);
      blocks[b].calls += entry.count;
      blocks[b].tail += places[at].tail * static_cast<double>(entry.count);
    }
  }
}

Blocks sums_of(const ReplicaCalls& replica, const Ranking& ranking, std::size_t block_count) {
  Blocks blocks(block_count);
  add_placed(blocks, replica.blocks, ranking.blocks);
  add_placed(blocks, replica.left, ranking.left);
  return blocks;
}

// One-sided t-test of "greater than 0 on average".
ReplicaTest test_of_mean(const std::vector<double>& differences) {
  const auto count = static_cast<double>(differences.size());
  double mean = 0;
  for (double difference : differences) mean += difference;
  mean /= count;
  double squares = 0;
  for (double difference : differences) squares += (difference - mean) * (difference - mean);
  const double deviation = std::sqrt(squares / (count - 1));
  if (deviation == 0) {
    const double t = mean == 0 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), mean);
    return {mean, t, mean > 0 ? 0.0 : 1.0};
  }
  const double t = mean / (deviation / std::sqrt(count));
  return {mean, t, student_t_above(t, count - 1)};
}

// The two t-tests of a replica against all others, over the blocks that hold calls of both.
struct BlockTests {
  std::optional<ReplicaTest> score;
  std::optional<ReplicaTest> tail;
};

BlockTests test_blocks(const Blocks& own, const Blocks& fleet) {
  std::vector<double> scores;
  std::vector<double> tails;
  for (std::size_t b = 0; b < own.size(); ++b) {
    const BlockSums others = fleet[b].without(own[b]);
    if (own[b].calls == 0 || others.calls == 0) continue;
    scores.push_back(own[b].mean_score() - others.mean_score());
    tails.push_back(own[b].tail_share() - others.tail_share());
  }
  if (scores.size() < kBlocksMin) return {};
  return {test_of_mean(scores), test_of_mean(tails)};
}

// Mann-Whitney of a replica against all others by the normal limit, its variance that of the ranks as they
// are: corrected for ties.
ReplicaTest test_ranks(const BlockSums& own, const BlockSums& others, const Ranking& ranking) {
  const auto n = static_cast<double>(ranking.calls);
  const auto n_own = static_cast<double>(own.calls);
  const auto n_others = static_cast<double>(others.calls);
  const double above_expected = own.score * n - n_own * (n + 1) / 2;
  const double variance = n_own * n_others / (n * (n - 1)) * ranking.rank_squares;
  const double difference = own.mean_score() - others.mean_score();
  if (variance <= 0) return {difference, 0, 1};  // All calls tie.
  const double z = above_expected / std::sqrt(variance);
  return {difference, z, normal_above(z)};
}

// P(at least k_own of the k events fall on this replica's n_own of n calls), if all calls are alike.
double share_p_value(double k_own, double k_all, std::uint64_t n_own, std::uint64_t n_all) {
  return binomial_at_least(std::min(k_own, k_all), k_all,
                           static_cast<double>(n_own) / static_cast<double>(n_all));
}

std::uint64_t ended(const ReplicaCalls& replica, Ending ending) {
  return replica.endings[static_cast<std::size_t>(ending)];
}

std::uint64_t attempts_of(const ReplicaCalls& replica) {
  std::uint64_t sum = 0;
  for (std::uint64_t count : replica.endings) sum += count;
  return sum;
}

std::uint64_t failures_of(const ReplicaCalls& replica) {
  return ended(replica, Ending::rejected) + ended(replica, Ending::reset) + ended(replica, Ending::refused);
}

// A quantile that orders: calls that wait beyond the limit are infinitely slow.
struct OrderedQuantile {
  bool beyond = false;
  Duration value{};

  explicit OrderedQuantile(const std::optional<Duration>& quantile)
      : beyond(!quantile.has_value()), value(quantile.value_or(Duration{})) {}
  auto operator<=>(const OrderedQuantile&) const = default;

  double nanoseconds_or_tick() const {
    return static_cast<double>((value > Duration{} ? value : kTickMax).count());
  }
  bool at_least(double factor, const OrderedQuantile& base) const {
    if (beyond || base.beyond) return beyond && !base.beyond;
    return static_cast<double>(value.count()) >= factor * base.nanoseconds_or_tick();
  }
};

// The lower median: many calls to a bad host, or half the fleet bad, do not move it. Requires: not empty.
OrderedQuantile lower_median(std::vector<OrderedQuantile> quantiles) {
  std::ranges::sort(quantiles);
  return quantiles[(quantiles.size() - 1) / 2];
}

class FleetComparison {
 public:
  explicit FleetComparison(const FleetCalls& fleet) : ranking_(rank_fleet(fleet)) {
    result_.limit = fleet.limit;
    std::size_t block_count = 1;
    for (const ReplicaCalls& replica : fleet.replicas)
      block_count = std::max({block_count, replica.blocks.size(), replica.left.size()});
    by_time_ = fleet.timed && block_count >= kBlocksMin;
    fleet_blocks_.resize(block_count);
    for (const ReplicaCalls& replica : fleet.replicas) add_replica(replica);
  }

  Comparison judge() {
    find_fleet_median();
    for (std::size_t i = 0; i < members_.size(); ++i) judge_row(i);
    judge_fleet();
    return std::move(result_);
  }

 private:
  struct Member {
    const ReplicaCalls* calls = nullptr;
    Blocks blocks;
    BlockSums total;
    bool enough = false;  // Calls for rules 1 and 2.
  };

  void add_replica(const ReplicaCalls& replica) {
    const std::uint64_t attempts = attempts_of(replica);
    if (attempts == 0) return;
    Member member{&replica, sums_of(replica, ranking_, fleet_blocks_.size()), {}, false};
    member.total = total_of(member.blocks);
    member.enough = replica.judged && member.total.calls >= kCallsMin;
    for (std::size_t b = 0; b < fleet_blocks_.size(); ++b) fleet_blocks_[b].add(member.blocks[b]);
    fleet_total_.add(member.total);
    fleet_attempts_ += attempts;
    fleet_failures_ += failures_of(replica);
    replicas_ += replica.judged ? 1 : 0;
    members_.push_back(std::move(member));

    ReplicaRow row;
    row.name = replica.name;
    row.backend = replica.backend;
    row.attempts = attempts;
    row.median = replica.median;
    row.timeout_rate = static_cast<double>(ended(replica, Ending::timed_out)) / static_cast<double>(attempts);
    row.failure_rate = static_cast<double>(failures_of(replica)) / static_cast<double>(attempts);
    result_.rows.push_back(std::move(row));
  }

  // Of two replicas, the one with nine tenths of the calls is the fleet.
  const Member* dominant() const {
    const Member* found = nullptr;
    std::size_t enough = 0;
    for (const Member& member : members_) {
      if (!member.enough) continue;
      ++enough;
      if (member.total.calls * 10 >= fleet_total_.calls * 9) found = &member;
    }
    return enough == 2 ? found : nullptr;
  }

  void find_fleet_median() {
    dominant_ = dominant();
    std::vector<OrderedQuantile> medians;
    std::vector<OrderedQuantile> p95s;
    std::vector<double> middles;
    for (const bool only_enough : {true, false}) {
      if (!medians.empty()) break;
      for (const Member& member : members_) {
        const bool used = dominant_ != nullptr ? &member == dominant_ : member.enough || !only_enough;
        if (!used || member.total.calls == 0) continue;
        medians.emplace_back(member.calls->median);
        p95s.emplace_back(member.calls->p95);
        if (member.calls->middle) middles.push_back(*member.calls->middle);
      }
    }
    if (medians.empty()) return;
    if (middles.size() == medians.size()) {
      std::ranges::sort(middles);
      fleet_middle_ = middles[(middles.size() - 1) / 2];
    }
    fleet_median_ = lower_median(std::move(medians));
    fleet_p95_ = lower_median(std::move(p95s));
    if (!fleet_median_->beyond) result_.fleet_median = fleet_median_->value;
  }

  void judge_row(std::size_t i) {
    const Member& member = members_[i];
    ReplicaRow& row = result_.rows[i];
    const BlockSums others = fleet_total_.without(member.total);
    if (member.total.calls > 0) row.tail_share = member.total.tail_share();
    if (others.calls > 0) row.tail_share_of_others = others.tail_share();
    if (row.median && result_.fleet_median) {
      row.times_fleet_median =
          static_cast<double>(row.median->count()) / fleet_median_->nanoseconds_or_tick();
    }
    if (replicas_ < 2) {
      if (!member.enough) row.judgement = ReplicaJudgement::too_few_calls;
      return;
    }
    row.failing = member.calls->judged && is_failing(member, row);
    if (member.enough && others.calls > 0) judge_speed(member, others, row);
    if (row.failing) {
      row.judgement = ReplicaJudgement::failing;
    } else if (row.slow) {
      row.judgement = ReplicaJudgement::slow;
    } else if (row.slow_tail) {
      row.judgement = ReplicaJudgement::slow_tail;
    } else if (member.calls->judged && !row.test && (!member.enough || others.calls > 0)) {
      row.judgement = ReplicaJudgement::too_few_calls;
    }
  }

  double p_max() const { return kSignificance / static_cast<double>(replicas_); }

  void judge_speed(const Member& member, const BlockSums& others, ReplicaRow& row) const {
    bool tail_significant = false;
    if (by_time_) {
      const BlockTests tests = test_blocks(member.blocks, fleet_blocks_);
      row.test = tests.score;
      tail_significant = tests.tail && tests.tail->p < p_max();
    } else {
      row.test = test_ranks(member.total, others, ranking_);
      tail_significant = share_p_value(member.total.tail, fleet_total_.tail, member.total.calls,
                                       fleet_total_.calls) < p_max();
    }
    if (&member == dominant_ || !row.test) return;
    const OrderedQuantile median(member.calls->median);
    const OrderedQuantile p95(member.calls->p95);
    const double floor = member.total.calls < kCallsForLowFloor ? kSlowFloorFewCalls : kSlowFloor;
    row.slow =
        row.test->p < p_max() && median.at_least(floor, *fleet_median_) && is_more_than_a_tick(member, floor);
    // Where both lie beyond the limit the share of calls there is all there is to compare.
    const bool far_above = p95.at_least(kSlowFloor, *fleet_p95_) || fleet_p95_->beyond;
    row.slow_tail = tail_significant && far_above &&
                    row.tail_share >= kRateFactor * row.tail_share_of_others &&
                    row.tail_share >= row.tail_share_of_others + kTailSharePlus;
  }

  // Medians far apart may be neighbours on the log's clock; the middle half of the calls is not.
  bool is_more_than_a_tick(const Member& member, double floor) const {
    if (!fleet_middle_ || !member.calls->middle) return true;
    return *member.calls->middle >= (1 + 0.6 * (floor - 1)) * *fleet_middle_;
  }

  bool is_failing(const Member& member, const ReplicaRow& row) const {
    const std::uint64_t failures = failures_of(*member.calls);
    const std::uint64_t other_attempts = fleet_attempts_ - row.attempts;
    if (failures < kFailuresMin || other_attempts == 0) return false;
    const double other_rate =
        static_cast<double>(fleet_failures_ - failures) / static_cast<double>(other_attempts);
    if (row.failure_rate < kRateFactor * other_rate) return false;
    if (row.failure_rate < other_rate + kFailureRatePlus) return false;
    return share_p_value(static_cast<double>(failures), static_cast<double>(fleet_failures_), row.attempts,
                         fleet_attempts_) < p_max();
  }

  void judge_fleet() {
    if (replicas_ < 2) return;
    std::size_t compared = 0;
    std::size_t slow = 0;
    std::size_t slow_anyhow = 0;
    for (const ReplicaRow& row : result_.rows) {
      compared += row.test ? 1 : 0;
      slow += row.slow ? 1 : 0;
      slow_anyhow += row.slow || row.slow_tail ? 1 : 0;
    }
    const bool two = compared == 2 && dominant_ == nullptr;
    const bool split = slow > 0 && slow * 2 >= compared && dominant_ == nullptr;
    result_.fleet = split ? (two ? FleetJudgement::differ : FleetJudgement::split) : FleetJudgement::alike;
    const bool trust_slow = dominant_ != nullptr || slow_anyhow * 2 < compared;
    for (ReplicaRow& row : result_.rows) {
      const bool slower_half = split && (row.slow || (two && row.test));
      if (slower_half && !row.failing) row.judgement = ReplicaJudgement::differ;
      const bool outlier = row.failing || row.judgement == ReplicaJudgement::slow ||
                           row.judgement == ReplicaJudgement::slow_tail;
      if (outlier && !split) result_.fleet = FleetJudgement::outliers;
      if (row.failing || (trust_slow && (row.slow || row.slow_tail))) result_.left_out.push_back(row.backend);
    }
    std::ranges::sort(result_.left_out);
    // A headline of nobody's calls helps nobody.
    if (result_.left_out.size() == result_.rows.size()) result_.left_out.clear();
  }

  Ranking ranking_;
  bool by_time_ = false;
  std::vector<Member> members_;
  std::size_t replicas_ = 0;  // Rows that are judged.
  Blocks fleet_blocks_;
  BlockSums fleet_total_;
  std::uint64_t fleet_attempts_ = 0;
  std::uint64_t fleet_failures_ = 0;
  const Member* dominant_ = nullptr;
  std::optional<OrderedQuantile> fleet_median_;
  std::optional<OrderedQuantile> fleet_p95_;
  std::optional<double> fleet_middle_;
  Comparison result_;
};

}  // namespace

std::vector<bool> Comparison::leave_out_mask() const {
  std::vector<bool> mask;
  if (left_out.empty()) return mask;
  mask.resize(std::size_t{left_out.back()} + 1, false);
  for (std::uint16_t backend : left_out) mask[backend] = true;
  return mask;
}

Comparison compare_replicas(const FleetCalls& fleet) { return FleetComparison(fleet).judge(); }

}  // namespace overdue
