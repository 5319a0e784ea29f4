//! Plots of growth, as pictures that follow the reader's light or dark scheme.

use std::fmt::Write;

use serde::Deserialize;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = 50.0;

/// Colours of the lines, which differ on both backgrounds, and their dashes, by which they differ without colours.
const LINES: [(&str, &str); 8] = [
    ("#2f81f7", ""),
    ("#d2691e", "2 4"),
    ("#8b949e", "8 5"),
    ("#2da44e", "12 3"),
    ("#bf4b8a", "6 2 2 2"),
    ("#8250df", "3 2"),
    ("#b08800", "10 2 2 2"),
    ("#0a7d7d", "1 3"),
];

/// At most eight lines over an axis on which equal steps are equal factors.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plot {
    /// The name of its file, of letters, digits and hyphens; others are left out.
    name: String,
    pub(super) title: String,
    /// The things that the axis to the right counts.
    x: String,
    /// The unit of the axis upwards.
    y: String,
    /// True if equal steps upwards are equal factors, too.
    #[serde(default)]
    is_logarithmic: bool,
    series: Vec<Series>,
}

/// A line of a plot.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Series {
    name: String,
    points: Vec<(f64, f64)>,
}

impl Plot {
    /// Returns the name of its file.
    pub(super) fn file(&self) -> String {
        let name: String = self.name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        format!("bench-{name}.svg")
    }

    /// Returns true if each line can have a look of its own.
    pub(super) fn can_be_drawn(&self) -> bool {
        self.series.len() <= LINES.len()
    }

    /// Draws it. Points that are not positive numbers are left out.
    pub(super) fn svg(&self) -> String {
        let series: Vec<(&str, Vec<(f64, f64)>)> = self
            .series
            .iter()
            .zip(LINES)
            .map(|(one, _)| (one.name.as_str(), one.points.iter().copied().filter(is_drawn).collect()))
            .collect();
        let points = || series.iter().flat_map(|(_, points)| points).copied();
        let across = Across::of(points().map(|(x, _)| x));
        let upwards = Upwards::of(points().map(|(_, y)| y), self.is_logarithmic);
        let title = escaped(&self.title);
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">\n\
             <style>\n\
             text {{ font: 13px system-ui, sans-serif; fill: #1f2328; }}\n\
             .grid {{ stroke: #d0d7de; }}\n\
             .back {{ fill: #ffffff; }}\n\
             @media (prefers-color-scheme: dark) {{\n\
             text {{ fill: #e6edf3; }} .grid {{ stroke: #3d444d; }} .back {{ fill: #0d1117; }}\n\
             }}\n\
             </style>\n\
             <rect class=\"back\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n\
             <text x=\"{LEFT}\" y=\"18\">{title}, {}</text>\n",
            escaped(&self.y)
        );
        for value in upwards.grid() {
            let height = upwards.height(value);
            line(
                &mut text,
                &format!(
                    "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{height:.1}\" x2=\"{:.1}\" y2=\"{height:.1}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                    WIDTH - RIGHT,
                    LEFT - 8.0,
                    height + 4.0,
                    number(value)
                ),
            );
        }
        let bottom = HEIGHT - BOTTOM;
        for value in &across.values {
            let (position, height) = (across.position(*value), bottom + 20.0);
            line(
                &mut text,
                &format!(
                    "<text x=\"{position:.1}\" y=\"{height:.1}\" text-anchor=\"middle\">{}</text>",
                    number(*value)
                ),
            );
        }
        let (middle, height) = (f64::midpoint(LEFT, WIDTH - RIGHT), HEIGHT - 10.0);
        line(
            &mut text,
            &format!(
                "<text x=\"{middle:.1}\" y=\"{height:.1}\" text-anchor=\"middle\">{}</text>",
                escaped(&self.x)
            ),
        );
        let mut labels: Vec<f64> = Vec::new();
        for ((name, points), (colour, dashes)) in series.iter().zip(LINES) {
            let positions: Vec<(f64, f64)> =
                points.iter().map(|(x, y)| (across.position(*x), upwards.height(*y))).collect();
            let corners: Vec<String> = positions.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            line(
                &mut text,
                &format!(
                    "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.5\" stroke-dasharray=\"{dashes}\" points=\"{}\"/>",
                    corners.join(" ")
                ),
            );
            for (x, y) in &positions {
                line(
                    &mut text,
                    &format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{colour}\"/>"),
                );
            }
            let Some((x, y)) = positions.last() else { continue };
            let height = free_height(&mut labels, y + 4.0);
            line(
                &mut text,
                &format!("<text x=\"{:.1}\" y=\"{height:.1}\">{}</text>", x + 10.0, escaped(name)),
            );
        }
        text.push_str("</svg>\n");
        text
    }
}

/// The axis to the right.
struct Across {
    /// The values of all points, each once, in order.
    values: Vec<f64>,
}

impl Across {
    fn of(values: impl Iterator<Item = f64>) -> Across {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        Across { values }
    }

    fn position(&self, value: f64) -> f64 {
        let (first, last) = (self.values.first().unwrap_or(&1.0), self.values.last().unwrap_or(&1.0));
        let span = (last / first).ln().max(f64::EPSILON);
        LEFT + (value / first).ln() / span * (WIDTH - LEFT - RIGHT)
    }
}

