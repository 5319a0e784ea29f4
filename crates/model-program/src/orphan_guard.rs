//! Ends a program when this process is killed, which then runs no destructors.
//!
//! A small process next to the program waits for that: its input ends with this process, for any reason. The kernel's
//! parent-death signal would only reach the shell, and not the processes that the shell started.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Waits for the end of its input, and then kills the group of its first argument and that process's descendants in other groups.
/// These are looked up first, since they lose their parent with it.
const SCRIPT: &str = r#"trap '' HUP INT TERM QUIT
read -r _
lines=
for stat in /proc/[0-9]*/stat; do
    { read -r line < "$stat"; } 2> /dev/null || continue
    set -- "$1" ${line##*) }
    id=${stat#/proc/}
    lines="$lines ${id%/stat}:$3"
done
beneath=" $1 "
next=" $1 "
while [ "$next" != ' ' ]; do
    last=$next
    next=' '
    for line in $lines; do
        case $last in
        *" ${line#*:} "*) case $beneath in *" ${line%:*} "*) ;; *) next="$next${line%:*} " ;; esac ;;
        esac
    done
    beneath="$beneath$next"
done
kill -s KILL -- "-$1"
kill -s KILL $beneath"#;

/// Kills the group of a program if this process is killed.
#[derive(Debug)]
pub(crate) struct OrphanGuard(Child);

impl OrphanGuard {
    /// Starts a guard for the group of this leader.
    ///
    /// # Errors
    ///
    /// Those of starting a process.
    pub(crate) fn start(leader: u32) -> io::Result<OrphanGuard> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "sh"]).arg(leader.to_string()).env_clear().current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // Signals for this process and its group must not reach it.
        command.process_group(0);
        command.spawn().map(OrphanGuard)
    }
}

impl Drop for OrphanGuard {
    fn drop(&mut self) {
        // Kill it before its input ends, so that it does nothing.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
