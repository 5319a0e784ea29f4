//! Commits that git stores, but would not check out.

use std::num::NonZeroU32;

use cocode_env::AgentState;
use cocode_runner::{RunnerError, StopFlag};

use crate::fixture::{Fixture, Log, agent, failures, refused, request};

/// Functions for scripts: `entry MODE NAME OBJECT` writes an entry of a tree as git stores it, `commit` makes a commit with the
/// marker of the tree `deep` that it reads, and has `HEAD` at it.
pub(crate) const FUNCTIONS: &str = r#"
    bytes() { for byte in $(echo $1 | sed 's/../0x& /g'); do printf "\\$(printf %03o $byte)"; done; }
    entry() { printf '%s %b\000' "$1" "$2"; bytes $3; }
    tree() { git hash-object -t tree -w --literally --stdin; }
    B=$(echo x | git hash-object -w --stdin)
    T=$(entry 100644 f $B | tree)
    Z=0000000000000000000000000000000000000000
    commit() {
        C=$(entry 40000 deep $(tree) | tree)
        C=$(printf 'x\n\ncocode ready for check\n' | git commit-tree -p HEAD $C)
        git update-ref -m 'commit: x' HEAD $C
    }
"#;

/// The entries of a tree, and git's reason to reject it.
pub(crate) const REFUSED: [(&str, &str); 21] = [
    ("entry 40000 .. $T", "'deep' contains '..'"),
    ("entry 40000 . $T", "'deep' contains '.'"),
    ("entry 40000 .git $T", "'deep' contains '.git'"),
    ("entry 100644 .GiT $B", "'deep' contains '.git'"),
    // A character that HFS+ leaves out of names.
    (r"entry 40000 '.g\0342\0200\0214it' $T", "'deep' contains '.git'"),
    ("entry 40000 git~1 $T", "'deep' contains '.git'"),
    ("entry 40000 '.git ' $T", "'deep' contains '.git'"),
    ("entry 40000 '.git::$INDEX_ALLOCATION' $T", "'deep' contains '.git'"),
    (r"entry 100644 'a\\.git' $B", "'deep' contains '.git'"),
    ("entry 100644 '' $B", "empty filename in tree entry"),
    ("entry 100644 a/b $B", "'deep' contains full pathnames"),
    ("entry 100644 a $B; entry 100644 a $B", "'deep' contains duplicate file entries"),
    ("entry 100644 b $B; entry 100644 a $B", "'deep' not properly sorted"),
    ("entry 104755 a $B", "'deep' contains bad file modes"),
    ("entry 102755 a $B", "'deep' contains bad file modes"),
    ("entry 60644 a $B", "'deep' contains bad file modes"),
    ("entry 100777 a $B", "'deep' contains bad file modes"),
    ("entry 120000 .gitmodules $B", ".gitmodules is a symbolic link"),
    ("entry 120000 GITMOD~1 $B", ".gitmodules is a symbolic link"),
    ("entry 100644 a $T", "expected type blob, found tree"),
    ("entry 100644 a $Z", "null sha1"),
];

#[test]
fn a_commit_that_git_does_not_check_out_is_not_ready_and_not_picked() {
    let fixture = Fixture::new();
    let script = |entries: &str| format!("{FUNCTIONS} {{ {entries}; }} | commit");
    let agents = REFUSED.iter().enumerate();
    let mut agents: Vec<_> =
        agents.map(|(index, (entries, _))| agent(&format!("a{index}"), &script(entries))).collect();
    // The controls: the same script with valid entries.
    agents.push(agent("sound", &script("entry 100644 a $B; entry 120000 b $B; entry 40000 c $T")));
    agents.push(agent("module", &script("entry 160000 sub $(git rev-parse HEAD)")));
    let mut request = request(agents);
    request.limits.parallel = NonZeroU32::new(4).unwrap();
    let runner = fixture.runner();
    let records = runner.run(&request, &StopFlag::new(), &Log::default()).unwrap();
    for ((entries, reason), record) in REFUSED.iter().zip(&records) {
        // Git cannot even make a commit of a tree that it cannot parse.
        let failed = failures(record);
        if *reason == "null sha1" || *reason == "empty filename in tree entry" {
            assert_ne!(failed, Vec::<&str>::new(), "{entries}: {record:?}");
            continue;
        }
        assert_eq!(failed, ["sound"], "{entries}: {record:?}");
        let why = record.verdict.as_ref().unwrap().first_failure().unwrap().why.clone();
        assert!(why.contains(reason), "{entries}: {why}");
        let error = refused(runner.pick(record, true));
        assert!(
            matches!(&error, RunnerError::Unsound { why, .. } if why.contains(reason)),
            "{entries}: {error}"
        );
    }
    let [.., sound, module] = &records[..] else { panic!("there are two more") };
    assert_eq!(sound.state, AgentState::Ready, "{sound:?}");
    assert!(sound.warnings.is_empty(), "{sound:?}");
    assert_eq!(module.state, AgentState::Ready, "{module:?}");
    assert_eq!(module.warnings, ["it has added or moved submodules: deep/sub"]);
    assert!(runner.pick(sound, false).unwrap().done);
    assert!(!fixture.root.join("state/checked/7-sound").exists());
}

