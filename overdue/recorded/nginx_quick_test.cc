#include "overdue/recorded/nginx_quick.h"

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <vector>

#include "overdue/base/random.h"
#include "overdue/recorded/collecting_sink.h"

namespace overdue {
namespace {

constexpr const char* kFormats[] = {
    R"($remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" ua=$upstream_addr us=$upstream_status rt=$request_time uct=$upstream_connect_time urt=$upstream_response_time)",
    R"([$time_local] "$request" $status "$http_user_agent" $request_time "$upstream_addr" "$upstream_status" "$upstream_response_time")",
    R"($msec $request_method $request_uri $status $upstream_addr $upstream_response_time $upstream_cache_status $request_time)",
    R"($time_iso8601|$status|$upstream_addr|$upstream_response_time|$request_time|$uri)",
    R"($request_time $status)",
};

std::string value_of(std::string_view name, Random& random) {
  const auto one_of = [&](std::initializer_list<const char*> values) {
    return std::string(values.begin()[random.below(values.size())]);
  };
  const bool odd = random.below(12) == 0;
  if (name == "time_local") return one_of({"14/Nov/2023:22:13:20 +0000", "14/Nov/2023:22:13:21 +0000"});
  if (name == "time_iso8601") return one_of({"2023-11-14T22:13:20+01:00", "2023-11-14T22:13:20Z"});
  if (name == "msec") return one_of({"1700000000.123", "1700000001.000", "-"});
  if (name == "status")
    return odd ? one_of({"499", "504", "000", "-", "20", "600"}) : one_of({"200", "404", "301"});
  if (name == "upstream_status")
    return odd ? one_of({"502", "-", "502, 200", "200 : 200", "504"}) : one_of({"200", "404"});
  if (name == "upstream_addr") {
    return odd ? one_of({"-", "", "pool", "10.0.0.1:80, 10.0.0.2:80", "10.0.0.1:80 : 10.0.0.2:80", "a:1,b:2",
                         "[2001:db8:1234:5678:9abc:def0:1234:5678]:8080"})
               : one_of({"10.0.0.1:80", "10.0.0.16:8080", "unix:/run/app.sock"});
  }
  if (name == "upstream_cache_status")
    return odd ? one_of({"HIT, MISS", "MISS : HIT"}) : one_of({"-", "HIT"});
  if (name.ends_with("_time")) {
    return odd ? one_of(
                     {"-", "", "12.345", "0.1", "-0.001", "0.001, 0.002", "0.001 : 0.002", "1.23x", "0,123"})
               : one_of({"0.000", "0.012", "1.234", "9.999"});
  }
  std::string path = one_of({"/", "/api/orders/12345", "/a/1/b/22?x=1&y=2", "/v2/file9", "http://h/a/1", "*",
                             "/0123456789abcdef/7/8/9", "/a b/1", "//1//2/", "/1x/2", "/x1/2", "",
                             "/a-path-of-many-words/that-is-longer-than/sixty-four/characters/17/and/18"});
  if (name == "request") {
    return odd ? one_of({"-", "", "\\x16\\x03", "GET", "GET HTTP/1.1", "get /a HTTP/1.1",
                         "GET /a\\\"b HTTP/1.1"})
               : one_of({"GET ", "POST ", "M-SEARCH "}) + path + one_of({" HTTP/1.1", " HTTP/2.0", ""});
  }
  if (name == "request_uri" || name == "uri") return path;
  if (name == "request_method") return one_of({"GET", "PUT"});
  return odd ? one_of({"say \\\"hi\\\" us=1", "\\\\", "a\" 200 b", ""})
             : one_of({"-", "curl/7.88.1", "12",
                       "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"});
}

// A line as the format writes it, now and then with a byte changed, put in or cut off.
std::string line_of(std::string_view format, Random& random) {
  std::string line;
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] != '$') {
      line += format[at++];
      continue;
    }
    std::size_t end = at + 1;
    while (end < format.size() &&
           (std::isalnum(static_cast<unsigned char>(format[end])) || format[end] == '_'))
      ++end;
    line += value_of(format.substr(at + 1, end - at - 1), random);
    at = end;
  }
  constexpr std::string_view kBytes = " \"\\,:-=.0/?\r[]";
  const std::size_t place = random.below(line.size());
  const char byte = kBytes[random.below(kBytes.size())];
  switch (random.below(8)) {
    case 0:
      line[place] = byte;
      break;
    case 1:
      line.insert(place, 1, byte);
      break;
    case 2:
      line.resize(place);
      break;
    default:
      break;
  }
  return line + (random.below(50) == 0 ? "\r\n" : "\n");
}

void read_with(const std::string& text, const ReadOptions& options, CollectingSink& sink) {
  const auto opened = open_nginx("", "access.log", options);
  if (!opened) {
    ADD_FAILURE() << opened.error().message;
    return;
  }
  std::vector<char> buffer(text.begin(), text.end());
  buffer.resize(text.size() + ChunkReader::kReadableAfter, '0');
  opened->reader->read({buffer.data(), text.size()}, sink);
  sink.flush();
}

