#include "overdue/recorded/hdr_histogram.h"

#include <zlib.h>

#include <array>
#include <bit>
#include <optional>

namespace overdue {
namespace {

constexpr std::string_view kDamaged = "damaged histogram";
constexpr std::size_t kInflatedMax = std::size_t{16} << 20;
constexpr std::uint64_t kTotalMax = std::uint64_t{1} << 62;

using Bytes = std::vector<unsigned char>;
using Refused = std::unexpected<std::string_view>;

std::optional<Bytes> from_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  Bytes bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const char c : text) {
    unsigned value = 0;
    if (c >= 'A' && c <= 'Z') {
      value = static_cast<unsigned>(c - 'A');
    } else if (c >= 'a' && c <= 'z') {
      value = static_cast<unsigned>(c - 'a') + 26;
    } else if (c >= '0' && c <= '9') {
      value = static_cast<unsigned>(c - '0') + 52;
    } else if (c == '+' || c == '/') {
      value = c == '+' ? 62 : 63;
    } else {
      return std::nullopt;
    }
    held = held << 6 | value;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes.push_back(static_cast<unsigned char>(held >> bits & 0xff));
    }
  }
  return bytes;
}

// Big-endian words off the front.
class Words {
 public:
  explicit Words(const Bytes& bytes) : bytes_(bytes) {}
  std::size_t left() const { return bytes_.size() - at_; }
  // Requires: size <= 8. Past the end: zeros, and ok() is false.
  std::uint64_t take(std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | byte();
    return value;
  }
  std::int32_t take_int() { return static_cast<std::int32_t>(static_cast<std::uint32_t>(take(4))); }
  std::int64_t take_long() { return static_cast<std::int64_t>(take(8)); }
  // ZigZag over LEB128; the ninth byte has all its eight bits.
  std::int64_t take_zigzag() {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < 9; ++i) {
      const unsigned next = byte();
      if (i == 8) {
        value |= std::uint64_t{next} << 56;
        break;
      }
      value |= std::uint64_t{next & 0x7f} << (7 * i);
      if ((next & 0x80) == 0) break;
    }
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  bool ok() const { return ok_; }

 private:
  unsigned byte() {
    if (at_ == bytes_.size()) {
      ok_ = false;
      return 0;
    }
    return bytes_[at_++];
  }
  const Bytes& bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

std::optional<Bytes> inflated(const unsigned char* data, std::size_t size) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return std::nullopt;
  stream.next_in = const_cast<unsigned char*>(data);
  stream.avail_in = static_cast<unsigned>(size);
  Bytes all;
  std::array<unsigned char, 16384> part;
  int status = Z_OK;
  while (status == Z_OK && all.size() <= kInflatedMax) {
    stream.next_out = part.data();
    stream.avail_out = static_cast<unsigned>(part.size());
    status = inflate(&stream, Z_NO_FLUSH);
    all.insert(all.end(), part.data(), part.data() + (part.size() - stream.avail_out));
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END) return std::nullopt;
  return all;
}

constexpr std::uint32_t kCookieVersions = 0x1c849300;
unsigned version_byte(std::uint32_t cookie) { return cookie & 0x0f; }
unsigned word_size(std::uint32_t cookie) { return cookie >> 4 & 0x0f; }
bool is_cookie(std::uint32_t cookie) { return (cookie & 0xffffff00U) == kCookieVersions; }