#[test]
fn faults_of_the_start_are_not_the_agents() {
    let fixture = Fixture::new();
    let modules = "[submodule \"a\"]\n\tpath = a\n\turl = -u./payload\n";
    std::fs::write(fixture.repository().join(".gitmodules"), modules).unwrap();
    fixture.git(&["add", "."]);
    fixture.git(&["commit", "-q", "-m", "odd, but there"]);
    let record = fixture.run(crate::fixture::MARKED);
    assert_eq!(record.state, AgentState::Ready, "{record:?}");
    // The same as the agent's own work.
    let fixture = Fixture::new();
    let record = fixture.run(&format!(
        "printf '{}' > .gitmodules; git add .; {}",
        modules.replace('\n', "\\n"),
        crate::fixture::MARKED
    ));
    assert_eq!(failures(&record), ["sound"], "{record:?}");
}

#[test]
fn a_fault_that_reads_like_one_of_the_machine_is_the_agents() {
    let fixture = Fixture::new();
    let modules = "[submodule \"a\"]\\n\\tpath = a\\n\\turl = -No space left on device\\n";
    let record =
        fixture.run(&format!("printf '{modules}' > .gitmodules; git add .; {}", crate::fixture::MARKED));
    assert_eq!(failures(&record), ["sound"], "{record:?}");
}

#[test]
fn work_of_agents_that_share_objects_is_checked_as_well() {
    let fixture = Fixture::shared();
    let record = fixture.run(&format!("{FUNCTIONS} entry 40000 .. $T | commit"));
    assert_eq!(failures(&record), ["sound"], "{record:?}");
}

