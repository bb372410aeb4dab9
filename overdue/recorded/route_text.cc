#include "overdue/recorded/route_text.h"

#include <algorithm>
#include <cstring>

namespace overdue {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_id(std::string_view segment) {
  std::size_t digits = 0;
  bool hexadecimal = true;
  bool word = true;
  for (const char c : segment) {
    if (is_digit(c)) {
      ++digits;
      continue;
    }
    const char lower = static_cast<char>(c | 0x20);
    hexadecimal = hexadecimal && ((lower >= 'a' && lower <= 'f') || c == '-');
    word = word && ((lower >= 'a' && lower <= 'z') || c == '-' || c == '_');
  }
  if (digits == 0) return false;
  if (digits == segment.size()) return true;
  if (hexadecimal && segment.size() >= 8) return true;
  return word && segment.size() >= 16 && digits >= 4;
}

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
  std::size_t used = 0;
  const auto put = [&](std::string_view text) {
    const std::size_t size = std::min(text.size(), buffer_.size() - used);
    std::copy_n(text.data(), size, buffer_.data() + used);
    used += size;
  };
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    put(is_id(segment) ? std::string_view(":id") : segment);
    if (slash == std::string_view::npos) break;
    put("/");
    path.remove_prefix(slash + 1);
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
