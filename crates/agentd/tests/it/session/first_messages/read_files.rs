//! Files that the first message shows because the user names them.

use tagproto::read_outbox;

use crate::fixture::project::Project;

/// The lines of the section of requested files.
fn requested(message: &str) -> &str {
    message.split_once("\n## Requested File Contents\n").map_or("", |(_, files)| files)
}

fn project() -> Project {
    let project = Project::new();
    project.write("src/one.rs", "fn first() {}\n\nfn second() {}\n");
    project.write("two.txt", "alpha\nbeta\n");
    project
}

#[test]
fn files_that_are_named_are_whole_in_the_first_message_and_can_be_edited() {
    let project = project();
    let id = project.begin_with(&[
        "new",
        "--no-wait",
        "--json",
        "--read",
        "src/one.rs",
        "--read",
        "./two.txt",
        "a task",
    ]);
    let message = project.outbox(&id, 1);
    let files: Vec<String> =
        read_outbox(&message).unwrap().files.iter().map(|file| file.path.clone()).collect();
    assert_eq!(files, ["src/one.rs", "two.txt"], "{message}");
    // The control: without the option the message has no such files.
    let other = project.begin_with(&["new", "--no-wait", "--json", "another task"]);
    assert!(requested(&project.outbox(&other, 1)).is_empty());
    // The numbers of its lines are those that the model was shown, also when the file has changed since.
    project.write("two.txt", "new\nalpha\nbeta\n");
    let edit = format!(
        "Reply-To: {id}-1\n[EDIT_FILE path=\"two.txt\" start_line=\"2\" end_line=\"2\"]\nBETA\n[/EDIT_FILE]\n"
    );
    project.apply(&edit, &["--session", &id]).ok();
    assert_eq!(project.read("two.txt"), "new\nalpha\nBETA\n");
}

#[test]
fn what_is_not_a_file_of_the_workspace_is_refused_and_no_session_begins() {
    let project = project();
    for file in ["nope.txt", "src", "/etc/passwd", "../two.txt"] {
        project.run(&["new", "--no-wait", "--read", file, "a task"]).exits(2).says("--read");
    }
    let sessions = project.run(&["sessions", "--json"]).stdout;
    assert!(!sessions.contains("a task"), "{sessions}");
}

#[test]
fn a_file_of_credentials_is_refused_unless_the_user_grants_it() {
    let project = project();
    project.write(".env", "TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345\n");
    // Of these, only a file with a secret is left out.
    project.write("ca.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n");
    project
        .write("key.pem", "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA\n-----END PRIVATE KEY-----\n");
    for file in [".env", "key.pem"] {
        let refused = project.run(&["new", "--no-wait", "--read", file, "say hi"]).exits(2);
        refused.says("it usually holds credentials").says(&format!("--read-secret {file}"));
    }
    assert!(!project.base().exists());
    // The controls.
    let id = project.begin_with(&["new", "--no-wait", "--json", "--read", "ca.pem", "say hi"]);
    assert!(requested(&project.outbox(&id, 1)).contains("BEGIN CERTIFICATE"));
    let granted = ["new", "--no-wait", "--json", "--read", ".env", "--read-secret", ".env", "say hi"];
    let id = project.begin_with(&granted);
    let message = project.outbox(&id, 1);
    assert!(requested(&message).contains("TOKEN=⟦secret:") && !message.contains("ghp_"), "{message}");
    let unmasked = ["new", "--no-wait", "--json", "--read", ".env", "--secrets", "show", "say hi"];
    let id = project.begin_with(&unmasked);
    assert!(requested(&project.outbox(&id, 1)).contains("TOKEN=ghp_"));
}

#[test]
fn a_task_comes_from_standard_input() {
    let project = project();
    let task = "Make it\nwork with `quotes` and $signs.\n";
    let begun = project.run_with_input(&["new", "--no-wait", "--json", "-"], task).ok().json();
    let message = project.outbox(begun["session"].as_str().unwrap(), 1);
    assert!(message.contains("work with `quotes` and $signs."), "{message}");
    project.run_with_input(&["new", "--no-wait", "-"], " \n").exits(2).says("the task is empty");
}
