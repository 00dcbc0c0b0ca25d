#include "ranktune/sampling/distributed_sampler.h"

#include <gmock/gmock.h>

#include "support/fixture.h"

namespace ranktune::sampling {
namespace {

using testing::ElementsAre;
using Rows = std::vector<std::int64_t>;

TEST(DistributedSampler, IsTorchsIndexForIndex) {
  const nlohmann::json cases = tests::read_fixture("sampling/distributed_sampler.json");
  ASSERT_EQ(cases.size(), 200U);
  for (const nlohmann::json& one : cases) {
    const std::int64_t ranks = one.at("ranks");
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      const DistributedSampler sampler(
          one.at("rows"), ranks, rank,
          {.shuffle = one.at("shuffle"), .seed = one.at("seed"), .drop_last = one.at("drop_last")});
      const Rows expected = one.at("orders").at(static_cast<std::size_t>(rank));
      EXPECT_EQ(sampler.order(one.at("epoch").get<std::int64_t>()), expected) << one;
      EXPECT_EQ(sampler.size(), std::ssize(expected)) << one;
    }
  }
}

TEST(DistributedSampler, SetEpochChangesTheOrderAndForgettingItDoesNot) {
  DistributedSampler sampler(11, 2, 0, {.seed = 42});
  const Rows first = sampler.order();
  EXPECT_EQ(sampler.order(), first);
  sampler.set_epoch(3);
  EXPECT_THAT(sampler.order(), ElementsAre(7, 9, 6, 8, 10, 3));
  sampler.set_epoch(0);
  EXPECT_EQ(sampler.order(), first);
}

TEST(DistributedSampler, HasNothingToDealOfNoRows) {
  EXPECT_TRUE(DistributedSampler(0, 3, 1).order(0).empty());
}

TEST(ShardBatches, IsAcceleratesIndexForIndex) {
  const nlohmann::json cases = tests::read_fixture("sampling/batch_sampler_shard.json");
  ASSERT_EQ(cases.size(), 200U);
  for (const nlohmann::json& one : cases) {
    const BatchSharding sharding{.per_device_batch = one.at("per_device_batch"),
                                 .ranks = one.at("ranks"),
                                 .even_batches = one.at("even_batches"),
                                 .drop_last = one.at("drop_last")};
    for (std::int64_t rank = 0; rank < sharding.ranks; ++rank) {
      const std::vector<Rows> expected = one.at("batches").at(static_cast<std::size_t>(rank));
      EXPECT_EQ(shard_batches(one.at("rows"), sharding, rank), expected) << one << " rank " << rank;
    }
  }
}

}  // namespace
}  // namespace ranktune::sampling
