//! The figures of one kind of work at several sizes.

use std::time::Duration;

use serde_json::json;

/// Medians of some lines at the same sizes.
pub(crate) struct Curves {
    name: &'static str,
    title: &'static str,
    axis: &'static str,
    lines: Vec<(String, Vec<(u32, f64)>)>,
}

impl Curves {
    /// Begins the figures with this title, over sizes that `axis` counts; `name` is the name of their picture.
    pub(crate) fn new(name: &'static str, title: &'static str, axis: &'static str) -> Curves {
        println!("\n{title}: median (least to most)");
        Curves { name, title, axis, lines: Vec::new() }
    }

    /// Adds the times of a line at a size, and prints them.
    pub(crate) fn add(&mut self, line: &str, size: u32, mut times: Vec<Duration>) {
        times.sort_unstable();
        let at = |index: usize| times.get(index).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3);
        let (least, median, most) = (at(0), at(times.len() / 2), at(times.len().saturating_sub(1)));
        println!("  {:<44} {size:>7} {:<8} {median:>9.2} ms ({least:.2} to {most:.2})", line, self.axis);
        match self.lines.iter_mut().find(|(name, _)| name == line) {
            Some((_, points)) => points.push((size, median)),
            None => self.lines.push((line.to_owned(), vec![(size, median)])),
        }
    }

    /// Says that a line has no figure at a size.
    pub(crate) fn none(&self, line: &str, size: u32, why: &str) {
        println!("  {line:<44} {size:>7} {:<8} {why}", self.axis);
    }

    /// Ends with the plot.
    pub(crate) fn end(self) {
        let series: Vec<_> =
            self.lines.iter().map(|(name, points)| json!({ "name": name, "points": points })).collect();
        let plot = json!({
            "name": self.name, "title": self.title, "x": self.axis, "y": "ms", "is_logarithmic": true, "series": series,
        });
        println!("plot {plot}");
    }
}
