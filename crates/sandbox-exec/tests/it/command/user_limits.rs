//! A command does not use up the resources that the kernel counts for each user.

use std::sync::Mutex;

use rustix::fs::inotify;
use rustix::io::Errno;
use sandbox_exec::{Level, ShellCommand};

use crate::attack::exec_attacks::become_ordinary;
use crate::fixture::{Fixture, stdout};

/// Tells a copy of this program that it is the ordinary user.
const STAND_IN: &str = "SANDBOX_EXEC_TEST_USER_LIMITS";

/// Opens as many as it can, prints their number, and keeps them open.
const OPEN_ALL: &str = "python3 -c \"
import ctypes, time
libc = ctypes.CDLL(None)
count = 0
while libc.inotify_init1(0) >= 0: count += 1
print(count, flush=True)
time.sleep(60)\"";

/// Returns how many instances the command had, and the result of this process's attempt meanwhile.
fn meanwhile(fixture: &Fixture) -> (u64, Result<(), Errno>) {
    let running = fixture.launcher.spawn(&fixture.policy, &ShellCommand::new(OPEN_ALL).unwrap()).unwrap();
    let killer = running.killer();
    let file = Mutex::new(None);
    let outcome = running.wait_with(
        &mut |_, bytes: &[u8]| {
            if bytes.contains(&b'\n') {
                let opened = inotify::init(inotify::CreateFlags::CLOEXEC).map(drop);
                file.lock().unwrap().get_or_insert(opened);
                killer.cancel();
            }
        },
        None,
    );
    let outcome = outcome.unwrap();
    let count = stdout(&outcome).trim().parse().unwrap_or_else(|_| panic!("{outcome:?}"));
    (count, file.into_inner().unwrap().unwrap())
}

#[test]
fn a_command_leaves_instances_of_inotify_for_its_user() {
    // Root's own are used by other programs here, and by other tests.
    if rustix::process::geteuid().is_root() {
        return become_ordinary(
            "command::user_limits::a_command_leaves_instances_of_inotify_for_its_user",
            STAND_IN,
        );
    }
    let of_user = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_instances").unwrap();
    let of_user: u64 = of_user.trim().parse().unwrap();
    let fixture = Fixture::contained();
    let (count, opened) = meanwhile(&fixture);
    assert!((1..=of_user / 4).contains(&count), "{count} of {of_user}");
    assert_eq!(opened, Ok(()));
    // The control: where there is no namespace for users, the command takes all of them.
    let (count, opened) = meanwhile(&Fixture::at_level(Level::Landlock));
    assert!(count > of_user / 4, "{count} of {of_user}");
    assert_eq!(opened, Err(Errno::MFILE));
}
