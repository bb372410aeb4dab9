#include "overdue/latency/bucket_counts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "overdue/base/check.h"
#include "overdue/base/saturating.h"
#include "overdue/latency/byte_sums.h"

namespace overdue {
namespace {

unsigned width_log2_for(std::uint64_t count) {
  if (count <= 0xff) return 0;
  if (count <= 0xffff) return 1;
  return count <= 0xffff'ffff ? 2 : 3;
}

std::uint32_t rounded_down(std::uint32_t bucket) { return bucket - bucket % BucketCounts::kBucketsTogether; }

// Calls visit with a counter of that width: loops over counters are made once for each.
template <typename Visit>
auto with_width(unsigned width_log2, const Visit& visit) {
  switch (width_log2) {
    case 0:
      return visit(std::uint8_t{});
    case 1:
      return visit(std::uint16_t{});
    case 2:
      return visit(std::uint32_t{});
    default:
      return visit(std::uint64_t{});
  }
}

template <typename Counter>
void store_as(std::vector<std::uint8_t>& bytes, std::size_t index, std::uint64_t count) {
  const auto counter = static_cast<Counter>(count);
  std::memcpy(bytes.data() + index * sizeof(Counter), &counter, sizeof(Counter));
}

}  // namespace

void BucketCounts::store(std::uint32_t index, std::uint64_t count) {
  with_width(width_log2_, [&](auto own) { store_as<decltype(own)>(bytes_, index, count); });
}

void BucketCounts::add(std::uint32_t bucket, std::uint64_t count) {
  if (count == 0) return;
  if (bucket - first_ >= size()) cover(rounded_down(bucket), rounded_down(bucket) + kBucketsTogether);
  const std::uint64_t sum = saturating_sum(load(bucket - first_), count);
  if (width_log2_for(sum) > width_log2_) reshape(first_, size(), width_log2_for(sum));
  store(bucket - first_, sum);
}

void BucketCounts::reshape(std::uint32_t first, std::uint32_t size, unsigned width_log2) {
  BucketCounts wider;
  wider.first_ = first;
  wider.width_log2_ = width_log2;
  wider.bytes_.resize(std::size_t{size} << width_log2);
  const std::uint32_t up = first_ - first;
  if (width_log2 == width_log2_) {
    std::copy(bytes_.begin(), bytes_.end(), wider.bytes_.begin() + (std::ptrdiff_t{up} << width_log2));
  } else {
    with_width(width_log2_, [&](auto from) {
      with_width(width_log2, [&](auto to) {
        for (std::uint32_t index = 0; index < this->size(); ++index)
          store_as<decltype(to)>(wider.bytes_, index + up, load_as<decltype(from)>(index));
      });
    });
  }
  *this = std::move(wider);
}

void BucketCounts::cover(std::uint32_t first, std::uint32_t end) {
  if (!empty()) {
    first = std::min(first, first_);
    end = std::max(end, first_ + size());
  }
  if (first != first_ || end - first != size()) reshape(first, end - first, width_log2_);
}

void BucketCounts::cover_used_of(const BucketCounts& other) {
  const auto group_is_empty = [&other](std::uint32_t first) {
    const std::span bytes = std::span(other.bytes_).subspan(std::size_t{first} << other.width_log2_);
    return sum_of_bytes(bytes.first(std::size_t{kBucketsTogether} << other.width_log2_)) == 0;
  };
  std::uint32_t first = 0;
  std::uint32_t end = other.size();
  while (first < end && group_is_empty(first)) first += kBucketsTogether;
  while (first < end && group_is_empty(end - kBucketsTogether)) end -= kBucketsTogether;
  if (first < end) cover(other.first_ + first, other.first_ + end);
}

void BucketCounts::merge(const BucketCounts& other) {
  if (other.empty()) return;
  cover(other.first_, other.first_ + other.size());
  if (try_merge_narrow(other)) return;
  const std::uint32_t up = other.first_ - first_;
  const auto for_each_sum = [&](const auto& use) {
    with_width(width_log2_, [&](auto own) {
      with_width(other.width_log2_, [&](auto theirs) {
        for (std::uint32_t index = 0; index < other.size(); ++index) {
          use(own, index + up,
              saturating_sum(load_as<decltype(own)>(index + up), other.load_as<decltype(theirs)>(index)));
        }
      });
    });
  };
  std::uint64_t greatest = 0;
  for_each_sum([&](auto, std::uint32_t, std::uint64_t sum) { greatest = std::max(greatest, sum); });
  if (width_log2_for(greatest) > width_log2_) reshape(first_, size(), width_log2_for(greatest));
  for_each_sum(
      [&](auto own, std::uint32_t index, std::uint64_t sum) { store_as<decltype(own)>(bytes_, index, sum); });
}

// Eight counters of a byte at a time, while none of them can carry into its neighbour. All or nothing.
// Requires: covers the other's buckets.
bool BucketCounts::try_merge_narrow(const BucketCounts& other) {
  if (width_log2_ != 0 || other.width_log2_ != 0) return false;
  std::uint8_t* const own = bytes_.data() + (other.first_ - first_);
  const auto eight_at = [](const std::uint8_t* bytes) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, bytes, sizeof(eight));
    return eight;
  };
  std::uint64_t all = 0;
  for (std::size_t at = 0; at < other.bytes_.size(); at += 8) {
    all |= eight_at(own + at) | eight_at(other.bytes_.data() + at);
  }
  if ((all & 0x8080'8080'8080'8080U) != 0) return false;
  for (std::size_t at = 0; at < other.bytes_.size(); at += 8) {
    const std::uint64_t sum = eight_at(own + at) + eight_at(other.bytes_.data() + at);
    std::memcpy(own + at, &sum, sizeof(sum));
  }
  return true;
}

std::uint32_t BucketCounts::bucket_of_rank(std::uint64_t rank) const {
  std::uint64_t seen = 0;
  std::uint32_t index = 0;
  constexpr std::uint32_t kTogether = 16;
  while (width_log2_ == 0 && index + kTogether < size()) {
    const std::uint64_t together = sum_of_bytes(std::span(bytes_).subspan(index, kTogether));
    if (seen + together >= rank) break;
    seen += together;
    index += kTogether;
  }
  while (index + 1 < size() && (seen = saturating_sum(seen, load(index))) < rank) ++index;
  return first_ + index;
}

void BucketCounts::add_to(std::span<std::uint64_t> sums) const {
  OVERDUE_CHECK(empty() || sums.size() >= std::size_t{first_} + size());
  with_width(width_log2_, [&](auto own) {
    std::uint64_t* out = sums.data() + first_;
    // A number of them that the compiler knows, and no sum among them for all it knows: added side by side.
    std::array<decltype(own), kBucketsTogether> some;
    for (std::size_t from = 0; from < bytes_.size(); from += sizeof(some), out += some.size()) {
      std::memcpy(some.data(), bytes_.data() + from, sizeof(some));
      for (std::size_t index = 0; index < some.size(); ++index) out[index] += some[index];
    }
  });
}

std::vector<std::uint32_t> BucketCounts::counts() const {
  std::vector<std::uint32_t> narrowed(size());
  for (std::uint32_t index = 0; index < size(); ++index) {
    narrowed[index] = static_cast<std::uint32_t>(std::min<std::uint64_t>(load(index), 0xffff'ffff));
  }
  return narrowed;
}

std::uint64_t BucketCounts::total() const { return count_from(0); }

std::uint64_t BucketCounts::count_from(std::uint32_t bucket) const {
  const std::uint32_t from = bucket > first_ ? bucket - first_ : 0;
  if (from >= size()) return 0;
  if (width_log2_ == 0) return sum_of_bytes(std::span(bytes_).subspan(from));
  return with_width(width_log2_, [&](auto own) {
    std::uint64_t sum = 0;
    for (std::uint32_t index = from; index < size(); ++index) {
      const std::uint64_t count = load_as<decltype(own)>(index);
      // Sums of what has less than 64 bits fit: there are fewer than 2^32 buckets.
      sum = sizeof(own) == sizeof(count) ? saturating_sum(sum, count) : sum + count;
    }
    return sum;
  });
}

}  // namespace overdue
