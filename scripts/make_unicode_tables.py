#!/usr/bin/env python3
"""Writes src/ranktune/text/unicode_{tables,mappings}.cpp: what the `tokenizers` package does to single code points.

    .deps/peer/bin/python scripts/make_unicode_tables.py [output folder]

Every table is observed through the package's public interface: it mixes character data of several Unicode versions,
so no other source says the same. Two runs with the same version of the package write the same bytes. Half a minute.
"""
import pathlib
import sys

import tokenizers
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "src/ranktune/text"
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
HANGUL = range(0xAC00, 0xAC00 + 11172)
LINE = 108


def bert(**options):
    off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**off, **options})


def each(normalizer):
    return {c: normalizer.normalize_str(chr(c)) for c in CODE_POINTS}


def check(condition, what):
    if not condition:
        sys.exit(f"make_unicode_tables.py: the package does not behave as src/ranktune/text assumes: {what}")


# ---- observations -------------------------------------------------------------------------------------------------
def removed_and_spaces():
    cleaned = each(bert(clean_text=True))
    removed = {c for c, text in cleaned.items() if text == ""}
    to_space = {c for c, text in cleaned.items() if text == " "}
    kept = set(CODE_POINTS) - removed - to_space
    check(all(cleaned[c] == chr(c) for c in kept), "clean_text changes nothing else")
    spaces, punctuation = set(), set()
    split = pre_tokenizers.BertPreTokenizer()
    for c in CODE_POINTS:
        pieces = [piece for piece, _ in split.pre_tokenize_str("a" + chr(c) + "b")]
        if pieces == ["a", "b"]:
            spaces.add(c)
        elif pieces == ["a", chr(c), "b"]:
            punctuation.add(c)
        else:
            check(pieces == ["a" + chr(c) + "b"], f"one piece or three around U+{c:04X}")
    check(to_space == spaces - removed, "clean_text and the pre-tokenizer know the same spaces")
    return removed, spaces, punctuation


def cjk():
    spaced = each(bert(handle_chinese_chars=True))
    found = {c for c, text in spaced.items() if text == f" {chr(c)} "}
    check(all(spaced[c] == chr(c) for c in CODE_POINTS if c not in found), "only CJK gets spaces")
    return found


def word_characters(spaces):
    """What counts as part of a word beside an added token with single_word; and that lstrip/rstrip take spaces."""
    words = set()
    for start in range(0, len(CODE_POINTS), 1000):
        chunk = CODE_POINTS[start : start + 1000]
        encoding = added("@@", single_word=True).encode("".join(f" {chr(c)}@@" for c in chunk))
        seen = {begin for i, (begin, _) in zip(encoding.ids, encoding.offsets) if i == 1}
        words |= {c for i, c in enumerate(chunk) if 4 * i + 2 not in seen}
    check(added("%%", single_word=True).encode("@%%").ids[-1] == 1, "the sign of the probe itself is no word")
    words.discard(ord("@"))
    right, left = added("@@", rstrip=True), added("@@", lstrip=True)
    for c in list(range(0x3100)) + [0xFEFF, 0xE0020]:
        taken = right.encode("@@" + chr(c)).offsets[0][1] == 3, left.encode(chr(c) + "@@").offsets[-1][0] == 0
        check(taken == (c in spaces,) * 2, f"lstrip and rstrip agree with the spaces at U+{c:04X}")
    return words


def added(content, **flags):
    tokenizer = Tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_tokens([AddedToken(content, normalized=False, **flags)])
    return tokenizer


