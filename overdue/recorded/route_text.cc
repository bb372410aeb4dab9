#include "overdue/recorded/route_text.h"

#include <algorithm>
#include <cstring>

namespace overdue {
namespace {

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
  const std::size_t blank = request.substr(0, 24).find(' ');
  if (blank == std::string_view::npos || blank == 0) return {};
  RequestLine line{request.substr(0, blank), request.substr(blank + 1)};
  for (const char c : line.method) {
    if ((c < 'A' || c > 'Z') && c != '_' && c != '-') return {};
  }
  // The protocol is short: " HTTP/1.1", " HTTP/2.0"; HTTP/0.9 has none.
  const std::size_t last = line.target.rfind(' ');
  if (last != std::string_view::npos && line.target.substr(last + 1).starts_with("HTTP/")) {
    line.target = line.target.substr(0, last);
  }
  return line;
}

}  // namespace overdue
