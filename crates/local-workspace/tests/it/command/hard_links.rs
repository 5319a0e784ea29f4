//! No hard link that a command leaves lets a later one, or git of the user, change a file under another name.
//!
//! Each way is tried twice: plainly, where the last script shows that it works, and by commands of the workspace.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::fixture::user_shell::shell;
use crate::fixture::workspace::*;

/// One way to change a file through another name.
struct Attack {
    name: &'static str,
    /// Commands, one after the other. `CANARY` stands for a program that touches the canary and fails.
    commands: &'static [&'static str],
    /// The work of the user afterwards, which succeeds only if the file was changed unseen.
    trigger: &'static str,
}

const ATTACKS: &[Attack] = &[
    Attack {
        name: "settings of git, through a new build folder",
        commands: &[
            "git config user.name o; mkdir -p node_modules/p; ln .git/config node_modules/p/c",
            "printf '[core]\\n\\tfsmonitor = CANARY\\n' >> node_modules/p/c",
        ],
        trigger: "git status; test -e CANARY_PATH",
    },
    Attack {
        name: "settings of git, through a build folder that is made anew",
        commands: &[
            "git config user.name o; rm -rf target; mkdir -p target/p; ln .git/config target/p/c",
            "printf '[core]\\n\\tfsmonitor = CANARY\\n' >> target/p/c",
        ],
        trigger: "git status; test -e CANARY_PATH",
    },
    Attack {
        name: "settings of git, deeper in a build folder than any path",
        commands: &[
            "git config user.name o; mkdir -p node_modules; cd node_modules; for i in $(seq 70); do mkdir d; cd d; done; \
             ln \"$OLDPWD\"/../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../../.git/config c",
            "cd node_modules; for i in $(seq 70); do cd d; done; printf '[core]\\n\\tfsmonitor = CANARY\\n' >> c",
        ],
        trigger: "git status; test -e CANARY_PATH",
    },
    Attack {
        name: "settings of git, through a folder of very many files that is renamed",
        commands: &[
            "git config user.name o; mkdir -p big; ln .git/config big/c; touch $(seq -f big/%g 10001); mv big node_modules",
            "printf '[core]\\n\\tfsmonitor = CANARY\\n' >> node_modules/c",
        ],
        trigger: "git status; test -e CANARY_PATH",
    },
    Attack {
        name: "settings of git, through a message that git writes",
        commands: &[
            "git config user.name o; rm -f .git/COMMIT_EDITMSG; ln .git/config .git/COMMIT_EDITMSG; \
             printf '[user]\\n\\tname = u\\n\\temail = u@x\\n[core]\\n\\tfsmonitor = CANARY\\n' > .git/MERGE_MSG; echo 2 >> file; git add file",
        ],
        trigger: "git -c user.name=u -c user.email=u@x commit -q --no-edit; git status; test -e CANARY_PATH",
    },
    Attack {
        name: "objects",
        commands: &[
            "git gc -q; mkdir -p node_modules/p; ln .git/objects/pack/*.pack node_modules/p/",
            "chmod u+w node_modules/p/*.pack; for pack in node_modules/p/*.pack; do : > $pack; done",
        ],
        trigger: "! git fsck",
    },
    Attack {
        name: "a file that other programs obey",
        commands: &[
            "echo harmless > .envrc; mkdir -p node_modules/p; ln .envrc node_modules/p/e",
            "echo harmful > node_modules/p/e",
        ],
        trigger: "grep -q harmful .envrc",
    },
    Attack {
        name: "a file beside, through a build folder",
        commands: &[
            "echo 1 > new; mkdir -p node_modules; ln new node_modules/n",
            "echo harmful > node_modules/n",
        ],
        trigger: "grep -q harmful new",
    },
];

fn prepare(fixture: &Fixture) {
    fixture.put("file", "x\n");
    fixture.put(".gitignore", "target/\nnode_modules/\n");
    fixture.put("target/made", "");
    let script =
        "git init -q -b main . && git add file && git -c user.name=u -c user.email=u@x commit -q -m first";
    assert!(shell(&fixture.root(), script).status.success());
}

fn fill(fixture: &Fixture, script: &str) -> String {
    let path = fixture.outside().join("canary").display().to_string();
    script.replace("CANARY_PATH", &path).replace("CANARY", &format!("touch {path};false"))
}

fn inode(path: &Path) -> u64 {
    fs::metadata(path).unwrap().ino()
}

