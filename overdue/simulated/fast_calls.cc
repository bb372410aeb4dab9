#include "overdue/simulated/fast_calls.h"

#include <functional>
#include <limits>
#include <numeric>

#include "overdue/base/check.h"

namespace overdue {
namespace {

std::int64_t of_2_to_63(double share) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  return share >= 1 ? kMax : static_cast<std::int64_t>(share * 0x1p63);
}

}  // namespace

void ReplyCounts::merge(const ReplyCounts& other) {
  if (!other.ready()) return;
  if (!ready()) counts_.resize(other.counts_.size());
  OVERDUE_CHECK(counts_.size() == other.counts_.size());
  std::ranges::transform(counts_, other.counts_, counts_.begin(), std::plus<>());
}

std::uint64_t ReplyCounts::total() const { return std::reduce(counts_.begin(), counts_.end()); }

std::uint64_t ReplyCounts::bucket_at(std::uint64_t index) const {
  std::uint64_t seen = 0;
  for (std::uint64_t bucket = 0; bucket < counts_.size(); ++bucket) {
    seen += counts_[bucket];
    if (seen > index) return bucket;
  }
  check_failed("index < total()");
}

std::uint64_t ReplyCounts::count_through(std::uint64_t bucket) const {
  const auto end = std::min<std::uint64_t>(bucket + 1, counts_.size());
  return std::reduce(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(end));
}

FastCalls::FastCalls(const LessonOptions& options) {
  const double arrives = 1 - options.lost_request.value();
  const double replied = arrives * (1 - options.lost_reply.value());
  answered_until_ = of_2_to_63(replied * (1 - options.slow_path.value()));
  slow_until_ = of_2_to_63(replied);
  reply_lost_until_ = of_2_to_63(arrives);
}

void FastCalls::fill(Random& random, double slow_factor, Chunk& chunk) {
  for (std::size_t i = 0; i < kChunk; ++i) {
    chunk.there[i] = standard_normal(random);
    chunk.back[i] = standard_normal(random);
    chunk.service[i] = standard_normal(random);
  }
  for (std::size_t i = 0; i < kChunk; ++i) {
    chunk.delay_ms[i] = fast_exp(0.4 * chunk.there[i]) + fast_exp(0.4 * chunk.back[i]);
    chunk.ms[i] = chunk.delay_ms[i] + slow_factor * fast_exp(2.0 + 0.5 * chunk.service[i]);
  }
}

}  // namespace overdue
