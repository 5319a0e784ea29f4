//! Replies that a page has planned, with changes before they are run.

use serde_json::{Value, json};

use crate::site::{Site, eventually};

/// A reply that makes a file of this name.
fn making(name: &str) -> String {
    format!("[CREATE_FILE path=\"{name}\"]\nmade\n[/CREATE_FILE]\n")
}

/// Adds a plan's mark and sequence to the request that it was made for.
fn planned(site: &Site, session: &str, mut reply: Value) -> Value {
    let (status, plan) = site.send(&format!("sessions/{session}/plan"), &reply);
    assert_eq!(status, 200, "{plan}");
    reply["mark"] = plan["mark"].clone();
    reply["sequence"] = plan["sequence"].clone();
    reply
}

#[test]
fn a_file_of_the_inbox_that_has_changed_since_it_was_planned_is_not_run() {
    let site = Site::new();
    let session = site.session();
    let has = |name: &str| site.workspace().join(name).exists();
    let waits = |characters: usize| {
        eventually("the reply has arrived", || {
            let inbox = site.get("overview")["inbox"].clone();
            (inbox[0]["characters"] == characters).then_some(())
        });
    };
    site.drop_reply("answer.txt", &making("seen"));
    waits(making("seen").chars().count());
    let reply = planned(&site, &session, json!({ "file": "answer.txt" }));
    site.drop_reply("answer.txt", &making("not-seen"));
    waits(making("not-seen").chars().count());
    let (status, refused) = site.send(&format!("sessions/{session}/run"), &reply);
    assert_eq!(status, 409, "{refused}");
    assert!(refused["error"].as_str().unwrap().contains("has changed since it was looked at"), "{refused}");
    assert!(!has("seen") && !has("not-seen"));
    // The control: looked at again, it is run.
    let reply = planned(&site, &session, json!({ "file": "answer.txt" }));
    assert_eq!(site.run(&session, &reply)["isExecuted"], true);
    assert!(has("not-seen"));
}

#[test]
fn a_second_click_runs_nothing_again() {
    let site = Site::new();
    let session = site.session();
    let sequence = || site.get(&format!("sessions/{session}"))["sequence"].as_u64().unwrap();
    let reply = |more: Value| {
        let mut reply = json!({ "text": making("file") });
        reply.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        reply
    };
    let first = planned(&site, &session, reply(json!({})));
    assert_eq!(site.run(&session, &first)["isExecuted"], true);
    // Run it again, twice as quickly as the page could tell.
    let again = planned(&site, &session, reply(json!({ "again": true })));
    assert_eq!(site.run(&session, &again)["isExecuted"], true);
    let after = sequence();
    assert_eq!(site.run(&session, &again)["isExecuted"], false);
    assert_eq!(sequence(), after);
    // The control: planned once more, it is run once more.
    let once_more = planned(&site, &session, reply(json!({ "again": true })));
    assert_eq!(site.run(&session, &once_more)["isExecuted"], true);
    assert_eq!(sequence(), after + 1);
}

#[test]
fn a_reply_to_a_message_that_another_window_has_answered_is_refused() {
    let site = Site::new();
    let session = site.session();
    let late = planned(&site, &session, json!({ "text": making("late") }));
    let early = planned(&site, &session, json!({ "text": making("early") }));
    assert_eq!(site.run(&session, &early)["isExecuted"], true);
    let ended = site.run(&session, &late);
    assert!(ended["error"].as_str().unwrap().contains("message 1"), "{ended}");
    assert!(site.workspace().join("early").exists() && !site.workspace().join("late").exists());
}

#[test]
fn what_happens_while_a_page_reads_reaches_it() {
    let site = Site::new();
    let before = site.get("overview")["lastEvent"].as_str().unwrap().to_owned();
    let session = site.session();
    site.run(&session, &json!({ "text": making("file") }));
    let after = site.get("overview")["lastEvent"].as_str().unwrap().to_owned();
    let number = |id: &str| id.rsplit_once('-').unwrap().1.parse::<u64>().unwrap();
    assert!(number(&after) > number(&before), "{before} {after}");
}