std::string described(const CollectingSink& sink, std::size_t row) {
  if (row >= sink.attempts.size()) return "no row";
  const Attempt& attempt = sink.attempts[row];
  return std::string(kEndingNames[static_cast<std::size_t>(attempt.ending)]) + " " +
         std::to_string(attempt.elapsed.count()) + " untimed " + std::to_string(attempt.untimed) + " start " +
         std::to_string(attempt.has_start ? attempt.start.time_since_epoch().count() : -1) + " connect " +
         std::to_string(attempt.has_connect ? attempt.connect.count() : -1) + " backend '" +
         sink.names.backends.name_of(attempt.backend) + "' route '" +
         sink.names.routes.name_of(attempt.route) + "' begins " + std::to_string(attempt.begins_call);
}

// A group by method is none of the quick reader's, so that the same lines are read field by field.
TEST(NginxQuick, ReadsEveryLineAsTheWholeReaderDoes) {
  for (const char* format : kFormats) {
    for (const Level level : {Level::attempts, Level::calls}) {
      ReadOptions quick;
      quick.log_format = format;
      quick.level = level;
      ReadOptions whole = quick;
      whole.group_by = "method";
      Random random(7, static_cast<std::uint64_t>(level));
      for (int i = 0; i < 4000; ++i) {
        const std::string line = line_of(format, random);
        CollectingSink ours;
        CollectingSink theirs;
        read_with(line, quick, ours);
        read_with(line, whole, theirs);
        ASSERT_EQ(ours.set_aside_text(), theirs.set_aside_text()) << format << '\n' << line;
        ASSERT_EQ(ours.attempts.size(), theirs.attempts.size()) << format << '\n' << line;
        for (std::size_t row = 0; row < ours.attempts.size(); ++row)
          ASSERT_EQ(described(ours, row), described(theirs, row)) << format << '\n' << line;
      }
    }
  }
}

NginxQuick quick_of(std::string_view format) {
  return *NginxQuick::create(NginxFormat::compile(format, {}).value());
}

TEST(NginxQuick, TakesOrdinaryLinesAndLeavesTheRest) {
  const NginxQuick quick = quick_of("$status $request_time $upstream_addr $upstream_response_time");
  const auto takes = [&](std::string_view line) {
    std::string text(line);
    text.append(ChunkReader::kReadableAfter, '0');
    NginxQuickLine values;
    return quick.read(std::string_view(text).substr(0, line.size()), values);
  };
  EXPECT_TRUE(takes("200 0.012 10.0.0.1:80 0.011"));
  for (const char* line :
       {"200 0.012 10.0.0.1:80 0.01", "200 0.012 10.0.0.1:80 0.0111", "200 0.012 a:80, b:80 0.0",
        "200 0.012 10.0.0.1:80 -", "20 0.012 10.0.0.1:80 0.011", "200 0.012 10.0.0.1:80", "200", "",
        "200 0.01x 10.0.0.1:80 0.011", "2:0 0.012 10.0.0.1:80 0.011"}) {
    EXPECT_FALSE(takes(line)) << line;
  }
}

TEST(NginxQuick, DoesNotTakeTheColonOfARedirectForTheNextValue) {
  const NginxQuick quick = quick_of("$upstream_response_time $upstream_cache_status $request_time");
  std::string text = "0.001 : 0.002";
  const std::size_t size = text.size();
  text.append(ChunkReader::kReadableAfter, '0');
  NginxQuickLine values;
  EXPECT_FALSE(quick.read(std::string_view(text).substr(0, size), values));
}

TEST(NginxQuick, ReadsNumbersOnTheWay) {
  const NginxQuick quick = quick_of("$status rt=$request_time");
  std::string text = "574 rt=8.296";
  const std::size_t size = text.size();
  text.append(ChunkReader::kReadableAfter, '0');
  NginxQuickLine values;
  ASSERT_TRUE(quick.read(std::string_view(text).substr(0, size), values));
  EXPECT_EQ(values.number(NginxField::status), 574);
  EXPECT_EQ(values.number(NginxField::request_time), 8296);
  EXPECT_EQ(values.number(NginxField::response_time), -1);
}

TEST(NginxQuick, IsNotThereForFormatsWhoseEndsTakeMoreThanALiteral) {
  for (const char* format : {"$request $status $request_time", "$upstream_addr, $request_time",
                             "$upstream_addr : $request_time"}) {
    EXPECT_FALSE(NginxQuick::create(NginxFormat::compile(format, {}).value())) << format;
  }
  EXPECT_FALSE(NginxQuick::create(NginxFormat::compile("${status}1 $request_time", {}).value()));
  EXPECT_FALSE(NginxQuick::create(NginxFormat::labelled({})));
}

}  // namespace
}  // namespace overdue
