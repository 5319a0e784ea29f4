//! A session whose reply waits for a review.

use crate::fixture::daemon::Daemon;
use crate::fixture::project::Project;

/// A reply with a change of two hunks, a new file and a command.
pub(super) const REPLY: &str = "[EDIT_FILE path=\"lib.rs\"]\n<<<<<<< SEARCH\nlet line_3 = 3;\n=======\nlet third = 3;\n>>>>>>> REPLACE\n\
    <<<<<<< SEARCH\nlet line_20 = 20;\n=======\nlet twentieth = 20;\n>>>>>>> REPLACE\n[/EDIT_FILE]\n\
    [CREATE_FILE path=\"new.rs\"]\n//! New.\n[/CREATE_FILE]\n[RUN_COMMAND]\necho ran; cat lib.rs | grep -c third\n[/RUN_COMMAND]\n";

/// A project with a file, and a session whose reply waits for a review.
pub(super) fn with_a_proposal() -> (Project, Daemon, String) {
    let project = Project::new();
    let lines: String = (1..=30).map(|line| format!("let line_{line} = {line};\n")).collect();
    project.write("lib.rs", &lines);
    let id = project.begin("rename lines");
    let mut daemon = Daemon::start(project.command(&["resume", "--review"]));
    daemon.wait_until_it_waits();
    project.put_reply("reply.txt", REPLY);
    daemon.wait_for("the reply waits for your review");
    (project, daemon, id)
}

/// Checks that the first hunk and the rest landed without the second hunk, and that the model reads why.
#[track_caller]
pub(super) fn landed_without_the_second_hunk(
    project: &Project,
    daemon: &mut Daemon,
    id: &str,
    comment: &str,
) {
    daemon.wait_for("message 2 to copy");
    let text = project.read("lib.rs");
    assert!(text.contains("let third = 3;") && text.contains("let line_20 = 20;"), "{text}");
    assert!(project.has("new.rs"));
    let outbox = project.outbox(id, 2);
    let review = &outbox[outbox.find("## Review").expect("the model reads the review")..];
    assert!(review.contains("lib.rs, of your version: line 20"), "{review}");
    assert!(review.contains(&format!("> let twentieth = 20;\n{comment}")), "{review}");
}
