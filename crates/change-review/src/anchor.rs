//! Lines of a text that can be found again after the text has changed.

use content_hash::ContentHash;
use serde::{Deserialize, Serialize};

/// The number of lines on each side that distinguish equal lines.
const NEIGHBOURS: usize = 2;

/// The maximum number of equal lines among which the right one is searched for.
const MOST_EQUAL: usize = 1_000;

/// The lines that a comment refers to, remembered by their content: found again after they have moved, but not if
/// they are gone or cannot be distinguished from equal ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Anchor {
    /// The lines, without the line end of the last one.
    pub quoted: String,
    /// The first of them when the anchor was made, 1-based.
    pub first: usize,
    /// The hashes of the lines before and after.
    neighbours: [String; 2],
    /// True if there were no equal lines.
    is_unique: bool,
}

impl Anchor {
    /// Anchors the lines `first` to `last` of a text, 1-based and inclusive; `None` if the text does not have them.
    #[must_use]
    pub fn of(text: &str, first: usize, last: usize) -> Option<Anchor> {
        let lines: Vec<&str> = text.lines().collect();
        if first == 0 || first > last || last > lines.len() {
            return None;
        }
        let quoted = &lines[first - 1..last];
        Some(Anchor {
            quoted: quoted.join("\n"),
            first,
            neighbours: neighbours(&lines, first - 1, quoted.len()),
            is_unique: positions(&lines, quoted).nth(1).is_none(),
        })
    }

    /// Returns the first and the last of the lines in a text, 1-based and inclusive; `None` if they are gone.
    ///
    /// Lines that were unique and still are may have moved anywhere. Equal lines are distinguished by the two lines on each
    /// side: if those have changed as well, or are not unique either, nothing is found.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<(usize, usize)> {
        let lines: Vec<&str> = text.lines().collect();
        let quoted: Vec<&str> = self.quoted.split('\n').collect();
        let matches: Vec<usize> = positions(&lines, &quoted).take(MOST_EQUAL + 1).collect();
        if matches.len() > MOST_EQUAL {
            return None;
        }
        let around = |start: usize| neighbours(&lines, start, quoted.len());
        let start = match matches.as_slice() {
            [] => return None,
            [only] if self.is_unique && (self.says_enough() || self.has_a_neighbour_of(around(*only))) => {
                *only
            }
            several => {
                let mut same = several.iter().copied().filter(|start| around(*start) == self.neighbours);
                let first = same.next()?;
                if same.next().is_some() {
                    return None;
                }
                first
            }
        };
        Some((start + 1, start + quoted.len()))
    }

    /// Checks whether the lines are more than a bracket or a blank line, which may recur at any time.
    fn says_enough(&self) -> bool {
        self.quoted.chars().filter(|character| character.is_alphanumeric()).count() >= 4
    }

    fn has_a_neighbour_of(&self, around: [String; 2]) -> bool {
        self.neighbours[0] == around[0] || self.neighbours[1] == around[1]
    }
}

fn positions<'a>(lines: &'a [&'a str], quoted: &'a [&'a str]) -> impl Iterator<Item = usize> + 'a {
    let windows = lines.windows(quoted.len().max(1)).enumerate();
    windows.filter(move |(_, window)| *window == quoted).map(|(start, _)| start)
}

fn neighbours(lines: &[&str], start: usize, count: usize) -> [String; 2] {
    let end = start + count;
    let before = &lines[start.saturating_sub(NEIGHBOURS)..start];
    let after = &lines[end..(end + NEIGHBOURS).min(lines.len())];
    let hash = |lines: &[&str]| {
        ContentHash::of(format!("{}\0{}", lines.len(), lines.join("\n")).as_bytes()).to_string()
    };
    [before, after].map(hash)
}
