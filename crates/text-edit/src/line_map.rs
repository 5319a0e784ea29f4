//! The correspondence of lines between two versions of a text.

pub(crate) mod byte_edits;
mod comparison;

use std::ops::{Range, RangeInclusive};

/// Maps the lines of an old version of a text to those of a new one.
///
/// Public line numbers are 1-based. Internally the map is a sorted list of hunks in 0-based half-open line indexes; all lines
/// between two hunks are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineMap {
    old_lines: usize,
    new_lines: usize,
    /// Invariant: sorted, disjoint in `old` and in `new`, none empty on both sides, and the gaps between
    /// them (and before the first and after the last) are equally long on both sides.
    hunks: Vec<Hunk>,
}

/// Consecutive lines that differ, as 0-based half-open line indexes of both versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The removed lines; empty for an insertion.
    pub old: Range<usize>,
    /// The added lines; empty for a deletion.
    pub new: Range<usize>,
}

/// The fate of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapped {
    /// It is still there, under this 1-based number.
    Kept(usize),
    /// It was changed or removed, or never existed.
    Changed,
}

/// The fate of a range of lines. Line numbers are 1-based.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MappedRange {
    /// All of them are still there, consecutively.
    Kept(RangeInclusive<usize>),
    /// All of them are still there, but other lines were inserted between them.
    Interrupted {
        /// From the first to the last of them, inserted lines included.
        lines: RangeInclusive<usize>,
        /// The number of inserted lines among them.
        inserted: usize,
    },
    /// At least one of them was changed or removed, or never existed.
    Changed {
        /// The lines that are there instead, as 0-based half-open line indexes; may be empty.
        now: Range<usize>,
    },
}

/// A number of lines by which lines have moved, from an old line up to the next shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift {
    /// The 1-based number, in the old version, of the first line that moved by this much.
    pub from_line: usize,
    /// New line number minus old line number.
    pub by: isize,
}

impl LineMap {
    /// Returns the map of a text of `total_lines` lines onto itself.
    pub fn identity(total_lines: usize) -> Self {
        Self { old_lines: total_lines, new_lines: total_lines, hunks: Vec::new() }
    }

    /// Builds a map from its parts, such as those returned by [`hunks`](Self::hunks); `None` if they are inconsistent.
    pub fn new(old_lines: usize, new_lines: usize, hunks: Vec<Hunk>) -> Option<Self> {
        let map = Self { old_lines, new_lines, hunks };
        let is_range = |hunk: &Hunk| {
            hunk.old.start <= hunk.old.end
                && hunk.new.start <= hunk.new.end
                && !(hunk.old.is_empty() && hunk.new.is_empty())
        };
        (map.hunks.iter().all(is_range) && map.is_consistent()).then_some(map)
    }

    /// Builds a map from hunks that satisfy the invariant, leaving out those that are empty on both sides.
    pub(crate) fn from_hunks(old_lines: usize, new_lines: usize, hunks: Vec<Hunk>) -> Self {
        let hunks: Vec<Hunk> =
            hunks.into_iter().filter(|hunk| !(hunk.old.is_empty() && hunk.new.is_empty())).collect();
        let map = Self { old_lines, new_lines, hunks };
        debug_assert!(map.is_consistent(), "hunks leave unequal gaps: {map:?}");
        map
    }

    /// The number of lines of the old version.
    pub fn old_lines(&self) -> usize {
        self.old_lines
    }

    /// The number of lines of the new version.
    pub fn new_lines(&self) -> usize {
        self.new_lines
    }

    /// The number of lines added (or, if negative, removed) in total.
    pub fn line_delta(&self) -> isize {
        self.new_lines as isize - self.old_lines as isize
    }

    /// The differences, in order.
    pub fn hunks(&self) -> &[Hunk] {
        &self.hunks
    }

    /// Checks whether every line is kept and none was added.
    pub fn is_identity(&self) -> bool {
        self.hunks.is_empty()
    }

    /// Returns the position of the line with this 1-based number in the new version.
    pub fn map(&self, line_number: usize) -> Mapped {
        if line_number == 0 || line_number > self.old_lines {
            return Mapped::Changed;
        }
        let index = line_number - 1;
        let passed = self.hunks.partition_point(|hunk| hunk.old.end <= index);
        match self.hunks.get(passed) {
            Some(hunk) if hunk.old.start <= index => Mapped::Changed,
            _ => Mapped::Kept(self.moved(index, passed) + 1),
        }
    }

    /// Returns the position of the lines `start..=end` (1-based) in the new version.
    ///
    /// Insertions directly before or after the range do not touch it.
    pub fn map_range(&self, lines: RangeInclusive<usize>) -> MappedRange {
        let (first, last) = (*lines.start(), *lines.end());
        if first == 0 || last < first || last > self.old_lines {
            return MappedRange::Changed { now: self.new_lines..self.new_lines };
        }
        let (start, end) = (first - 1, last);
        let touching = self.touching(start, end);
        let (Some(first_hunk), Some(last_hunk)) = (touching.first(), touching.last()) else {
            let passed = self.hunks.partition_point(|hunk| hunk.old.end <= start);
            let new_start = self.moved(start, passed);
            return MappedRange::Kept(new_start + 1..=new_start + (end - start));
        };
        let new_start = first_hunk.new.start - first_hunk.old.start.saturating_sub(start);
        let new_end = last_hunk.new.end + end.saturating_sub(last_hunk.old.end);
        if touching.iter().all(|hunk| hunk.old.is_empty()) {
            let inserted = touching.iter().map(|hunk| hunk.new.len()).sum();
            MappedRange::Interrupted { lines: new_start + 1..=new_end, inserted }
        } else {
            MappedRange::Changed { now: new_start..new_end }
        }
    }

