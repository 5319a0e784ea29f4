//! Agents over several machines: a server, hosts and home as processes of this machine.

mod failures;
mod judging;
mod parts;
mod servers;

use std::fs;
use std::thread;

use serde_json::Value;

use self::parts::{Fleet, desk};
use crate::cocode::desk::Desk;
use crate::fixture::daemon::eventually;

const AGENTS: &str = r#"
[agents.fixer]
command = "sh"
args = ["-c", "D=$(basename $PWD); echo working on $COCODE_ISSUE_NUMBER; echo $D > $D.txt; git add -A; git commit -q --author \"$D <$D@localhost>\" -m 'cocode ready for check'"]
check = "grep -q . *-fixer*.txt"

[agents.liar]
command = "sh"
args = ["-c", "echo 'cocode ready for check'; exit 0"]

[agents.slow]
command = "sh"
args = ["-c", "echo started; sleep 60"]
"#;

fn states(desk: &Desk) -> Vec<(String, String)> {
    let status = desk.status();
    let agents = status["agents"].as_array().unwrap().iter();
    let mut states: Vec<_> = agents
        .map(|one| (one["agent"].as_str().unwrap().to_owned(), one["state"].as_str().unwrap().to_owned()))
        .collect();
    states.sort();
    states
}

#[test]
fn hosts_run_agents_and_home_judges_and_takes_their_work() {
    let Some(fleet) = Fleet::start("hosts_run_agents_and_home_judges_and_takes_their_work", &[]) else {
        return;
    };
    let desk = desk(AGENTS);
    let north = fleet.host(&desk, "north", &[]);
    let ran = fleet.run(&desk, &["--agent", "fixer", "liar", "--count", "2", "--compare"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let expected =
        [("fixer-1", "ready"), ("fixer-2", "ready"), ("liar-1", "completed"), ("liar-2", "completed")];
    assert_eq!(states(&desk), expected.map(|(one, state)| (one.to_owned(), state.to_owned())));
    assert!(ran.stdout.contains("agentd cocode pick fixer-"), "{ran:?}");
    // All that is known of local agents is known of these.
    desk.cocode(&["logs", "fixer-1"]).ok().prints("working on 5");
    desk.cocode(&["diff", "fixer-2"]).ok().prints("+5-fixer-2");
    desk.cocode(&["pick", "fixer-2"]).ok().prints("forward");
    assert_eq!(desk.project.read("5-fixer-2.txt"), "5-fixer-2\n");
    // A second run starts from the new commit, whose bundle holds what is new alone.
    let ran = desk.cocode(&["clean", "--all"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    fleet.run(&desk, &["--agent", "fixer"]).ok();
    let bases: Vec<u64> = fs::read_dir(desk.project.base().join("cocode/fleet/bases"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_name().to_string_lossy().ends_with(".bundle"))
        .map(|entry| entry.metadata().unwrap().len())
        .collect();
    assert_eq!(bases.len(), 2, "{bases:?}");
    let status = fleet.status(&desk);
    assert_eq!((&status["waiting"], &status["hosts"][0]["host"]), (&0.into(), &"north".into()), "{status}");
    let task = status["tasks"][0]["task"].as_str().unwrap().to_owned();
    fleet.command(&desk, &["logs", &task]).ok().prints("working on 5");
    fleet.command(&desk, &["logs", "no-run/fixer"]).exits(2).says("there is no task no-run/fixer");
    fleet.command(&desk, &["drain", "south"]).ok().says("no host of that name");
    assert!(!fleet.command(&desk, &["drain", "north"]).ok().stderr.contains("no host"));
    assert_eq!(desk.git(&["fsck", "--strict"]), "");
    drop(north);
    assert!(fleet.nothing_is_left_at("north"));
}

#[test]
fn the_mess_of_an_agent_does_not_take_a_slot_from_others() {
    let Some(fleet) = Fleet::start("the_mess_of_an_agent_does_not_take_a_slot_from_others", &[]) else {
        return;
    };
    // More levels than a process may have files open, in folders that are closed to their owner.
    let script = "tens=d/d/d/d/d/d/d/d/d/d; i=0; while [ $i -lt 120 ]; do mkdir -p $tens && cd $tens || exit 9; i=$((i+1)); done; \
                  cd \"$COCODE_WORKTREE_PATH\"; mkdir -p closed/in && chmod 000 closed/in closed; chmod 000 d; exit 3";
    let desk = desk(&format!("[agents.mess]\ncommand = 'sh'\nargs = ['-c', {script:?}]\n"));
    let north = fleet.host(&desk, "north", &[]);
    let ran = fleet.run(&desk, &["--agent", "mess", "--count", "4"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    // Two slots, so each was used again.
    let status = desk.status();
    let codes: Vec<_> =
        status["agents"].as_array().unwrap().iter().map(|one| one["exit_code"].as_i64()).collect();
    assert_eq!(codes, [Some(3); 4], "{ran:?}");
    drop(north);
    assert!(fleet.nothing_is_left_at("north"));
}

#[test]
fn a_task_is_cancelled_given_out_again_and_collected_by_another_process() {
    let test = "a_task_is_cancelled_given_out_again_and_collected_by_another_process";
    let Some(fleet) = Fleet::start(test, &[]) else { return };
    let desk = desk(AGENTS);
    let _north = fleet.host(&desk, "north", &[]);
    let ran = thread::scope(|scope| {
        let running = scope.spawn(|| fleet.run(&desk, &["--agent", "slow"]));
        eventually("the agent runs", || desk.cocode(&["logs", "slow"]).stdout.contains("started"));
        desk.cocode(&["cancel", "slow"]).ok();
        running.join().unwrap()
    });
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(states(&desk), [("slow".to_owned(), "cancelled".to_owned())]);
    // Its submitter returns at once, and another process judges.
    fleet.run(&desk, &["--agent", "fixer", "--detach"]).ok().prints("agentd fleet collect");
    fleet.command(&desk, &["collect"]).ok().prints("fixer");
    fleet.command(&desk, &["collect"]).ok().prints("no task of this folder is unresolved");
    let status = fleet.status(&desk);
    let tasks = status["tasks"].as_array().unwrap();
    let slow = tasks.iter().map(|task| task["task"].as_str().unwrap()).find(|task| task.ends_with("/slow"));
    let slow = slow.unwrap().to_owned();
    // The definition is a better one by now; a new host process reads it.
    drop(_north);
    desk.define(&AGENTS.replace("echo started; sleep 60", "echo better; exit 3"));
    let _north = fleet.host(&desk, "north", &[]);
    fleet.command(&desk, &["retry", &slow]).ok().prints("is given out again");
    fleet.command(&desk, &["collect"]).exits(1).prints("slow");
    desk.cocode(&["logs", "slow"]).ok().prints("better");
    let judged = fleet.command(&desk, &["retry", &slow]);
    judged.exits(2).says("is judged, or was not submitted from this folder");
}

#[test]
fn tasks_wait_at_home_until_there_is_a_server_and_a_host_that_fits() {
    let test = "tasks_wait_at_home_until_there_is_a_server_and_a_host_that_fits";
    let Some(mut fleet) = Fleet::start(test, &[]) else { return };
    fleet.stop();
    let desk = desk(AGENTS);
    thread::scope(|scope| {
        let running = scope.spawn(|| fleet.run(&desk, &["--agent", "fixer", "--label", "gpu", "--json"]));
        eventually("the task is in the journal", || {
            let folder = desk.project.base().join("cocode/fleet/tasks");
            fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some())
        });
        let _server = fleet.start_again();
        let north = fleet.host(&desk, "north", &[]);
        eventually("the host is known not to fit", || {
            let status = fleet.status(&desk);
            status["waiting"] == 1 && status["hosts"][0]["host"] == "north"
        });
        assert!(!running.is_finished());
        drop(north);
        let _south = fleet.host(&desk, "south", &["--label", "gpu"]);
        let ran = running.join().unwrap();
        assert_eq!(ran.code, 0, "{ran:?}");
        let last: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
        assert_eq!((&last["event"], &last["ready"]), (&"finished".into(), &1.into()), "{last}");
    });
}

#[test]
fn a_host_joins_with_its_own_key_alone() {
    let Some(fleet) =
        Fleet::start("a_host_joins_with_its_own_key_alone", &["--host", "north", "--host", "south"])
    else {
        return;
    };
    let desk = desk(AGENTS);
    // Without a key, and with another host's, it is refused.
    fleet.command(&desk, &["status"]).exits(1).says("does not accept the key");
    let mut wrong = fleet.host_process(&desk, "north", &["--key-file", &fleet.key("south")]);
    wrong.wait_for("the key is not that of the host north");
    drop(wrong);
    let of_a_host = fleet.command(&desk, &["status", "--key-file", &fleet.key("north")]).exits(1);
    of_a_host.says("the key is not that of home").says("--key-file with home.seed");
    let _north = fleet.host(&desk, "north", &["--key-file", &fleet.key("north")]);
    let home = fleet.key("home");
    let ran = fleet.run(&desk, &["--agent", "fixer", "--key-file", &home]);
    assert_eq!(ran.code, 0, "{ran:?}");
    // A host cannot ask for what is home's.
    let drained = fleet.command(&desk, &["drain", "south", "--key-file", &fleet.key("north")]);
    assert_eq!(drained.code, 1, "{drained:?}");
    fleet.command(&desk, &["drain", "north", "--key-file", &home]).ok().prints("takes no new tasks");
    eventually("the host drains", || {
        let ran = fleet.command(&desk, &["status", "--key-file", &home, "--json"]);
        ran.stdout.contains("\"is_draining\": true")
    });
}

#[test]
fn keys_are_hidden_from_agents_and_from_checks_of_what_they_delivered() {
    let test = "keys_are_hidden_from_agents_and_from_checks_of_what_they_delivered";
    let Some(fleet) = Fleet::start(test, &["--host", "north"]) else { return };
    // Agents see the entries of the home folder.
    let desk = desk("");
    let folder = desk.home().join("fleet");
    fs::create_dir(&folder).unwrap();
    let file = |name: &str| folder.join(name).display().to_string();
    for name in ["north", "home"] {
        fs::copy(fleet.key(name), file(name)).unwrap();
    }
    fs::write(file("visible"), "visible").unwrap();
    let (north, home, visible) = (file("north"), file("home"), file("visible"));
    let script = format!(
        "cat {visible} > seen.txt; cat {north} >> seen.txt || echo ' hidden' >> seen.txt; git add .; git commit -q -m 'cocode ready for check'"
    );
    let check = format!("test $(cat {visible}) = visible && ! cat {home}");
    desk.define(&format!("[agents.thief]\ncommand = 'sh'\nargs = ['-c', {script:?}]\ncheck = {check:?}\n"));
    let _north = fleet.host(&desk, "north", &["--key-file", &north]);
    let confinement = fleet.command(&desk, &["status", "--key-file", &home, "--json"]).ok().stdout;
    if !confinement.contains("\"full\"") {
        return test_support::skip(test, "this machine does not confine fully");
    }
    fleet.run(&desk, &["--agent", "thief", "--key-file", &home]).ok();
    assert_eq!(states(&desk), [("thief".to_owned(), "ready".to_owned())]);
    desk.cocode(&["diff", "thief"]).ok().prints("+visible hidden");
}

#[test]
fn what_is_not_safe_or_not_meant_is_refused() {
    let desk = desk(AGENTS);
    let fleet = |arguments: &[&str]| parts::fleet_command(&desk, arguments);
    let folder = desk.project.folder().join("server");
    let up = ["up", "--write-only", "--folder", folder.to_str().unwrap()];
    let open = [&up[..], &["--listen", "0.0.0.0:4222"]].concat();
    fleet(&open).exits(2).says("needs a certificate");
    let open = [&open[..], &["--tls-certificate", "cert.pem", "--tls-key", "key.pem"]].concat();
    fleet(&[&open[..], &["--host", "home"]].concat()).exits(2).says("cannot be called home");
    fleet(&[&open[..], &["--host", "north"]].concat()).ok().prints("--key-file");
    let seeds = fs::read_dir(folder.join("keys")).unwrap().count();
    assert_eq!(seeds, 2, "those of home and north");
    fleet(&["--read-only", "drain", "north"]).exits(4);
    let run = ["run", "--issue", "5", "--issue-body", "x", "--fleet", "nats://127.0.0.1:1"];
    desk.cocode(&[&run[..], &["--agent-cmd", "a=true"]].concat()).exits(2);
    desk.cocode(&["run", "--issue", "5", "--issue-body", "x", "--agent", "fixer", "--count", "3"]).exits(2);
    desk.cocode(&[&run[..], &["--agent", "fixer", "--count", "0"]].concat()).exits(2);
    desk.git(&["checkout", "-q", "--detach"]);
    let shallow = desk.project.folder().join("shallow");
    let origin = format!("file://{}", desk.project.workspace().display());
    desk.git(&["clone", "-q", "--depth", "1", &origin, shallow.to_str().unwrap()]);
    let ran =
        desk.cocode(&[&run[..], &["--agent", "fixer", "--workspace", shallow.to_str().unwrap()]].concat());
    ran.exits(2).says("git fetch --unshallow");
}

#[test]
fn options_about_fleets_are_refused_where_none_is_named() {
    let desk = desk(AGENTS);
    let run = ["run", "--issue", "5", "--issue-body", "x"];
    let key = desk.home().join("home.seed");
    let key = key.to_str().unwrap();
    let options: [&[&str]; 6] = [
        &["--count", "2"],
        &["--label", "gpu"],
        &["--detach"],
        &["--fleet-name", "other"],
        &["--key-file", key],
        &["--authority", key],
    ];
    for option in options {
        for agent in [["--agent", "fixer"], ["--agent-cmd", "mine=true"]] {
            desk.cocode(&[&run[..], &agent, option].concat()).exits(2).says(option[0]);
        }
    }
    assert!(!desk.project.base().exists(), "nothing was started");
}
