#include "ranktune/launch/port_holder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "ranktune/core/error.h"
#include "support/error_text.h"

namespace ranktune::launch {
namespace {

using ::testing::HasSubstr;
using tests::error_text;

/// A socket on a port of this machine. `share`: with SO_REUSEADDR, as TCPStore makes it.
class Socket {
 public:
  Socket(int family, bool share) : family_(family), socket_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int value = share ? 1 : 0;
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &value, sizeof value);
  }

  bool listen_on(std::int64_t port) {
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(static_cast<std::uint16_t>(port));
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = six.sin6_port;
    const bool new_one = family_ == AF_INET6;
    const auto* address =
        new_one ? reinterpret_cast<const sockaddr*>(&six) : reinterpret_cast<const sockaddr*>(&four);
    const socklen_t size = new_one ? sizeof six : sizeof four;
    return ::bind(socket_.get(), address, size) == 0 && ::listen(socket_.get(), 4) == 0;
  }

  std::int64_t port() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
  }

 private:
  int family_;
  Descriptor socket_;
};

TEST(PortHolder, KeepsAFreePortForTheStore) {
  const PortHolder holder(0);
  EXPECT_GT(holder.port(), 1023);
  EXPECT_FALSE(Socket(AF_INET, false).listen_on(holder.port())) << "another program got the port";
  EXPECT_TRUE(Socket(AF_INET, true).listen_on(holder.port()));
  EXPECT_TRUE(Socket(AF_INET, true).listen_on(holder.port())) << "after a restart of the ranks";
}

TEST(PortHolder, LetsTheStoreListenOnBothKindsOfAddresses) {
  Socket store(AF_INET6, true);
  const PortHolder holder(0);
  if (!store.listen_on(holder.port()) && errno == EAFNOSUPPORT) GTEST_SKIP() << "there is no IPv6 here";
  Socket another(AF_INET6, true);
  EXPECT_FALSE(another.listen_on(holder.port())) << "the first one listens";
}

TEST(PortHolder, GivesEachLauncherAnotherPort) {
  const PortHolder first(0), second(0);
  EXPECT_NE(first.port(), second.port());
}

TEST(PortHolder, NamesTheProcessThatListensOnAGivenPort) {
  Socket taken(AF_INET, true);
  ASSERT_TRUE(taken.listen_on(0));
  const std::string error = error_text<UsageError>([&] { PortHolder(taken.port()); });
  EXPECT_THAT(error, HasSubstr("--master_port " + std::to_string(taken.port()) + ": taken by pid " +
                               std::to_string(::getpid()) + " ("));
}

TEST(PortHolder, RefusesTheGivenPortOfAnotherLauncher) {
  const PortHolder first(0);
  EXPECT_THAT(error_text<UsageError>([&] { PortHolder(first.port()); }),
              HasSubstr("another ranktune launch"));
}

TEST(PortHolder, TakesAGivenPortAgainAfterItsEnd) {
  std::int64_t port = 0;
  {
    const PortHolder first(0);
    port = first.port();
  }
  EXPECT_EQ(PortHolder(port).port(), port);
}

}  // namespace
}  // namespace ranktune::launch