    /// Returns the position of the gap after the line `after_line` (0 is the top) in the new version, as the lowest and the
    /// highest line that it may follow; they differ if lines were inserted there.
    ///
    /// `None` if the lines on both sides of the gap were removed or changed together, or if there is no such line.
    pub fn map_gap(&self, after_line: usize) -> Option<RangeInclusive<usize>> {
        let gap = after_line;
        if gap > self.old_lines {
            return None;
        }
        let below = self.hunks.partition_point(|hunk| hunk.old.end <= gap && hunk.old.start < gap);
        let passed = self.hunks.partition_point(|hunk| hunk.old.end <= gap);
        match self.hunks.get(passed) {
            Some(hunk) if hunk.old.start < gap => None,
            _ => Some(self.moved(gap, below)..=self.moved(gap, passed)),
        }
    }

    /// Returns the map from this map's old version to the new version of `next`.
    ///
    /// # Panics
    ///
    /// If `next` does not start from a text with as many lines as this map's new version has.
    pub fn compose(&self, next: &LineMap) -> LineMap {
        assert_eq!(self.new_lines, next.old_lines, "maps that are composed meet in one version");
        let (first, second) = (self.kept(), next.kept());
        let (mut i, mut j) = (0, 0);
        let mut kept = Vec::new();
        while let (Some(a), Some(b)) = (first.get(i), second.get(j)) {
            let start = a.new_start.max(b.old_start);
            let (a_end, b_end) = (a.new_start + a.len, b.old_start + b.len);
            if start < a_end.min(b_end) {
                kept.push(Kept {
                    old_start: a.old_start + (start - a.new_start),
                    new_start: b.new_start + (start - b.old_start),
                    len: a_end.min(b_end) - start,
                });
            }
            if a_end <= b_end {
                i += 1;
            } else {
                j += 1;
            }
        }
        Self::from_kept(self.old_lines, next.new_lines, &kept)
    }

    /// Returns the map from the new version to the old one.
    pub fn inverse(&self) -> LineMap {
        let hunks =
            self.hunks.iter().map(|hunk| Hunk { old: hunk.new.clone(), new: hunk.old.clone() }).collect();
        Self { old_lines: self.new_lines, new_lines: self.old_lines, hunks }
    }

    /// Returns how the lines that were kept have moved, from top to bottom; omitting lines that kept their number.
    pub fn shifts(&self) -> Vec<Shift> {
        let mut shifts = Vec::new();
        let mut current = 0;
        for kept in self.kept() {
            let by = kept.new_start as isize - kept.old_start as isize;
            if by != current {
                shifts.push(Shift { from_line: kept.old_start + 1, by });
                current = by;
            }
        }
        shifts
    }

    /// Returns the hunks that a range of 0-based half-open line indexes touches: those that share a line with it, and insertions
    /// strictly inside.
    fn touching(&self, start: usize, end: usize) -> &[Hunk] {
        let from = self.hunks.partition_point(|hunk| hunk.old.end <= start);
        let count = self.hunks[from..].partition_point(|hunk| hunk.old.start < end);
        &self.hunks[from..from + count]
    }

    /// Returns the new index of an old index that follows `passed` hunks.
    fn moved(&self, index: usize, passed: usize) -> usize {
        match passed.checked_sub(1).map(|last| &self.hunks[last]) {
            Some(hunk) => hunk.new.end + (index - hunk.old.end),
            None => index,
        }
    }

    fn kept(&self) -> Vec<Kept> {
        let mut kept = Vec::with_capacity(self.hunks.len() + 1);
        let (mut old_start, mut new_start) = (0, 0);
        for hunk in &self.hunks {
            let len = hunk.old.start - old_start;
            if len > 0 {
                kept.push(Kept { old_start, new_start, len });
            }
            (old_start, new_start) = (hunk.old.end, hunk.new.end);
        }
        if old_start < self.old_lines {
            kept.push(Kept { old_start, new_start, len: self.old_lines - old_start });
        }
        kept
    }

    /// Builds a map from ranges of kept lines, in order and disjoint.
    pub(crate) fn from_kept(old_lines: usize, new_lines: usize, kept: &[Kept]) -> Self {
        let mut hunks = Vec::new();
        let (mut old_start, mut new_start) = (0, 0);
        for stretch in kept {
            hunks.push(Hunk { old: old_start..stretch.old_start, new: new_start..stretch.new_start });
            (old_start, new_start) = (stretch.old_start + stretch.len, stretch.new_start + stretch.len);
        }
        hunks.push(Hunk { old: old_start..old_lines, new: new_start..new_lines });
        Self::from_hunks(old_lines, new_lines, hunks)
    }

    fn is_consistent(&self) -> bool {
        let (mut old_end, mut new_end) = (0, 0);
        for hunk in &self.hunks {
            let in_order = hunk.old.start >= old_end && hunk.new.start >= new_end;
            if !in_order || hunk.old.start - old_end != hunk.new.start - new_end {
                return false;
            }
            (old_end, new_end) = (hunk.old.end, hunk.new.end);
        }
        self.old_lines >= old_end
            && self.new_lines >= new_end
            && self.old_lines - old_end == self.new_lines - new_end
    }
}

/// `len` consecutive lines that both versions have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    pub(crate) old_start: usize,
    pub(crate) new_start: usize,
    pub(crate) len: usize,
}
