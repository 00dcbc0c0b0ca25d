#!/usr/bin/env python3
"""Compares ranktune's tokenizer with the `tokenizers` package, id by id.

    tokenizer_peer_test.py ENCODE_LINES SHARED    (the program of encode_lines.cpp; the folder of shared data)

Prints how many texts agree in each part; exits with 1 on any difference, with 77 when the data is absent.
"""
import csv
import itertools
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

ENCODE_LINES = pathlib.Path(sys.argv[1])
DATA = pathlib.Path(sys.argv[2]) / "data"
CHUNK = 50000
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
NO_LIMIT = 1000000


class Comparison:
    """One tokenizer in a folder, given to both sides."""

    failures = 0

    def __init__(self, name, folder, peer):
        self.name, self.folder, self.peer = name, folder, peer
        self.peer.no_padding()
        self.peer.no_truncation()

    def check(self, what, requests, max_length=NO_LIMIT):
        """requests: texts, or (text, pair)."""
        if max_length == NO_LIMIT:
            self.peer.no_truncation()
        else:
            self.peer.enable_truncation(max_length)
        requests = list(requests)
        answers = self.answers(requests, max_length)
        differences = 0
        for start in range(0, len(requests), CHUNK):
            encodings = self.peer.encode_batch(requests[start : start + CHUNK])
            for request, answer, encoding in zip(requests[start:], answers[start:], encodings):
                if answer != written(encoding, isinstance(request, tuple)):
                    differences += 1
                    if differences <= 3:
                        print(f"  {request!a}\n    tokenizers: {encoding.ids}\n    ranktune:   {answer}")
        Comparison.failures += differences
        verdict = f"{differences} DIFFERENT" if differences else "equal"
        print(f"{self.name:36} {what:42} {len(requests):9} texts: {verdict}", flush=True)

    def answers(self, requests, max_length):
        lines = "".join(json.dumps(request) + "\n" for request in requests)
        command = [str(ENCODE_LINES), str(self.folder), str(max_length)]
        done = subprocess.run(command, input=lines, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{command}: {done.stderr}")
        answers = done.stdout.split("\n")[:-1]
        if len(answers) != len(requests):
            sys.exit(f"{command}: {len(answers)} answers for {len(requests)} requests")
        return answers


def written(encoding, is_pair):
    """An encoding as encode_lines writes it."""
    ids = " ".join(map(str, encoding.ids))
    return f"{ids} | " + " ".join(map(str, encoding.type_ids)) if is_pair else ids


# ---- real texts ---------------------------------------------------------------------------------------------------
def rows(name, delimiter=",", encoding="utf-8-sig"):
    quoting = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    with open(DATA / name, encoding=encoding, newline="") as file:
        return list(csv.reader(file, delimiter=delimiter, quoting=quoting))[1:]


def real_texts():
    for split in ("train", "dev"):
        yield f"sst2 {split}", [row[0] for row in rows(f"sst2/{split}.tsv", "\t")]
    for split in ("train", "test"):
        yield f"banking77 {split}", [row[0] for row in rows(f"banking77/{split}.csv")]
    for name in ("airline_tweets/Tweets.csv", "sms_spam_kaggle/spam.csv"):
        cells = [cell for row in rows(f"messy_csv/{name}", encoding="latin-1") for cell in row]
        yield name, cells
        yield name + " as UTF-8", [cell.encode("latin-1").decode("utf-8", "replace") for cell in cells]


def compare_real_texts(comparison):
    for what, texts in real_texts():
        comparison.check(what, texts)
    pairs = [(row[3], row[4]) for split in ("train", "dev") for row in rows(f"mrpc/{split}.tsv", "\t")]
    for max_length in (3, 4, 5, 6, 16, 17, 32, 64, 512):
        some = pairs if max_length > 6 else pairs[:200]  # the package builds all overflowing pieces of both: gigabytes
        comparison.check(f"mrpc pairs, at most {max_length}", some, max_length)
        comparison.check(f"mrpc first sentences, at most {max_length}", [a for a, _ in some], max_length)


# ---- characters ---------------------------------------------------------------------------------------------------
def character_vocabulary(characters):
    """Each character as a piece at the start and inside a word: no difference can hide in [UNK]."""
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "ab", "##ab"]
    tokens += characters + ["##" + c for c in characters]
    return {token: i for i, token in enumerate(tokens)}


def make_peer(vocabulary, **options):
    peer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    peer.normalizer = normalizers.BertNormalizer(**options)
    peer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    peer.post_processor = processors.BertProcessing(("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"]))
    peer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return peer


def save(peer, folder):
    folder.mkdir()
    peer.save(str(folder / "tokenizer.json"))
    return folder


