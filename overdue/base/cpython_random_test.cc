#include "overdue/base/cpython_random.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace overdue {
namespace {

// The first draws of CPython's own random.Random(seed): random(), then lognormvariate(2.0, 0.5), then
// uniform(40, 400), from one stream in that order. Exact doubles.
struct Reference {
  std::uint64_t seed;
  std::array<double, 5> random;
  std::array<double, 5> lognormvariate;
  std::array<double, 3> uniform;
};
const Reference kReferences[] = {
    {7U,
     {0.32383276483316237, 0.15084917392450192, 0.6509344730398537, 0.07243628666754276, 0.5358820043066892},
     {6.538445894712187, 7.438182795032867, 6.950469082405997, 4.0146526147184645, 10.17542550082817},
     {120.36602725852524, 265.8759600660121, 381.17521928452203}},
    {0U,
     {0.8444218515250481, 0.7579544029403025, 0.420571580830845, 0.25891675029296335, 0.5112747213686085},
     {5.0674254085391235, 5.353040792331721, 16.092755831800385, 7.430535448602765, 13.130690287799268},
     {130.18228289047858, 367.50865214856645, 393.8027713735551}},
    {1U,
     {0.13436424411240122, 0.8474337369372327, 0.763774618976614, 0.2550690257394217, 0.49543508709194095},
     {6.525052912992906, 9.711484429102894, 5.79736592670669, 9.45359297783624, 13.246817714676535},
     {177.2335255677565, 117.97578296702082, 191.96196720977824}},
    {4294967295U,
     {0.6353574441341173, 0.20319993954407756, 0.6073666030347188, 0.29133552762158776, 0.3400278163075766},
     {5.325778842265008, 11.588742648578176, 13.173931003999021, 10.987733256720366, 15.073735547391783},
     {159.17812119023966, 176.09639241432743, 197.9678485164212}},
    {4294967296U,
     {0.11299430095636409, 0.41782886486292836, 0.0166763664992291, 0.6117214625782752, 0.8056470212514185},
     {5.375978845127072, 7.043094947333559, 7.399515573519216, 1.8183497646750408, 11.108527166944642},
     {167.26427720752986, 378.885559844791, 252.06938553361684}},
    {18446744073709551615U,
     {0.021825695401270107, 0.3380953268613758, 0.21196748656082065, 0.6151259995625727, 0.9195709817171983},
     {4.889496743475974, 16.30333283066585, 10.718619741335765, 6.062750897495101, 8.26590701435556},
     {146.6408532145427, 246.1964951800494, 261.3119102986784}},
};

TEST(CpythonRandom, DrawsWhatCPythonDrawsForSeedsOfOneAndTwoWords) {
  for (const Reference& reference : kReferences) {
    CpythonRandom random(reference.seed);
    for (const double expected : reference.random) EXPECT_EQ(random.random(), expected) << reference.seed;
    for (const double expected : reference.lognormvariate) {
      EXPECT_EQ(random.lognormvariate(2.0, 0.5), expected) << reference.seed;
    }
    for (const double expected : reference.uniform)
      EXPECT_EQ(random.uniform(40, 400), expected) << reference.seed;
  }
}

// A block of the generator is 312 doubles; what CPython gives around the ends of blocks, and far on.
TEST(CpythonRandom, StaysInStepAcrossItsBlocks) {
  CpythonRandom random(7);
  std::vector<double> draws(1'000'001);
  for (double& draw : draws) draw = random.random();
  EXPECT_EQ(draws[311], 0.8324446694829476);
  EXPECT_EQ(draws[312], 0.16146605988087914);
  EXPECT_EQ(draws[313], 0.4315218179976389);
  EXPECT_EQ(draws[623], 0.33820310050331803);
  EXPECT_EQ(draws[624], 0.06205951793600539);
  EXPECT_EQ(draws[1000000], 0.8550423246816186);
}

// The sums of many draws, where the shortcuts that avoid a logarithm have all been taken.
TEST(CpythonRandom, StaysInStepOverAHundredThousandNormals) {
  CpythonRandom random(7);
  double sum = 0;
  double last = 0;
  for (int i = 0; i < 100'000; ++i) sum += last = random.normalvariate(0.0, 1.0);
  EXPECT_EQ(last, 1.8028024132168694);
  EXPECT_EQ(sum, -47.106126609498226);
  EXPECT_EQ(random.random(), 0.8024627604076353);
}

}  // namespace
}  // namespace overdue
