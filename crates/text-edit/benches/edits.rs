//! The cost of edits and comparisons of large texts.

use divan::Bencher;
use text_edit::{EditLimits, LineMap, Lines, Numbering, Operation, Source, apply};

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

fn compare(old: &str, new: &str) -> LineMap {
    let parse = |text| Source::parse(text).expect("the benchmark's texts are not binary");
    let (old, new): (Source<'_>, Source<'_>) = (parse(old.as_bytes()), parse(new.as_bytes()));
    LineMap::between(&old, &new)
}
