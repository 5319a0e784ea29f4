//! The user's browser.

use std::process::{Command, Stdio};
use std::thread;

use workspace_host::OwnPrograms;

/// Opens an address with the first of the desktop's programs for it that no model can write. Returns false if none could be started.
///
/// They start further programs by name, so they get a `PATH` without folders that a model can write, too.
pub(super) fn open(programs: &OwnPrograms, url: &str) -> bool {
    let path = programs.search_path();
    open::commands(url).iter().any(|launcher| {
        let program = launcher.get_program().to_str().and_then(|name| programs.find(name));
        program.is_some_and(|program| {
            let mut command = Command::new(program);
            command.args(launcher.get_args()).env("PATH", &path).current_dir("/");
            start(&mut command)
        })
    })
}

/// Starts a program that outlives this one. A thread waits for its end, so that no zombie process remains.
fn start(command: &mut Command) -> bool {
    use std::os::unix::process::CommandExt as _;

    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let Ok(mut child) = command.spawn() else { return false };
    let _ = thread::Builder::new().name("browser".to_owned()).spawn(move || child.wait());
    true
}
