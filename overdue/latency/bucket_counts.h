#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace overdue {

// BucketCounts is the counts of one histogram between its first and last used bucket, rounded out to
// multiples of kBucketsTogether, and nothing around them. Counters are 1, 2, 4 or 8 bytes wide, as the
// greatest of them needs: a log keeps thousands of these, and most counts are small. Errors: stops at the
// greatest 64-bit count, never wraps. Threads: none.
class BucketCounts {
 public:
  static constexpr std::uint32_t kBucketsTogether = 64;

  void add(std::uint32_t bucket, std::uint64_t count = 1);
  // Where its counters lie, for one who adds many; until anything else changes it. Of one or two bytes, else
  // none.
  struct Counters {
    std::uint8_t* bytes = nullptr;
    std::uint32_t first = 0;
    std::uint32_t size = 0;
    bool wide = false;  // Two bytes each.

    // Adds one, or changes nothing: there is no counter for it, or it is full.
    bool try_add(std::uint32_t bucket) const {
      const std::uint32_t index = bucket - first;
      if (index >= size) return false;
      if (!wide) [[likely]] {
        if (bytes[index] == 0xff) return false;
        ++bytes[index];
        return true;
      }
      std::uint16_t counter;
      std::memcpy(&counter, bytes + index * sizeof(counter), sizeof(counter));
      if (counter == 0xffff) return false;
      ++counter;
      std::memcpy(bytes + index * sizeof(counter), &counter, sizeof(counter));
      return true;
    }
  };
  Counters counters() { return {bytes_.data(), first_, width_log2_ <= 1 ? size() : 0, width_log2_ == 1}; }
  // Makes room for the buckets the other has something in, to be spared doing so step by step.
  void cover_used_of(const BucketCounts& other);
  void merge(const BucketCounts& other);

  bool empty() const { return bytes_.empty(); }
  std::uint32_t first() const { return first_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(bytes_.size() >> width_log2_); }
  std::uint64_t count_at(std::uint32_t bucket) const {
    const std::uint32_t index = bucket - first_;
    return index < size() ? load(index) : 0;
  }
  // Calls visit(bucket, count) for every count above 0, ascending.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    switch (width_log2_) {
      case 0:
        return for_each_as<std::uint8_t>(visit);
      case 1:
        return for_each_as<std::uint16_t>(visit);
      case 2:
        return for_each_as<std::uint32_t>(visit);
      default:
        return for_each_as<std::uint64_t>(visit);
    }
  }
  // Adds each count to the sum of its bucket. Requires: a sum for every bucket below first() + size().
  // Errors: the sums must not pass 64 bits.
  void add_to(std::span<std::uint64_t> sums) const;
  // Index i is bucket first() + i; what is above 32 bits stands at their maximum. A copy: take it once.
  std::vector<std::uint32_t> counts() const;
  std::uint64_t total() const;                           // Adds them up.
  std::uint64_t count_from(std::uint32_t bucket) const;  // How many in `bucket` and above.
  // The bucket in which the counts, cumulated from the first, reach `rank`. Requires: 1 <= rank <= total().
  std::uint32_t bucket_of_rank(std::uint64_t rank) const;

 private:
  std::uint64_t load(std::uint32_t index) const {
    switch (width_log2_) {
      case 0:
        return bytes_[index];
      case 1:
        return load_as<std::uint16_t>(index);
      case 2:
        return load_as<std::uint32_t>(index);
      default:
        return load_as<std::uint64_t>(index);
    }
  }
  template <typename Counter>
  std::uint64_t load_as(std::uint32_t index) const {
    Counter counter;
    std::memcpy(&counter, bytes_.data() + index * sizeof(Counter), sizeof(Counter));
    return counter;
  }
  template <typename Counter, typename Visit>
  void for_each_as(const Visit& visit) const {
    constexpr std::uint32_t kInAWord = 8 / sizeof(Counter);
    for (std::uint32_t index = 0; index < size(); index += kInAWord) {  // The size is a multiple of 64.
      std::uint64_t word = 0;
      std::memcpy(&word, bytes_.data() + index * sizeof(Counter), sizeof(word));
      if (word == 0) continue;
      for (std::uint32_t i = index; i < index + kInAWord; ++i) {
        if (const auto count = load_as<Counter>(i); count > 0) visit(first_ + i, std::uint64_t{count});
      }
    }
  }
  void store(std::uint32_t index, std::uint64_t count);
  bool try_merge_narrow(const BucketCounts& other);
  void cover(std::uint32_t first, std::uint32_t end);
  void reshape(std::uint32_t first, std::uint32_t size, unsigned width_log2);

  std::vector<std::uint8_t> bytes_;
  std::uint32_t first_ = 0;
  unsigned width_log2_ = 0;
};

}  // namespace overdue
