//! Names and messages: limits, round trips, and bytes that are anything.

use std::time::Duration;

use cocode_fleet::{
    AgentName, BundleDigest, Claim, Confinement, Event, FleetTimings, HostOffer, NameError, RunRecord,
    RunState, Task, TaskLimits, TaskName, Unmet,
};
use proptest::prelude::*;

use crate::fixture::task;

fn limits() -> TaskLimits {
    TaskLimits::default()
}

#[test]
fn a_task_is_readable_json() {
    let text = String::from_utf8(task("fixer-1").render(&limits()).unwrap()).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    insta::assert_json_snapshot!(value);
}

#[test]
fn every_rule_of_a_task_is_kept() {
    type Break = fn(&mut Task);
    let breaks: [Break; 13] = [
        |task| task.attempts = 0,
        |task| task.issue_number = 0,
        |task| task.issue_url = "ftp://example.org".to_owned(),
        |task| task.issue_url = "https://example.org\n".to_owned(),
        |task| task.marker = " ".to_owned(),
        |task| task.base_commit = "HEAD".to_owned(),
        |task| task.timeout_seconds = Some(0),
        |task| task.marker = "x".repeat(9000),
        |task| task.labels = vec!["a".parse().unwrap(); 17],
        |task| task.protocol = (2, 1),
        |task| task.generation = String::new(),
        |task| task.generation = "a.b".to_owned(),
        |task| task.issue_body = "x".repeat(6 << 20),
    ];
    let errors: Vec<String> = breaks
        .into_iter()
        .map(|change| {
            let mut broken = task("fixer-1");
            change(&mut broken);
            broken.render(&limits()).unwrap_err().to_string()
        })
        .collect();
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn unknown_fields_are_ignored() {
    let text = String::from_utf8(task("fixer-1").render(&limits()).unwrap()).unwrap();
    let more = text.replacen('{', "{\"later\":{\"field\":1},\"check\":\"KEY=s3cr3t ./run\",", 1);
    let parsed = Task::parse(more.as_bytes(), &limits()).unwrap();
    assert_eq!(parsed, task("fixer-1"));
    // The command of a check, which an earlier version wrote into its files, is not sent from there.
    assert_eq!(String::from_utf8(parsed.render(&limits()).unwrap()).unwrap(), text);
    let event: Event = serde_json::from_str(r#"{"epoch":1,"kind":"of a later version","field":1}"#).unwrap();
    assert_eq!(event.kind, cocode_fleet::EventKind::Unknown);
}

#[test]
fn a_host_names_every_need_that_it_does_not_meet() {
    let offer = HostOffer {
        slots: 1,
        labels: vec!["cpu".parse().unwrap()],
        confinement: Confinement::Landlock,
        agents: Vec::new(),
        free_disk_bytes: 1,
        least_free_disk_bytes: 2,
    };
    let mut wanting = task("fixer-1");
    wanting.class = "gpu".parse().unwrap();
    wanting.labels = vec!["cpu".parse().unwrap()];
    wanting.least_confinement = Confinement::Full;
    wanting.protocol = (2, 3);
    let unmet: Vec<String> = offer.unmet(&wanting, (1, 1)).iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(unmet.join("\n"), @r"
    no definition of the agent fixer
    not labelled gpu
    confinement landlock, and the task wants full
    does not read protocol 2 to 3
    too little free disk
    ");
    assert_eq!(offer.unmet(&wanting, (1, 2)).len(), 4);
    let willing = HostOffer { agents: vec!["fixer".parse().unwrap()], free_disk_bytes: 2, ..offer };
    assert_eq!(willing.unmet(&task("fixer-1"), (1, 1)), Vec::<Unmet>::new());
}

#[test]
fn names_say_what_is_wrong_with_them() {
    assert_eq!("".parse::<AgentName>(), Err(NameError::Empty));
    assert_eq!("a.b".parse::<AgentName>(), Err(NameError::Character('.')));
    assert_eq!("a".repeat(41).parse::<AgentName>(), Err(NameError::TooLong));
    assert_eq!("run1".parse::<TaskName>(), Err(NameError::NotATask));
    assert_eq!("run1/fixer-1".parse::<TaskName>().unwrap().to_string(), "run1/fixer-1");
    assert!("A".repeat(64).parse::<BundleDigest>().is_err());
}

proptest! {
    #[test]
    fn a_name_is_one_token(text in any::<String>()) {
        if let Ok(name) = text.parse::<AgentName>() {
            prop_assert_eq!(name.as_str(), &text);
            prop_assert!(!text.contains(['.', '*', '>', ' ', '\r', '\n', '/', '$']) && text.len() <= 40);
        }
    }

    #[test]
    fn names_of_letters_are_names(text in "[A-Za-z0-9_-]{1,40}") {
        prop_assert_eq!(text.parse::<AgentName>().unwrap().to_string(), text);
    }

    #[test]
    fn a_task_survives_its_message(body in any::<String>(), number in 1_u64.., timeout in proptest::option::of(1_u32..=3600)) {
        let sent = Task { issue_body: body, issue_number: number, timeout_seconds: timeout, ..task("fixer-1") };
        let message = sent.render(&limits()).unwrap();
        prop_assert_eq!(Task::parse(&message, &limits()).unwrap(), sent);
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Task::parse(&bytes, &limits());
        let _ = Claim::parse(&bytes, 1);
        let _ = serde_json::from_slice::<Event>(&bytes);
        let _ = serde_json::from_slice::<RunRecord>(&bytes);
    }

    #[test]
    fn no_cut_of_a_task_is_a_task(share in 0.0..1.0_f64) {
        let message = task("fixer-1").render(&limits()).unwrap();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a length")]
        let cut = (message.len() as f64 * share) as usize;
        prop_assert!(Task::parse(&message[..cut], &limits()).is_err());
    }

    #[test]
    fn answers_of_the_server_are_neither_record_nor_claim(stream in "[a-z]{1,9}", number in any::<u64>(), text in any::<String>()) {
        // A host can have the server send its answers to keys that the host may not write.
        for answer in [
            serde_json::json!({"stream": stream, "seq": number}),
            serde_json::json!({"type": stream, "error": {"code": 404, "description": text}}),
            serde_json::json!({"type": stream, "message": {"subject": text, "seq": number, "data": text}}),
            serde_json::json!({"type": stream, "config": {"name": text}, "state": {"messages": number}}),
        ] {
            let bytes = serde_json::to_vec(&answer).unwrap();
            prop_assert!(Claim::parse(&bytes, u64::MAX).is_err());
            prop_assert!(serde_json::from_slice::<RunRecord>(&bytes).is_err());
        }
    }

    #[test]
    fn a_chunk_of_a_bundle_reads_as_nothing(text in prop_oneof![any::<String>(), Just(record_text()), Just(claim_text())]) {
        // A chunk is an answer, too; its first byte is 0.
        let chunk = [&[0], text.as_bytes()].concat();
        prop_assert!(Claim::parse(&chunk, u64::MAX).is_err());
        prop_assert!(serde_json::from_slice::<RunRecord>(&chunk).is_err());
        prop_assert!(Task::parse(&chunk, &limits()).is_err());
        prop_assert!(serde_json::from_slice::<Event>(&chunk).is_err());
    }
}

fn record_text() -> String {
    serde_json::to_string(&RunRecord::pending("g1", 1)).unwrap()
}

fn claim_text() -> String {
    let text = r#"{"state":"ready"}"#.to_owned();
    assert!(Claim::parse(text.as_bytes(), 1).is_ok());
    text
}

#[test]
fn a_record_starts_pending() {
    let record = RunRecord::pending("g1", 1);
    assert_eq!((record.state, record.state.is_final()), (RunState::Pending, false));
    let text = serde_json::to_string(&record).unwrap();
    assert_eq!(text, r#"{"state":"pending","epoch":1,"generation":"g1","attempts":[]}"#);
}

#[test]
fn intervals_keep_their_proportions_for_every_lease() {
    assert_eq!(FleetTimings::with_lease(Duration::from_secs(30)), FleetTimings::default());
    for seconds in 3..=600 {
        let lease = Duration::from_secs(seconds);
        let timings = FleetTimings::with_lease(lease);
        // Two renewals may be lost before a lease is, and a task is not delivered again before its lease is over.
        assert!(timings.renew * 3 <= lease && timings.ack_wait >= lease, "{timings:?}");
        assert!(
            timings.retry_delay < lease && timings.poll < lease && timings.backoff_limit < lease,
            "{timings:?}"
        );
        assert!(timings.deadline >= Duration::from_secs(5), "{timings:?}");
        let usual = FleetTimings::default();
        assert_eq!((timings.overtime, timings.duplicate_window), (usual.overtime, usual.duplicate_window));
    }
}
