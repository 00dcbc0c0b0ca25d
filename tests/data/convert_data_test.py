"""scripts/convert_data.py on small files of the shapes that it converts."""
import contextlib
import csv
import importlib.util
import io
import json
import pathlib
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "convert_data.py"
spec = importlib.util.spec_from_file_location("convert_data", SCRIPT)
convert_data = importlib.util.module_from_spec(spec)
spec.loader.exec_module(convert_data)


class ConvertDataTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def run_script(self, *arguments):
        """Exit code, standard output, standard error; both without the path of the scratch folder."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = convert_data.main([str(argument) for argument in arguments])
        return code, *(text.getvalue().replace(f"{self.folder}/", "") for text in (out, err))

    def rows(self, name):
        with open(self.folder / name, encoding="utf-8", newline="") as file:
            return list(csv.reader(file, strict=True))

    def test_lines_with_mapping(self):
        texts = self.file("t.txt", 'so "happy", yes\r\nfuri\u00e9ux\u2028\r\n')
        labels = self.file("l.txt", "1\n0")
        mapping = self.file("m.txt", "0\tanger\n1\tjoy")
        result = self.run_script("lines", texts, labels, "--mapping", mapping, "-o", self.folder / "o.csv")
        self.assertEqual(result, (0, "o.csv: 2 rows, 2 labels\n", ""))
        self.assertEqual(self.rows("o.csv"), [["text", "label"], ['so "happy", yes', "joy"], ["furi\u00e9ux\u2028", "anger"]])

    def test_lines_without_mapping_and_with_empty_texts(self):
        result = self.run_script("lines", self.file("t", "a\n\nc\n"), self.file("l", "x\ny\nx\n"), "-o", self.folder / "o.csv")
        self.assertEqual(result[0], 0)
        self.assertEqual(self.rows("o.csv")[1:], [["a", "x"], ["", "y"], ["c", "x"]])

    def test_lines_errors_leave_the_old_file(self):
        texts, old = self.file("t", "a\nb\n"), self.file("o.csv", "old")
        for labels, mapping, message in (
            ("x\n", None, "l: 1 labels for the 2 lines of t: the files do not belong together"),
            ("x\n \n", None, "l:2: the label is missing"),
            ("0\n2\n", "0\tno\n1\tyes\n", "l:2: label '2' is not in m: it has 0, 1"),
            ("0\n1\n", "0\tno\n1 yes\n", "m:2: a label and its name with a tab between them are needed, such as 0<TAB>joy"),
            (b"0\n\xe9\n", None, "l:2: byte 0xE9 is not UTF-8: convert the file with iconv first"),
            ("", None, "l: is empty"),
        ):
            arguments = ["lines", texts, self.file("l", labels), "-o", old]
            if mapping:
                arguments += ["--mapping", self.file("m", mapping)]
            self.assertEqual(self.run_script(*arguments), (2, "", f"convert_data.py: {message}\n"))
            self.assertEqual(pathlib.Path(old).read_text(), "old")

    def test_missing_file(self):
        code, _, error = self.run_script("cola", self.folder / "none.tsv", "-o", self.folder / "o.csv")
        self.assertEqual((code, error), (2, "convert_data.py: none.tsv: cannot be read: No such file or directory\n"))

    def test_clinc(self):
        splits = {"train": [["hi, you", "greet"]], "val": [["bye", "leave"]], "test": [["yo", "greet"]],
                  "oos_train": [["why", "oos"]], "oos_val": [], "oos_test": [["how", "oos"]]}
        source = self.file("d.json", json.dumps(splits, indent=4))
        code, out, _ = self.run_script("clinc", source, "--output_dir", self.folder / "plain")
        self.assertEqual((code, len(out.splitlines())), (0, 3))
        self.assertEqual(self.rows("plain/train.csv"), [["text", "label"], ["hi, you", "greet"]])
        self.run_script("clinc", source, "--output_dir", self.folder / "oos", "--out_of_scope")
        self.assertEqual(self.rows("oos/test.csv")[1:], [["yo", "greet"], ["how", "oos"]])

    def test_clinc_errors(self):
        for content, message in (
            ("{\n \"train\": [[\"a\", \"b\"]\n", "d.json:2:22: is not valid JSON: "),
            ('{"banking": ["transfer"]}', "d.json: an object with the splits train, val and test is needed"),
            ('{"train": [["a"]]}', "d.json: split 'train' must be a list of [text, intent], and has ['a']"),
        ):
            code, _, error = self.run_script("clinc", self.file("d.json", content), "--output_dir", self.folder / "x")
            self.assertEqual(code, 2)
            self.assertTrue(error.startswith(f"convert_data.py: {message}"), error)
            self.assertFalse((self.folder / "x").exists())

    def test_cola(self):
        source = self.file("train.tsv", 'gj04\t1\t\tHe "left".\r\nb_73\t0\t*\tLeft he, did.\n')
        self.assertEqual(self.run_script("cola", source, "-o", self.folder / "o.csv")[0], 0)
        self.assertEqual(self.rows("o.csv"), [["sentence", "label"], ['He "left".', "1"], ["Left he, did.", "0"]])
        code, _, error = self.run_script("cola", self.file("t.tsv", "index\tsentence\n0\tx\n"), "-o", self.folder / "p.csv")
        self.assertEqual(code, 2)
        self.assertIn("t.tsv: is CoLA's test file", error)
        code, _, error = self.run_script("cola", self.file("t.tsv", "gj04\t1\t\tfine\nonly\n"), "-o", self.folder / "p.csv")
        self.assertEqual((code, error.split(" source")[0]), (2, "convert_data.py: t.tsv:2:"))


if __name__ == "__main__":
    unittest.main()
