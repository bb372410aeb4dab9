#include "overdue/latency/measurement.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "overdue/base/random.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kStart{std::chrono::seconds(1'790'000'000)};

struct Reader {
  NameTable backends;
  NameTable routes;
};

Attempt reply(Duration elapsed) {
  Attempt attempt;
  attempt.elapsed = elapsed;
  attempt.begins_call = true;
  return attempt;
}

Attempt ended(Ending ending, Duration elapsed, std::uint16_t backend = 0) {
  Attempt attempt = reply(elapsed);
  attempt.ending = ending;
  attempt.backend = backend;
  return attempt;
}

Attempt started(Attempt attempt, Duration after_start) {
  attempt.start = kStart + after_start;
  attempt.has_start = true;
  return attempt;
}

std::uint64_t replied(const EndingTable& table) {
  return std::accumulate(table.begin(), table.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const EndingRow& row) { return sum + row.replied; });
}

std::string text_of(const EndingTable& table) {
  std::ostringstream text;
  for (const EndingRow& row : table) {
    text << row.low.count() << ' ' << row.mid.count() << ' ' << row.high.count() << ": " << row.replied << ' '
         << row.rejected << ' ' << row.reset << ' ' << row.timed_out << ' ' << row.abandoned << '\n';
  }
  return text.str();
}

std::string text_of(const BucketCounts& counts) {
  std::ostringstream text;
  for (std::uint32_t bucket = counts.first(); bucket < counts.first() + counts.size(); ++bucket) {
    if (counts.count_at(bucket) > 0) text << ' ' << bucket << 'x' << counts.count_at(bucket);
  }
  return text.str();
}

// Everything a measurement answers, by name and not by id, so that two can be compared.
std::string text_of(const Measurement& measurement) {
  std::ostringstream text;
  text << "resolution " << static_cast<int>(measurement.resolution()) << " calls " << measurement.calls()
       << " attempts " << measurement.attempts() << " untimed " << measurement.untimed_give_ups() << " zeros "
       << measurement.exact_zeros() << " started " << measurement.with_start() << " negative "
       << measurement.negative_elapsed << '\n';
  if (measurement.first_start()) {
    text << measurement.first_start()->time_since_epoch().count() << ' '
         << measurement.last_start()->time_since_epoch().count() << ' '
         << measurement.last_end()->time_since_epoch().count() << '\n';
  }
  text << text_of(measurement.table());
  std::map<std::string, std::string> named;
  const TimeGrid& blocks = measurement.blocks();
  for (std::uint16_t backend = 0; backend < measurement.backends().size(); ++backend) {
    std::ostringstream own;
    for (const std::uint64_t count : measurement.endings_of(backend)) own << count << ' ';
    own << '\n' << text_of(measurement.table_of(backend));
    for (std::uint16_t ending = 0; ending < kEndingCount; ++ending) {
      for (std::uint32_t block = 0; block < blocks.block_count(); ++block) {
        own << text_of(blocks.at(Measurement::series_of(backend, static_cast<Ending>(ending)), block)) << ';';
      }
    }
    if (measurement.attempts() > 0) named["backend " + measurement.backends().name_of(backend)] = own.str();
  }
  for (std::uint16_t route = 0; route < measurement.routes().size(); ++route) {
    named["route " + measurement.routes().name_of(route)] = measurement.replies_by_route()[route].serialise();
  }
  for (const auto& [name, own] : named) text << name << ": " << own << '\n';
  for (const TimeGrid* grid : {&blocks, &measurement.seconds()}) {
    if (grid->empty()) continue;
    text << "grid from " << grid->first_block_start().time_since_epoch().count() << " by "
         << grid->block_length().count() << ':';
    for (std::uint32_t block = 0; block < grid->block_count(); ++block)
      text << text_of(grid->at(0, block)) << ';';
  }
  const Measurement::Starts starts = measurement.starts();
  text << "\nstarts " << starts.first_cell_start.time_since_epoch().count() << ' '
       << starts.cell_length.count() << ':';
  for (const std::uint32_t count : starts.counts) text << ' ' << count;
  text << "\nlongest";
  for (const auto& [start, elapsed] : measurement.longest()) {
    text << ' ' << start.time_since_epoch().count() << '+' << elapsed.count();
  }
  text << "\nconnect " << measurement.connect_times().serialise() << " overflowed "
       << measurement.routes_overflowed() << " connects";
  for (const EndingRow& row : measurement.connect_table())
    text << ' ' << row.mid.count() << '*' << row.replied;
  return text.str();
}

