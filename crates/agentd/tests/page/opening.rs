//! Opening the page: by a program that no model can write, for the user who has started it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::project::Project;

/// Puts a program for opening addresses into a folder. It leaves its `PATH` in the file `left`.
fn launcher(folder: &Path, left: &Path) {
    fs::create_dir_all(folder).unwrap();
    let script = format!("#!/bin/sh\necho \"$PATH\" > {0}.new && mv {0}.new {0}\n", left.display());
    fs::write(folder.join("xdg-open"), script).unwrap();
    fs::set_permissions(folder.join("xdg-open"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn no_program_that_a_model_can_write_opens_the_page() {
    let project = Project::new();
    let (planted, own) = (project.workspace().join(".venv/bin"), project.folder().join("own"));
    let left = |name: &str| project.folder().join(name);
    launcher(&planted, &left("by-planted"));
    launcher(&own, &left("by-own"));
    let path = std::env::var_os("PATH").unwrap();
    let folders = [planted.clone(), own].into_iter().chain(std::env::split_paths(&path));
    let mut command = project.command(&["ui", "--listen", "127.0.0.1:0"]);
    command.env("PATH", std::env::join_paths(folders).unwrap()).env("DISPLAY", ":99");
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    // The control: the same program in a folder of the user's is started.
    let deadline = Instant::now() + Duration::from_secs(60);
    while !left("by-own").exists() && !left("by-planted").exists() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!left("by-planted").exists(), "{line}");
    let inherited = fs::read_to_string(left("by-own")).unwrap();
    assert!(!inherited.contains(planted.to_str().unwrap()), "{inherited}");
}

#[test]
fn another_user_of_the_machine_does_not_enter_with_the_code() {
    let project = Project::new();
    let page = project.page();
    // Sends the code as one user or another, with the built-in sockets of the shell, and prints the first line of the answer.
    let enter = |user: &str| {
        let (host, port) = page.address.split_once(':').unwrap();
        let body = format!("{{\"code\":\"{}\"}}", page.code());
        let request = format!(
            "POST /ui/api/enter HTTP/1.1\\r\\nHost: {0}\\r\\nOrigin: http://{0}\\r\\nContent-Type: application/json\\r\\n\
             Content-Length: {1}\\r\\nConnection: close\\r\\n\\r\\n{2}",
            page.address,
            body.len(),
            body.replace('"', "\\\"")
        );
        let script = format!("exec 3<>/dev/tcp/{host}/{port}; printf \"{request}\" >&3; head -n 1 <&3");
        let as_user = ["--reuid", user, "--regid", user, "--clear-groups", "bash", "-c", &script];
        let (program, arguments) =
            if user == "0" { ("bash", &as_user[6..]) } else { ("setpriv", &as_user[..]) };
        let ran = Command::new(program).args(arguments).output().unwrap();
        String::from_utf8_lossy(&ran.stdout).trim().to_owned()
    };
    // Only root can act for another user; what is read of a list of connections has its own test.
    if rustix::process::geteuid().is_root() {
        assert_eq!(enter("1000"), "HTTP/1.1 403 Forbidden");
    }
    // The control, and the code still works.
    assert_eq!(enter("0"), "HTTP/1.1 200 OK");
}
