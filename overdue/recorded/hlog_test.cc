#include "overdue/recorded/hlog.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <numeric>

#include "overdue/base/random.h"
#include "overdue/recorded/collecting_sink.h"
#include "overdue/recorded/hdr_histogram.h"

namespace overdue {
namespace {

// A small writer of the encodings, after their published description and independent of the reader.
enum class Encoding : unsigned { v0 = 8, v1 = 1, v2 = 3 };

class Bytes {
 public:
  void word(std::uint64_t value, unsigned size) {
    for (unsigned i = size; i-- > 0;) text += static_cast<char>(value >> (8 * i) & 0xff);
  }
  void zigzag(std::int64_t value) {
    std::uint64_t bits = static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
    for (int i = 0; i < 8 && bits >= 0x80; ++i, bits >>= 7) text += static_cast<char>((bits & 0x7f) | 0x80);
    text += static_cast<char>(bits);
  }
  std::string text;
};

struct Settings {
  Encoding encoding = Encoding::v2;
  unsigned word = 8;
  std::uint64_t lowest = 1;
  std::uint64_t highest = 3'600'000'000'000;
  unsigned digits = 2;
};

std::string payload_of(const std::vector<std::int64_t>& counts, const Settings& settings) {
  Bytes body;
  for (std::size_t i = 0; i < counts.size();) {
    if (settings.encoding != Encoding::v2) {
      body.word(static_cast<std::uint64_t>(counts[i++]), settings.word);
      continue;
    }
    std::int64_t zeros = 0;
    while (i < counts.size() && counts[i] == 0) ++zeros, ++i;
    if (zeros > 0) body.zigzag(zeros == 1 ? 0 : -zeros);
    if (zeros == 0) body.zigzag(counts[i++]);
  }
  Bytes all;
  const unsigned size_nibble = settings.encoding == Encoding::v2 ? 1 : settings.word;
  all.word(0x1c849300U | static_cast<unsigned>(settings.encoding) | size_nibble << 4, 4);
  if (settings.encoding != Encoding::v0) {
    all.word(body.text.size(), 4);
    all.word(0, 4);
  }
  all.word(settings.digits, 4);
  all.word(settings.lowest, 8);
  all.word(settings.highest, 8);
  const auto total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  all.word(settings.encoding == Encoding::v0 ? static_cast<std::uint64_t>(total)
                                             : std::bit_cast<std::uint64_t>(1.0),
           8);
  return all.text + body.text;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t j = 0; j < 3; ++j)
      three = three << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j)
      text += i + j <= bytes.size() ? kLetters[three >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::string encoded(const std::vector<std::int64_t>& counts, const Settings& settings) {
  const std::string payload = payload_of(counts, settings);
  std::string packed(compressBound(payload.size()), '\0');
  uLongf size = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(payload.data()),
           payload.size());
  Bytes all;
  all.word(0x1c849300U | (static_cast<unsigned>(settings.encoding) + 1) |
               (settings.encoding == Encoding::v2 ? 1 : settings.word) << 4,
           4);
  all.word(size, 4);
  return base64(all.text + packed.substr(0, size));
}

// Where a value is counted, by walking up the buckets instead of by bits.
std::size_t index_of(std::uint64_t value, const Settings& settings) {
  std::uint64_t steps = 2;
  for (unsigned i = 0; i < settings.digits; ++i) steps *= 10;
  const std::uint64_t buckets = std::bit_ceil(steps);
  std::uint64_t width = std::bit_floor(settings.lowest);
  std::uint64_t low = 0;
  for (std::size_t index = 0;; ++index) {
    if (value < low + width) return index;
    low += width;
    if (index + 1 >= buckets && (index + 1 - buckets) % (buckets / 2) == 0) width *= 2;
  }
}

std::string histogram_of(const std::vector<std::uint64_t>& values, const Settings& settings) {
  std::vector<std::int64_t> counts;
  for (const std::uint64_t value : values) {
    const std::size_t index = index_of(value, settings);
    if (counts.size() <= index) counts.resize(index + 1);
    ++counts[index];
  }
  return encoded(counts, settings);
}

// What an hlog file's text is read as.
struct HlogRead : CollectingSink {
  HlogRead(const std::string& text, SourceSummary& summary, const ReadOptions& options = {}) {
    auto opened = open_hlog(text, "a.hlog", options);
    if (!opened) {
      ADD_FAILURE() << opened.error().message;
      return;
    }
    EXPECT_FALSE(opened->reader->chunks_are_independent());
    opened->reader->read(text, *this);
    summary = std::move(opened->summary);
  }
};

constexpr const char* kHead =
    "#[Logged with something]\n#[Histogram log format version 1.2]\n"
    "#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 08:24:39 PDT 2015]\n"
    "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";

TEST(HdrHistogram, ReadsBackWhatEachEncodingCounts) {
  Random random(7);
  for (const Settings& settings :
       {Settings{.encoding = Encoding::v0}, Settings{.encoding = Encoding::v1, .word = 2},
        Settings{.encoding = Encoding::v1, .word = 4, .lowest = 1000}, Settings{.encoding = Encoding::v2},
        Settings{.encoding = Encoding::v2, .lowest = 1024, .digits = 3},
        Settings{.encoding = Encoding::v2, .digits = 0}}) {
    std::vector<std::uint64_t> values;
    values.reserve(200);
    for (int i = 0; i < 200; ++i) values.push_back(random.next() >> (24 + random.below(38)));
    std::sort(values.begin(), values.end());
    const auto counts = decode_hdr_histogram(histogram_of(values, settings));
    ASSERT_TRUE(counts.has_value()) << counts.error();
    EXPECT_EQ(counts->total, values.size());
    std::size_t at = 0;
    std::uint64_t steps = 1;
    for (unsigned i = 0; i < settings.digits; ++i) steps *= 10;
    for (const HdrCounts::Bucket& bucket : counts->buckets) {
      for (std::uint64_t i = 0; i < bucket.count; ++i, ++at) {
        EXPECT_LE(bucket.low, static_cast<std::int64_t>(values[at]));
        EXPECT_GE(bucket.high, static_cast<std::int64_t>(values[at]));
      }
      const auto width = static_cast<std::uint64_t>(bucket.high - bucket.low);
      EXPECT_TRUE(width < settings.lowest || width * steps <= static_cast<std::uint64_t>(bucket.low))
          << bucket.low;
    }
    EXPECT_EQ(at, values.size());
  }
}

// A log a known program wrote: 1 to 3 at precision 3, encoding V2, uncompressed header bytes written out by
// hand.
TEST(HdrHistogram, ReadsBytesWrittenByHand) {
  const std::string payload = "\x1c\x84\x93\x13" + std::string("\0\0\0\4\0\0\0\0\0\0\0\3", 12) +
                              std::string("\0\0\0\0\0\0\0\1", 8) + std::string("\0\0\0\0\0\0\x27\x10", 8) +
                              std::string("\x3f\xf0\0\0\0\0\0\0", 8) + std::string("\0\2\4\6", 4);
  const auto counts = decode_hdr_histogram(base64(payload));
  ASSERT_TRUE(counts.has_value()) << counts.error();
  ASSERT_EQ(counts->buckets.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(counts->buckets[static_cast<std::size_t>(i)].low, i + 1);
    EXPECT_EQ(counts->buckets[static_cast<std::size_t>(i)].high, i + 1);
    EXPECT_EQ(counts->buckets[static_cast<std::size_t>(i)].count, static_cast<std::uint64_t>(i + 1));
  }
  EXPECT_EQ(counts->highest_trackable, 10'000);
}

TEST(HdrHistogram, RefusesDamagedBytesWithAWord) {
  const std::string good = histogram_of({1, 5000, 90'000'000}, {});
  for (std::size_t cut = 0; cut + 4 < good.size(); cut += 3) {
    EXPECT_FALSE(decode_hdr_histogram(std::string_view(good).substr(0, cut)).has_value()) << cut;
  }
  EXPECT_EQ(decode_hdr_histogram("HIST!AAA").error(), "not base64");
  EXPECT_EQ(decode_hdr_histogram("AAAAAAAA").error(), "not a histogram");
  EXPECT_EQ(decode_hdr_histogram("DHISTwAAAAMAAAAAAAAABByEkxQ").error(), "histogram of fractions");
  EXPECT_EQ(decode_hdr_histogram(encoded({1, -5}, {.encoding = Encoding::v1, .word = 8})).error(),
            "damaged histogram");
  EXPECT_EQ(decode_hdr_histogram(encoded({1}, {.digits = 6})).error(), "damaged histogram");
  EXPECT_EQ(decode_hdr_histogram(encoded({1}, {.lowest = 0})).error(), "damaged histogram");
  // A run of zeros far past any value.
  Bytes far;
  far.word(0x1c849313, 4);
  far.word(20, 4);
  far.word(0, 4);
  far.word(2, 4);
  far.word(1, 8);
  far.word(1000, 8);
  far.word(std::bit_cast<std::uint64_t>(1.0), 8);
  far.zigzag(-(std::int64_t{1} << 39));
  far.zigzag(1);
  EXPECT_EQ(decode_hdr_histogram(base64(far.text)).error(), "damaged histogram");
}

TEST(Hlog, CountsRepliesAtEachIntervalsStart) {
  for (const Settings& settings :
       {Settings{.encoding = Encoding::v0}, Settings{.encoding = Encoding::v1, .word = 2}, Settings{}}) {
    const std::string text = std::string(kHead) + "0.127,1.007,2.016," +
                             histogram_of({100, 100, 2'010'000}, settings) + "\n1.134,0.999,0.000," +
                             histogram_of({50}, settings) + "\n";
    EXPECT_TRUE(looks_like_hlog(text));
    SourceSummary summary;
    HlogRead sink(text, summary);
    EXPECT_EQ(sink.text(),
              "replied 100ns x2 at 1441812279601000000\nreplied 2015231ns x1 at 1441812279601000000\n"
              "replied 50ns x1 at 1441812280608000000\n");
    EXPECT_EQ(sink.set_aside_text(), "");
    EXPECT_TRUE(sink.notes.empty());
    EXPECT_EQ(summary.detail, "histograms, counted in ns");
    EXPECT_TRUE(summary.has_start_times);
    EXPECT_TRUE(summary.level_is_fixed);
  }
}

TEST(Hlog, TellsTheUnitFromTheGreatestValue) {
  struct Case {
    const char* max;
    const char* row;
  };
  for (const Case& each : {Case{"2.016", "replied 2015231ns x1 at 1441812279601000000\n"},
                           Case{"2015.231", "replied 2015231us x1 at 1441812279601000000\n"},
                           Case{"2015231.000", "replied 2015231ms x1 at 1441812279601000000\n"}}) {
    const std::string line =
        std::string("0.127,1.007,") + each.max + "," + histogram_of({2'010'000}, {}) + "\n";
    SourceSummary summary;
    HlogRead sink(kHead + line, summary);
    EXPECT_EQ(sink.text(), each.row);
    EXPECT_GE(summary.notes.size(), 2U);
  }
  const std::string odd = std::string(kHead) + "0.127,1.007,7.000," + histogram_of({2'010'000}, {}) + "\n";
  const auto opened = open_hlog(odd, "a.hlog", {});
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::unsupported);
  EXPECT_TRUE(opened.error().message.starts_with("unit_unclear:")) << opened.error().message;
  ReadOptions options;
  options.unit = Duration(1000);
  SourceSummary summary;
  EXPECT_EQ(HlogRead(odd, summary, options).text(), "replied 2015231us x1 at 1441812279601000000\n");
}

// Why an hlog of these lines, each an Interval_Max and a value, is declined; "" where it is not.
std::string declined(const std::vector<std::pair<const char*, std::uint64_t>>& lines,
                     const ReadOptions& options = {}) {
  std::string text = kHead;
  for (const auto& [max, value] : lines)
    text += std::string("0.127,1.007,") + max + "," + histogram_of({value}, {}) + "\n";
  const auto opened = open_hlog(text, "a.hlog", options);
  return opened ? "" : opened.error().message;
}

TEST(Hlog, GuessesNoUnitWhereNoMaximumSaysOne) {
  for (const char* const max : {"0.000", "-1.000"}) {
    const std::string why = declined({{max, 895'000}, {max, 895'000}});
    EXPECT_TRUE(why.starts_with("unit_unclear: a.hlog: no interval's maximum says")) << why;
    EXPECT_NE(why.find("line 5 has an Interval_Max of "), std::string::npos) << why;
  }
  // One that says it is enough, and so is the option.
  EXPECT_EQ(declined({{"0.000", 895'000}, {"895.000", 895'000}}), "");
  EXPECT_EQ(declined({{"0.000", 895'000}}, {.unit = Duration(1000)}), "");
  // 1 us and 1 ns both lie within what three decimals leave open.
  EXPECT_NE(declined({{"0.001", 1}}).find("more than one unit"), std::string::npos);
}

TEST(Hlog, GuessesNoUnitWhereTheMaximaDisagree) {
  const std::string why =
      declined({{"899.000", 899'000'000}, {"899.000", 899'000'000}, {"899000000.000", 899'000'000}});
  EXPECT_TRUE(why.starts_with("unit_unclear: a.hlog: the maxima, read as milliseconds, do not agree")) << why;
  EXPECT_NE(why.find("line 5 has an Interval_Max of 899 "), std::string::npos) << why;
  EXPECT_NE(why.find("line 7 has an Interval_Max of 899000000 "), std::string::npos) << why;
  EXPECT_NE(declined({{"2.016", 2'010'000}, {"7.000", 2'010'000}, {"8.000", 2'010'000}}), "");
}

TEST(Hlog, DoubtsTheUnitWhereAnIntervalBehindTheHeadSaysAnother) {
  const std::string voted = std::string(kHead) + "0.127,1.007,2.016," + histogram_of({2'010'000}, {}) + "\n";
  const std::string silent = "0.127,1.007,0.000," + histogram_of({2'010'000}, {}) + "\n";
  const std::string another = "0.127,1.007,2010.000," + histogram_of({2'010'000}, {}) + "\n";
  const auto doubts_behind = [](const std::string& head, const std::string& behind) {
    const auto opened = open_hlog(head, "a.hlog", {});
    EXPECT_TRUE(opened.has_value());
    CollectingSink sink;
    opened->reader->read(behind, sink);
    return sink.unit_doubts;
  };
  EXPECT_EQ(doubts_behind(voted, silent).size(), 0U);
  EXPECT_EQ(doubts_behind(voted, silent + another).at(0),
            "line 2: an Interval_Max of 2010 beside recorded values of up to 2015231 does not say that those "
            "are counted in 1 ns; --unit settles it");
  // A head without counts says nothing yet.
  EXPECT_EQ(doubts_behind(kHead, silent).size(), 1U);
  EXPECT_EQ(doubts_behind(kHead, "0.127,1.007,2.016," + histogram_of({2'010'000}, {}) + "\n").size(), 0U);
}

TEST(Hlog, NotesAMaximumThatDisagreesWithItsHistogram) {
  const std::string text = std::string(kHead) + "0.127,1.007,2.016," + histogram_of({2'010'000}, {}) + "\n" +
                           "1.127,1.007,1.500," + histogram_of({2'010'000}, {}) + "\n";
  SourceSummary summary;
  HlogRead sink(text, summary);
  EXPECT_EQ(sink.rows.size(), 2U);
  EXPECT_EQ(sink.notes.size(), 1U);
}

TEST(Hlog, CountsTimesFromTheBaseTheLogNames) {
  const std::string line = "10.000,1.000,0.001," + histogram_of({1000}, {}) + "\n";
  const std::string later = "1441812290.000,1.000,0.001," + histogram_of({1000}, {}) + "\n";
  struct Case {
    std::string text;
    const char* at;
  };
  for (const Case& each :
       {Case{"#[StartTime: 1441812279.474 (seconds since epoch)]\n" + line, " at 1441812289474000000"},
        Case{"#[BaseTime: 1441812200.000 (seconds since epoch)]\n" + line, " at 1441812210000000000"},
        Case{"#[StartTime: 1441812279.474 (x)]\n#[BaseTime: 1441812200.000]\n" + line,
             " at 1441812210000000000"},
        Case{"#[StartTime: 1441812279.474 (x)]\n" + later, " at 1441812290000000000"},
        Case{later, " at 1441812290000000000"}, Case{line, ""}}) {
    SourceSummary summary;
    EXPECT_EQ(HlogRead(each.text, summary).text(), std::string("replied 1003ns x1") + each.at + "\n")
        << each.text;
    EXPECT_EQ(summary.has_start_times, each.at[0] != '\0');
  }
}

TEST(Hlog, ReadsAllTagsTogetherUnlessOneIsAskedFor) {
  const std::string text = std::string(kHead) + "Tag=A,0.127,1.007,1.000," + histogram_of({1'000'000}, {}) +
                           "\n" + "0.127,1.007,2.000," + histogram_of({2'000'000}, {}) + "\n";
  SourceSummary summary;
  EXPECT_EQ(HlogRead(text, summary).rows.size(), 2U);
  ReadOptions options;
  options.where = {{"tag", "A"}};
  HlogRead one(text, summary, options);
  EXPECT_EQ(one.rows.size(), 1U);
  EXPECT_EQ(one.filtered, 1U);
  options.where = {{"host", "A"}};
  EXPECT_EQ(open_hlog(text, "a.hlog", options).error().code, ErrorCode::invalid_argument);
  ReadOptions grouped;
  grouped.group_by = "tag";
  EXPECT_EQ(open_hlog(text, "a.hlog", grouped).error().code, ErrorCode::invalid_argument);
}

TEST(Hlog, SetsAsideWhatIsNoIntervalAndSaysWhy) {
  const std::string good = histogram_of({1'000'000}, {});
  struct Case {
    std::string line;
    const char* reason;
  };
  for (const Case& each :
       {Case{"0.127,1.007,0.000," + good.substr(0, 30), "damaged histogram"},
        Case{"0.127,1.007", "not an interval"}, Case{"0.127,1.007,x," + good, "not an interval"},
        Case{"-1.0,1.007,0.000," + good, "not an interval"}, Case{"0.127,1.007,0.000,HIST,x", "not base64"},
        Case{"0.127,1.007,0.000,", "not an interval"}}) {
    SourceSummary summary;
    HlogRead sink(std::string(kHead) + "0.1,1.0,1.000," + good + "\r\n" + each.line + "\r\n", summary);
    EXPECT_EQ(sink.rows.size(), 1U) << each.line;
    EXPECT_EQ(sink.set_aside_text(), std::string(each.reason) + ": 1, line 6\n") << each.line;
  }
}

// Field case C09: a histogram that ends at 1 s and holds values there may have lost what was longer.
TEST(Hlog, WarnsWhereValuesReachTheHistogramsLimit) {
  const Settings settings{.highest = 1'000'000'000, .digits = 3};
  for (const std::uint64_t greatest : {999'999'999U, 945'000'000U}) {
    const std::string at_limit = kHead +
                                 fmt::format("0.127,1.007,{}.000,", (greatest + 999'999) / 1'000'000) +
                                 histogram_of({5'000'000, greatest}, settings) + "\n";
    SourceSummary summary;
    HlogRead sink(at_limit, summary);
    ASSERT_EQ(sink.notes.size(), 1U) << greatest;
    EXPECT_NE(sink.notes.begin()->first.find("--sent"), std::string::npos);
    EXPECT_NE(sink.notes.begin()->first.find("1 s"), std::string::npos) << sink.notes.begin()->first;
  }
  const std::string below =
      std::string(kHead) + "0.127,1.007,930.000," + histogram_of({5'000'000, 930'000'000}, settings) + "\n";
  SourceSummary summary;
  EXPECT_TRUE(HlogRead(below, summary).notes.empty());
}

TEST(Hlog, IsNotMistakenForOtherLogs) {
  for (const char* text : {"latency_ms,status\n1.5,200\n", "1,2,3,4\n", "# HELP x\n", "", "#"}) {
    EXPECT_FALSE(looks_like_hlog(text)) << text;
  }
  EXPECT_EQ(open_hlog("a,b\n1,2\n", "a.csv", {}).error().code, ErrorCode::unreadable_input);
}

// Times count from the base time met last before them, so that a file of many chunks must not be shared out.
TEST(Hlog, IsReadByOneThreadHoweverManyThereAre) {
  std::string text = kHead;
  const std::string line = ",1.000,0.000," + encoded({0, 0, 1, 2}, {}) + "\n";
  std::uint64_t late = 0;
  for (int block = 0; text.size() < (std::size_t{1} << 20); ++block) {
    text += std::string("#[BaseTime: ") + (block % 2 == 0 ? "1441812000" : "1541812000") +
            ".000 (seconds since epoch)]\n";
    for (int i = 0; i < 20; ++i) text += std::to_string(i) + ".000" + line;
    if (block % 2 == 1) late += 60;
  }
  const std::string path = testing::TempDir() + "many_intervals.hlog";
  std::ofstream(path) << text;
  ReadOptions options;
  options.unit = Duration(1);
  options.since = WallTime(std::chrono::seconds(1'500'000'000));
  for (const unsigned threads : {1U, 2U, 8U}) {
    options.threads = threads;
    const auto log = read_log(path, options);
    ASSERT_TRUE(log) << log.error().message;
    EXPECT_EQ(log->source.attempts, late);
    EXPECT_TRUE(log->source.set_aside.empty());
  }
}

TEST(Hlog, HandsOnNoMoreRowsOfACountThanCanBeWaitedFor) {
  SourceSummary summary;
  const std::string text = kHead + ("1.0,1.000,0.000," + encoded({0, 0, std::int64_t{1} << 40}, {})) + "\n";
  std::uint64_t rows = 0;
  ReadOptions options;
  options.unit = Duration(1);
  const auto read =
      read_attempts(text, "a.hlog", options,
                    [&](auto taken, const auto&, const auto&, const auto&) { rows += taken.size(); });
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(rows, 65'536U);
  EXPECT_TRUE(std::ranges::find(read->notes, "counts above 65,536 are handed on as that many rows") !=
              read->notes.end());
}

}  // namespace
}  // namespace overdue
