#include "overdue/recorded/route_text.h"

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace overdue {
namespace {

// Paths shorter than this are taken by masks of one bit a character; the bit after the last is needed too.
constexpr std::size_t kShort = 64;

#if defined(__SSE2__)
struct PathMasks {
  std::uint64_t digits = 0;
  std::uint64_t slashes = 0;
  std::uint64_t queries = 0;
};

// Of the kBytes bytes from the front of `text` on, which may end earlier.
template <unsigned kBytes>
PathMasks masks_of(std::string_view text) {
  const char* const at = text.data();
  PathMasks masks;
#pragma GCC unroll 4
  for (unsigned from = 0; from < kBytes; from += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + from));
    const __m128i value = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
    const auto bits = [&](__m128i hits) {
      return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(hits))) << from;
    };
    masks.digits |= bits(_mm_cmpeq_epi8(_mm_min_epu8(value, _mm_set1_epi8(9)), value));
    masks.slashes |= bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('/')));
    masks.queries |= bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('?')));
  }
  return masks;
}
#endif

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// What is known of a segment from its characters so far.
class Segment {
 public:
  void see(char c) {
    ++size_;
    const char lower = static_cast<char>(c | 0x20);
    if (is_digit(c)) {
      ++digits_;
    } else if (lower >= 'a' && lower <= 'z') {
      hexadecimal_ = hexadecimal_ && lower <= 'f';
    } else {
      hexadecimal_ = hexadecimal_ && c == '-';
      word_ = word_ && (c == '-' || c == '_');
    }
  }
  bool is_id() const {
    if (digits_ == 0) return false;
    if (digits_ == size_ || (hexadecimal_ && word_ && size_ >= 8)) return true;
    return word_ && size_ >= 16 && digits_ >= 4;
  }

 private:
  std::size_t size_ = 0;
  std::size_t digits_ = 0;
  bool hexadecimal_ = true;
  bool word_ = true;
};

}  // namespace

std::string_view RouteText::without_query(std::string_view target) {
  const auto* query = static_cast<const char*>(std::memchr(target.data(), '?', target.size()));
  if (query != nullptr) target = target.substr(0, static_cast<std::size_t>(query - target.data()));
  if (!target.empty() && target.front() != '/') {
    const std::size_t scheme = target.find("://");
    if (scheme != std::string_view::npos) {
      const std::size_t path = target.find('/', scheme + 3);
      target = path == std::string_view::npos ? std::string_view("/") : target.substr(path);
    }
  }
  return target.substr(0, kLengthMax);
}

std::string_view RouteText::of(std::string_view target) { return of_path(without_query(target)); }

std::string_view RouteText::of(std::string_view target, const char* readable_end) {
#if defined(__SSE2__)
  const auto readable = static_cast<std::size_t>(readable_end - target.data());
  if (!target.empty() && target.front() == '/' && readable >= target.size() + kShort) {
    const PathMasks masks = target.size() <= 32 ? masks_of<32>(target) : masks_of<64>(target);
    std::size_t size = target.size();
    if (masks.queries != 0) size = std::min(size, static_cast<std::size_t>(__builtin_ctzll(masks.queries)));
    if (size < kShort) return short_path(target.substr(0, size), masks.digits, masks.slashes);
  }
#else
  (void)readable_end;
#endif
  return of(target);
}

// One bit a character of the path; what lies behind it does not count. Adding a bit at the first digit of
// each segment that begins with one carries through its digits and stops behind the last of them: where that
// is a slash or the end, the segment is a number. Digits anywhere else need a closer look.
// Requires: path.size() < kShort; it begins with a slash; kShort bytes after it are readable.
std::string_view RouteText::short_path(std::string_view path, std::uint64_t digits, std::uint64_t slashes) {
  const std::uint64_t end = std::uint64_t{1} << path.size();
  digits &= end - 1;
  if (digits == 0) return path;
  std::uint64_t firsts = (slashes << 1) & digits;
  const std::uint64_t carried = firsts + digits;
  std::uint64_t ends = carried & ~digits;
  if ((carried & digits) != 0 || (ends & ~((slashes & (end - 1)) | end)) != 0) return of_path(path);
  std::size_t used = 0;
  std::size_t from = 0;
  for (; firsts != 0; firsts &= firsts - 1, ends &= ends - 1) {
    std::memcpy(buffer_.data() + used, path.data() + from, kShort);
    used += static_cast<std::size_t>(__builtin_ctzll(firsts)) - from;
    std::memcpy(buffer_.data() + used, ":id", 3);
    used += 3;
    from = static_cast<std::size_t>(__builtin_ctzll(ends));
  }
  std::memcpy(buffer_.data() + used, path.data() + from, kShort);
  return {buffer_.data(), used + path.size() - from};
}

std::string_view RouteText::of_path(std::string_view path) {
  path = path.substr(0, kLengthMax);
  if (std::none_of(path.begin(), path.end(), is_digit)) return path;
  constexpr std::string_view kId = ":id";
  std::size_t used = 0;
  std::size_t segment_start = 0;
  Segment segment;
  for (std::size_t at = 0; at <= path.size(); ++at) {
    if (at < path.size() && path[at] != '/') {
      segment.see(path[at]);
      buffer_[used++] = path[at];
      continue;
    }
    if (segment.is_id()) {
      used = segment_start;
      for (const char c : kId) buffer_[used++] = c;
    }
    if (at < path.size()) buffer_[used++] = '/';
    segment_start = used;
    segment = {};
  }
  return {buffer_.data(), used};
}

RequestLine split_request(std::string_view request) {
  // Methods are words of capitals: "GET", "M-SEARCH", "VERSION_CONTROL".
  std::size_t blank = 0;
  const std::size_t methods_end = std::min<std::size_t>(request.size(), 24);
  while (blank < methods_end &&
         ((request[blank] >= 'A' && request[blank] <= 'Z') || request[blank] == '_' || request[blank] == '-'))
    ++blank;
  if (blank == 0 || blank == methods_end || request[blank] != ' ') return {};
  RequestLine line{request.substr(0, blank), request.substr(blank + 1)};
  // The protocol is short: " HTTP/1.1", " HTTP/2.0"; HTTP/0.9 has none.
  constexpr std::string_view kProtocol = " HTTP/1.";
  const std::size_t size = line.target.size();
  if (size > kProtocol.size() && line.target.back() != ' ' &&
      std::memcmp(line.target.data() + size - 9, kProtocol.data(), kProtocol.size()) == 0) {
    line.target.remove_suffix(9);
    return line;
  }
  const std::size_t last = line.target.rfind(' ');
  if (last != std::string_view::npos && line.target.substr(last + 1).starts_with("HTTP/")) {
    line.target = line.target.substr(0, last);
  }
  return line;
}

}  // namespace overdue
