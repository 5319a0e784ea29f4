//! A stored proposal that cannot be read.

use change_journal::{DocumentWrite, Journal, JournalLimits};
use serde_json::Value;

use super::sessions::waiting;

#[test]
fn a_damaged_proposal_is_listed_and_dropped_and_the_others_are_reviewed() {
    let (project, _, mut daemon) = waiting();
    daemon.kill();
    let (journal, _) = Journal::open(&project.base().join("journal"), JournalLimits::default()).unwrap();
    let name = "review/proposal/000000000001";
    journal.write_documents(&[DocumentWrite::Put { name, bytes: b"{\"id\":1," }]).unwrap();
    drop(journal);
    let listed = project.run(&["review", "--json"]).ok().json();
    assert!(listed[0]["fault"].as_str().is_some_and(|fault| fault.contains("cannot be read")), "{listed}");
    project.run(&["review"]).ok().prints("damaged").prints("`agentd review 1 --drop` removes it");
    project.run(&["review", "1"]).exits(1).says("proposal 1 cannot be read");
    // The same reply is proposed again, in addition to the damaged one.
    let mut daemon = crate::fixture::daemon::Daemon::start(project.command(&["resume", "--review"]));
    daemon.wait_for("waits for your review: `agentd review 2`");
    project
        .run(&["review", "2", "--drop"])
        .exits(1)
        .says("proposal 2 is not damaged; only damaged proposals can be dropped");
    project.run(&["review", "1", "--drop"]).ok().says("was dropped");
    let listed = project.run(&["review", "--all", "--json"]).ok().json();
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(listed[0]["fault"], Value::Null, "{listed}");
    project.run(&["review", "2", "--land"]).ok();
    assert!(project.read("a.txt").starts_with("ONE\n"));
    daemon.wait_for("message 2 to copy into the chat");
    daemon.interrupt().exits(130);
}
