//! The spawner's own death, and leftovers of many commands.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use sandbox_exec::{Launcher, LauncherConfig, Level, ShellCommand, SpawnerProgram, StartError, WaitError};

use crate::fixture::{Fixture, marker, spawner_path, stdout, survivors, traced_spawner, user};
use test_support::write_program;

#[test]
fn a_command_that_kills_its_own_init_or_spawner_is_lost_and_leaves_nothing() {
    // Only without a process namespace can a command see them; with one, the death of its init ends the namespace.
    let fixture = Fixture::at_level(Level::Process);
    for target in ["$PPID", "$(ps -o ppid= -p $PPID)"] {
        let marker = marker();
        let text =
            format!("(setsid sh -c 'sleep 300; : {marker}' &) ; sleep 0.1; kill -9 {target}; sleep 300");
        let running = fixture.launcher.spawn(&fixture.policy, &ShellCommand::new(&text).unwrap()).unwrap();
        assert_eq!(running.wait().unwrap_err(), WaitError::Lost, "{target}");
        // The spawner, or the init in its place, kills the rest.
        let started = std::time::Instant::now();
        while !survivors(&marker).is_empty() {
            assert!(started.elapsed().as_secs() < 20, "{target}: {:?}", survivors(&marker));
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(stdout(&fixture.run("echo next")), "next\n", "{target}");
    }
}

/// A request to a dying spawner may be lost with it silently. Nothing has run then, and another spawner takes it.
#[test]
fn a_command_runs_however_recently_the_spawner_was_killed() {
    let tools = tempfile::tempdir().unwrap();
    let fixture = Fixture::with_spawner(traced_spawner(tools.path()), Level::Full);
    for pause in (0..30).map(|round| Duration::from_micros(round % 10 * 100)) {
        let number = fs::read_to_string(tools.path().join("spawner.pid")).unwrap();
        let spawner = Pid::from_raw(number.trim().parse().unwrap()).unwrap();
        kill_process(spawner, Signal::KILL).unwrap();
        std::thread::sleep(pause);
        assert_eq!(stdout(&fixture.run("echo ran >> ran.log; wc -l < ran.log")), "1\n", "{pause:?}");
        fs::remove_file(fixture.workspace().join("ran.log")).unwrap();
    }
}

/// The results of a self-test whose spawner dies say nothing about the machine.
#[test]
fn a_spawner_that_dies_during_the_self_test_does_not_lower_the_level() {
    let undisturbed = Fixture::new().launcher.report().to_string();
    for pause in (0..12).map(|round| round * 5) {
        let tools = tempfile::tempdir().unwrap();
        let script = tools.path().join("spawner");
        // The first spawner is killed some milliseconds after its start.
        let text = format!(
            "#!/bin/sh\nif mkdir '{0}/first' 2>/dev/null; then\n\
             (sleep 0.{pause:03}; kill -9 $$\n\
             until [ ! -e /proc/$$ ] || grep -q ') Z' /proc/$$/stat; do sleep 0.001; done\n\
             mkdir '{0}/dead') </dev/null >/dev/null 2>&1 &\nfi\nexec '{1}'\n",
            tools.path().display(),
            spawner_path().display()
        );
        write_program(&script, &text);
        let fixture = Fixture::with_spawner(SpawnerProgram::at(script), Level::Full);
        assert_eq!(fixture.launcher.report().to_string(), undisturbed, "{pause} ms");
        // A command that was just starting when its spawner died has an unknown end, rightly: this one starts afterwards.
        let started = std::time::Instant::now();
        while !tools.path().join("dead").exists() {
            assert!(started.elapsed().as_secs() < 20, "{pause} ms: the first spawner lives");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(stdout(&fixture.run("echo works")), "works\n", "{pause} ms");
    }
}

/// The processor time that a process has used, in hundredths of a second.
fn processor_time(process: &str) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // The name, in parentheses, may hold spaces; the two times are the 14th and 15th field.
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    fields.split(' ').skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum()
}

#[test]
fn a_command_that_runs_costs_the_spawner_no_time() {
    for highest in [Level::Process, Level::Full] {
        let tools = tempfile::tempdir().unwrap();
        let fixture = Fixture::with_spawner(traced_spawner(tools.path()), highest);
        let spawner = fs::read_to_string(tools.path().join("spawner.pid")).unwrap();
        let running =
            fixture.launcher.spawn(&fixture.policy, &ShellCommand::new("sleep 60").unwrap()).unwrap();
        let used_in_a_second = || {
            let before = processor_time(spawner.trim());
            std::thread::sleep(Duration::from_secs(1));
            processor_time(spawner.trim()) - before
        };
        // The spawner first makes the next command's sandbox, which is slow on a busy machine.
        let used: Vec<u64> = (0..20).map(|_| used_in_a_second()).take_while(|used| *used > 5).collect();
        running.killer().cancel();
        running.wait().unwrap();
        assert!(used.len() < 20, "{highest}: {used:?} hundredths of a second");
    }
}

#[test]
fn many_commands_leave_no_descriptor_and_no_process() {
    // A spawner that may open few descriptors runs out of them if a command leaves one behind.
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("spawner");
    let spawner = env!("CARGO_BIN_EXE_sandbox-exec-spawner");
    write_program(&script, &format!("#!/bin/sh\nulimit -n 40\nexec '{spawner}'\n"));
    let fixture = Fixture::with_spawner(SpawnerProgram::at(script), Level::Full);
    let marker = marker();
    for _ in 0..100 {
        assert_eq!(stdout(&fixture.run(&format!("ulimit -n; : {marker}"))), "40\n");
    }
    assert_eq!(survivors(&marker), Vec::<String>::new());
    // Even with other tests in this process, one leaked descriptor for each command would stand out.
    let links = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let links = links.filter_map(|entry| fs::read_link(entry.path()).ok());
    let left = links.filter(|link| link.to_string_lossy().contains("memfd:request")).count();
    assert!(left < 50, "{left}");
}

#[test]
fn a_program_that_is_no_spawner_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let start = |path: &str| {
        Launcher::start(LauncherConfig::new(
            SpawnerProgram::at(path.into()),
            user(folder.path()),
            folder.path().to_owned(),
        ))
    };
    assert!(matches!(start("/nonexistent/spawner"), Err(StartError::Spawner(_))));
    assert!(matches!(start("/bin/true"), Err(StartError::Unusable(_))));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "the self-test left something behind");
}
