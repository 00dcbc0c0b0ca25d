#!/usr/bin/env python3
"""Turns published data sets that are no tables of rows into CSV files that `ranktune train` reads.

Each subcommand writes CSV (UTF-8, header, RFC 4180 quoting) and prints what it wrote:

  lines    two files that belong together line by line, as TweetEval, XLM-T and SNIPS have them

      convert_data.py lines train_text.txt train_labels.txt --mapping mapping.txt -o train.csv
      convert_data.py lines train.seq.in train.label -o train.csv
      ranktune train --train_file train.csv ...                                     (columns text, label)

  clinc    the nested JSON of CLINC150 (data_full.json and its variants), a file for each split

      convert_data.py clinc data_full.json --output_dir clinc --out_of_scope
      ranktune train --train_file clinc/train.csv --validation_file clinc/val.csv ...

  cola     the tab-separated files of CoLA, which have no header

      convert_data.py cola train.tsv -o train.csv
      ranktune train --train_file train.csv ...                                 (columns sentence, label)

Needs Python 3.8 or later and nothing else. Bad input ends with one line that names file and line, and exit code 2.
"""
import argparse
import csv
import json
import os
import sys


class BadInput(Exception):
    """Input that cannot be converted; its text is the message for the user."""


def read_lines(path):
    """The lines of a UTF-8 file without their line ends. Only LF and CRLF end a line, as in ranktune's reader."""
    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8-sig")
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{path}:{line}: byte 0x{error.object[error.start]:02X} is not UTF-8: convert the file with "
                       "iconv first") from error
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        raise BadInput(f"{path}: is empty")
    return [line[:-1] if line.endswith("\r") else line for line in lines]


def write_csv(path, header, rows):
    """Writes the rows beside `path` first, so that a file that is there is replaced only by a complete one."""
    part = f"{path}.part"
    try:
        with open(part, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            writer.writerows(rows)
        os.replace(part, path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from error
    labels = {row[1] for row in rows}
    print(f"{path}: {len(rows)} rows, {len(labels)} labels")


def read_mapping(path):
    """The label names of lines such as `0<TAB>anger`."""
    names = {}
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        key, tab, name = line.partition("\t")
        if not tab or not name.strip():
            raise BadInput(f"{path}:{number}: a label and its name with a tab between them are needed, such as 0<TAB>joy")
        names[key.strip()] = name.strip()
    return names


def convert_lines(arguments):
    texts, labels = read_lines(arguments.text_file), read_lines(arguments.label_file)
    if len(texts) != len(labels):
        raise BadInput(f"{arguments.label_file}: {len(labels)} labels for the {len(texts)} lines of "
                       f"{arguments.text_file}: the files do not belong together")
    names = read_mapping(arguments.mapping) if arguments.mapping else None
    rows = []
    for number, (text, label) in enumerate(zip(texts, labels), 1):
        label = label.strip()
        if not label:
            raise BadInput(f"{arguments.label_file}:{number}: the label is missing")
        if names is not None and label not in names:
            raise BadInput(f"{arguments.label_file}:{number}: label '{label}' is not in {arguments.mapping}: it has "
                           + ", ".join(names))
        rows.append((text, label if names is None else names[label]))
    write_csv(arguments.output, ("text", "label"), rows)


def read_clinc(path):
    text = "\n".join(read_lines(path))
    try:
        splits = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput(f"{path}:{error.lineno}:{error.colno}: is not valid JSON: {error.msg}") from error
    if not isinstance(splits, dict) or "train" not in splits:
        raise BadInput(f"{path}: an object with the splits train, val and test is needed, as in CLINC150")
    for split, rows in splits.items():
        for row in rows if isinstance(rows, list) else [None]:
            if not (isinstance(row, list) and len(row) == 2 and all(isinstance(cell, str) for cell in row)):
                raise BadInput(f"{path}: split '{split}' must be a list of [text, intent], and has {str(row)[:60]}")
    return splits


def convert_clinc(arguments):
    splits = read_clinc(arguments.json_file)
    try:
        os.makedirs(arguments.output_dir, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{arguments.output_dir}: cannot be made: {error.strerror}") from error
    for split in ("train", "val", "test"):
        rows = list(splits.get(split, []))
        if arguments.out_of_scope:
            rows += splits.get(f"oos_{split}", [])
        if rows:
            write_csv(os.path.join(arguments.output_dir, f"{split}.csv"), ("text", "label"), rows)


def convert_cola(arguments):
    rows = []
    for number, line in enumerate(read_lines(arguments.tsv_file), 1):
        cells = line.split("\t")
        if number == 1 and cells == ["index", "sentence"]:
            raise BadInput(f"{arguments.tsv_file}: is CoLA's test file, which has a header and no labels: ranktune reads "
                           "it as it is")
        if len(cells) != 4 or cells[1] not in ("0", "1"):
            raise BadInput(f"{arguments.tsv_file}:{number}: source, label (0 or 1), mark and sentence with tabs between "
                           f"them are needed, and this line has {len(cells)} cells")
        rows.append((cells[3], cells[1]))
    write_csv(arguments.output, ("sentence", "label"), rows)


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="{lines,clinc,cola}")

    lines = commands.add_parser("lines", help="a text file and a label file, line by line")
    lines.add_argument("text_file")
    lines.add_argument("label_file")
    lines.add_argument("--mapping", help="file of lines `label<TAB>name`: names are written instead of labels")
    lines.add_argument("-o", "--output", required=True, metavar="CSV")
    lines.set_defaults(convert=convert_lines)

    clinc = commands.add_parser("clinc", help="the nested JSON of CLINC150")
    clinc.add_argument("json_file")
    clinc.add_argument("--output_dir", required=True, metavar="DIR", help="gets train.csv, val.csv and test.csv")
    clinc.add_argument("--out_of_scope", action="store_true", help="also the rows of oos_train, oos_val, oos_test")
    clinc.set_defaults(convert=convert_clinc)

    cola = commands.add_parser("cola", help="train.tsv or dev.tsv of CoLA")
    cola.add_argument("tsv_file")
    cola.add_argument("-o", "--output", required=True, metavar="CSV")
    cola.set_defaults(convert=convert_cola)
    return parser.parse_args(argv)


def main(argv=None):
    arguments = parse_arguments(argv)
    try:
        arguments.convert(arguments)
    except BadInput as error:
        print(f"convert_data.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
