//! The page `docs/workflows.md`: a table for each group.

use std::fmt::Write as _;
use std::time::Duration;

use super::row::{Row, Verdict};
use super::workflow::Workflow;
use crate::repository::machine::{description, load};
use crate::repository::page::{cell, code_cell, marked_cell};
use crate::repository::today::today;

/// The text in front of the tables.
pub(super) const BEGINNING: &str = "# Everyday workflows

Written by `cargo xtask workflows`, from runs on one machine. The workflows are data, under `fixtures/workflows`.

Each one runs plainly, as a developer would type it, and through `agentd` (`executeCommand` over standard input) at level
`full`, with a layer and a kept home. The network of confined commands is off unless a row says otherwise. A row is `ok` if every
command succeeds, its output is as expected, and the files that it makes are in the folder afterwards. `refused` means that a
command is refused by design: the row has the reason, and what a user sees. `fails too` in the column of plain runs means that
this machine lacks what the command needs, so that only its refusal was tried. As root, many rows run once more, confined, as an
ordinary user.

The times are those of all commands of a row together, the shortest of up to three runs after the first one, plain and
confined in turn; a row that takes a minute is measured once. The goal is at most 1.2 times the plain time; a row beyond it has its
factor in bold. Each command has a fixed cost, to be confined and to have its changes recorded and adopted, that grows with
the load of the machine: rows of short commands are beyond the goal.

Databases can be faster confined, because their writes are not synced one by one. The layer is mounted `volatile`, so that a program's
`fsync` waits for no disk; `agentd` syncs the files of the workspace after it has adopted them. `/tmp`, where the rows of PostgreSQL
have their data, is in memory. The reasons of other factors below 1 were not looked into.
";

/// The factor beyond which a row misses the goal.
const GOAL: f64 = 1.2;

/// Describes the machine of a run that begins now, and its load.
pub(super) fn machine() -> String {
    format!("{}, on {}; load {} before.", today(), description(), load())
}

/// Renders the table of a group. A row without results is a workflow whose programs are missing.
pub(super) fn section(machine: &str, rows: &[(&Workflow, Option<Row>)]) -> String {
    let mut text = format!("{machine}\n\n");
    text.push_str(
        "| workflow | plain | confined | as an ordinary user | plain time | confined time | factor | remarks |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (workflow, row) in rows {
        let line = match row {
            Some(row) => measured(workflow, row),
            None => format!("not run: needs {} | | | | | | ", workflow.programs.join(", ")),
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "| {} | {line} |", marked_cell(&workflow.name));
    }
    text
}

fn measured(workflow: &Workflow, row: &Row) -> String {
    let ordinary = row.ordinary.as_ref().map_or("", word);
    let times = match row.times {
        Some((plain, confined)) => {
            format!("{} | {} | {}", time(plain), time(confined), factor(plain, confined))
        }
        None => " | | ".to_owned(),
    };
    let remarks = remarks(workflow, row).join(" ");
    format!("{} | {} | {ordinary} | {times} | {}", word(&row.plain), word(&row.confined), remarks)
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Green => "ok",
        Verdict::Refused => "refused",
        Verdict::FailsToo => "fails too",
        Verdict::Red(_) => "**fails**",
    }
}

fn remarks(workflow: &Workflow, row: &Row) -> Vec<String> {
    let mut remarks = Vec::new();
    if workflow.network != "off" {
        remarks.push(format!("`--network {}`.", workflow.network));
    }
    remarks.extend(workflow.remark.as_deref().map(marked_cell));
    remarks.extend(workflow.refusals().map(|refusal| marked_cell(&refusal.why)));
    if row.confined == Verdict::Refused {
        remarks.extend(row.receipts.iter().map(|receipt| format!("Receipt: {}.", code_cell(receipt))));
    }
    let verdicts = [
        ("plain", Some(&row.plain)),
        ("confined", Some(&row.confined)),
        ("as a user", row.ordinary.as_ref()),
    ];
    for (way, verdict) in verdicts {
        if let Some(Verdict::Red(why)) = verdict {
            remarks.push(format!("{way}: {}.", cell(why)));
        }
    }
    remarks
}

fn time(duration: Duration) -> String {
    if duration < Duration::from_secs(1) {
        format!("{} ms", duration.as_millis())
    } else {
        format!("{:.1} s", duration.as_secs_f64())
    }
}

fn factor(plain: Duration, confined: Duration) -> String {
    let factor = confined.as_secs_f64() / plain.as_secs_f64();
    if factor > GOAL { format!("**{factor:.2}**") } else { format!("{factor:.2}") }
}
