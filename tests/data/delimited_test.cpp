#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/support.h"
#include "ranktune/data/table.h"
#include "support/temporary_folder.h"

namespace ranktune::data {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using tests::column_of;
using tests::error_of;
using tests::Integers;
using tests::lines_of;
using tests::row_of;
using tests::Strings;

Table csv(const std::string& text, bool header = true) {
  return parse_table(text, TableFormat::csv, {.header = header, .name = "f.csv"});
}
Table tsv(const std::string& text, bool header = true) {
  return parse_table(text, TableFormat::tsv, {.header = header, .name = "f.tsv"});
}
std::string csv_error(const std::string& text) {
  return error_of([&] { csv(text); });
}
std::string tsv_error(const std::string& text) {
  return error_of([&] { tsv(text); });
}

TEST(Csv, ReadsHeaderAndRows) {
  const Table table = csv("text,label\ngood,1\nbad,0\n");
  EXPECT_EQ(table.column_names(), (Strings{"text", "label"}));
  EXPECT_EQ(column_of(table, 0), (Strings{"good", "bad"}));
  EXPECT_EQ(column_of(table, 1), (Strings{"1", "0"}));
  EXPECT_EQ(lines_of(table), (Integers{2, 3}));
  EXPECT_EQ(table.cell(0, 1).kind, CellKind::text);
}

TEST(Csv, LastLineNeedsNoLineBreak) {
  EXPECT_EQ(row_of(csv("a,b\n1,2"), 0), (Strings{"1", "2"}));
}

TEST(Csv, CarriageReturnLineFeedEndsALine) {
  const Table table = csv("a,b\r\n1,2\r\n\"3\",4\r\n");
  EXPECT_EQ(column_of(table, 1), (Strings{"2", "4"}));
  EXPECT_EQ(table.column_names(), (Strings{"a", "b"}));
}

TEST(Csv, CarriageReturnAloneBelongsToTheCell) {
  EXPECT_EQ(row_of(csv("a,b\nx\ry,2\n"), 0), (Strings{"x\ry", "2"}));
}

TEST(Csv, ByteOrderMarkIsSkipped) {
  EXPECT_EQ(csv("\xEF\xBB\xBF"
                "a,b\n1,2\n")
                .column_names(),
            (Strings{"a", "b"}));
}

TEST(Csv, QuotesHoldCommasLineBreaksAndDoubledQuotes) {
  const Table table = csv("a,b\n\"x, y\",1\n\"line 1\r\nline 2\n\",2\n\"say \"\"hi\"\"\",3\n\"\"\"\",\"\"\n");
  EXPECT_EQ(column_of(table, 0), (Strings{"x, y", "line 1\r\nline 2\n", "say \"hi\"", "\""}));
  EXPECT_EQ(column_of(table, 1), (Strings{"1", "2", "3", ""}));
  EXPECT_EQ(lines_of(table), (Integers{2, 3, 6, 7}));
}

TEST(Csv, QuoteInsideAnUnquotedCellIsALetter) {
  EXPECT_EQ(row_of(csv("a,b\n5\" pipe,the \"best\"\n"), 0), (Strings{"5\" pipe", "the \"best\""}));
}

TEST(Csv, BlanksAroundCellsAreKept) {
  EXPECT_EQ(row_of(csv("a,b\n x , \n"), 0), (Strings{" x ", " "}));
}

TEST(Csv, WordsForMissingValuesAreTexts) {  // pandas would read all of these as missing
  EXPECT_EQ(row_of(csv("a,b,c\nNA,null,nan\n"), 0), (Strings{"NA", "null", "nan"}));
}

TEST(Csv, BlankLinesAreSkipped) {
  const Table table = csv("\n\na,b\n\n1,2\n\r\n3,4\n\n\n");
  EXPECT_EQ(lines_of(table), (Integers{5, 7}));
  EXPECT_EQ(table.where_header().line, 3);
}

TEST(Csv, BlankLineInTheMiddleOfOneColumnIsARow) {
  EXPECT_EQ(column_of(csv("text\none\n\nthree\n\n\n"), 0), (Strings{"one", "", "three"}));
  EXPECT_EQ(column_of(csv("text\none\n\"\"\n"), 0), (Strings{"one", ""}));
}

TEST(Csv, WithoutHeaderColumnsAreNumbered) {
  const Table table = csv("ham,hello\nspam,\"win, now\"\n", false);
  EXPECT_EQ(table.column_names(), (Strings{"0", "1"}));
  EXPECT_EQ(column_of(table, 1), (Strings{"hello", "win, now"}));
  EXPECT_EQ(table.where_header().line, 0);
}

TEST(Csv, HeaderCellsWithoutNameAreCalledAsPandasCallsThem) {
  const Table table = csv("v1,v2,,,\nham,hello,,,\nspam,a,b,,c\n");
  EXPECT_EQ(table.column_names(), (Strings{"v1", "v2", "Unnamed: 2", "Unnamed: 3", "Unnamed: 4"}));
  EXPECT_TRUE(table.is_unnamed(2));
  EXPECT_FALSE(table.is_unnamed(1));
  EXPECT_EQ(row_of(table, 1), (Strings{"spam", "a", "b", "", "c"}));
  EXPECT_EQ(csv(",Unnamed: 0\n1,2\n").column_names(), (Strings{"Unnamed: 0_", "Unnamed: 0"}));
}

TEST(Csv, PlaceOfACellIsItsFirstByte) {
  const Table table = csv("a,b,c\n\"x\"\"\ny\",\"z\",w\n\xC3\xA9,2,3\n");
  EXPECT_EQ(to_string(table.where(0, 0)), "f.csv:2:1");
  EXPECT_EQ(to_string(table.where(0, 1)), "f.csv:3:4");
  EXPECT_EQ(to_string(table.where(0, 2)), "f.csv:3:8");
  EXPECT_EQ(to_string(table.where(1, 1)), "f.csv:4:4");
}

TEST(CsvErrors, TooManyCells) {
  EXPECT_EQ(csv_error("a,b\n1,2\n3,\"4\",5,6\n"),
            "f.csv:3:7: this row has 4 cells, the header has 2 (comma-separated): put double quotes around a "
            "cell that "
            "holds a comma or a line break");
}

TEST(CsvErrors, TooFewCells) {
  EXPECT_THAT(csv_error("a,b,c\n1,2\n"), StartsWith("f.csv:2:3: this row has 2 cells, the header has 3"));
  EXPECT_THAT(csv_error("a,b,c\none\n"), StartsWith("f.csv:2:1: this row has 1 cell, the header has 3"));
  EXPECT_THAT(error_of([] { csv("1,2\n3\n", false); }),
              StartsWith("f.csv:2:1: this row has 1 cell, the first row has 2"));
}

TEST(CsvErrors, UnterminatedQuoteIsReportedWhereItOpened) {
  EXPECT_THAT(csv_error("a,b\n1,2\n3,\"4\n5,6\n7,8\n"),
              StartsWith("f.csv:3:3: the quote that opens this cell never ends: close it"));
}

TEST(CsvErrors, TextAfterAClosingQuote) {
  EXPECT_EQ(csv_error("a,b\n1,\"two\nlines\" more\n"),
            "f.csv:3:7: text after the closing quote of the cell that starts at line 2, column 3: quotes "
            "that belong to "
            "the text must be doubled, or the quote before this place removed");
}

TEST(CsvErrors, InvalidUtf8) {
  EXPECT_EQ(csv_error("a,b\n1,caf\xE9\n"),
            "f.csv:2:6: byte 0xE9 is not UTF-8; if the file comes from Windows or is Latin-1: iconv -f "
            "WINDOWS-1252 -t "
            "UTF-8 f.csv > converted");
}

TEST(CsvErrors, NulByte) {
  EXPECT_THAT(csv_error(std::string("a,b\n1,x\0y\n", 10)),
              StartsWith("f.csv:2:4: a NUL byte: this is not a text file"));
}

TEST(CsvErrors, FilesOfAnotherKind) {
  EXPECT_THAT(csv_error(std::string("\xFF\xFE"
                                    "a\0,\0",
                                    6)),
              StartsWith("f.csv: is UTF-16, UTF-8 is needed: iconv"));
  EXPECT_THAT(csv_error("\x1F\x8B\x08 "), StartsWith("f.csv: is compressed with gzip: gunzip"));
  EXPECT_THAT(csv_error("PK\x03\x04 "), StartsWith("f.csv: is a ZIP archive or a spreadsheet"));
}

TEST(CsvErrors, EmptyOrWithoutRows) {
  EXPECT_EQ(csv_error(""), "f.csv: is empty: a table with at least one row is needed");
  EXPECT_EQ(csv_error("\xEF\xBB\xBF\r\n \n"), "f.csv: is empty: a table with at least one row is needed");
  EXPECT_EQ(csv_error("a,b\n"), "f.csv: has a header but no rows: at least one row is needed");
  EXPECT_EQ(csv_error("a,b\n\n\n"), "f.csv: has a header but no rows: at least one row is needed");
}

TEST(CsvErrors, LineBreaksOfOldMacintoshes) {
  EXPECT_EQ(csv_error("a,b\r1,2\r"),
            "f.csv: has carriage returns alone as line breaks: tr '\\r' '\\n' < f.csv > converted");
}

TEST(CsvErrors, TwoColumnsOfOneName) {
  EXPECT_EQ(csv_error("text,label,text\na,1,b\n"),
            "f.csv:1:12: two columns are called 'text': rename one of them");
}

TEST(CsvErrors, OtherSeparatorsInTheHeader) {
  EXPECT_EQ(csv_error("sentence\tlabel\nfine , really\t1\n"),
            "f.csv:1:9: the header has tabs and no commas: rename the file to .tsv");
  EXPECT_THAT(csv_error("text;label\na;1\n"),
              StartsWith("f.csv:1:5: the header has semicolons and no commas"));
}

TEST(CsvErrors, MessagesStayOnOneLine) {
  const std::string name = "\"a\nvery long name that goes on and on and on and on\"";
  EXPECT_THAT(csv_error(name + "," + name + "\n1,2\n"),
              HasSubstr("called 'a very long name that goes on and on and...'"));
}

TEST(Tsv, QuotesAreLetters) {
  const Table table = tsv("a\tb\n\" open\t\"x\"\n\"\t\"\"\n");
  EXPECT_EQ(row_of(table, 0), (Strings{"\" open", "\"x\""}));
  EXPECT_EQ(row_of(table, 1), (Strings{"\"", "\"\""}));
}

TEST(Tsv, ByteOrderMarkCrlfAndEmptyCells) {
  const Table table =
      tsv("\xEF\xBB\xBF"
          "a\tb\tc\r\n1\t\t3\r\n\t\t\r\n");
  EXPECT_EQ(table.column_names(), (Strings{"a", "b", "c"}));
  EXPECT_EQ(row_of(table, 0), (Strings{"1", "", "3"}));
  EXPECT_EQ(row_of(table, 1), (Strings{"", "", ""}));
  EXPECT_EQ(to_string(table.where(0, 2)), "f.tsv:2:4");
}

TEST(TsvErrors, UnequalCellCounts) {
  EXPECT_EQ(tsv_error("a\tb\n1\t2\t3\n"),
            "f.tsv:2:5: this row has 3 cells, the header has 2 (tab-separated): a cell cannot hold a tab or "
            "a line break; "
            "name the file .csv if it has commas");
  EXPECT_THAT(tsv_error("a\tb\n1\t2\nonly one\n"), StartsWith("f.tsv:3:1: this row has 1 cell"));
}

TEST(Lines, EachLineIsATextWithoutHeader) {
  const Table table = parse_table("one, \"two\"\t3\r\n\nlast", TableFormat::lines);
  EXPECT_EQ(table.column_names(), (Strings{"text"}));
  EXPECT_EQ(column_of(table, 0), (Strings{"one, \"two\"\t3", "", "last"}));
  EXPECT_EQ(to_string(table.where(2, 0)), "standard input:3:1");
  EXPECT_EQ(error_of([] { parse_table("", TableFormat::lines); }),
            "standard input: has no rows: at least one is needed");
}

TEST(Texts, BecomeATable) {
  const Table table = table_of_texts({"one", "", "two\nlines"}, "argument");
  EXPECT_EQ(column_of(table, 0), (Strings{"one", "", "two\nlines"}));
  EXPECT_EQ(to_string(table.where(2, 0)), "argument:3:1");
  EXPECT_EQ(error_of([] {
              table_of_texts({"fine", "caf\xE9"}, "argument");
            }),
            "argument:2:4: this text is not UTF-8: convert it first");
}

TEST(ReadTable, FormatComesFromTheExtension) {
  const tests::TemporaryFolder folder;
  EXPECT_EQ(read_table(folder.file("a.CSV", "a,b\n1,2\n")).format(), TableFormat::csv);
  EXPECT_EQ(read_table(folder.file("a.tsv", "a\tb\n1\t2\n")).format(), TableFormat::tsv);
  EXPECT_EQ(read_table(folder.file("a.txt", "a\tb\n1\t2\n")).format(), TableFormat::tsv);
  EXPECT_EQ(read_table(folder.file("a.jsonl", "{\"a\":1}\n")).format(), TableFormat::json_lines);
  EXPECT_EQ(read_table(folder.file("a.ndjson", "{\"a\":1}\n")).format(), TableFormat::json_lines);
  EXPECT_EQ(read_table(folder.file("a.json", "[{\"a\":1}]\n")).format(), TableFormat::json);
}

TEST(ReadTable, UnknownExtensionNamesTheKnownOnes) {
  EXPECT_THROW(read_table("rows.xlsx"), UsageError);
  EXPECT_EQ(error_of([] { read_table("rows.xlsx"); }),
            "rows.xlsx: the extension says how rows are written, and '.xlsx' is not known: use .csv, .tsv, "
            ".txt (tabs), "
            ".jsonl, .ndjson or .json");
  EXPECT_THAT(error_of([] { read_table("rows"); }), HasSubstr("and none is not known"));
}

TEST(ReadTable, MissingFileAndFolder) {
  const tests::TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { read_table(folder.path() / "no.csv"); }), HasSubstr("no.csv: cannot be opened"));
  std::filesystem::create_directory(folder.path() / "d.csv");
  EXPECT_THAT(error_of([&] { read_table(folder.path() / "d.csv"); }), HasSubstr("is a folder"));
}

TEST(Table, ViewsOutliveTheFirstHandle) {
  std::string_view cell;
  const Table kept = [&cell] {
    Table first = csv("a,b\n\"x\"\"y\",2\n");
    cell = first.cell(0, 0).text;
    return first;
  }();
  EXPECT_EQ(cell, "x\"y");
}

}  // namespace
}  // namespace ranktune::data
