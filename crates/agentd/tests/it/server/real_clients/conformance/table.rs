//! The table of `docs/mcp-conformance.md`: which of the two servers passes a scenario.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::checks::{Check, Status};

/// The end of a scenario at one server.
#[derive(Clone, Copy, Default)]
struct Ended {
    passed: usize,
    failed: usize,
}

impl Ended {
    fn word(self) -> String {
        match self {
            Ended { failed: 0, passed: 0 } => "–".to_owned(),
            Ended { failed: 0, .. } => "passes".to_owned(),
            Ended { passed, failed } => format!("{passed} of {}", passed + failed),
        }
    }
}

/// Renders the rows of a revision: a scenario, and its end at `agentd` and at the example.
pub(super) fn render(agentd: &[Check], example: &[Check]) -> String {
    let mut rows: BTreeMap<&str, [Ended; 2]> = BTreeMap::new();
    for (column, checks) in [agentd, example].into_iter().enumerate() {
        for check in checks {
            let ended = &mut rows.entry(&check.scenario).or_default()[column];
            match check.status {
                Status::Passed => ended.passed += 1,
                Status::Failed => ended.failed += 1,
                Status::Noted => {}
            }
        }
    }
    let mut table = String::new();
    for (scenario, [agentd, example]) in rows {
        writeln!(table, "| `{scenario}` | {} | {} |", agentd.word(), example.word()).unwrap();
    }
    table
}