def groups(form, size):
    for start in range(0, len(CODE_POINTS), size):
        yield " ".join(form.format(chr(c)) for c in CODE_POINTS[start : start + size])


def mark_texts(count, seed):
    """Random neighbours of combining marks, Hangul, CJK, spaces and controls: canonical order shows here."""
    chance = random.Random(seed)
    nfd, mark = normalizers.NFD(), "\u0301"
    moving = [chr(c) for c in CODE_POINTS[:0x1F000]
              if any(nfd.normalize_str(x + chr(c)) != nfd.normalize_str(x) + nfd.normalize_str(chr(c)) or
                     nfd.normalize_str(chr(c) + x) != nfd.normalize_str(chr(c)) + nfd.normalize_str(x)
                     for x in ("\u0334", mark, "\u0345"))]
    kept = [c for c in moving if normalizers.BertNormalizer(strip_accents=True, clean_text=False).normalize_str(c)]
    others = list("abAB \t\0\u200b\u034f中가각ÅΣİ\u1e9e\u00ad\u0cc0\u0cd5\ufffd\uf900豈")
    others += list("\U0001d15e\U0001d160\u2000\u0344'")
    for _ in range(count):
        yield "".join(chance.choice(chance.choice((moving, kept, kept, others))) for _ in range(chance.randint(1, 12)))


def compare_characters(scratch):
    assigned = [chr(c) for c in CODE_POINTS if c < 0x32400 or 0xE0000 <= c < 0xE0200]
    peer = make_peer(character_vocabulary(assigned))
    marks = list(mark_texts(100000, 1))
    for lowercase, strip, cjk, clean in itertools.product((True, False), (None, True, False), (True, False),
                                                          (True, False)):
        peer.normalizer = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=strip, handle_chinese_chars=cjk,
                                                     clean_text=clean)
        name = f"lower={lowercase:d} strip={strip} cjk={cjk:d} clean={clean:d}"
        comparison = Comparison(name, save(peer, scratch / name), peer)
        if cjk and clean and strip is None:  # the two tokenizers that BERT models have: one text a character
            comparison.check("every code point alone", map(chr, CODE_POINTS))
            comparison.check("every code point between letters", (f"a{chr(c)}B" for c in CODE_POINTS))
        texts = itertools.chain(groups("{}", 32), groups("A{}b", 32), marks)
        comparison.check("every code point, and neighbours of marks", texts)


# ---- added tokens -------------------------------------------------------------------------------------------------
def compare_added_tokens(scratch):
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    parts = ["@@", "@", "FOO", "Foo", "foo", "é", "É", " ", "  ", "\u3000", "\t", "\0", "_", "-", "a", "B", "中",
             "\u0301", "\u203f", "[SEP]", "[", "ab", "x y", "ª", "²", "\u1dfb", "\u302e"]
    chance = random.Random(2)
    vocabulary = character_vocabulary(sorted(set("".join(parts)) | set("fox")))
    for trial in range(12):
        peer = make_peer(vocabulary, lowercase=trial % 2 == 0)
        tokens, seen = [], set()
        for content in ("@@", "FoO", "@foo", " é", "x Y", "a-", "aB中", "é\u0301"):
            flag = {name: chance.random() < 0.4 for name in flags}
            form = peer.normalizer.normalize_str(content)
            if form not in seen:  # equal forms have no defined winner in the package
                tokens.append(AddedToken(content, **flag))
            seen.add(form)
        peer.add_tokens(tokens)
        comparison = Comparison(f"added tokens {trial}", save(peer, scratch / f"added{trial}"), peer)
        texts = ["".join(chance.choice(parts) for _ in range(chance.randint(1, 9))) for _ in range(20000)]
        comparison.check("random neighbours", texts)
        comparison.check("random pairs, at most 9", list(zip(texts, reversed(texts))), 9)


def main():
    if not DATA.is_dir():
        print(f"skipped: there is no {DATA}")
        sys.exit(77)
    folder = DATA / "tokenizers" / "bert-base-uncased"
    with tempfile.TemporaryDirectory(prefix="ranktune-peer-") as name:
        scratch = pathlib.Path(name)
        compare_real_texts(Comparison("bert-base-uncased", folder, Tokenizer.from_file(str(folder / "tokenizer.json"))))
        words = models.WordPiece.read_file(str(DATA / "tokenizers/bert-base-cased/vocab.txt"))
        cased = make_peer(words, lowercase=False)
        compare_real_texts(Comparison("bert-base-cased", save(cased, scratch / "cased"), cased))
        compare_added_tokens(scratch)
        compare_characters(scratch)
    print(f"{Comparison.failures} differences")
    sys.exit(1 if Comparison.failures else 0)


if __name__ == "__main__":
    main()