#[test]
fn no_name_leads_to_a_file_that_is_judged_under_another() {
    for attack in ATTACKS {
        let plain = Fixture::new();
        prepare(&plain);
        for command in attack.commands {
            shell(&plain.root(), &fill(&plain, command));
        }
        let done = shell(&plain.root(), &fill(&plain, attack.trigger));
        assert!(done.status.success(), "control: {}: {}", attack.name, String::from_utf8_lossy(&done.stderr));

        let fixture = Fixture::new();
        prepare(&fixture);
        let workspace = fixture.open();
        for command in attack.commands {
            run(&workspace, &fill(&fixture, command)).unwrap();
        }
        assert!(!shell(&fixture.root(), &fill(&fixture, attack.trigger)).status.success(), "{}", attack.name);
        assert!(shell(&fixture.root(), "git fsck && git status").status.success(), "{}", attack.name);
    }
}

/// Without a layer a `.git` is a mount of its own, and a file that is linked to a build folder gets a new version.
#[test]
fn without_a_layer_no_name_leads_to_another_file_either() {
    for attack in ATTACKS {
        let fixture = Fixture::new();
        prepare(&fixture);
        let workspace = fixture.open_layered(Layered::No);
        let mut warned = Vec::new();
        for command in attack.commands {
            warned.extend(run(&workspace, &fill(&fixture, command)).unwrap().warnings);
        }
        let is_done = shell(&fixture.root(), &fill(&fixture, attack.trigger)).status.success();
        assert!(!is_done, "{}: {warned:?}", attack.name);
    }
}

#[test]
fn names_within_one_build_folder_stay_names_of_one_file() {
    let fixture = Fixture::new();
    prepare(&fixture);
    let workspace = fixture.open();
    let script = "mkdir -p node_modules/.store node_modules/p node_modules/q dist src && echo one > node_modules/.store/x && \
                  ln node_modules/.store/x node_modules/p/x && ln node_modules/.store/x node_modules/q/x && \
                  echo two > src/a && ln src/a src/b && ln file linked";
    let response = run(&workspace, script).unwrap();
    assert_eq!(response.exit_code, 0, "{response:?}");
    // Those of `src`, and the file that was there.
    let says = |warnings: &[String], text: &str| warnings.iter().any(|warning| warning.contains(text));
    assert!(says(&response.warnings, "each name of 2 linked files is"), "{response:?}");
    let of = |name: &str| fixture.root().join(name);
    assert_eq!(inode(&of("node_modules/p/x")), inode(&of("node_modules/.store/x")));
    assert_eq!(inode(&of("node_modules/q/x")), inode(&of("node_modules/.store/x")));
    for (name, text) in [("src/a", "two\n"), ("src/b", "two\n"), ("file", "x\n"), ("linked", "x\n")] {
        assert_eq!(
            (fixture.text(name).as_deref(), fs::metadata(of(name)).unwrap().nlink()),
            (Some(text), 1),
            "{name}"
        );
    }
    // Commands keep working with them.
    let response = run(&workspace, "echo more >> node_modules/p/x").unwrap();
    assert_eq!(response.warnings, [""; 0], "nothing was linked");
    let response = run(&workspace, "ln file again").unwrap();
    assert!(says(&response.warnings, "each name of a linked file is"), "{response:?}");
    assert_eq!(fixture.text("node_modules/q/x").as_deref(), Some("one\nmore\n"));
}

#[test]
fn no_link_leads_from_a_build_folder_that_is_there_to_a_file_of_the_layer() {
    let fixture = Fixture::new();
    prepare(&fixture);
    fixture.put("node_modules/there", "there\n");
    let workspace = fixture.open();
    let script = "echo new > new; for pair in 'file target/f' 'new target/n' 'target/made out' 'target/made node_modules/m'; do \
                  ln $pair 2>/dev/null && echo linked; done; true";
    let response = run(&workspace, script).unwrap();
    assert_eq!(response.stdout.trim(), "", "{response:?}");
    assert!(!fixture.root().join("target/f").exists() && !fixture.root().join("out").exists());
    // Within one it can be made.
    let response = run(&workspace, "ln target/made target/other").unwrap();
    assert_eq!(response.exit_code, 0, "{response:?}");
    assert_eq!(fs::metadata(fixture.root().join("target/made")).unwrap().nlink(), 2);
    // Moved out, each is a file of its own.
    let response = run(&workspace, "mkdir out && mv target/made target/other out/").unwrap();
    assert_eq!(response.exit_code, 0, "{response:?}");
    assert_ne!(inode(&fixture.root().join("out/made")), inode(&fixture.root().join("out/other")));
}