TEST(Measurement, KeepsEachLatencyExactlyWithItsEndings) {
  Reader reader;
  Measurement measurement;
  measurement.add(std::vector{reply(3ms), reply(1ms), reply(3ms), ended(Ending::timed_out, 3ms),
                              ended(Ending::rejected, 2ms), ended(Ending::reset, 2ms),
                              ended(Ending::abandoned, 7ms), ended(Ending::refused, 9ms)},
                  reader.backends, reader.routes);
  EXPECT_EQ(text_of(measurement.table()),
            "1000000 1000000 1000000: 1 0 0 0 0\n"
            "2000000 2000000 2000000: 0 1 1 0 0\n"
            "3000000 3000000 3000000: 2 0 0 1 0\n"
            "7000000 7000000 7000000: 0 0 0 0 1\n");
  EXPECT_EQ(measurement.attempts(), 8U);
  EXPECT_EQ(measurement.endings(), (std::array<std::uint64_t, kEndingCount>{3, 1, 1, 1, 1, 1}));
  EXPECT_EQ(measurement.resolution(), Measurement::Resolution::exact);
  EXPECT_FALSE(measurement.first_start().has_value());
  EXPECT_TRUE(measurement.blocks().empty());
  EXPECT_TRUE(measurement.starts().counts.empty());
}

TEST(Measurement, CountsUntimedGiveUpsAtZeroAndZerosOfReplies) {
  Reader reader;
  Measurement measurement;
  Attempt untimed = ended(Ending::timed_out, 0ns);
  untimed.untimed = true;
  Attempt untimed_reset = ended(Ending::reset, 0ns);
  untimed_reset.untimed = true;
  measurement.add(std::vector{untimed, untimed, untimed_reset, reply(0ns), reply(1ns)}, reader.backends,
                  reader.routes);
  EXPECT_EQ(measurement.untimed_give_ups(), 2U);
  EXPECT_EQ(measurement.exact_zeros(), 1U);
  EXPECT_EQ(text_of(measurement.table()), "0 0 0: 1 0 1 2 0\n1 1 1: 1 0 0 0 0\n");
}

TEST(Measurement, RefusedAttemptsAreCountedAndNowhereElse) {
  Reader reader;
  Measurement measurement;
  Attempt refused = started(ended(Ending::refused, 5ms), 0s);
  refused.has_connect = true;
  measurement.add(std::vector{refused}, reader.backends, reader.routes);
  EXPECT_EQ(measurement.endings()[static_cast<std::size_t>(Ending::refused)], 1U);
  EXPECT_EQ(measurement.calls(), 1U);
  EXPECT_TRUE(measurement.table().empty());
  EXPECT_EQ(measurement.with_start(), 0U);
  EXPECT_TRUE(measurement.blocks().empty());
  EXPECT_TRUE(measurement.longest().empty());
  EXPECT_TRUE(measurement.connect_times().empty());
}

TEST(Measurement, LeavesOutBackendsAskedFor) {
  Reader reader;
  reader.backends.id_of("a");
  reader.backends.id_of("b");
  Measurement measurement;
  measurement.add(std::vector{ended(Ending::replied, 1ms, 1), ended(Ending::replied, 2ms, 2),
                              ended(Ending::timed_out, 9ms, 2)},
                  reader.backends, reader.routes);
  const std::uint16_t b = measurement.backends().name_of(1) == "b" ? 1 : 2;
  std::vector<bool> leave_out(b + 1U);
  leave_out[b] = true;
  EXPECT_EQ(text_of(measurement.table(leave_out)), "1000000 1000000 1000000: 1 0 0 0 0\n");
  EXPECT_EQ(text_of(measurement.table_of(b)),
            "2000000 2000000 2000000: 1 0 0 0 0\n9000000 9000000 9000000: 0 0 0 1 0\n");
}

