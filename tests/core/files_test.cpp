#include "ranktune/core/files.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <ostream>
#include <stdexcept>

#include "ranktune/core/error.h"
#include "support/temporary_folder.h"

namespace ranktune::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

/// Runs `work` in a child process, which must end itself, and gives back what waitpid says about it.
template <class Work>
int status_of_child(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(99);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(ReadFile, ReturnsEveryByte) {
  const tests::TemporaryFolder folder;
  const std::string content = std::string("a\0b\r\n\xFF", 6) + std::string(200000, 'x');
  EXPECT_EQ(read_file(folder.file("f", content)), content);
  EXPECT_EQ(read_file(folder.file("empty", "")), "");
}

TEST(ReadFile, SaysWhatTheSystemSaid) {
  const tests::TemporaryFolder folder;
  for (const auto& [path, reason] :
       {std::pair{folder.path() / "absent", "No such file"}, std::pair{folder.path(), "is a folder"}}) {
    try {
      read_file(path);
      FAIL() << "no error";
    } catch (const DataError& error) {
      EXPECT_EQ(error.where().file, path.string());
      EXPECT_THAT(error.what(), HasSubstr(reason));
    }
  }
}

TEST(MappedFile, ShowsTheContentAndMovesWithoutCopying) {
  const tests::TemporaryFolder folder;
  MappedFile file(folder.file("f", "content"));
  EXPECT_EQ(file.text(), "content");
  const char* address = file.text().data();
  const MappedFile moved = std::move(file);
  EXPECT_EQ(moved.text().data(), address);
  EXPECT_TRUE(MappedFile(folder.file("empty", "")).bytes().empty());
  EXPECT_THROW(MappedFile(folder.path() / "absent"), DataError);
}

TEST(WriteFileAtomically, ReplacesTheContentAndLeavesNothingElse) {
  const tests::TemporaryFolder folder;
  const auto path = folder.file("f", "old");
  write_file_atomically(path, "new content");
  EXPECT_EQ(read_file(path), "new content");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("f"));
}

TEST(WriteFileAtomically, KeepsTheOldFileWhenTheWriterThrows) {
  const tests::TemporaryFolder folder;
  const auto path = folder.file("f", "old");
  const auto fail = [](std::ostream& stream) {
    stream << "half of the new con";
    throw std::runtime_error("the writer failed");
  };
  EXPECT_THROW(write_file_atomically(path, fail), std::runtime_error);
  EXPECT_EQ(read_file(path), "old");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("f"));
}

TEST(WriteFileAtomically, KeepsTheOldFileWhenNoSpaceIsLeft) {
  const tests::TemporaryFolder folder;
  const auto path = folder.file("f", "old");
  const int status = status_of_child([&path] {
    ::signal(SIGXFSZ, SIG_IGN);  // the write then fails with an error, as on a full disk
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_file_atomically(path, std::string(100000, 'x'));
    } catch (const Error& error) {
      const std::string message = error.what();
      ::_exit(message.find(path.string()) != std::string::npos && message.find('\n') == std::string::npos
                  ? 7
                  : 8);
    }
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(read_file(path), "old");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("f"));
}

TEST(WriteFileAtomically, KeepsTheOldFileWhenKilledInTheMiddleOfAWrite) {
  const tests::TemporaryFolder folder;
  const auto path = folder.file("f", "old");
  const int status = status_of_child([&path] {
    write_file_atomically(path, [](std::ostream& stream) {
      stream << std::string(100000, 'x') << std::flush;
      ::kill(::getpid(), SIGKILL);
    });
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_EQ(read_file(path), "old");
}

TEST(WriteFileAtomically, NamesTheFileThatCannotBeWritten) {
  const tests::TemporaryFolder folder;
  const auto path = folder.path() / "no such folder" / "f";
  try {
    write_file_atomically(path, "x");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(path.string()));
    EXPECT_THAT(error.what(), HasSubstr("No such file"));
  }
  std::filesystem::create_directories(folder.path() / "taken" / "inside");
  EXPECT_THROW(write_file_atomically(folder.path() / "taken", "x"), Error);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("taken"));
}

}  // namespace
}  // namespace ranktune::core