// The mapping from a count's place to the values counted there.
class Layout {
 public:
  // Requires: lowest >= 1, 0 <= digits <= 5.
  Layout(std::int64_t lowest, int digits) {
    unit_magnitude_ = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(lowest))) - 1;
    std::uint64_t steps = 2;
    for (int i = 0; i < digits; ++i) steps *= 10;
    const auto magnitude = static_cast<unsigned>(std::bit_width(steps - 1));
    half_magnitude_ = (magnitude < 1 ? 1 : magnitude) - 1;
  }
  // Nothing where the values would not fit 63 bits.
  std::optional<HdrCounts::Bucket> at(std::uint64_t index) const {
    const std::uint64_t half = std::uint64_t{1} << half_magnitude_;
    const std::uint64_t octave = index >> half_magnitude_;
    const std::uint64_t step = octave == 0 ? index : (index & (half - 1)) + half;
    const std::uint64_t shift = unit_magnitude_ + (octave == 0 ? 0 : octave - 1);
    if (shift + static_cast<unsigned>(std::bit_width(step + 1)) > 62) return std::nullopt;
    return HdrCounts::Bucket{static_cast<std::int64_t>(step << shift),
                             static_cast<std::int64_t>(((step + 1) << shift) - 1), 0};
  }

 private:
  unsigned unit_magnitude_ = 0;
  unsigned half_magnitude_ = 0;
};

std::expected<HdrCounts, std::string_view> counts_of(const Bytes& payload) {
  Words words(payload);
  const auto cookie = static_cast<std::uint32_t>(words.take(4));
  const unsigned version = version_byte(cookie);
  if (!is_cookie(cookie) || (version != 1 && version != 3 && version != 8)) return Refused(kDamaged);
  double ratio = 1.0;
  std::size_t payload_bytes = payload.size();
  if (version != 8) {
    payload_bytes = static_cast<std::uint32_t>(words.take(4));
    words.take_int();  // How far a shifting histogram has shifted; the counts are written in their logical
                       // order.
  }
  const std::int32_t digits = words.take_int();
  const std::int64_t lowest = words.take_long();
  HdrCounts counts;
  counts.highest_trackable = words.take_long();
  if (version == 8) {
    words.take_long();  // The total, which the counts say too.
  } else {
    ratio = std::bit_cast<double>(words.take(8));
  }
  if (!words.ok() || digits < 0 || digits > 5 || lowest < 1 || counts.highest_trackable < 1)
    return Refused(kDamaged);
  if (ratio != 1.0) return Refused("histogram of fractions");
  const unsigned size = version == 3 ? 9 : word_size(cookie);
  if (version != 3 && size != 2 && size != 4 && size != 8) return Refused(kDamaged);
  if (payload_bytes < words.left() && version != 8) return Refused(kDamaged);
  const Layout layout(lowest, digits);
  std::uint64_t index = 0;
  while (words.left() >= (version == 3 ? 1 : size)) {
    const std::int64_t count =
        version == 3 ? words.take_zigzag() : static_cast<std::int64_t>(words.take(size));
    if (!words.ok()) return Refused(kDamaged);
    if (count < 0 && version == 3) {
      if (count < -(std::int64_t{1} << 40)) return Refused(kDamaged);
      index += static_cast<std::uint64_t>(-count);  // A run of empty buckets.
      continue;
    }
    if (count != 0) {
      auto bucket = layout.at(index);
      if (!bucket || count < 0) return Refused(kDamaged);
      bucket->count = static_cast<std::uint64_t>(count);
      counts.total += bucket->count;
      if (counts.total > kTotalMax) return Refused(kDamaged);
      counts.buckets.push_back(*bucket);
    }
    ++index;
  }
  return counts;
}

}  // namespace

std::expected<HdrCounts, std::string_view> decode_hdr_histogram(std::string_view base64) {
  const auto bytes = from_base64(base64);
  if (!bytes) return Refused("not base64");
  Words words(*bytes);
  const auto cookie = static_cast<std::uint32_t>(words.take(4));
  if (cookie == 0x0c72124eU || cookie == 0x0c72124fU) return Refused("histogram of fractions");
  if (!words.ok() || !is_cookie(cookie)) return Refused("not a histogram");
  const unsigned version = version_byte(cookie);
  if (version == 1 || version == 3 || version == 8) return counts_of(*bytes);
  if (version != 2 && version != 4 && version != 9) return Refused("not a histogram");
  const std::uint64_t size = words.take(4);
  if (!words.ok() || size > words.left()) return Refused(kDamaged);
  const auto payload = inflated(bytes->data() + 8, static_cast<std::size_t>(size));
  if (!payload) return Refused(kDamaged);
  return counts_of(*payload);
}

}  // namespace overdue
