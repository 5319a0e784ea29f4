//! The plot of throughput over hosts, as a picture that follows the reader's light or dark scheme.

use std::fmt::Write;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 170.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 50.0;

/// Colours of the lines, which differ on both backgrounds, and by their dashes.
const LINES: [(&str, &str); 3] = [("#2f81f7", ""), ("#d2691e", "2 4"), ("#8b949e", "8 5")];

/// A line of the plot.
pub(crate) struct Series {
    pub(crate) name: String,
    /// Hosts, and tasks a second.
    pub(crate) points: Vec<(usize, f64)>,
}

/// Draws the series, with hosts on an axis on which each step doubles them.
pub(crate) fn svg(title: &str, series: &[Series]) -> String {
    let points = || series.iter().flat_map(|one| &one.points);
    let most = points().map(|(_, rate)| *rate).fold(1.0, f64::max);
    let unit = step(most);
    let top = (most / unit).ceil() * unit;
    let last = points().map(|(hosts, _)| *hosts).max().unwrap_or(1).max(2);
    let x = |hosts: usize| LEFT + (hosts as f64).log2() / (last as f64).log2() * (WIDTH - LEFT - RIGHT);
    let y = |rate: f64| HEIGHT - BOTTOM - rate / top * (HEIGHT - TOP - BOTTOM);
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
         <text x=\"{LEFT}\" y=\"18\">{title}</text>\n"
    );
    // Writing to a string cannot fail.
    let mut rate = 0.0;
    while rate <= top + unit / 2.0 {
        let height = y(rate);
        let _ = writeln!(
            text,
            "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{height:.1}\" x2=\"{:.1}\" y2=\"{height:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{rate}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            height + 4.0
        );
        rate += unit;
    }
    let mut hosts = 1;
    while hosts <= last {
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{hosts}</text>",
            x(hosts),
            HEIGHT - BOTTOM + 20.0
        );
        hosts *= 2;
    }
    let _ = writeln!(
        text,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">hosts</text>",
        f64::midpoint(LEFT, WIDTH - RIGHT),
        HEIGHT - 10.0
    );
    let mut labels: Vec<f64> = Vec::new();
    for (one, (colour, dashes)) in series.iter().zip(LINES) {
        let line: Vec<String> =
            one.points.iter().map(|(hosts, rate)| format!("{:.1},{:.1}", x(*hosts), y(*rate))).collect();
        let _ = writeln!(
            text,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.5\" stroke-dasharray=\"{dashes}\" points=\"{}\"/>",
            line.join(" ")
        );
        for (hosts, rate) in &one.points {
            let _ = writeln!(
                text,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"/>",
                x(*hosts),
                y(*rate)
            );
        }
        if let Some((hosts, rate)) = one.points.last() {
            let mut height = y(*rate) + 4.0;
            // Lines that end together have their names above each other.
            while labels.iter().any(|label| (label - height).abs() < 16.0) {
                height -= 4.0;
            }
            labels.push(height);
            let _ =
                writeln!(text, "<text x=\"{:.1}\" y=\"{height:.1}\">{}</text>", x(*hosts) + 10.0, one.name);
        }
    }
    text.push_str("</svg>\n");
    text
}

/// Returns the distance of the lines of the grid: 1, 2 or 5 times a power of ten, for about five lines.
fn step(most: f64) -> f64 {
    let power = 10_f64.powf((most / 5.0).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| most / step <= 6.0)
        .unwrap_or(most)
}