/// A link that a command leaves without a layer is for a later one on a layer, which writes to build folders directly.
#[test]
fn a_link_that_is_made_without_a_layer_leads_nowhere_on_one() {
    let link = "echo harmless > .envrc; chmod 640 .envrc; echo 1 > a; mkdir -p node_modules/p; \
                ln .envrc node_modules/p/e; ln a b; ln file target/f";
    let write = "echo harmful > node_modules/p/e; echo harmful > target/f";
    let by_user = Fixture::new();
    prepare(&by_user);
    assert!(shell(&by_user.root(), link).status.success());
    let response = run(&by_user.open(), write).unwrap();
    assert_eq!(by_user.text(".envrc").as_deref(), Some("harmful\n"), "control: {response:?}");
    assert_eq!(by_user.text("file").as_deref(), Some("harmful\n"), "control: {response:?}");

    let fixture = Fixture::new();
    prepare(&fixture);
    let warned = run(&fixture.open_layered(Layered::No), link).unwrap().warnings.join("\n");
    assert!(!warned.contains("hard-linked"), "{warned}");
    run(&fixture.open(), write).unwrap();
    assert_eq!(fixture.text(".envrc").as_deref(), Some("harmless\n"), "{warned}");
    assert_eq!(fixture.text("file").as_deref(), Some("x\n"), "{warned}");
    let data = |name: &str| fs::metadata(fixture.root().join(name)).unwrap();
    assert_eq!((data(".envrc").nlink(), data(".envrc").mode() & 0o777), (1, 0o640));
    // Both names of this one are compared.
    assert_eq!(data("a").ino(), data("b").ino());
}

/// A folder that has the name of one becomes a build folder by an entry of `.gitignore`, or by a new name.
#[test]
fn no_folder_with_a_link_becomes_a_build_folder() {
    let ways: [&[&str]; 3] = [
        &["mkdir dist; ln .envrc dist/e", "echo dist/ >> .gitignore"],
        &["mkdir out; ln .envrc out/e; echo dist/ >> .gitignore", "mv out dist"],
        &["mkdir out; ln .envrc out/e", "mv out dist", "echo dist/ >> .gitignore"],
    ];
    let write = "echo harmful > dist/e";
    for way in ways {
        let by_user = Fixture::new();
        prepare(&by_user);
        by_user.put(".envrc", "harmless\n");
        assert!(shell(&by_user.root(), &way.join(" && ")).status.success());
        run(&by_user.open(), write).unwrap();
        assert_eq!(by_user.text(".envrc").as_deref(), Some("harmful\n"), "control: {way:?}");
        for layer in LAYERS {
            let fixture = Fixture::new();
            prepare(&fixture);
            fixture.put(".envrc", "harmless\n");
            for command in way {
                let response = run(&fixture.open_layered(layer), command).unwrap();
                assert_eq!(response.exit_code, 0, "{response:?}");
            }
            let dist = fixture.root().join("dist/e");
            let response = run(&fixture.open(), write).unwrap();
            assert_eq!(fs::read_to_string(dist).unwrap(), "harmful\n", "{response:?}");
            assert_eq!(fixture.text(".envrc").as_deref(), Some("harmless\n"), "{way:?} {layer:?}");
        }
    }
}

/// A part of a build folder stays one when the rest of it is ordinary: by another rule, or because git tracks a file of it.
#[test]
fn no_link_within_a_build_folder_leads_out_of_a_part_of_it() {
    let link = "mkdir -p node_modules/t node_modules/u && echo good > node_modules/t/f && ln node_modules/t/f node_modules/u/a";
    let narrow = [
        "printf 'node_modules/u/\\n' > .gitignore",
        "echo node_modules/u/ >> .gitignore; git add -f node_modules/t/f",
    ];
    let write = "echo harmful > node_modules/u/a; echo new > node_modules/u/b";
    for narrow in narrow {
        let plain = Fixture::new();
        prepare(&plain);
        assert!(shell(&plain.root(), &format!("{link} && {narrow} && {write}")).status.success());
        assert_eq!(plain.text("node_modules/t/f").as_deref(), Some("harmful\n"), "control: {narrow}");

        let fixture = Fixture::new();
        prepare(&fixture);
        let workspace = fixture.open();
        for command in [link, narrow, write] {
            let response = run(&workspace, command).unwrap();
            assert_eq!(response.exit_code, 0, "{response:?}");
        }
        let of = |name: &str| fixture.root().join(name);
        assert_eq!(fixture.text("node_modules/t/f").as_deref(), Some("good\n"), "{narrow}");
        assert_eq!(fixture.text("node_modules/u/a").as_deref(), Some("harmful\n"), "{narrow}");
        assert_eq!(fixture.text("node_modules/u/b").as_deref(), Some("new\n"), "{narrow}");
        // Without such a link it is written to directly again.
        let before = inode(&of("node_modules/u/a"));
        run(&workspace, "echo again > node_modules/u/a").unwrap();
        assert_eq!(inode(&of("node_modules/u/a")), before, "{narrow}");
        assert_eq!(fixture.text("node_modules/u/a").as_deref(), Some("again\n"), "{narrow}");
    }
}

