#!/usr/bin/env python3
"""Turns the source package vaderSentiment 3.3.2 into the demo's CSV files.

    scripts/make_demo_data.py vaderSentiment-3.3.2.tar.gz demo/

The package carries the archive hutto_ICWSM_2014, in which 20 people rated each of 3,708 sentences out of product
reviews and 4,200 tweets from -4 to 4. A sentence whose mean rating is further than 0.3 from zero becomes a row with the
label `positive` or `negative`; the others are left out.

    train.csv    reviews of four products
    dev.csv      reviews of the fifth: what the model is tested on, it has never read about
    tweets.csv   other text altogether, to try the model on
"""
import argparse
import csv
import html
import io
import pathlib
import sys
import tarfile

ARCHIVE = "hutto_ICWSM_2014.tar.gz"
REVIEWS = "amazonReviewSnippets_GroundTruth.txt"
TWEETS = "tweets_GroundTruth.txt"

# A line's id is <review>_<sentence>, and the reviews are in the order of their products: where each product begins.
PRODUCTS = (
    (1, "Apex DVD player"),
    (99, "Canon camera"),
    (145, "Nikon camera"),
    (176, "Nokia phone"),
    (216, "Creative music player"),
)
DEV_PRODUCT = "Apex DVD player"  # 678 of the 3,132 rows: of the five, the one nearest to a fifth
NEUTRAL = 0.3


def product_of(line_id):
    """The product that the sentence `line_id` is about."""
    review = int(line_id.split("_")[0])
    return [name for first, name in PRODUCTS if first <= review][-1]


def label_of(rating):
    """The label of a mean rating; None where people saw neither."""
    if abs(rating) <= NEUTRAL:
        return None
    return "positive" if rating > 0 else "negative"


def read_rated_lines(package, name):
    """The lines (id, mean rating, text) of the file `name` in the archive within the source package."""
    with tarfile.open(package) as outer:
        inner = next((member for member in outer if member.name.endswith("/" + ARCHIVE)), None)
        if inner is None:
            raise ValueError(f"{package} holds no {ARCHIVE}")
        with tarfile.open(fileobj=io.BytesIO(outer.extractfile(inner).read())) as archive:
            member = next((member for member in archive if member.name.endswith("/" + name)), None)
            if member is None:
                raise ValueError(f"{ARCHIVE} in {package} holds no {name}")
            content = archive.extractfile(member).read().decode("utf-8-sig")
    for line in content.splitlines():
        if line.strip():
            line_id, rating, text = line.split("\t", 2)
            yield line_id, float(rating), html.unescape(text).strip()


def labelled(lines):
    """Rows (id, text, label) of the lines that have a label."""
    return [(line_id, text, label_of(rating)) for line_id, rating, text in lines if label_of(rating)]


def write_csv(path, rows):
    """Writes rows (id, text, label) as CSV with the columns text and label, complete or not at all."""
    unfinished = path.with_suffix(".tmp")
    with open(unfinished, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("text", "label"))
        writer.writerows((text, label) for _, text, label in rows)
    unfinished.replace(path)


def make_files(package, folder):
    """Writes the three files into `folder`; returns the number of rows of each by file name."""
    reviews = labelled(read_rated_lines(package, REVIEWS))
    files = {
        "train.csv": [row for row in reviews if product_of(row[0]) != DEV_PRODUCT],
        "dev.csv": [row for row in reviews if product_of(row[0]) == DEV_PRODUCT],
        "tweets.csv": labelled(read_rated_lines(package, TWEETS)),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in files.items():
        write_csv(folder / name, rows)
    return {name: len(rows) for name, rows in files.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        counts = make_files(arguments.package, arguments.folder)
    except (OSError, ValueError, tarfile.TarError) as error:
        sys.exit(f"make_demo_data.py: {error}")
    print(", ".join(f"{arguments.folder / name}: {count} rows" for name, count in counts.items()))


if __name__ == "__main__":
    main()