TEST(Measurement, KnowsBackendsByNameWhateverIdsAReaderGives) {
  Reader one;
  one.backends.id_of("a");
  one.backends.id_of("b");
  Reader two;
  two.backends.id_of("b");
  two.backends.id_of("a");
  Measurement measurement;
  measurement.add(std::vector{ended(Ending::replied, 1ms, 1)}, one.backends, one.routes);
  measurement.add(std::vector{ended(Ending::replied, 1ms, 2)}, two.backends, two.routes);
  measurement.add(std::vector{ended(Ending::replied, 2ms, 2)}, one.backends, one.routes);
  ASSERT_EQ(measurement.backends().size(), 3U);
  EXPECT_EQ(measurement.backends().name_of(1), "a");
  EXPECT_EQ(measurement.endings_of(1)[0], 2U);
  EXPECT_EQ(measurement.endings_of(2)[0], 1U);
}

TEST(Measurement, StaysExactAtTheLastDistinctLatencyAndNotOneFurther) {
  Reader reader;
  for (const bool by_halves : {false, true}) {
    Measurement first;
    Measurement second;
    std::vector<Attempt> rows;
    for (std::size_t value = 0; value < Measurement::kDistinctMax; ++value) {
      rows.push_back(
          ended(value % 10 == 0 ? Ending::timed_out : Ending::replied, Duration(1'000'000 + 1001 * value)));
    }
    const std::span<const Attempt> all(rows);
    first.add(all.first(all.size() / 2), reader.backends, reader.routes);
    (by_halves ? second : first).add(all.subspan(all.size() / 2), reader.backends, reader.routes);
    first.merge(second);
    EXPECT_EQ(first.resolution(), Measurement::Resolution::exact);
    const EndingTable table = first.table();
    ASSERT_EQ(table.size(), Measurement::kDistinctMax);
    EXPECT_EQ(table[123'456].low, Duration(1'000'000 + 1001 * 123'456));

    Measurement one_more;
    one_more.add(std::vector{reply(999us)}, reader.backends, reader.routes);
    first.merge(one_more);
    EXPECT_EQ(first.resolution(), Measurement::Resolution::bucket);
    const EndingTable by_bucket = first.table();
    EXPECT_EQ(replied(by_bucket), 180'001U);
    EXPECT_EQ(by_bucket.front().low, 999us);
    EXPECT_EQ(by_bucket.back().high, Duration(1'000'000 + 1001 * 199'999));
    for (const EndingRow& row : by_bucket) {
      ASSERT_LE(row.low, row.mid);
      ASSERT_LE(row.mid, row.high);
    }
    first.add(std::vector{reply(999us)}, reader.backends, reader.routes);
    EXPECT_EQ(first.resolution(), Measurement::Resolution::bucket);
    EXPECT_EQ(replied(first.table()), 180'002U);
  }
}

TEST(Measurement, ABucketNeverEndsBelowALatencyInIt) {
  Reader reader;
  reader.backends.id_of("a");
  reader.backends.id_of("b");
  Measurement measurement;
  std::vector<Attempt> rows;
  for (int value = 0; value < 210'000; ++value) {
    rows.push_back(started(
        ended(Ending::replied, 1ms + value * 1us, static_cast<std::uint16_t>(1 + value % 2)), value * 1ms));
  }
  rows.push_back(ended(Ending::timed_out, 100h, 2));  // Longer than the last bucket, and without a start.
  measurement.add(rows, reader.backends, reader.routes);
  ASSERT_EQ(measurement.resolution(), Measurement::Resolution::bucket);
  EXPECT_EQ(measurement.table().back().high, 100h);
  for (std::uint16_t backend = 1; backend <= 2; ++backend) {
    const bool has_give_up = measurement.endings_of(backend)[static_cast<std::size_t>(Ending::timed_out)] > 0;
    const EndingTable table = measurement.table_of(backend);
    const EndingRow& last = table[table.size() - (has_give_up ? 2 : 1)];
    const Duration longest = 1ms + (has_give_up ? 209'999us : 209'998us);
    EXPECT_GE(last.high, longest);
    EXPECT_LE(last.low, longest);
    if (!has_give_up) {
      EXPECT_EQ(last.high, longest);
    }
    EXPECT_EQ(replied(table), 105'000U);
  }
}

TEST(Measurement, FillsInTheCallsAClosedLoopDidNotSend) {
  // C14: one worker, a call due each 100 ms, frozen from 12 to 24 s.
  for (const bool exact : {true, false}) {
    Measurement measurement;
    measurement.add_counts(Ending::replied, 40ms, 279);
    measurement.add_counts(Ending::replied, 12'040ms, 1);
    Measurement many;
    if (!exact) {
      Reader reader;
      std::vector<Attempt> refuge;
      for (int value = 0; value <= 200'000; ++value)
        refuge.push_back(ended(Ending::abandoned, Duration(value)));
      many.add(refuge, reader.backends, reader.routes);
      measurement.merge(many);
    }
    measurement.fill_in_expected(100ms);
    const EndingTable table = measurement.table();
    EXPECT_EQ(replied(table), 399U);
    EXPECT_EQ(measurement.endings()[0], 399U);
    const auto at = [&](double q) { return reply_at(table, Quantile{q}).value(); };
    if (exact) {
      EXPECT_EQ(at(0.5).mid, 40ms);
      EXPECT_EQ(at(0.9).mid, 8140ms);
      EXPECT_EQ(at(0.99).mid, 11'740ms);
      Duration sum{};
      for (const EndingRow& row : table) sum += row.mid * row.replied;
      EXPECT_EQ((sum + 199ms) / 399 / 1ms, 1860);  // Rounded.
      EXPECT_EQ(table[1].mid, 140ms);
    } else {
      // By bucket, each is as far off as the call it was taken from, and its own bucket.
      EXPECT_LE(std::chrono::abs(at(0.9).mid - 8140ms), 12'040ms / 129 + 8140ms / 129);
      EXPECT_LE(std::chrono::abs(at(0.99).mid - 11'740ms), 12'040ms / 129 + 11'740ms / 129);
    }
  }
}

TEST(Measurement, FillsInDownToOneIntervalAndNotBelow) {
  Measurement measurement;
  measurement.add_counts(Ending::replied, 300ms, 2);
  measurement.add_counts(Ending::replied, 199ms, 1);
  measurement.add_counts(Ending::timed_out, 900ms, 1);
  measurement.fill_in_expected(100ms);
  EXPECT_EQ(text_of(measurement.table()),
            "100000000 100000000 100000000: 2 0 0 1 0\n"
            "199000000 199000000 199000000: 1 0 0 0 0\n"
            "200000000 200000000 200000000: 2 0 0 1 0\n"
            "300000000 300000000 300000000: 2 0 0 1 0\n"
            "400000000 400000000 400000000: 0 0 0 1 0\n"
            "500000000 500000000 500000000: 0 0 0 1 0\n"
            "600000000 600000000 600000000: 0 0 0 1 0\n"
            "700000000 700000000 700000000: 0 0 0 1 0\n"
            "800000000 800000000 800000000: 0 0 0 1 0\n"
            "900000000 900000000 900000000: 0 0 0 1 0\n");
}

TEST(Measurement, AFillInOfTooManyValuesEndsByBucket) {
  Measurement measurement;
  measurement.add_counts(Ending::replied, 100s, 1);
  measurement.fill_in_expected(1ns);
  EXPECT_EQ(measurement.resolution(), Measurement::Resolution::bucket);
  EXPECT_EQ(replied(measurement.table()), 100'000'000'000U);
  EXPECT_EQ(measurement.table().front().low, 1ns);
}

TEST(Measurement, CountsOfAnIntervalAreInItsBlock) {
  Measurement measurement;
  measurement.add_counts(Ending::replied, 20ms, 5'000'000'000U, kStart);
  measurement.add_counts(Ending::replied, 20ms, 1, kStart + 10s);
  ASSERT_EQ(measurement.blocks().block_count(), 161U);
  EXPECT_EQ(measurement.blocks().at(0, 0).total(), 5'000'000'000U);
  EXPECT_EQ(measurement.with_start(), 5'000'000'001U);
  EXPECT_EQ(measurement.last_end(), kStart + 10s + 20ms);
  EXPECT_EQ(replied(measurement.table()), 5'000'000'001U);
}

TEST(Measurement, KeepsTheLongestAttemptsEarlierOnesFirst) {
  Reader reader;
  std::vector<Attempt> rows;
  for (int row = 0; row < 20'000; ++row) rows.push_back(started(reply(1ms * (row % 3)), 10ms * row));
  Measurement measurement;
  measurement.add(rows, reader.backends, reader.routes);
  const std::vector<Measurement::Interval> longest = measurement.longest();
  ASSERT_EQ(longest.size(), Measurement::kLongestMax);
  for (std::size_t place = 0; place < longest.size(); ++place) {
    ASSERT_EQ(longest[place].elapsed, 2ms);
    ASSERT_EQ(longest[place].start, kStart + 10ms * (3 * static_cast<std::int64_t>(place) + 2));
  }
}

TEST(Measurement, CountsStartsInAtMost65536Cells) {
  Reader reader;
  std::vector<Attempt> rows;
  for (int row = 0; row < 70'000; ++row) rows.push_back(started(reply(1ms), 1ms * row));
  Measurement measurement;
  measurement.add(rows, reader.backends, reader.routes);
  const Measurement::Starts starts = measurement.starts();
  EXPECT_EQ(starts.cell_length, 2ms);
  EXPECT_EQ(starts.first_cell_start, kStart);
  EXPECT_EQ(starts.counts, std::vector<std::uint32_t>(35'000, 2));
}

TEST(Measurement, ManyBackendsHaveFewerBlocks) {
  for (const auto& [backends, blocks_max] :
       std::map<int, std::uint32_t>{{16, 256}, {17, 128}, {32, 128}, {33, 64}, {1000, 32}}) {
    Reader reader;
    std::vector<Attempt> rows;
    for (int backend = 1; backend <= backends; ++backend) {
      const auto id = reader.backends.id_of("b" + std::to_string(backend));
      rows.push_back(started(ended(Ending::replied, 1ms, id), backend * (15s / backends)));
    }
    rows.push_back(started(ended(Ending::replied, 1ms, 1), 255 * 62'500us));
    Measurement measurement;
    measurement.add(rows, reader.backends, reader.routes);
    EXPECT_EQ(measurement.blocks().block_length(), 62'500us * (256 / blocks_max)) << backends;
    EXPECT_LE(measurement.blocks().block_count(), blocks_max) << backends;
  }
}

TEST(Measurement, RoutesAreKeptByNameUpToTheirLimitAndThenNotAtAll) {
  for (const std::size_t routes : {Measurement::kRoutesMax, Measurement::kRoutesMax + 1}) {
    Reader reader;
    std::vector<Attempt> rows;
    for (std::size_t route = 1; route <= routes; ++route) {
      Attempt row = reply(std::chrono::microseconds(route));
      row.route = reader.routes.id_of("/" + std::to_string(route));
      rows.push_back(row);
    }
    rows.push_back(reply(5ms));
    Measurement together;
    together.add(rows, reader.backends, reader.routes);
    Measurement first;
    Measurement second;
    first.add(std::span(rows).first(500), reader.backends, reader.routes);
    second.add(std::span(rows).subspan(500), reader.backends, reader.routes);
    first.merge(second);
    for (const Measurement* measurement : {&together, &first}) {
      EXPECT_EQ(measurement->routes_overflowed(), routes > Measurement::kRoutesMax);
      EXPECT_EQ(measurement->replies_by_route().size(), routes > Measurement::kRoutesMax ? 0U : routes + 1);
    }
    if (!first.routes_overflowed()) {
      EXPECT_TRUE(first.replies_by_route()[0].empty());
      EXPECT_EQ(first.replies_by_route()[700].max(), 700us);
      EXPECT_EQ(first.routes().name_of(700), "/700");
    }
  }
}

std::vector<Attempt> some_rows(Reader& reader, std::size_t count, std::int64_t step_ns) {
  for (const char* name : {"a", "b", "c"}) reader.backends.id_of(name), reader.routes.id_of(name);
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<Attempt> rows;
  for (std::size_t row = 0; row < count; ++row) {
    Attempt attempt = ended(static_cast<Ending>(random.below(kEndingCount)),
                            Duration(static_cast<std::int64_t>(random.below(400'000)) * step_ns),
                            static_cast<std::uint16_t>(random.below(4)));
    attempt.route = static_cast<std::uint16_t>(random.below(4));
    if (random.below(4) > 0) {
      attempt = started(
          attempt,
          Duration(static_cast<std::int64_t>(random.below(std::uint64_t{1} << (30 + random.below(14))))));
    }
    attempt.begins_call = random.below(2) == 0;
    attempt.untimed = random.below(5) == 0;
    attempt.has_connect = random.below(2) == 0;
    attempt.connect = Duration(static_cast<std::int64_t>(random.below(1'000'000)));
    rows.push_back(attempt);
  }
  return rows;
}

RC_GTEST_PROP(Measurement, AnyPartitionMergedInAnyOrderGivesTheSame, ()) {
  Reader reader;
  const std::vector<Attempt> rows = some_rows(reader, *rc::gen::inRange<std::size_t>(0, 300), 1'000);
  Measurement whole;
  whole.add(rows, reader.backends, reader.routes);

  const auto parts = *rc::gen::inRange<std::size_t>(1, 5);
  std::vector<std::vector<Attempt>> rows_of(parts);
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  for (const Attempt& row : rows) rows_of[random.below(parts)].push_back(row);
  std::vector<Measurement> measured(parts);
  for (std::size_t part = 0; part < parts; ++part) {
    std::ranges::reverse(rows_of[part]);
    measured[part].add(rows_of[part], reader.backends, reader.routes);
  }
  while (measured.size() > 1) {
    const auto from = *rc::gen::inRange<std::size_t>(1, measured.size());
    measured[0].merge(measured[from]);
    measured.erase(measured.begin() + static_cast<std::ptrdiff_t>(from));
    if (measured.size() > 1) std::swap(measured[0], measured[1]);
  }
  RC_ASSERT(text_of(measured[0]) == text_of(whole));
}

TEST(Measurement, ALogOfManyLatenciesIsTheSameWhereverItIsSplit) {
  Reader reader;
  for (const char* name : {"a", "b"}) reader.backends.id_of(name);
  Random random(11);
  std::vector<Attempt> rows;
  for (int row = 0; row < 220'000; ++row) {
    rows.push_back(started(ended(random.below(50) == 0 ? Ending::timed_out : Ending::replied,
                                 Duration(static_cast<std::int64_t>(random.next() >> 34)),
                                 static_cast<std::uint16_t>(random.below(3))),
                           row * 1ms));
  }
  Measurement whole;
  whole.add(rows, reader.backends, reader.routes);
  EXPECT_EQ(whole.resolution(), Measurement::Resolution::bucket);
  const std::string expected = text_of(whole);
  for (const std::size_t split : {std::size_t{1}, rows.size() / 3, rows.size() - 1}) {
    Measurement first;
    Measurement second;
    first.add(std::span(rows).first(split), reader.backends, reader.routes);
    second.add(std::span(rows).subspan(split), reader.backends, reader.routes);
    second.merge(first);
    EXPECT_EQ(text_of(second), expected);
  }
}

}  // namespace
}  // namespace overdue