/// Makes 120 names of a file, of which all copies would take more than the limit.
fn names(file: &str, folder: &str) -> String {
    format!("for i in $(seq 101 220); do ln {file} {folder}/n$i; done")
}

#[test]
fn links_of_a_file_that_is_nearly_all_holes_are_separated() {
    let fixture = Fixture::new();
    prepare(&fixture);
    let script = "truncate -s 900M sparse && for i in 1 2 3 4 5 6; do ln sparse link-$i; done";
    let response = run(&fixture.open(), script).unwrap();
    assert!(response.warnings.iter().all(|text| !text.contains("4 GiB")), "{response:?}");
    for number in 1..7 {
        let data = fs::metadata(fixture.root().join(format!("link-{number}"))).unwrap();
        assert_eq!((data.len(), data.nlink()), (900 << 20, 1));
    }
}

#[test]
fn links_beyond_the_limit_are_named_and_the_rest_is_kept() {
    let fixture = Fixture::new();
    prepare(&fixture);
    fixture.put("data", "x".repeat(40 << 20));
    let script = format!(
        "mkdir -p dist node_modules; mv data dist/a; {}; echo kept > beside; echo built > node_modules/b; echo 2 >> file; git add file; \
         echo one > small; ln small other",
        names("dist/a", "dist")
    );
    let response = run(&fixture.open(), &script).unwrap();
    let warned = response.warnings.join("\n");
    assert!(warned.contains("not kept, because each name of a hard-linked file"), "{warned}");
    assert!(warned.contains("`dist/n101`") && warned.contains("and 112 more"), "{warned}");
    assert!(!warned.contains("nothing that"), "{warned}");
    for (name, text) in
        [("beside", "kept\n"), ("node_modules/b", "built\n"), ("small", "one\n"), ("other", "one\n")]
    {
        assert_eq!(fixture.text(name).as_deref(), Some(text), "{name}: {warned}");
    }
    let dist = fixture.root().join("dist");
    assert_eq!(fs::read_dir(&dist).unwrap().count(), 1);
    let data = fs::metadata(dist.join("a")).unwrap();
    assert_eq!((data.len(), data.nlink()), (40 << 20, 1));
    assert!(!fixture.root().join("data").exists());
    let staged = shell(&fixture.root(), "git diff --cached --name-only");
    assert_eq!(String::from_utf8_lossy(&staged.stdout).trim(), "file");
}

/// Neither build folder is adopted, so none of the names is.
#[test]
fn the_only_version_of_a_linked_file_is_not_removed() {
    let fixture = Fixture::new();
    prepare(&fixture);
    fixture.put("data", "x".repeat(40 << 20));
    let script = format!(
        "mkdir -p node_modules; mv data node_modules/a; {}; ln node_modules/a outside; echo kept > beside",
        names("node_modules/a", "node_modules")
    );
    let response = run(&fixture.open(), &script).unwrap();
    let warned = response.warnings.join("\n");
    assert!(
        warned.contains("`node_modules`") && warned.contains("`data` (it may be the only version"),
        "{warned}"
    );
    assert!(!fixture.root().join("outside").exists() && !fixture.root().join("node_modules").exists());
    assert_eq!(fs::metadata(fixture.root().join("data")).unwrap().len(), 40 << 20);
    assert_eq!(fixture.text("beside").as_deref(), Some("kept\n"));
}

