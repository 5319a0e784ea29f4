//! Runs one shell command in the current folder, confined as far as this machine allows:
//! `cargo run -p sandbox-exec --example run -- 'ls -la; id'`.

use std::io::{self, Write};
use std::process::ExitCode;

use sandbox_exec::{
    Launcher, LauncherConfig, OutputStream, Policy, ShellCommand, SpawnerProgram, User,
    spawner_main_if_requested,
};

fn main() -> ExitCode {
    // Before anything else: the launcher starts this program a second time.
    spawner_main_if_requested();
    match run() {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let text = std::env::args().nth(1).ok_or("usage: run COMMAND")?;
    let variable = |name| std::env::var_os(name).unwrap_or_default();
    let user = User {
        name: variable("USER").to_string_lossy().into_owned(),
        home: variable("HOME").into(),
        search_path: variable("PATH"),
        language: variable("LANG"),
    };
    let config = LauncherConfig::new(SpawnerProgram::this_program(), user, std::env::temp_dir());
    let launcher = Launcher::start(config)?;
    writeln!(io::stderr(), "{}", launcher.report())?;
    let policy = Policy::for_workspace(&std::env::current_dir()?);
    let running = launcher.spawn(&policy, &ShellCommand::new(&text)?)?;
    let outcome = running.wait_with(
        &mut |stream: OutputStream, bytes: &[u8]| {
            let _ = match stream {
                OutputStream::Stdout => io::stdout().write_all(bytes),
                OutputStream::Stderr => io::stderr().write_all(bytes),
            };
        },
        None,
    )?;
    writeln!(io::stderr(), "{} after {:?}", outcome.ending, outcome.duration)?;
    Ok(ExitCode::from(outcome.ending.exit_code().and_then(|code| u8::try_from(code).ok()).unwrap_or(124)))
}
