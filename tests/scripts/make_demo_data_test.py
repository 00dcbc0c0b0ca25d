"""scripts/make_demo_data.py on a small package of the same shape as the real one."""
import contextlib
import csv
import importlib.util
import io
import pathlib
import sys
import tarfile
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "make_demo_data.py"
spec = importlib.util.spec_from_file_location("make_demo_data", SCRIPT)
make_demo_data = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_demo_data)

REVIEWS = (
    "\ufeff1_1\t-0.9\tno picture.\r\n"
    "1_2\t-0.3\tit is a player.\r\n"  # exactly on the border: neutral
    "98_1\t2.0\tworks, and \"well\"\r\n"
    "99_1\t1.5\tgreat camera &amp; lens \r\n"
    "215_3\t-0.31\tbad menus.\r\n"
    "216_1\t0.31\tgood sound.\r\n"
    "309_12\t0\tit has a lid."
)
TWEETS = "1\t2.7\tSo lucky.\r\n2\t0.1\tIt is Monday.\r\n3\t-1\tWorst bus ever\u2026\r\n"


def add_file(archive, name, content):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    archive.addfile(info, io.BytesIO(content))


def make_package(path, reviews=make_demo_data.REVIEWS):
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w:gz") as archive:
        add_file(archive, "hutto/" + reviews, REVIEWS.encode())
        add_file(archive, "hutto/" + make_demo_data.TWEETS, TWEETS.encode())
    with tarfile.open(path, "w:gz") as archive:
        add_file(archive, "vader/setup.py", b"raise SystemExit")
        add_file(archive, "vader/more/" + make_demo_data.ARCHIVE, inner.getvalue())


class MakeDemoData(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.package = self.folder / "package.tar.gz"

    def rows(self, name):
        with open(self.folder / "out" / name, encoding="utf-8", newline="") as file:
            return list(csv.reader(file))

    def test_splits_by_product_and_labels_by_rating(self):
        make_package(self.package)
        counts = make_demo_data.make_files(self.package, self.folder / "out")
        self.assertEqual(counts, {"train.csv": 3, "dev.csv": 2, "tweets.csv": 2})
        header = ["text", "label"]
        self.assertEqual(self.rows("dev.csv"), [header, ["no picture.", "negative"], ['works, and "well"', "positive"]])
        self.assertEqual(self.rows("train.csv"), [
            header, ["great camera & lens", "positive"], ["bad menus.", "negative"], ["good sound.", "positive"]])
        self.assertEqual(self.rows("tweets.csv"), [header, ["So lucky.", "positive"], ["Worst bus ever\u2026", "negative"]])

    def test_the_same_package_gives_the_same_bytes(self):
        make_package(self.package)
        make_demo_data.make_files(self.package, self.folder / "out")
        first = (self.folder / "out" / "train.csv").read_bytes()
        make_demo_data.make_files(self.package, self.folder / "out")
        self.assertEqual((self.folder / "out" / "train.csv").read_bytes(), first)
        self.assertEqual([p.name for p in (self.folder / "out").glob("*.tmp")], [])

    def test_no_product_is_on_both_sides(self):
        self.assertEqual(
            [make_demo_data.product_of(f"{review}_1") for review in (1, 98, 99, 144, 145, 175, 176, 215, 216, 309)],
            [name for _, name in make_demo_data.PRODUCTS for _ in range(2)])

    def test_a_package_without_the_file_is_one_line(self):
        make_package(self.package, reviews="other.txt")
        arguments = sys.argv
        sys.argv = [str(SCRIPT), str(self.package), str(self.folder / "out")]
        try:
            with self.assertRaises(SystemExit) as stopped, contextlib.redirect_stdout(io.StringIO()):
                make_demo_data.main()
        finally:
            sys.argv = arguments
        self.assertIn("holds no amazonReviewSnippets_GroundTruth.txt", str(stopped.exception.code))
        self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    unittest.main()
