//! The kept output, and the chunks that an observer receives.

use std::fs::{self, File};

use sandbox_exec::{Ending, Outcome, OutputStream, ShellCommand, Spool, Timeout};

use crate::fixture::{Fixture, HANG, stdout};

#[test]
fn a_flood_keeps_its_head_and_tail_and_its_true_length() {
    let mut fixture = Fixture::new();
    fixture.policy.limits.output_bytes_per_stream = 4096;
    let outcome = fixture.run("echo first; head -c 20000000 /dev/zero | tr '\\0' a; echo last");
    assert_eq!(outcome.ending, Ending::Exited(0));
    assert_eq!(outcome.stdout.total_bytes, 20_000_011);
    assert_eq!(outcome.stdout.head.len() + outcome.stdout.tail.len(), 4096);
    assert!(outcome.stdout.head.starts_with(b"first\naaa"));
    assert!(outcome.stdout.tail.ends_with(b"aaalast\n"));
    assert_eq!(outcome.stdout.omitted_bytes(), 20_000_011 - 4096);
}

#[test]
fn two_floods_at_once_do_not_block_each_other() {
    let fixture = Fixture::new();
    let both_flow =
        |outcome: &Outcome| outcome.stdout.total_bytes > 1000 && outcome.stderr.total_bytes > 1000;
    let (limit, outcome) = fixture.run_until_stopped("while :; do echo o; echo e >&2; done", both_flow);
    assert_eq!(outcome.ending, Ending::TimedOut { limit });
    assert!(both_flow(&outcome), "{outcome:?}");
}

#[test]
fn a_flood_of_errors_leaves_the_other_stream_whole() {
    let is_flood = |outcome: &Outcome| outcome.stderr.omitted_bytes() > 0;
    let (_, outcome) = Fixture::new().run_until_stopped("echo kept; yes >&2", is_flood);
    assert_eq!(stdout(&outcome), "kept\n");
    assert!(is_flood(&outcome));
}

#[test]
fn a_character_split_over_two_writes_is_one_character() {
    let outcome = Fixture::new().run(r"printf '\342'; sleep 0.1; printf '\202\254'");
    assert_eq!(stdout(&outcome), "€");
}

#[test]
fn no_output_is_empty_and_complete() {
    let outcome = Fixture::new().run(":");
    assert_eq!((outcome.stdout.total_bytes, outcome.stderr.total_bytes), (0, 0));
    assert!(outcome.output_complete);
}

#[test]
fn a_background_process_holds_the_reply_up_no_longer_than_the_drain() {
    for text in
        ["sleep 300 & echo done", "sleep 300 >/dev/null & echo done", "sleep 300 2>/dev/null & echo done"]
    {
        let outcome = Fixture::new().run(text);
        assert_eq!((stdout(&outcome).as_str(), outcome.ending), ("done\n", Ending::Exited(0)), "{text}");
        assert!(outcome.duration < HANG, "{text}: {:?}", outcome.duration);
    }
}

#[test]
fn an_observer_sees_every_byte_in_order_and_the_spool_holds_them() {
    let fixture = Fixture::new();
    let path = fixture.root().join("spool");
    let spool = Spool::new(File::create(&path).unwrap(), 10);
    let command = ShellCommand::new("echo a; sleep 0.1; echo b >&2; sleep 0.1; echo cdefghijkl").unwrap();
    let mut chunks = Vec::new();
    let outcome = fixture
        .launcher
        .spawn(&fixture.policy, &command)
        .unwrap()
        .wait_with(
            &mut |stream: OutputStream, bytes: &[u8]| {
                chunks.push((stream, String::from_utf8(bytes.to_vec()).unwrap()));
            },
            Some(spool),
        )
        .unwrap();
    let expected = [
        (OutputStream::Stdout, "a\n".to_owned()),
        (OutputStream::Stderr, "b\n".to_owned()),
        (OutputStream::Stdout, "cdefghijkl\n".to_owned()),
    ];
    assert_eq!(chunks, expected);
    assert_eq!(fs::read_to_string(path).unwrap(), "a\nb\ncdefgh");
    let spooled = outcome.spooled.unwrap();
    assert_eq!((spooled.written_bytes, spooled.omitted_bytes, spooled.failure), (10, 5, None));
}

#[test]
fn a_spool_that_cannot_be_written_does_not_end_the_command() {
    let fixture = Fixture::new();
    let path = fixture.root().join("spool");
    fs::write(&path, "").unwrap();
    let spool = Spool::new(File::open(&path).unwrap(), 100);
    let command = ShellCommand::new("echo text").unwrap().with_timeout(Timeout::from_seconds(10).unwrap());
    let running = fixture.launcher.spawn(&fixture.policy, &command).unwrap();
    let outcome = running.wait_with(&mut |_: OutputStream, _: &[u8]| {}, Some(spool)).unwrap();
    assert_eq!((stdout(&outcome).as_str(), outcome.ending), ("text\n", Ending::Exited(0)));
    let spooled = outcome.spooled.unwrap();
    assert_eq!((spooled.written_bytes, spooled.omitted_bytes), (0, 5));
    assert!(spooled.failure.is_some());
}
