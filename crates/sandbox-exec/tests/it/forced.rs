//! The report equals reality where the machine gives less: a filter around a second run of the test simulates kernels
//! and containers that refuse calls, and the report is checked by attacks.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::process::{Command, Stdio};

use sandbox_exec::{FileConfinement, HomeVisibility, KillReach, Level, NetworkConfinement, ShellCommand};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

use crate::attack::exec_attacks::become_ordinary;
use crate::fixture::{CANARY, Fixture, marker, stdout, survivors};

/// Tells a copy of this program that it is to be restricted.
const STAND_IN: &str = "SANDBOX_EXEC_TEST_RESTRICTED";

/// Runs a test again as the same and as an ordinary user, restricted by `forbid`, and passes its fixture to `check`.
fn restricted(test: &str, forbid: impl Fn(), check: impl Fn(&Fixture)) {
    if std::env::var_os(STAND_IN).is_some() {
        forbid();
        let fixture = Fixture::new();
        let report = fixture.launcher.report().to_string();
        check(&fixture);
        report_is_true(&fixture);
        // The next command finds the same.
        report_is_true(&fixture);
        println!("{report}");
        return;
    }
    if rustix::process::geteuid().is_root() {
        become_ordinary(&format!("forced::{test}"), STAND_IN);
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("forced::{test}"), "--nocapture"])
        .env(STAND_IN, "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = [String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)].concat();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// Checks every field of the report against what a command can really do.
fn report_is_true(fixture: &Fixture) {
    let report = fixture.launcher.report();
    let secret = fixture.outside("secret.txt");
    let outcome = fixture.run(&format!("cat {0}; test -e {0} && echo there", secret.display()));
    let output = (stdout(&outcome).contains(CANARY), stdout(&outcome).contains("there"));
    let expected = match report.fs {
        FileConfinement::Root => (false, false),
        FileConfinement::Landlock => (false, true),
        _ => (true, true),
    };
    assert_eq!(output, expected, "{report}");
    let outcome = fixture.run(&format!("cat {}/home/.netrc", fixture.root().display()));
    assert_eq!(stdout(&outcome).contains(CANARY), report.home == HomeVisibility::Open, "{report}");

    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}))\"");
    let is_open = report.net == NetworkConfinement::Open;
    assert_eq!(fixture.run(&connect).ending.is_success(), is_open, "{report}");

    let is_namespace = report.kill == KillReach::Namespace;
    let sees_itself_alone = stdout(&fixture.run("echo $PPID")) == "1\n";
    assert_eq!(sees_itself_alone, is_namespace, "{report}");
    let marker = marker();
    let text = format!("(setsid sh -c 'trap : TERM; sleep 300; : {marker}' &) ; sleep 0.1");
    assert!(fixture.run(&text).ending.is_success(), "{report}");
    assert_eq!(survivors(&marker), Vec::<String>::new(), "{report}");
    // A command cannot gain privileges at any level that claims to drop them.
    let status = stdout(&fixture.run("grep -e NoNewPrivs -e CapEff /proc/self/status"));
    let is_bare = status.contains("NoNewPrivs:\t1") && status.contains("CapEff:\t0000000000000000");
    assert!(is_bare || report.level == Level::None, "{report}: {status}");
}

fn lacks(fixture: &Fixture, layer: &str) -> bool {
    fixture.launcher.report().missing.iter().any(|missing| missing.starts_with(layer))
}

/// Makes system calls answer with an error for this thread and all that it starts.
fn answer(calls: &[libc::c_long], errno: libc::c_int) {
    install(calls.iter().map(|call| (*call, vec![])).collect(), errno);
}

fn install(rules: BTreeMap<libc::c_long, Vec<SeccompRule>>, errno: libc::c_int) {
    let refusal = SeccompAction::Errno(errno.unsigned_abs());
    let architecture = TargetArch::try_from(std::env::consts::ARCH).unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refusal, architecture).unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    apply_filter(&program).unwrap();
}

/// Refuses every kind of new namespace, as containers do.
fn refuse_namespaces() {
    let flags = [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWCGROUP,
    ];
    let rules = flags.map(|flag| {
        let flag = u64::from(flag.unsigned_abs());
        let operator = SeccompCmpOp::MaskedEq(flag);
        let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, operator, flag).unwrap();
        SeccompRule::new(vec![condition]).unwrap()
    });
    install([(libc::SYS_clone, rules.to_vec())].into(), libc::EPERM);
    answer(&[libc::SYS_unshare, libc::SYS_setns], libc::EPERM);
    answer(&[libc::SYS_clone3], libc::ENOSYS);
}

