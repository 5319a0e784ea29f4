//! The cost of edits and comparisons of large texts.

use divan::Bencher;
use text_edit::{
    EditLimits, LineMap, Lines, MatchRule, Numbering, Operation, SearchText, Source, apply, find_text,
};

fn main() {
    divan::main();
}

/// About one mebibyte of lines that look like code.
fn text() -> String {
    (0..26_000).map(|line| format!("    let value_{line} = compute({});\n", line % 97)).collect()
}

/// Lines in an order that has little in common with another multiplier's.
fn shuffled(multiplier: u64) -> String {
    (0..200_000u64).map(|line| format!("{}\n", line * multiplier % 199_999)).collect()
}

/// Lines of two kinds in a random-looking order, the worst input for a comparison.
fn noise(seed: u64) -> String {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if state >> 63 == 0 { "a\n" } else { "b\n" }
    };
    (0..200_000).map(|_| next()).collect()
}

#[divan::bench]
fn replace_one_line_in_1_mib(bencher: Bencher<'_, '_>) {
    let text = text();
    let operations =
        [Operation::Replace { start_line: 13_000, end_line: 13_000, content: Lines::from_content("x") }];
    bencher.bench(|| apply(text.as_bytes(), &operations, Numbering::Original, &EditLimits::default()));
}

#[divan::bench]
fn replace_1000_lines_in_1_mib(bencher: Bencher<'_, '_>) {
    let text = text();
    let operations: Vec<Operation> = (1..=1000)
        .map(|line| Operation::Replace {
            start_line: line * 20,
            end_line: line * 20,
            content: Lines::from_content("x\ny"),
        })
        .collect();
    bencher.bench(|| apply(text.as_bytes(), &operations, Numbering::Original, &EditLimits::default()));
}

#[divan::bench]
fn replace_26000_matches_in_1_mib(bencher: Bencher<'_, '_>) {
    let text = text();
    let operations = [Operation::RegexReplace {
        pattern: r"compute\((\d+)\)".to_owned(),
        replacement: "calculate($1)".to_owned(),
        flags: "g".to_owned(),
    }];
    bencher.bench(|| apply(text.as_bytes(), &operations, Numbering::Original, &EditLimits::default()));
}

#[divan::bench]
fn compare_1_mib_with_100_changes(bencher: Bencher<'_, '_>) {
    let old = text();
    let new: String = old
        .lines()
        .enumerate()
        .map(|(at, line)| if at % 260 == 0 { "changed\n".to_owned() } else { format!("{line}\n") })
        .collect();
    bencher.bench(|| compare(&old, &new));
}

#[divan::bench(sample_count = 10)]
fn compare_200000_shuffled_lines(bencher: Bencher<'_, '_>) {
    let (old, new) = (shuffled(7919), shuffled(104_729));
    bencher.bench(|| compare(&old, &new));
}

#[divan::bench(sample_count = 3)]
fn compare_200000_lines_of_noise(bencher: Bencher<'_, '_>) {
    let (old, new) = (noise(1), noise(2));
    bencher.bench(|| compare(&old, &new));
}

#[divan::bench]
fn find_a_text_in_1_mib(bencher: Bencher<'_, '_>) {
    let text = text();
    let search = SearchText::of_lines("    let value_25000 = compute(71);\n");
    bencher.bench(|| find(&text, &search));
}

#[divan::bench]
fn find_an_indented_text_in_1_mib(bencher: Bencher<'_, '_>) {
    let text = text();
    let search = SearchText::of_lines("let value_25000 = compute(71);\nlet value_25001 = compute(72);\n");
    bencher.bench(|| find(&text, &search));
}

/// The search text does not occur, and the most similar passage is searched for.
#[divan::bench]
fn find_the_nearest_passage_in_1_mib(bencher: Bencher<'_, '_>) {
    let text = text();
    let search = SearchText::of_lines("    let value_25000 = compute(71);\n    let other = compute(1);\n");
    bencher.bench(|| find(&text, &search));
}

/// Compare the times of the three sizes: they should grow linearly.
#[divan::bench(args = [1, 10, 100], sample_count = 3, sample_size = 1)]
fn find_20_of_one_repeated_line(bencher: Bencher<'_, '_>, mebibytes: usize) {
    let text = "    repeat();\n".repeat(mebibytes * 75_000);
    let search = SearchText::of_lines(&"repeat();\n".repeat(20));
    bencher.bench(|| find(&text, &search));
}

/// The last line differs, so that every position is a near miss.
#[divan::bench(args = [1, 10, 100], sample_count = 3, sample_size = 1)]
fn miss_20_of_one_repeated_line(bencher: Bencher<'_, '_>, mebibytes: usize) {
    let text = "    repeat();\n".repeat(mebibytes * 75_000);
    let search = SearchText::of_lines(&format!("{}  repeat();\n", "repeat();\n".repeat(19)));
    bencher.bench(|| find(&text, &search));
}

fn find(text: &str, search: &SearchText) -> bool {
    let source = Source::parse(text.as_bytes()).expect("the benchmark's texts are not binary");
    find_text(&source, search, &MatchRule::ALL, None).is_ok()
}

fn compare(old: &str, new: &str) -> LineMap {
    let parse = |text| Source::parse(text).expect("the benchmark's texts are not binary");
    let (old, new): (Source<'_>, Source<'_>) = (parse(old.as_bytes()), parse(new.as_bytes()));
    LineMap::between(&old, &new)
}
