//! The commands, one module each.

pub(crate) mod apply;
mod call;
pub(crate) mod clipboard;
pub(crate) mod cocode;
pub(crate) mod codali;
pub(crate) mod demo;
mod doctor;
#[cfg(feature = "fleet")]
pub(crate) mod fleet;
mod gc;
pub(crate) mod history;
pub(crate) mod index;
pub(crate) mod parse;
mod processes;
pub(crate) mod review;
pub(crate) mod serve;
pub(crate) mod session;
mod sessions;
pub(crate) mod setup;
pub(crate) mod shell_help;

use crate::cli::Command;
use crate::command_line::Invocation;
use crate::commands::parse::Format;
use crate::common_options::CommonOptions;
use crate::config::obeyed_options::obeys;
use crate::exit::Outcome;
use crate::views::console::Console;

/// Runs the command of the command line.
pub(crate) fn run(invocation: Invocation, console: Console) -> Outcome {
    let Invocation { cli, config } = invocation;
    let common = &cli.common;
    report_workspace_above(common, console);
    match cli.command {
        None | Some(Command::Task(_)) => unreachable!("a command line is read as one with a command"),
        Some(Command::Resume(resume)) => session::resume(common, console, &resume),
        Some(Command::New(new)) => session::new(common, console, &new),
        Some(Command::Apply(apply)) => apply::apply(common, console, &apply),
        Some(Command::Outbox { session, full, part }) => {
            sessions::outbox(common, console, session.as_deref(), full, part)
        }
        Some(Command::Copy(options)) => clipboard::copy(common, console, &options),
        Some(Command::Paste(options)) => clipboard::paste(common, console, &options),
        Some(Command::Sessions) => sessions::list(common, console),
        Some(Command::Show { id, export: None }) => sessions::show(common, console, &id),
        Some(Command::Show { id, export: Some(file) }) => {
            sessions::export::export(common, console, &id, &file)
        }
        Some(Command::Replay { file }) => sessions::replay::replay(common, console, &file),
        Some(Command::Gc { limit }) => gc::collect(common, console, limit),
        Some(Command::Processes { stop }) => processes::processes(common, console, stop.as_deref()),
        Some(Command::Log { limit, all }) => history::log::log(common, console, limit, all),
        Some(Command::Undo(undo)) => history::undo::undo(common, console, &undo),
        Some(Command::Diff { range, all }) => history::diff::diff(common, console, range, all),
        Some(Command::Blame { file, lines }) => history::blame::blame(common, console, &file, lines),
        Some(Command::Parse { format: Format::Tag { file, strict, dialect } }) => {
            parse::tag(console, &file, strict, dialect)
        }
        Some(Command::Parse { format: Format::Codali { file, strict } }) => {
            parse::codali(console, &file, strict)
        }
        Some(Command::Codali(codali)) => codali::codali(common, console, &codali),
        Some(Command::Index { command }) => index::run(common, console, &command),
        Some(Command::Call { tool, arguments }) => call::call(common, console, &tool, arguments.as_deref()),
        Some(Command::Cocode { command }) => cocode::run(common, console, &command),
        #[cfg(feature = "fleet")]
        Some(Command::Fleet { command }) => fleet::run(common, console, &command),
        Some(Command::Mcp(options)) => serve::mcp::mcp(common, console, &options),
        Some(Command::Serve(options)) => serve::serve(common, &config, console, &options),
        Some(Command::Ui(options)) => serve::ui::ui(common, &config, console, &options),
        Some(Command::Setup(options)) => setup::setup(common, console, &options),
        Some(Command::Wap(review)) => serve::wap::wap(common, console, review.review),
        Some(Command::Review(options)) => review::review(common, console, &options),
        Some(Command::CarryOut) => review::carry_out::carry_out(common, console),
        Some(Command::Doctor { probe }) => doctor::doctor(common, &config, probe, console),
        Some(Command::Completions { shell }) => shell_help::completions(shell),
        Some(Command::Man(options)) => shell_help::manual(&options),
        Some(Command::Demo(options)) => demo::demo(common, console, &options),
    }
}

/// Says which folder above the current one is the workspace, to commands that work on it.
fn report_workspace_above(common: &CommonOptions, console: Console) {
    let has_other_files =
        ["parse", "demo", "replay"].contains(&common.command.split(' ').next().unwrap_or_default());
    // Its line names --workspace, which other commands refuse.
    let is_concerned = !has_other_files && obeys(&common.command, "workspace");
    if let Some(workspace_above) = common.workspace_above.as_ref().filter(|_| is_concerned) {
        console.progress(&workspace_above.line());
    }
}
