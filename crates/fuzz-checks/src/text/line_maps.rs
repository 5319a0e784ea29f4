//! Line maps, compared line by line.

use arbitrary::{Result, Unstructured};
use text_edit::{LineMap, Mapped, MappedRange, Source};

use super::short_lines;

/// Checks maps between three versions of a text: a kept line has its bytes and its order, a composed map keeps the lines that
/// both keep, an inverse leads back, and ranges and gaps agree with their lines.
pub fn line_maps(data: &[u8]) {
    let mut choices = Unstructured::new(data);
    let Ok(texts) = versions(&mut choices) else { return };
    let sources = texts.each_ref().map(|text| Source::parse(text.as_bytes()).expect("a text"));
    for between in [LineMap::between, LineMap::between_versions] {
        let first = between(&sources[0], &sources[1]);
        let second = between(&sources[1], &sources[2]);
        check_map(&first, &sources[0], &sources[1]);
        check_map(&second, &sources[1], &sources[2]);
        let composed = first.compose(&second);
        for line in 1..=first.old_lines() {
            let wanted = match first.map(line) {
                Mapped::Kept(middle) => second.map(middle),
                Mapped::Changed => Mapped::Changed,
            };
            assert_eq!(composed.map(line), wanted, "line {line} of {texts:?}");
        }
    }
}

fn versions(choices: &mut Unstructured<'_>) -> Result<[String; 3]> {
    let first = short_lines(choices, 16)?;
    let second = changed(choices, &first)?;
    let third = changed(choices, &second)?;
    Ok([first, second, third])
}

/// Returns the text with some lines removed and some added.
fn changed(choices: &mut Unstructured<'_>, text: &str) -> Result<String> {
    let mut new = String::new();
    for line in text.split_inclusive('\n') {
        match choices.int_in_range(0..=5)? {
            0 => {}
            1 => new.push_str(&short_lines(choices, 2)?),
            _ => new.push_str(line),
        }
    }
    Ok(new)
}

fn check_map(map: &LineMap, old: &Source<'_>, new: &Source<'_>) {
    assert_eq!((map.old_lines(), map.new_lines()), (old.total_lines(), new.total_lines()));
    let rebuilt = LineMap::new(map.old_lines(), map.new_lines(), map.hunks().to_vec());
    assert_eq!(rebuilt.as_ref(), Some(map), "the parts of a map make it");
    let inverse = map.inverse();
    let mut last = 0;
    for line in 1..=map.old_lines() {
        let Mapped::Kept(now) = map.map(line) else { continue };
        assert!(now > last, "kept lines stay in order");
        last = now;
        assert_eq!(old.line_text(line), new.line_text(now), "a kept line");
        assert_eq!(inverse.map(now), Mapped::Kept(line), "the way back");
    }
    check_ranges(map);
    check_shifts(map);
}

fn check_ranges(map: &LineMap) {
    for first in 1..=map.old_lines() {
        for last in first..=map.old_lines().min(first + 3) {
            let fates: Vec<Mapped> = (first..=last).map(|line| map.map(line)).collect();
            let kept: Option<Vec<usize>> = fates
                .iter()
                .map(|fate| match fate {
                    Mapped::Kept(now) => Some(*now),
                    Mapped::Changed => None,
                })
                .collect();
            let all_kept = kept.as_ref().map(|kept| (kept[0], kept[kept.len() - 1]));
            match (map.map_range(first..=last), all_kept) {
                (MappedRange::Kept(lines), Some((start, end))) => {
                    assert_eq!((lines.clone(), end - start), (start..=end, last - first));
                }
                (MappedRange::Interrupted { lines, inserted }, Some((start, end))) => {
                    assert_eq!((lines, inserted), (start..=end, end - start - (last - first)));
                    assert!(inserted > 0);
                }
                (MappedRange::Changed { now }, None) => {
                    assert!(now.start <= now.end && now.end <= map.new_lines(), "{now:?}");
                }
                (range, kept) => panic!("{range:?} for lines {first} to {last}, which are {kept:?} now"),
            }
        }
    }
}

fn check_shifts(map: &LineMap) {
    let shifts = map.shifts();
    for line in 1..=map.old_lines() {
        let Mapped::Kept(now) = map.map(line) else { continue };
        let by = shifts.iter().take_while(|shift| shift.from_line <= line).last().map_or(0, |shift| shift.by);
        assert_eq!(now as isize - line as isize, by, "the shift of line {line}");
    }
}
