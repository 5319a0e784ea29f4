//! Where the lines of one text are in another.

use super::lines::without_ending;
use crate::LineShift;

/// How much work a comparison of two texts may be, in pairs of lines. Beyond it the lines that differ are taken to be
/// all new, which turns an edit of them into a conflict and never into a wrong edit.
const MOST_PAIRS: usize = 4_000_000;

/// For each line of an old text its place in a new one; `None` for a line that changed or is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineMap {
    places: Vec<Option<usize>>,
}

impl LineMap {
    pub(super) fn new(places: Vec<Option<usize>>) -> LineMap {
        LineMap { places }
    }

    pub(super) fn identity(lines: usize) -> LineMap {
        LineMap { places: (0..lines).map(Some).collect() }
    }

    /// Compares two texts line by line, endings apart.
    pub(super) fn between(old: &[&[u8]], new: &[&[u8]]) -> LineMap {
        let same = |(old, new): (&&[u8], &&[u8])| without_ending(old) == without_ending(new);
        let prefix = old.iter().zip(new).take_while(|pair| same((pair.0, pair.1))).count();
        let (old_rest, new_rest) = (&old[prefix..], &new[prefix..]);
        let suffix = old_rest
            .iter()
            .rev()
            .zip(new_rest.iter().rev())
            .take_while(|pair| same((pair.0, pair.1)))
            .count();
        let (old_middle, new_middle) =
            (&old_rest[..old_rest.len() - suffix], &new_rest[..new_rest.len() - suffix]);

        let mut places: Vec<Option<usize>> = (0..prefix).map(Some).collect();
        places.extend(
            longest_common(old_middle, new_middle).into_iter().map(|place| place.map(|p| p + prefix)),
        );
        places.extend((new.len() - suffix..new.len()).map(Some));
        LineMap { places }
    }

    /// Returns the map of two steps, this one first.
    pub(super) fn then(&self, next: &LineMap) -> LineMap {
        LineMap { places: self.places.iter().map(|place| place.and_then(|line| next.places[line])).collect() }
    }

    /// How many lines the old text has.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// How many lines of the old text are in the new one.
    pub(super) fn kept(&self) -> usize {
        self.places.iter().flatten().count()
    }

    /// Returns the new index of the line at an old index; `None` if it changed or never was.
    pub(super) fn place(&self, index: usize) -> Option<usize> {
        self.places.get(index).copied().flatten()
    }

    /// Returns the new index of the last unchanged line at or before an old index.
    pub(super) fn place_near(&self, index: usize) -> usize {
        let end = (index + 1).min(self.places.len());
        self.places[..end].iter().rev().flatten().next().copied().unwrap_or(0)
    }

    /// Tells from which old lines on the numbers moved.
    pub(super) fn shifts(&self) -> Vec<LineShift> {
        let mut shifts: Vec<LineShift> = Vec::new();
        for (index, place) in self.places.iter().enumerate() {
            let Some(place) = place else { continue };
            let number = |index: usize| i64::try_from(index).expect("a line number fits 63 bits");
            let by = number(*place) - number(index);
            if by != shifts.last().map_or(0, |shift| shift.by) {
                shifts.push(LineShift { from_line: index as u64 + 1, by });
            }
        }
        shifts
    }
}

/// The longest common subsequence, as places in `new`.
fn longest_common(old: &[&[u8]], new: &[&[u8]]) -> Vec<Option<usize>> {
    let mut places = vec![None; old.len()];
    if old.len().saturating_mul(new.len()) > MOST_PAIRS {
        return places;
    }
    let width = new.len() + 1;
    let same = |row: usize, column: usize| without_ending(old[row]) == without_ending(new[column]);
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    for row in (0..old.len()).rev() {
        for column in (0..new.len()).rev() {
            lengths[row * width + column] = if same(row, column) {
                lengths[(row + 1) * width + column + 1] + 1
            } else {
                lengths[(row + 1) * width + column].max(lengths[row * width + column + 1])
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    while row < old.len() && column < new.len() {
        if same(row, column) {
            places[row] = Some(column);
            (row, column) = (row + 1, column + 1);
        } else if lengths[(row + 1) * width + column] >= lengths[row * width + column + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    places
}
