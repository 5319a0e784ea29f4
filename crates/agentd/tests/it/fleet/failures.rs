//! Hosts and submitters that are killed, and hosts of one name.

use std::fs;
use std::thread;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::parts::{Fleet, desk, fleet_command};
use super::states;
use crate::fixture::daemon::{Daemon, eventually};

const SLOW: &str = "[agents.slow]\ncommand = 'sh'\nargs = ['-c', 'echo started; sleep 3; exit 3']\n";

#[test]
fn a_killed_host_loses_its_task_after_a_short_lease() {
    let test = "a_killed_host_loses_its_task_after_a_short_lease";
    let lease = ["--lease", "3"];
    let Some(fleet) = Fleet::start(test, &lease) else { return };
    let desk = desk(SLOW);
    let north = fleet.host(&desk, "north", &lease);
    thread::scope(|scope| {
        let running = scope.spawn(|| fleet.run(&desk, &["--agent", "slow", "--lease", "3"]));
        eventually("the agent runs", || desk.cocode(&["logs", "slow"]).stdout.contains("started"));
        north.kill();
        let _south = fleet.host(&desk, "south", &lease);
        let ran = running.join().unwrap();
        assert_eq!(ran.code, 1, "{ran:?}");
    });
    let status = fleet.status(&desk);
    let record = &status["tasks"][0]["record"];
    assert_eq!(
        (&record["host"], &record["attempts"][0]["host"]),
        (&"south".into(), &"north".into()),
        "{status}"
    );
    assert_eq!(states(&desk), [("slow".to_owned(), "failed".to_owned())]);
}

#[test]
fn a_host_with_the_key_of_another_one_says_which_it_needs() {
    let test = "a_host_with_the_key_of_another_one_says_which_it_needs";
    let Some(fleet) = Fleet::start(test, &["--host", "north", "--host", "south"]) else { return };
    let desk = desk(SLOW);
    let of_north = fleet.key("north");
    let south = fleet.host_process(&desk, "south", &["--key-file", &of_north]);
    south
        .ended()
        .exits(2)
        .says("the key is not that of the host south")
        .says("give the key of host south with --key-file FILE")
        .says(&of_north);
    // The control: with its own key it joins.
    let own = fleet.key("south");
    let _south = fleet.host(&desk, "south", &["--key-file", &own]);
}

#[test]
fn tasks_that_a_killed_submitter_has_not_written_have_failed() {
    let test = "tasks_that_a_killed_submitter_has_not_written_have_failed";
    let Some(mut fleet) = Fleet::start(test, &[]) else { return };
    // Without a server nothing is given out, however long the submitter lives.
    fleet.stop();
    let desk = desk(SLOW);
    let submitter = Daemon::start(desk.command(&[
        "run",
        "--issue",
        "5",
        "--issue-body",
        "x",
        "--agent",
        "slow",
        "--count",
        "2",
        "--fleet",
        &fleet.url(),
    ]));
    let folder = desk.project.base().join("cocode/fleet/tasks");
    let is_task = |file: &fs::DirEntry| file.path().extension().is_some_and(|end| end == "json");
    let files = || fs::read_dir(&folder).map_or(0, |files| files.flatten().filter(is_task).count());
    eventually("the tasks are written", || files() == 2);
    kill(Pid::from_raw(i32::try_from(submitter.process_id()).unwrap()), Signal::SIGKILL).unwrap();
    drop(submitter);
    // As if it had died between its two tasks.
    let second = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    let second = second.into_iter().find(|file| file.to_string_lossy().contains("slow-2")).unwrap();
    fs::remove_file(second).unwrap();
    let _server = fleet.start_again();
    let _north = fleet.host(&desk, "north", &[]);
    fleet.command(&desk, &["collect"]).exits(1).prints("slow-1");
    let status = desk.status();
    let agents = status["agents"].as_array().unwrap();
    let of = |name: &str| agents.iter().find(|one| one["agent"] == name).unwrap();
    assert_eq!(of("slow-1")["exit_code"], 3, "{status}");
    assert_eq!(
        (&of("slow-2")["state"], &of("slow-2")["detail"]),
        (&"failed".into(), &"it was not submitted".into())
    );
    assert_eq!(files(), 0);
    // Nothing is in the way of another run of the same name.
    desk.cocode(&["clean", "--all"]).ok();
    let ran = fleet.run(&desk, &["--agent", "slow", "--count", "2"]);
    assert_eq!(ran.code, 1, "{ran:?}");
}

