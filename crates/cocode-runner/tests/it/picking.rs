use std::fs;

use cocode_runner::{PickWay, RunnerError, StopFlag};

use crate::ground::{Ground, Log, agent, refused, request};

fn write(name: &str, text: &str) -> String {
    format!("echo {text} > {name}; git add .; git commit -q -m 'cocode ready for check'")
}

#[test]
fn work_is_taken_forward_or_merged_only_when_that_is_clean() {
    let ground = Ground::new();
    let runner = ground.runner();
    let agents = vec![
        agent("a", &write("b.txt", "b")),
        agent("b", &write("c.txt", "c")),
        agent("c", &write("b.txt", "other")),
        agent("d", "true"),
    ];
    let records = runner.run(&request(agents), &StopFlag::new(), &Log::default()).unwrap();
    let before = ground.git(&["rev-parse", "HEAD"]);
    let trial = runner.pick(&records[0], true).unwrap();
    assert_eq!((trial.way, trial.done, trial.is_ready), (PickWay::FastForward, false, true));
    assert_eq!(ground.git(&["rev-parse", "HEAD"]), before);
    fs::write(ground.repository().join("a.txt"), "mine\n").unwrap();
    assert!(matches!(refused(runner.pick(&records[0], false)), RunnerError::Dirty));
    ground.git(&["checkout", "-q", "a.txt"]);
    assert!(runner.pick(&records[0], false).unwrap().done);
    assert_eq!(runner.pick(&records[0], false).unwrap().way, PickWay::AlreadyThere);
    assert_eq!(runner.pick(&records[1], false).unwrap().way, PickWay::Merge);
    assert_eq!(fs::read_to_string(ground.repository().join("c.txt")).unwrap(), "c\n");
    let before = ground.git(&["rev-parse", "HEAD"]);
    assert!(matches!(refused(runner.pick(&records[2], false)), RunnerError::Conflicts { .. }));
    assert!(matches!(refused(runner.pick(&records[3], false)), RunnerError::NothingToPick { .. }));
    assert_eq!(ground.git(&["rev-parse", "HEAD"]), before);
    assert_eq!(ground.git(&["status", "--porcelain"]), "");
    assert!(cocode_runner::diff(&ground.config(), &records[1], true).unwrap().contains("c.txt"));
    assert!(cocode_runner::diff(&ground.config(), &records[1], false).unwrap().contains("+c"));
}