/// The same for rejected paths: a large file that has another name there.
#[test]
fn the_only_version_of_a_file_that_is_refused_is_not_removed() {
    let big = "x".repeat(20 << 20);
    for script in [
        "mkdir .idea; mv big .idea/x",
        "mkdir .vscode; mv big .vscode/tasks.json",
        "mv big .git/tool.toml",
        "mkdir -p sub/.idea; cp big sub/.idea/x; echo small > big",
    ] {
        let fixture = Fixture::new();
        prepare(&fixture);
        fixture.put("big", &big);
        fixture.put("small", "x");
        let warned = run(&fixture.open(), &format!("{script}; rm small; echo kept > beside")).unwrap();
        let warned = warned.warnings.join("\n");
        assert!(warned.contains("`big` (it may be the only version"), "{script}: {warned}");
        assert_eq!(fixture.text("big").as_deref(), Some(&big[..]), "{script}");
        assert_eq!((fixture.text("beside").as_deref(), fixture.text("small")), (Some("kept\n"), None));
    }
    // The control: where nothing large is refused, large files go.
    for script in ["mkdir .idea; mv small .idea/x; mv big other", "mkfifo .idea; mv big other"] {
        let fixture = Fixture::new();
        prepare(&fixture);
        fixture.put("big", &big);
        fixture.put("small", "x");
        let warned = run(&fixture.open(), script).unwrap().warnings.join("\n");
        assert!(warned.contains("`.idea"), "{script}: {warned}");
        assert_eq!(
            (fixture.text("other").as_deref(), fixture.text("big")),
            (Some(&big[..]), None),
            "{warned}"
        );
    }
}

/// Without a layer it is gone from where it was, and so it is moved to where no program obeys it.
#[test]
fn the_only_version_of_a_file_that_is_refused_is_kept_without_a_layer() {
    let big = "x".repeat(2 << 20);
    for (script, name) in [
        ("mkdir .idea; mv big .idea/x", "x.agentd-refused"),
        (
            "mkdir .vscode; mv big .vscode/tasks.json; echo other > tasks.json.agentd-refused",
            "tasks.json.agentd-refused-1",
        ),
        ("mv big .git/tool.toml", "tool.toml.agentd-refused"),
    ] {
        let fixture = Fixture::new();
        prepare(&fixture);
        fixture.put("big", &big);
        let warned = run(&fixture.open_layered(Layered::No), script).unwrap().warnings.join("\n");
        assert!(warned.contains(&format!("is `{name}` now")), "{script}: {warned}");
        assert_eq!(fixture.text(name).as_deref(), Some(&big[..]), "{script}: {warned}");
        for path in [".idea", ".vscode/tasks.json", ".git/tool.toml"] {
            assert!(!fixture.root().join(path).exists(), "{script}: {path}: {warned}");
        }
    }
    // The control: a file that is not the only version is removed.
    let fixture = Fixture::new();
    prepare(&fixture);
    fixture.put("big", &big);
    let warned = run(&fixture.open_layered(Layered::No), "mkdir .idea; cp big .idea/x").unwrap().warnings;
    assert!(!fixture.root().join(".idea").exists() && !fixture.root().join("x.agentd-refused").exists());
    assert!(!warned.join("\n").contains("only version"), "{warned:?}");
}

#[test]
fn a_repository_that_would_lack_a_linked_object_stays_as_it_was() {
    let commit = "echo 2 >> file; git -c user.name=u -c user.email=u@x commit -qam second";
    let head = |fixture: &Fixture| {
        let head = shell(&fixture.root(), "git fsck && git log -1 --format=%s");
        assert!(head.status.success());
        String::from_utf8_lossy(&head.stdout).trim().to_owned()
    };
    let fixture = Fixture::new();
    prepare(&fixture);
    run(&fixture.open(), commit).unwrap();
    assert_eq!(head(&fixture), "second", "control");

    let fixture = Fixture::new();
    prepare(&fixture);
    // The pack sorts after the other names, so it is one of those left out.
    let script = format!(
        "head -c 40M /dev/urandom > file; git -c user.name=u -c user.email=u@x -c core.bigFileThreshold=1 commit -qam second; \
         git gc -q; mkdir .a; {}; echo kept > beside",
        names(".git/objects/pack/*.pack", ".a")
    );
    let response = run(&fixture.open(), &script).unwrap();
    let warned = response.warnings.join("\n");
    assert!(
        warned.contains("a hard-linked file of theirs was not kept") && warned.contains("`.git`"),
        "{warned}"
    );
    assert_eq!(head(&fixture), "first", "{warned}");
    assert_eq!(fixture.text("beside").as_deref(), Some("kept\n"));
}