const LANDLOCK: [libc::c_long; 3] =
    [libc::SYS_landlock_create_ruleset, libc::SYS_landlock_add_rule, libc::SYS_landlock_restrict_self];

#[test]
fn without_namespaces_the_report_is_true() {
    restricted("without_namespaces_the_report_is_true", refuse_namespaces, |fixture| {
        let report = fixture.launcher.report();
        assert_eq!((report.level, report.kill), (Level::Landlock, KillReach::Sweep), "{report}");
        assert!(lacks(fixture, "namespaces"), "{report}");
    });
}

#[test]
fn without_landlock_the_report_is_true() {
    let forbid = || answer(&LANDLOCK, libc::ENOSYS);
    restricted("without_landlock_the_report_is_true", forbid, |fixture| {
        let report = fixture.launcher.report();
        assert_eq!((report.level, report.fs), (Level::Namespaces, FileConfinement::Root), "{report}");
        assert!(lacks(fixture, "landlock"), "{report}");
    });
}

#[test]
fn without_a_filter_the_report_is_true() {
    // Later filters are refused; this one is in force.
    let forbid = || answer(&[libc::SYS_seccomp], libc::EPERM);
    restricted("without_a_filter_the_report_is_true", forbid, |fixture| {
        let report = fixture.launcher.report();
        assert_eq!(
            (report.level, report.net),
            (Level::Namespaces, NetworkConfinement::Namespace),
            "{report}"
        );
        assert!(lacks(fixture, "system call filter"), "{report}");
        let outcome = fixture.run("python3 -c 'import socket; socket.socket(socket.AF_UNIX)'");
        assert!(outcome.ending.is_success(), "the report says that sockets can be made: {outcome:?}");
    });
}

#[test]
fn without_anything_the_report_is_true() {
    let forbid = || {
        refuse_namespaces();
        answer(&LANDLOCK, libc::ENOSYS);
        answer(&[libc::SYS_seccomp], libc::EPERM);
    };
    restricted("without_anything_the_report_is_true", forbid, |fixture| {
        let report = fixture.launcher.report();
        assert_eq!((report.level, report.fs), (Level::Process, FileConfinement::Open), "{report}");
    });
}

#[test]
fn on_an_old_kernel_the_report_is_true() {
    // The calls that Linux 5.2 lacks.
    let forbid = || {
        answer(&LANDLOCK, libc::ENOSYS);
        let unknown = [
            libc::SYS_clone3,
            libc::SYS_openat2,
            libc::SYS_pidfd_open,
            libc::SYS_pidfd_getfd,
            libc::SYS_close_range,
            libc::SYS_mount_setattr,
            libc::SYS_faccessat2,
            libc::SYS_epoll_pwait2,
            libc::SYS_quotactl_fd,
        ];
        answer(&unknown, libc::ENOSYS);
    };
    restricted("on_an_old_kernel_the_report_is_true", forbid, |fixture| {
        let report = fixture.launcher.report();
        assert!(report.level < Level::Namespaces, "{report}");
        assert!(lacks(fixture, "namespaces") && lacks(fixture, "landlock"), "{report}");
    });
}

#[test]
fn without_a_control_group_the_report_is_true() {
    // Those of the machine cannot be hidden by a filter: the hierarchies are unmounted, in a mount namespace.
    const TEST: &str = "without_a_control_group_the_report_is_true";
    if std::env::var_os(STAND_IN).is_some() || !rustix::process::geteuid().is_root() {
        // An ordinary user may make none, unless they were delegated.
        let fixture = Fixture::new();
        report_is_true(&fixture);
        let is_limited = !lacks(&fixture, "limit on the whole command's memory");
        assert!(!is_limited || std::env::var_os(STAND_IN).is_none(), "{}", fixture.launcher.report());
        let mut policy = fixture.policy.clone();
        policy.limits.memory_bytes = 64 << 20;
        let command = ShellCommand::new("head -c 200000000 /dev/zero > /tmp/big && echo all").unwrap();
        let outcome = fixture.launcher.spawn(&policy, &command).unwrap().wait().unwrap();
        assert_eq!(stdout(&outcome) == "all\n", !is_limited, "{}", fixture.launcher.report());
        return;
    }
    let script = "umount -R /sys/fs/cgroup && exec \"$0\" --exact \"$1\" --nocapture";
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script])
        .arg(std::env::current_exe().unwrap())
        .arg(format!("forced::{TEST}"))
        .env(STAND_IN, "1")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = [String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)].concat();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