/// The axis upwards.
enum Upwards {
    /// From 0 to `top`, with a line of the grid at every `unit`.
    Linear { top: f64, unit: f64 },
    /// From one power of ten to another.
    Logarithmic { bottom: i32, top: i32 },
}

impl Upwards {
    fn of(values: impl Iterator<Item = f64>, is_logarithmic: bool) -> Upwards {
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for value in values {
            (least, most) = (least.min(value), most.max(value));
        }
        if most <= 0.0 {
            return Upwards::Linear { top: 1.0, unit: 1.0 };
        }
        if is_logarithmic {
            let (bottom, top) = (power_of(least), power_of(most) + 1);
            return Upwards::Logarithmic { bottom, top };
        }
        let unit = unit(most);
        Upwards::Linear { top: (most / unit).ceil() * unit, unit }
    }

    fn grid(&self) -> Vec<f64> {
        match *self {
            Upwards::Linear { top, unit } => std::iter::successors(Some(0.0), |value| Some(value + unit))
                .take_while(|value| *value <= top + unit / 2.0)
                .collect(),
            Upwards::Logarithmic { bottom, top } => (bottom..=top).map(|power| 10_f64.powi(power)).collect(),
        }
    }

    fn height(&self, value: f64) -> f64 {
        let part = match *self {
            Upwards::Linear { top, .. } => value / top,
            Upwards::Logarithmic { bottom, top } => {
                (value.log10() - f64::from(bottom)) / f64::from(top - bottom)
            }
        };
        HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)
    }
}

fn is_drawn(point: &(f64, f64)) -> bool {
    [point.0, point.1].iter().all(|value| value.is_finite() && *value > 0.0)
}

#[expect(clippy::cast_possible_truncation, reason = "the logarithm of a finite number is below 310")]
fn power_of(value: f64) -> i32 {
    value.log10().floor() as i32
}

/// Returns the distance of the lines of the grid: 1, 2 or 5 times a power of ten, for about five lines.
fn unit(most: f64) -> f64 {
    let power = 10_f64.powi(power_of(most / 5.0));
    let units = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    units.into_iter().find(|unit| most / unit <= 6.0).unwrap_or(most)
}

/// Returns the height nearest to `height`, within the picture, at which no name of a line stands yet: those of lines that end
/// together stand above and below each other.
fn free_height(taken: &mut Vec<f64>, height: f64) -> f64 {
    let nearest = (0..100).map(f64::from).flat_map(|step| [height - 4.0 * step, height + 4.0 * step]);
    let free = nearest
        .filter(|height| (TOP..=HEIGHT - BOTTOM).contains(height))
        .find(|height| !taken.iter().any(|label| (label - height).abs() < 16.0))
        .unwrap_or(height);
    taken.push(free);
    free
}

fn number(value: f64) -> String {
    match value {
        value if value >= 1e6 => format!("{}M", value / 1e6),
        value if value >= 1e3 => format!("{}k", value / 1e3),
        value => format!("{}", (value * 1e6).round() / 1e6),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

fn line(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(is_logarithmic: bool, points: Vec<(f64, f64)>) -> Plot {
        Plot {
            name: "a/../b-1".to_owned(),
            title: "A < B".to_owned(),
            x: "files".to_owned(),
            y: "ms".to_owned(),
            is_logarithmic,
            series: vec![Series { name: "ours".to_owned(), points }],
        }
    }

    #[test]
    fn a_plot_stays_in_its_picture_and_its_name_in_the_folder() {
        for is_logarithmic in [false, true] {
            let plot = plot(is_logarithmic, vec![(1e3, 0.2), (1e4, 3.0), (1e5, 40.0), (0.0, f64::NAN)]);
            assert_eq!(plot.file(), "bench-ab-1.svg");
            let svg = plot.svg();
            assert!(
                svg.contains("A &lt; B, ms") && svg.contains(">1k</text>") && svg.contains(">100k</text>"),
                "{svg}"
            );
            assert_eq!(svg.matches("<circle").count(), 3);
            for height in svg.split("cy=\"").skip(1) {
                let height: f64 = height.split('"').next().unwrap().parse().unwrap();
                assert!((TOP..=HEIGHT - BOTTOM).contains(&height), "{height}");
            }
        }
    }

    #[test]
    fn names_of_lines_that_end_together_stand_apart_within_the_picture() {
        for end in [100.0, 1.0, 0.001] {
            let mut plot = plot(false, Vec::new());
            plot.series = (0..LINES.len())
                .map(|number| Series {
                    name: format!("line {number}"),
                    points: vec![(1.0, 100.0), (2.0, end)],
                })
                .collect();
            assert!(plot.can_be_drawn());
            let svg = plot.svg();
            let labels = svg.lines().filter(|line| line.contains(">line "));
            let mut heights: Vec<f64> = labels
                .map(|line| line.split("y=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
                .collect();
            heights.sort_by(f64::total_cmp);
            assert_eq!(heights.len(), LINES.len());
            assert!(TOP <= heights[0] && heights[LINES.len() - 1] <= HEIGHT - BOTTOM, "{heights:?}");
            assert!(heights.is_sorted_by(|one, other| other - one >= 15.9), "{heights:?}");
            plot.series.push(Series { name: "too many".to_owned(), points: Vec::new() });
            assert!(!plot.can_be_drawn());
        }
    }

    #[test]
    fn a_plot_without_points_is_drawn_empty() {
        let svg = plot(true, Vec::new()).svg();
        assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