class Decomposition:
    """NFD, the marks that strip_accents takes away, and the order of those that stay."""

    def __init__(self):
        self.normalizer = normalizers.NFD()
        self.nfd = each(self.normalizer)
        self.stripped = each(bert(strip_accents=True))
        plain = [c for c in CODE_POINTS if self.nfd[c] == chr(c)]
        self.marks = {c for c in plain if self.stripped[c] == ""}
        for c in CODE_POINTS:
            kept = "".join(x for x in self.nfd[c] if ord(x) not in self.marks)
            check(self.stripped[c] == kept, f"strip_accents is NFD without marks at U+{c:04X}")
        probes = "\u0334\u0301\u0345"  # a low, a middle and the highest combining class
        self.moving = {c for c in plain if any(self.swaps(p, chr(c)) or self.swaps(chr(c), p) for p in probes)}
        self.check_hangul()

    def swaps(self, first, second):
        return self.normalizer.normalize_str(first + second) == second + first != first + second

    def check_hangul(self):
        for c in HANGUL:
            index = c - HANGUL.start
            jamo = [0x1100 + index // 588, 0x1161 + index % 588 // 28] + [0x11A7 + index % 28] * (index % 28 > 0)
            check(self.stripped[c] == "".join(map(chr, jamo)), "Hangul decomposes by arithmetic")

    def all_move(self, c):
        """Nothing in c's decomposition stops marks before it from changing places with marks behind it."""
        return all(ord(x) in self.moving for x in self.nfd[c])

    def check_shape(self):
        """A surviving mark that moves never stands before a character that does not, within one decomposition."""
        for c in CODE_POINTS:
            moving = [ord(x) in self.moving for x in self.nfd[c]]
            kept = [ord(x) not in self.marks for x in self.nfd[c]]
            for i, (is_moving, is_kept) in enumerate(zip(moving, kept)):
                check(not (is_moving and is_kept) or all(moving[i:]), f"shape of U+{c:04X}")

    def ranks(self):
        """Combining classes of the marks that stay, as ranks 1, 2, ... in their order."""
        classes = []  # one list of equals each, ascending
        for c in sorted(self.moving - self.marks):
            below = sum(self.swaps(chr(c), chr(group[0])) for group in classes)
            if below < len(classes) and not self.swaps(chr(classes[below][0]), chr(c)):
                classes[below].append(c)
            else:
                classes.insert(below, [c])
        self.check_classes(classes)
        return {c: rank for rank, group in enumerate(classes, 1) for c in group}

    def check_classes(self, classes):
        for i, low in enumerate(classes):
            for j, high in enumerate(classes):
                same = all(self.swaps(chr(b), chr(a)) == (i < j) for a in low for b in high)
                check(same, "combining classes are a total order")


# ---- compact forms ------------------------------------------------------------------------------------------------
def ranges(points):
    found = []
    for c in sorted(points):
        if found and found[-1][1] == c - 1:
            found[-1][1] = c
        else:
            found.append([c, c])
    return found


def lower_runs(lowered):
    """(first, last, step, distance) of code points with one lower-case letter at the same distance."""
    runs = []
    for c in sorted(lowered):
        distance = lowered[c] - c
        run = runs[-1] if runs else None
        if run and run[3] == distance and c - run[1] in ((1, 2) if run[0] == run[1] else (run[2],)):
            run[1], run[2] = c, c - run[1]
        else:
            runs.append([c, c, 1, distance])
    return runs


def hexadecimal(number):
    return f"-0x{-number:X}" if number < 0 else f"0x{number:X}"


def braces(row):
    return "{" + ", ".join(map(hexadecimal, row)) + "}"


def array(kind, name, comment, items):
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > LINE:
            lines.append(line)
            line = "   "
        line += f" {item},"
    body = "\n".join(lines + [line])
    return f"/// {comment}\nconstexpr {kind} k{name}Data[] = {{\n{body}\n}};\n"


HEAD = f"""\
// Generated by scripts/make_unicode_tables.py from `tokenizers` {tokenizers.__version__}. Do not edit: run the script.
// clang-format off
#include "ranktune/text/unicode_tables.h"

namespace ranktune::text::tables {{
namespace {{

"""


def class_tables(decomposition):
    """Which code points are of a kind."""
    removed, spaces, punctuation = removed_and_spaces()
    ranks = decomposition.ranks()
    stripped = {c for c, text in decomposition.stripped.items() if text == ""}
    moving = {c for c in CODE_POINTS if decomposition.all_move(c)}
    rank_rows = [[*r, rank] for rank in sorted(set(ranks.values()))
                 for r in ranges(c for c, own in ranks.items() if own == rank)]
    return [
        of_ranges("Removed", "clean_text drops these.", removed),
        of_ranges("Spaces", "White space, some of it dropped before it is seen.", spaces),
        of_ranges("Cjk", "handle_chinese_chars puts spaces around these.", cjk()),
        of_ranges("Punctuation", "Words of their own.", punctuation),
        of_ranges("Words", "Parts of words, beside added tokens.", word_characters(spaces)),
        of_ranges("StrippedMarks", "strip_accents leaves nothing of these.", stripped),
        of_ranges("Moving", "Marks around these are put in order across them.", moving),
        ("Rank", "Ranks", "Marks that stay: first, last, place in the order.", list(map(braces, rank_rows))),
    ]


def of_ranges(name, comment, points):
    return "Range", name, comment, list(map(braces, ranges(points)))


def mapping_tables(decomposition):
    """What code points become."""
    lowered = {c: text for c, text in each(bert(lowercase=True)).items() if text != chr(c)}
    lowered_to_one = {c: ord(text) for c, text in lowered.items() if len(text) == 1}
    changed = {c: t for c, t in decomposition.stripped.items() if t not in ("", chr(c)) and c not in HANGUL}
    singles = {c: ord(text) for c, text in changed.items() if len(text) == 1}
    return [
        ("LowerRun", "Lower", "Lower case: first, last, step, distance.",
         list(map(braces, lower_runs(lowered_to_one)))),
        ("Expansion", "LowerExpansions", "Lower case of more than one code point.", expansions(lowered)),
        ("StripRun", "StripRuns", "strip_accents leaves one code point: first, last, index of the first result.",
         strip_runs(singles)),
        ("char32_t", "StripResults", "The results, in the order of the code points.",
         [hexadecimal(singles[c]) for c in sorted(singles)]),
        ("Expansion", "StripExpansions", "strip_accents leaves several code points.", expansions(changed)),
    ]


def expansions(mapping):
    rows = {c: [ord(x) for x in text] for c, text in mapping.items() if len(text) > 1}
    check(max(map(len, rows.values()), default=0) <= 3, "no result is longer than three code points")
    return [f"{{{hexadecimal(c)}, {braces(row)}}}" for c, row in sorted(rows.items())]


def strip_runs(singles):
    rows, index = [], 0
    for first, last in ranges(singles):
        rows.append(braces([first, last, index]))
        index += last - first + 1
    return rows


def write(path, found):
    text = HEAD + "\n".join(array(*table) for table in found) + "\n}  // namespace\n\n"
    text += "".join(f"const std::span<const {kind}> k{name} = k{name}Data;\n" for kind, name, *_ in found)
    path.write_text(text + "\n}  // namespace ranktune::text::tables\n", encoding="utf-8")


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    decomposition = Decomposition()
    decomposition.check_shape()
    write(folder / "unicode_tables.cpp", class_tables(decomposition))
    write(folder / "unicode_mappings.cpp", mapping_tables(decomposition))


if __name__ == "__main__":
    main()