#[test]
fn entries_that_no_file_system_takes_as_they_are_are_not_ready() {
    let entry = |mode: &str, path: &str, content: &str| {
        format!(
            "O=$({content} | git hash-object -w --stdin); git update-index -z --add --index-info <<E\n{mode} $O\t{path}\nE"
        )
        .replace("-z ", "")
    };
    let (long, deep) = ("n".repeat(300), vec!["d".repeat(200); 25].join("/"));
    let cases = [
        // The controls: a long target and a long name that fit.
        (entry("120000", "docs/c", "printf %04095d 0"), None),
        (entry("100644", &"n".repeat(255), "echo x"), None),
        (
            entry("120000", "docs/c", "printf '../.git\\0x'"),
            Some("'docs/c' is a link whose target has a NUL"),
        ),
        (
            entry("120000", "docs/c", "printf '/etc\\0%05000d' 0"),
            Some("'docs/c' is a link whose target has 5005 bytes"),
        ),
        (
            entry("120000", "docs/c", "printf %04096d 0"),
            Some("'docs/c' is a link whose target has 4096 bytes"),
        ),
        (entry("120000", "docs/c", "printf ''"), Some("'docs/c' is a link without a target")),
        (entry("100644", &long, "echo x"), Some("has a name of 300 bytes")),
        (entry("100644", &deep, "echo x"), Some("is a path of 5024 bytes")),
    ];
    let commit = "git commit -q -m 'cocode ready for check'";
    let fixture = Fixture::new();
    let agents = cases.iter().enumerate();
    let agents =
        agents.map(|(index, (script, _))| agent(&format!("a{index}"), &format!("{script}\n{commit}")));
    let mut request = request(agents.collect());
    request.limits.parallel = NonZeroU32::new(4).unwrap();
    let runner = fixture.runner();
    let records = runner.run(&request, &StopFlag::new(), &Log::default()).unwrap();
    for ((script, reason), record) in cases.iter().zip(&records) {
        let sound = failures(record).iter().all(|name| *name != "sound");
        assert_eq!(sound, reason.is_none(), "{script}: {record:?}");
        let Some(reason) = reason else { continue };
        let why = record.verdict.as_ref().unwrap().first_failure().unwrap().why.clone();
        assert!(why.contains(reason), "{script}: {why}");
        let error = refused(runner.pick(record, false));
        assert!(
            matches!(&error, RunnerError::Unsound { why, .. } if why.contains(reason)),
            "{script}: {error}"
        );
    }
    assert_eq!(fixture.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_file_of_the_start_does_not_excuse_another_one_that_git_obeys() {
    let modules = "[submodule \"a\"]\n\tpath = a\n\turl = -u./payload\n";
    let add = |path: &str| {
        format!(
            "git update-index --add --cacheinfo 100644,$(git rev-parse HEAD:sample),{path}; \
             git commit -q -m 'cocode ready for check'"
        )
    };
    let cases = [
        // The path in the start, the agent's work, and whether it is sound. The first ones are the controls.
        ("sample", add("other"), true),
        (".gitmodules", "echo x > b; git add b; git commit -q -m 'cocode ready for check'".to_owned(), true),
        ("sample", add(".gitmodules"), false),
        ("sample", add(".GitModules"), false),
        ("sample", add("deep/.gitmodules"), false),
        // At the top, git obeys what it does not elsewhere.
        ("deep/.gitmodules", add(".gitmodules").replace(":sample", ":deep/.gitmodules"), false),
    ];
    for (start, script, is_sound) in cases {
        let fixture = Fixture::new();
        let path = fixture.repository().join(start);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, modules).unwrap();
        fixture.git(&["add", "."]);
        fixture.git(&["commit", "-q", "-m", "sample"]);
        let (record, case) = (fixture.run(&script), format!("{start}: {script}"));
        let failed = failures(&record);
        assert_eq!(failed, if is_sound { vec![] } else { vec!["sound"] }, "{case}: {record:?}");
        if !is_sound {
            let why = record.verdict.as_ref().unwrap().first_failure().unwrap().why.clone();
            assert!(why.to_lowercase().contains(".gitmodules'"), "{case}: {why}");
        }
    }
}

#[test]
fn objects_that_git_cannot_parse_do_not_reach_the_repository() {
    let make = "for kind in tag commit tree; do echo $kind-garbage | git hash-object -t $kind -w --literally --stdin; done; \
        echo staged > staged; git add staged; \
        printf 'object %s\ntype commit\ntag mine\ntagger a <a@a> 1 +0000\n\nx\n' $(git rev-parse HEAD) | git mktag; ";
    // The second one is the control: where objects are shared, git fails at them.
    for (fixture, is_kept_out) in [(Fixture::new(), true), (Fixture::shared(), false)] {
        let runner = fixture.runner();
        let log = Log::default();
        let script = format!("{make}{}", crate::fixture::MARKED);
        let record =
            runner.run(&request(vec![agent("a", &script)]), &StopFlag::new(), &log).unwrap().remove(0);
        assert_eq!(record.state, AgentState::Ready, "{record:?}");
        let mut command = std::process::Command::new("git");
        let collected = command.args(["gc", "-q"]).current_dir(fixture.repository()).output().unwrap();
        let errors = String::from_utf8_lossy(&collected.stderr);
        assert_eq!(collected.status.success(), is_kept_out, "{errors}");
        // Its other objects are there.
        let tag = log.lines().into_iter().rfind(|line| line.len() == 40).unwrap();
        assert_eq!(fixture.git(&["cat-file", "-t", &tag]), "tag");
        let staged = fixture.git_in(&record.worktree, &["ls-files", "-s", "staged"]);
        assert!(!staged.is_empty());
        let is_reported =
            record.warnings.iter().any(|warning| warning.contains("3 of its objects are damaged"));
        assert_eq!(is_reported, is_kept_out, "{record:?}");
    }
}