#[test]
fn tasks_that_no_server_has_are_cancelled_without_one() {
    let desk = desk(SLOW);
    let url = ["--fleet", "nats://127.0.0.1:1"];
    let run = [&["run", "--issue", "5", "--issue-body", "x", "--agent", "slow"][..], &url].concat();
    let start = || {
        let mut submitter = Daemon::start(desk.command(&run));
        submitter.wait_for("the fleet cannot be reached");
        submitter
    };
    let cancelled = [("slow".to_owned(), "cancelled".to_owned())];
    let ran = start().interrupt();
    ran.exits(130);
    assert_eq!(states(&desk), cancelled);
    // The next one of the name is not refused. Its submitter ends otherwise, and the next one is.
    start().kill();
    assert_eq!(states(&desk), [("slow".to_owned(), "pending".to_owned())]);
    desk.cocode(&run).exits(2).says("agentd cocode cancel NAME");
    desk.cocode(&["cancel", "slow"]).ok();
    fleet_command(&desk, &["collect", "--url", url[1]]).exits(1).prints("slow");
    assert_eq!(states(&desk), cancelled);
    start().interrupt().exits(130);
}

#[test]
fn a_second_host_of_a_name_is_refused_with_a_message() {
    let test = "a_second_host_of_a_name_is_refused_with_a_message";
    let Some(fleet) = Fleet::start(test, &[]) else { return };
    let desk = desk(SLOW);
    let _north = fleet.host(&desk, "north", &["--lease", "6"]);
    let elsewhere = fleet.folder().join("elsewhere");
    let second = fleet.host_process_in(&desk, "north", &elsewhere, &["--lease", "6"]);
    second.ended().exits(5).says("another process is the host north of this fleet").says("--host-name");
}

#[test]
fn what_an_agent_leaves_uncommitted_is_judged_as_on_one_machine() {
    let test = "what_an_agent_leaves_uncommitted_is_judged_as_on_one_machine";
    let Some(fleet) = Fleet::start(test, &[]) else { return };
    // Tidy and not ready, for want of the marker; and untidy with it.
    let commit = |name: &str, message: &str, more: &str| {
        format!(
            "[agents.{name}]\ncommand = 'sh'\nclean_tree = true\n\
             args = ['-c', 'D=$(basename $PWD); echo $D > $D.txt; git add -A; git commit -q -m \"{message}\"; {more}']\n"
        )
    };
    let text = commit("tidy", "work", "true") + &commit("untidy", "cocode ready for check", "echo x > left");
    let desk = desk(&text);
    let _north = fleet.host(&desk, "north", &[]);
    let ran = fleet.run(&desk, &["--agent", "tidy", "untidy"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let failed = |name: &str| -> Vec<String> {
        let status = desk.status();
        let agents = status["agents"].as_array().unwrap();
        let one = agents.iter().find(|one| one["agent"] == name).unwrap();
        let parts = one["verdict"]["parts"].as_array().unwrap().iter();
        parts
            .filter(|part| part["holds"] == false)
            .map(|part| part["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let there = (failed("tidy"), failed("untidy"));
    assert_eq!(there, (vec!["marker".to_owned()], vec!["clean_tree".to_owned()]), "{ran:?}");
    desk.cocode(&["clean", "--force", "tidy", "untidy"]);
}

#[test]
fn a_host_works_in_no_folder_that_is_hidden_from_agents() {
    let desk = desk(SLOW);
    let state = desk.home().join(".local/state/agentd");
    fs::create_dir_all(&state).unwrap();
    let folder = state.join("host");
    let join = ["join", "nats://127.0.0.1:1", "--host-name", "north", "--sandbox", "allow=none", "--folder"];
    let ran = fleet_command(&desk, &[&join[..], &[folder.to_str().unwrap()]].concat());
    ran.exits(2).says("is in the user's state folder, which is hidden from agents");
}

#[test]
fn an_address_that_is_none_is_bad_usage_for_every_command() {
    let desk = desk(SLOW);
    let run = ["--issue", "5", "--issue-body", "x", "--agent", "slow", "--fleet", "http://north.example"];
    desk.cocode(&[&["run"][..], &run].concat()).exits(2).says("is not the address of a NATS server");
    for words in [
        &["join", "http://north.example", "--host-name", "north"][..],
        &["status", "--url", "http://north.example"],
        &["drain", "north", "--url", "http://north.example"],
    ] {
        let ran = fleet_command(&desk, words).exits(2);
        ran.says("is not the address of a NATS server").says("such as nats://127.0.0.1:4222");
    }
    // The control: an address at which there is nothing.
    fleet_command(&desk, &["status", "--url", "nats://127.0.0.1:1"]).exits(1).says("no server answers");
}
