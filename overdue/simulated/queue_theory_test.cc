// The engine against closed forms (Erlang C, Pollaczek-Khinchine): means over seeds within three standard
// errors of their own spread.

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <functional>
#include <vector>

#include "overdue/latency/distribution.h"
#include "overdue/simulated/process.h"

namespace overdue {
namespace {

using Draw = std::function<double(Random&)>;

Duration seconds(double value) { return Duration(static_cast<std::int64_t>(value * 1e9)); }

// Customers come, wait in one line for one of `servers` processes, and leave.
struct Shop {
  Shop(std::uint64_t seed, double rate, std::size_t count, const Draw& draw)
      : arrivals(seed, 0), services(seed, 1), mean_gap(1 / rate), service(draw) {
    ids.push_back(start(engine, arrive()));
    for (std::size_t i = 0; i < count; ++i) ids.push_back(start(engine, serve()));
  }
  ~Shop() {
    for (const ProcessId id : ids) cancel(engine, id);
  }
  Shop(const Shop&) = delete;
  Shop& operator=(const Shop&) = delete;

  Process arrive() {
    for (;;) {
      co_await hold(seconds(mean_gap * standard_exponential(arrivals)));
      line.push_back(engine.now());
      came.wake_one();
    }
  }
  Process serve() {
    for (;;) {
      while (line.empty()) co_await came.wait();
      const Instant came_at = line.front();
      line.pop_front();
      const Duration waited = engine.now() - came_at;
      const Duration takes = seconds(service(services));
      if (engine.now() > Instant{} + std::chrono::seconds(500)) {  // Settled.
        ++customers;
        if (waited > Duration::zero()) ++had_to_wait;
        wait += std::chrono::duration<double>(waited).count();
        response += std::chrono::duration<double>(waited + takes).count();
      }
      co_await hold(takes);
    }
  }

  Engine engine;
  Random arrivals;
  Random services;
  double mean_gap;
  Draw service;
  std::deque<Instant> line;
  Signal came;
  std::vector<ProcessId> ids;
  double customers = 0;
  double had_to_wait = 0;
  double wait = 0;
  double response = 0;
};

void expect_mean(const std::vector<double>& values, double expected, const char* what) {
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / n;
  double variance = 0;
  for (const double value : values) variance += (value - mean) * (value - mean) / (n - 1);
  EXPECT_NEAR(mean, expected, 3 * std::sqrt(variance / n)) << what;
}

struct Theory {
  const char* name;
  double arrival_rate;
  std::size_t servers;
  Draw service;
  double mean_wait;
  double mean_response;     // 0: not given.
  double wait_probability;  // 0: not given.
};

double exponential(Random& random) { return standard_exponential(random); }

class QueueTheory : public testing::TestWithParam<Theory> {};

TEST_P(QueueTheory, AgreesWithTheClosedFormOverTwentyFourSeeds) {
  const Theory& theory = GetParam();
  std::vector<double> wait;
  std::vector<double> response;
  std::vector<double> had_to_wait;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    Shop shop(seed, theory.arrival_rate, theory.servers, theory.service);
    shop.engine.run_until(Instant{} + std::chrono::seconds(20'500));
    wait.push_back(shop.wait / shop.customers);
    response.push_back(shop.response / shop.customers);
    had_to_wait.push_back(shop.had_to_wait / shop.customers);
  }
  expect_mean(wait, theory.mean_wait, "wait");
  if (theory.mean_response > 0) expect_mean(response, theory.mean_response, "response");
  if (theory.wait_probability > 0) expect_mean(had_to_wait, theory.wait_probability, "share that waits");
}

INSTANTIATE_TEST_SUITE_P(ClosedForms, QueueTheory,
                         testing::Values(Theory{"mm1_half", 0.5, 1, exponential, 1.0, 2.0, 0.5},
                                         Theory{"mm1_busy", 0.9, 1, exponential, 9.0, 10.0, 0.9},
                                         Theory{"mm10", 8, 10, exponential, 0.20459007539822174,
                                                1.2045900753982217, 0.4091801507964435},
                                         Theory{"mm2", 1.6, 2, exponential, 1.7777777777777783,
                                                2.7777777777777786, 0.7111111111111111},
                                         Theory{"md1", 0.8, 1, [](Random&) { return 1.0; }, 2.0, 0, 0},
                                         // A squared coefficient of variation of 4 by a balanced
                                         // hyperexponential: one of two exponentials, with shares p and 1 - p
                                         // and means 1/(2p) and 1/(2(1-p)), p = (1 + sqrt(3/5))/2.
                                         Theory{"mg1", 0.7, 1,
                                                [](Random& random) {
                                                  const double p = (1 + std::sqrt(0.6)) / 2;
                                                  return standard_exponential(random) /
                                                         (2 * (random.uniform() < p ? p : 1 - p));
                                                },
                                                5.833333333333332, 0, 0}),
                         [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace overdue
