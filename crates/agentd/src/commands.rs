//! The commands, one module each.

mod apply;
mod call;
mod cocode;
mod codali;
mod demo;
mod diff;
mod doctor;
mod dry_run;
mod export;
mod gc;
mod index;
pub(crate) mod log;
mod mcp;
mod parse;
mod replay;
mod serve;
mod session;
mod sessions;
mod setup;
mod trial;
pub(crate) mod undo;
mod wap;

use crate::cli::{Cli, Command, Following, Format, New, Resume};
use crate::console::Console;
use crate::exit::{Exit, Failure, Outcome};

/// Runs what the command line asks for.
pub(crate) fn run(cli: Cli, console: Console) -> Outcome {
    let common = &cli.common;
    match cli.command {
        None => session::resume(common, console, &Resume::default()),
        Some(Command::Resume(resume)) => session::resume(common, console, &resume),
        Some(Command::New(new)) => session::new(common, console, &new),
        Some(Command::Task(words)) => session::new(common, console, &task(words)?),
        Some(Command::Apply(apply)) => apply::apply(common, console, &apply),
        Some(Command::Outbox { session }) => sessions::outbox(common, console, session.as_deref()),
        Some(Command::Sessions) => sessions::list(common, console),
        Some(Command::Show { id, export: None }) => sessions::show(common, console, &id),
        Some(Command::Show { id, export: Some(file) }) => export::export(common, console, &id, &file),
        Some(Command::Replay { file }) => replay::replay(common, console, &file),
        Some(Command::Gc { limit }) => gc::collect(common, console, limit),
        Some(Command::Log { limit }) => log::log(common, console, limit),
        Some(Command::Undo(undo)) => undo::undo(common, console, &undo),
        Some(Command::Diff { range }) => diff::diff(common, console, range),
        Some(Command::Parse { format: Format::Tag { file, strict } }) => parse::tag(console, &file, strict),
        Some(Command::Parse { format: Format::Codali { file, strict } }) => {
            parse::codali(console, &file, strict)
        }
        Some(Command::Codali(codali)) => codali::codali(common, console, &codali),
        Some(Command::Index { command }) => index::run(common, console, &command),
        Some(Command::Call { tool, arguments }) => call::call(common, console, &tool, arguments.as_deref()),
        Some(Command::Cocode { command }) => cocode::run(common, console, &command),
        Some(Command::Mcp(options)) => mcp::mcp(common, console, &options),
        Some(Command::Serve(options)) => serve::serve(common, console, &options),
        Some(Command::Setup(options)) => setup::setup(common, console, &options),
        Some(Command::Wap) => wap::wap(common, console),
        Some(Command::Doctor { probe }) => doctor::doctor(common, probe, console),
        Some(Command::Demo) => demo::demo(common, console),
    }
}

/// Takes words that are no command as a task, unless they look like a mistyped command.
fn task(words: Vec<std::ffi::OsString>) -> Result<New, Failure> {
    let words: Result<Vec<_>, _> = words.into_iter().map(std::ffi::OsString::into_string).collect();
    let words = words.map_err(|_| Failure::new(Exit::Usage, "the task is not valid UTF-8"))?;
    let first = words.first().map(String::as_str).unwrap_or_default();
    if !first.contains(char::is_whitespace) {
        return Err(Failure::new(Exit::Usage, format!("there is no command '{first}'")).advise(
            "`agentd --help` lists the commands; a task of several words stands in quotes, or behind `new`",
        ));
    }
    if let Some(option) = words.iter().skip(1).find(|word| word.starts_with('-')) {
        return Err(Failure::new(Exit::Usage, format!("'{option}' cannot stand behind a task"))
            .advise("options of a session belong to `agentd new`"));
    }
    Ok(New {
        task: words,
        no_wait: false,
        following: Following::default(),
        dialect: tagproto::Dialect::default(),
        budget: None,
    })
}
