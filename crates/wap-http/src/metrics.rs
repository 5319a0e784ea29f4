//! Figures about the server's activity, in the text format of Prometheus.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use wap_core::Tool;

/// The upper bounds of the duration buckets, in milliseconds.
const BUCKETS_MS: [u64; 8] = [1, 5, 10, 50, 100, 500, 1_000, 10_000];

/// Figures since the start.
#[derive(Debug, Default)]
pub struct Metrics {
    tools: [ToolFigures; Tool::ALL.len()],
    running: AtomicI64,
    connections: AtomicI64,
    refused: AtomicU64,
}

/// Figures about the list of files that accelerates searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexFigures {
    /// Files in the list.
    pub files: usize,
    /// Files of the list whose content has not been read yet.
    pub unread: usize,
    /// The approximate memory of the list, in bytes.
    pub memory_bytes: usize,
    /// The memory limit of the list, in bytes.
    pub memory_limit_bytes: usize,
}

#[derive(Debug, Default)]
struct ToolFigures {
    done: AtomicU64,
    failed: AtomicU64,
    microseconds: AtomicU64,
    /// The calls by the smallest bucket that fits their duration; each call counts once.
    buckets: [AtomicU64; BUCKETS_MS.len()],
}

/// A running call; dropping it without an outcome counts it as failed.
#[derive(Debug)]
pub(crate) struct Running {
    metrics: Arc<Metrics>,
    tool: Tool,
    began: Instant,
    succeeded: bool,
}

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connected(Arc<Metrics>);

impl Metrics {
    pub(crate) fn begin(self: &Arc<Metrics>, tool: Tool) -> Running {
        self.running.fetch_add(1, Ordering::Relaxed);
        Running { metrics: Arc::clone(self), tool, began: Instant::now(), succeeded: false }
    }

    pub(crate) fn connected(self: &Arc<Metrics>) -> Connected {
        self.connections.fetch_add(1, Ordering::Relaxed);
        Connected(Arc::clone(self))
    }

    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Renders all figures, with zeros for the list of files if there is none.
    pub(crate) fn render(&self, index: Option<IndexFigures>) -> String {
        let mut text = String::new();
        let family = |text: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        family(&mut text, "agentd_build_info", "gauge", "The version that runs.");
        let _ = writeln!(text, "agentd_build_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION"));
        family(&mut text, "agentd_calls_total", "counter", "Calls of tools that have ended.");
        for (tool, figures) in self.each() {
            for (outcome, count) in [("done", &figures.done), ("failed", &figures.failed)] {
                let count = count.load(Ordering::Relaxed);
                let _ = writeln!(text, "agentd_calls_total{{tool=\"{tool}\",outcome=\"{outcome}\"}} {count}");
            }
        }
        family(&mut text, "agentd_call_seconds", "histogram", "How long calls of tools took.");
        for (tool, figures) in self.each() {
            // The figures are read one by one while calls end. The count must not be below a bucket, which would be invalid in
            // this format.
            let count = figures.done.load(Ordering::Relaxed) + figures.failed.load(Ordering::Relaxed);
            // The format requires cumulative buckets; a call is counted in only one, to make ending it cheap.
            let mut below = 0;
            for (bound, bucket) in BUCKETS_MS.iter().zip(&figures.buckets) {
                below += bucket.load(Ordering::Relaxed);
                let bound = seconds(Duration::from_millis(*bound));
                let _ =
                    writeln!(text, "agentd_call_seconds_bucket{{tool=\"{tool}\",le=\"{bound}\"}} {below}");
            }
            let _ = writeln!(
                text,
                "agentd_call_seconds_bucket{{tool=\"{tool}\",le=\"+Inf\"}} {}",
                count.max(below)
            );
            let sum = seconds(Duration::from_micros(figures.microseconds.load(Ordering::Relaxed)));
            let _ = writeln!(text, "agentd_call_seconds_sum{{tool=\"{tool}\"}} {sum}");
            let _ = writeln!(text, "agentd_call_seconds_count{{tool=\"{tool}\"}} {}", count.max(below));
        }
        let gauges = [
            ("agentd_running_calls", "Calls of tools that run or wait.", &self.running),
            ("agentd_connections", "Open connections.", &self.connections),
        ];
        for (name, help, value) in gauges {
            family(&mut text, name, "gauge", help);
            let _ = writeln!(text, "{name} {}", value.load(Ordering::Relaxed));
        }
        family(
            &mut text,
            "agentd_refused_requests_total",
            "counter",
            "Requests without the right token, host or origin.",
        );
        let _ = writeln!(text, "agentd_refused_requests_total {}", self.refused.load(Ordering::Relaxed));
        let index = index.map_or([0; 4], |report| {
            [report.files, report.unread, report.memory_bytes, report.memory_limit_bytes]
        });
        let gauges = [
            ("agentd_index_files", "Files of the list that makes searches quick."),
            ("agentd_index_unread_files", "Files of the list that are still to be read."),
            ("agentd_index_memory_bytes", "Memory that the list takes, about."),
            ("agentd_index_memory_limit_bytes", "Memory that the list may take."),
        ];
        for ((name, help), value) in gauges.into_iter().zip(index) {
            family(&mut text, name, "gauge", help);
            let _ = writeln!(text, "{name} {value}");
        }
        text
    }

    fn each(&self) -> impl Iterator<Item = (&'static str, &ToolFigures)> {
        Tool::ALL.into_iter().map(Tool::name).zip(&self.tools)
    }
}

fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}

impl Running {
    pub(crate) fn succeeded(&mut self) {
        self.succeeded = true;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        // Count in the drop, so that calls that panic or whose clients disconnect are included.
        self.metrics.running.fetch_sub(1, Ordering::Relaxed);
        let index = Tool::ALL.iter().position(|tool| *tool == self.tool).unwrap_or_default();
        let figures = &self.metrics.tools[index];
        let outcome = if self.succeeded { &figures.done } else { &figures.failed };
        outcome.fetch_add(1, Ordering::Relaxed);
        let microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        figures.microseconds.fetch_add(microseconds, Ordering::Relaxed);
        if let Some(bucket) = BUCKETS_MS.iter().position(|bound| microseconds <= bound * 1_000) {
            figures.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
