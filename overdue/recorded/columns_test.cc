#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "overdue/base/random.h"
#include "overdue/recorded/collecting_sink.h"
#include "overdue/recorded/fast_digits.h"
#include "overdue/recorded/four_numbers.h"
#include "overdue/recorded/number_text.h"
#include "overdue/recorded/row_sinks.h"
#include "overdue/recorded/separators.h"

namespace overdue {
namespace {

// Fields of one column between newlines, padded as a reader's are.
struct Column {
  explicit Column(const std::vector<std::string>& fields) {
    places.push_back(UINT32_MAX);
    for (const std::string& field : fields) {
      text += field;
      places.push_back(static_cast<std::uint32_t>(text.size()));
      text += '\n';
    }
    text.append(64, '\0');
  }
  BlockFields block() const { return {text.data(), places.data() + 1, 1, places.size() - 1}; }

  std::string text;
  std::vector<std::uint32_t> places;
};

std::string random_text(Random& random, std::string_view characters, std::size_t size_max) {
  std::string text;
  for (std::size_t size = random.below(size_max + 1); size > 0; --size)
    text += characters[random.below(characters.size())];
  return text;
}

TEST(FourNumbers, AreThoseThatAreReadOneByOne) {
  Random random(1);
  std::size_t read = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::string_view characters = round % 2 == 0 ? "0123456789." : "0123456789.-/:e \xff";
    std::vector<std::string> fields;
    for (int i = 0; i < 4; ++i) fields.push_back(random_text(random, characters, round % 3 == 0 ? 11 : 4));
    const auto power = static_cast<unsigned>(random.below(10));
    const Column column(fields);
    Duration values[4] = {};
    const std::size_t came_to = four_decimals(column.block(), 0, power, 0, values);
    bool plain = reads_four_at_once();
    for (std::size_t i = 0; i < 4; ++i) {
      std::uint64_t digits = 0;
      unsigned fraction = 0;
      plain = plain && short_decimal(fields[i].data(), fields[i].size(), digits, fraction) &&
              fraction <= power && digits > 0;
    }
    ASSERT_EQ(came_to, plain ? 4U : 0U) << column.text;
    for (std::size_t i = 0; i < came_to; ++i)
      ASSERT_EQ(values[i].count(), decimal_scaled(fields[i], power)) << fields[i];
    read += came_to;
  }
  EXPECT_EQ(read > 1000, reads_four_at_once());
}

TEST(FourNumbers, AreTimesOnlyWhereTheyBeginAlike) {
  const CommonBeginning beginning{load_eight("17000000"), 13, 1'700'000'000'000'000'000, 1'000'000};
  const auto read = [&](const std::string& odd) {
    const Column column({"1700000000123", "1700000099999", odd, "1700000000000", "1700000000001"});
    WallTime times[4] = {};
    const std::size_t came_to = four_times(column.block(), 0, beginning, 0, times);
    if (came_to == 4) {
      EXPECT_EQ(times[0].time_since_epoch().count(), 1'700'000'000'123'000'000);
      EXPECT_EQ(times[1].time_since_epoch().count(), 1'700'000'099'999'000'000);
    }
    return came_to;
  };
  EXPECT_EQ(read("1700000054321"), reads_four_at_once() ? 4U : 0U);
  for (const char* const odd : {"1700000100000", "170000005432", "17000000543210", "17000000543.1", "", "1"})
    EXPECT_EQ(read(odd), 0U) << odd;
}

TEST(Separators, CountTheirNewlinesAndTellOfQuotesAndReturns) {
  const std::string text = "a,b\nc,d\n" + std::string(100, 'x') + ",\n";
  const std::string readable = text + "\"\r" + std::string(64, 'x');  // Behind the end it means nothing.
  std::vector<std::uint32_t> places(readable.size() + kPlacesAfter);
  for (FindSeparators* const find : ways_to_find_separators()) {
    const Separators found = find(readable.data(), text.size(), ',', places.data());
    EXPECT_EQ(found.count, 6U);
    EXPECT_EQ(found.newlines, 3U);
    EXPECT_FALSE(found.quotes);
    EXPECT_FALSE(found.returns);
    const Separators with_quote = find(readable.data(), text.size() + 1, ',', places.data());
    EXPECT_TRUE(with_quote.quotes);
    EXPECT_FALSE(with_quote.returns);
    EXPECT_TRUE(find(readable.data(), text.size() + 2, ',', places.data()).returns);
  }
}

TEST(Separators, LieAtTheSamePlacesWhicheverWayTheyAreFound) {
  Random random(12);
  for (const unsigned rare : {1U, 2U, 8U, 100U}) {  // One in so many is a separator; with 1, all are.
    std::string text;
    std::vector<std::uint32_t> expected;
    for (std::uint32_t at = 0; at < 1000; ++at) {
      const bool separates = random.below(rare) == 0;
      text += separates ? ",\n\""[random.below(3)] : "x\r;"[random.below(3)];
      if (separates) expected.push_back(at);
    }
    text.append(64, ',');
    for (FindSeparators* const find : ways_to_find_separators()) {
      std::vector<std::uint32_t> places(1000 + kPlacesAfter);
      places.resize(find(text.data(), 1000, ',', places.data()).count);
      EXPECT_EQ(places, expected);
    }
  }
}

struct Oddity {
  const char* name;
  std::string line;
};

// Lines of a log, in which one of a hundred is `odd`.
std::vector<std::string> lines_with(const std::string& odd, std::string_view newline, Random& random) {
  std::vector<std::string> lines;
  std::uint64_t start_ms = 1'700'000'000'000;
  for (int line = 0; line < 3000; ++line) {
    start_ms += random.below(200);
    const std::string latency = random.below(20) == 0
                                    ? fmt::format("{}.{:09}", random.below(5000), random.below(1'000'000'000))
                                    : fmt::format("{}", static_cast<double>(1 + random.below(99'999)) / 1e3);
    const int statuses[] = {200, 200, 200, 404, 503, 504, 499};
    lines.push_back(fmt::format("{},10.0.0.{}:80,{},{}{}", start_ms, 1 + random.below(30),
                                statuses[random.below(7)], latency, newline));
    if (!odd.empty() && random.below(100) == 0) lines.push_back(odd + std::string(newline));
  }
  return lines;
}

TEST(Columns, OfManyLinesAreTheRowsOfEachLineAlone) {
  const std::string head = "start_ms,backend,status,latency_ms\n1700000000000,10.0.0.1:80,200,1.5\n";
  const auto opened = open_csv(head, "log.csv", {});
  ASSERT_TRUE(opened);
  const Oddity oddities[] = {
      {"none", ""},
      {"header", "start_ms,backend,status,latency_ms"},
      {"comment", "# a,b,c,d"},
      {"blank", ""},
      {"no latency", "1700000000000,x,200,"},
      {"give-up at 0", "1700000000000,x,504,0"},
      {"status 0", "1700000000000,x,0,12"},
      {"word", "1700000000000,x,ok,12"},
      {"quotes", "1700000000000,\"x\",200,12"},
      {"quoted delimiter", "1700000000000,\"x,y\",200,12"},
      {"too few, then too many", "1700000000000,x,200\n1700000000000,x,200,12,more"},
      {"no time", "soon,x,200,12"},
      {"another time", "2023-11-14T22:13:20Z,x,200,12"},
      {"no backend", "1700000000000,,200,12"},
      {"long backend", "1700000000000,a-name-of-more-than-sixteen-bytes,200,12"},
  };
  Random random(2);
  for (const std::string_view newline : {"\n", "\r\n"}) {
    for (const Oddity& oddity : oddities) {
      const bool blank = std::string_view(oddity.name) == "blank";
      std::vector<std::string> lines = lines_with(oddity.line, newline, random);
      if (blank) lines.insert(lines.begin() + 1000, 5, std::string(newline));
      CollectingSink together;
      CollectingSink alone;
      together.with_starts = alone.with_starts = true;
      std::string text;
      for (const std::string& line : lines) {
        text += line;
        std::string padded = line + std::string(64, '\0');
        opened->reader->read(std::string_view(padded).substr(0, line.size()), alone);
      }
      const std::size_t size = text.size();
      text.append(64, '\0');
      opened->reader->read(std::string_view(text).substr(0, size), together);
      EXPECT_TRUE(together.text() == alone.text()) << oddity.name;
      EXPECT_EQ(together.reasons, alone.reasons) << oddity.name;
      EXPECT_EQ(together.notes, alone.notes) << oddity.name;
      EXPECT_GE(together.rows.size(), 3000U) << oddity.name;
    }
  }
}

TEST(Columns, AreLeftOutByTimeLikeRows) {
  ReadOptions options;
  options.since = WallTime(std::chrono::milliseconds(1'700'000'000'500));
  MeasuringSink sink(options);
  sink.begin_chunk(0);
  AttemptColumns columns;
  columns.has_start = true;
  for (const int ms : {0, 499, 500, 900}) {
    columns.start[columns.size] = WallTime(std::chrono::milliseconds(1'700'000'000'000 + ms));
    columns.elapsed[columns.size] = std::chrono::milliseconds(7);
    columns.backend[columns.size] = 0;
    columns.ending[columns.size] = Ending::replied;
    ++columns.size;
  }
  sink.add(columns);
  sink.flush();
  EXPECT_EQ(sink.account().attempts, 2U);
  EXPECT_EQ(sink.account().filtered, 2U);
}

}  // namespace
}  // namespace overdue
