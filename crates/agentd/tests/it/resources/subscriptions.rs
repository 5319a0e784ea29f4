//! Following resources in both eras.

use serde_json::{Value, json};

use super::client::{bare, newer, older, read, tool, write};
use crate::fixture::line_client::LineClient;
use crate::fixture::project::Project;

/// Starts a process that prints a line whenever a file appears, until the third.
fn begin(client: &mut LineClient) {
    let command = "for n in 1 2 3; do while [ ! -e go$n ]; do sleep 0.02; done; echo line $n; done";
    tool(client, "executeCommand", json!({ "command": command, "background": "server" }));
}

const PROCESS: &str = "agentd://process/server";

fn is_update(message: &Value, uri: &str) -> bool {
    message["method"] == "notifications/resources/updated" && message["params"]["uri"] == uri
}

/// Waits for notifications until the process has printed a text.
fn wait_for_line(client: &mut LineClient, line: &str) {
    loop {
        client.wait_for("an update", |message| is_update(message, PROCESS));
        if read(client, PROCESS).contains(line) {
            return;
        }
    }
}

#[test]
fn the_older_era_hears_of_a_process_that_prints_until_it_unsubscribes() {
    let project = Project::new();
    let mut client = older(&project, &["--layer", "off"]);
    begin(&mut client);
    client.does("resources/subscribe", json!({ "uri": PROCESS }));
    project.write("go1", "");
    wait_for_line(&mut client, "line 1");
    project.write("go2", "");
    wait_for_line(&mut client, "line 2");
    client.does("resources/unsubscribe", json!({ "uri": PROCESS }));
    project.write("go3", "");
    while !read(&mut client, PROCESS).contains("line 3") {}
    // A notification that was on its way may have come before the answer to the unsubscription; none comes after it.
    while client.take_early().is_some() {}
    assert!(client.is_silent());
}

#[test]
fn a_review_that_ends_is_heard_of() {
    let project = Project::new();
    project.write("a.txt", "one\n");
    let mut client = older(&project, &["--review"]);
    let call = json!({ "name": "writeFile", "arguments": { "path": "a.txt", "content": "two\n" } });
    let writing = client.request("tools/call", call);
    let uri = "agentd://review/1";
    // The proposal appears a moment after the call.
    while client.ask("resources/subscribe", json!({ "uri": uri })).get("error").is_some() {}
    let proposal = read(&mut client, uri);
    assert!(proposal.starts_with("Proposal 1 waits for the user: change a.txt\n"), "{proposal}");
    assert!(proposal.contains("--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-one\n+two\n"), "{proposal}");
    project.run(&["review", "1", "--land"]).ok();
    client.wait_for("an update", |message| is_update(message, uri));
    assert!(read(&mut client, uri).starts_with("Proposal 1 has landed"));
    client.answer(writing);
}

#[test]
fn the_newer_era_listens_until_it_cancels() {
    let project = Project::new();
    let mut client = bare(&project, &["--layer", "off"]);
    let command = "while [ ! -e go ]; do sleep 0.02; done; echo line 1";
    let arguments = json!({ "command": command, "background": "server" });
    client.does("tools/call", newer(json!({ "name": "executeCommand", "arguments": arguments })));
    let wanted =
        json!({ "resourceSubscriptions": [PROCESS, "agentd://output/1-1.txt", "agentd://run/../1"] });
    let listening = client.request("subscriptions/listen", newer(json!({ "notifications": wanted })));
    let accepted = client.wait_for("the acknowledgement", |message| {
        message["method"] == "notifications/subscriptions/acknowledged"
    });
    assert_eq!(accepted["params"]["notifications"]["resourceSubscriptions"], json!([PROCESS]), "{accepted}");
    project.write("go", "");
    let update = client.wait_for("an update", |message| is_update(message, PROCESS));
    assert_eq!(update["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], listening, "{update}");
    client.notify("notifications/cancelled", newer(json!({ "requestId": listening })));
    // The server answers as before; the first notification says only that there is such a process.
    let read = client.does("resources/read", newer(json!({ "uri": PROCESS })));
    assert!(read.to_string().contains("contents"), "{read}");
}

#[test]
fn subscriptions_are_bounded_and_make_room_again() {
    let project = Project::new();
    let mut client = older(&project, &[]);
    write(&mut client, "a.txt", "a\n");
    let run = super::client::listed(&mut client).remove(0);
    // The same one counts once.
    for _ in 0..200 {
        client.does("resources/subscribe", json!({ "uri": run }));
    }
    for number in 0..2_000 {
        let answer =
            client.ask("resources/subscribe", json!({ "uri": format!("agentd://run/{}", 1_000 + number) }));
        assert_eq!(answer["error"]["code"], -32_002, "{answer}");
    }
    let runs: Vec<_> = (0..70)
        .map(|number| {
            write(&mut client, "a.txt", &format!("{number}\n"));
            super::client::listed(&mut client).remove(0)
        })
        .collect();
    let answers: Vec<_> =
        runs.iter().map(|uri| client.ask("resources/subscribe", json!({ "uri": uri }))).collect();
    let refused = answers.iter().filter(|answer| answer["error"]["code"] == -32_600).count();
    assert_eq!(refused, 7, "{answers:?}");
    client.does("resources/unsubscribe", json!({ "uri": run }));
    client.does("resources/subscribe", json!({ "uri": runs[69] }));
    let constant = client.ask("resources/subscribe", json!({ "uri": "agentd://output/1-1.txt" }));
    assert_eq!(constant["error"]["code"], -32_602, "{constant}");
}

#[test]
fn a_cancelled_read_leaves_the_server_usable() {
    let project = Project::new();
    let mut client = older(&project, &[]);
    write(&mut client, "a.txt", &"line\n".repeat(200_000));
    let uri = super::client::listed(&mut client).remove(0);
    for _ in 0..20 {
        let id = client.request("resources/read", json!({ "uri": uri }));
        client.notify("notifications/cancelled", json!({ "requestId": id }));
    }
    assert!(read(&mut client, &uri).starts_with("--- "));
}
