//! Paths that are found to be obeyed while the workspace is open: they count for every tool, and only where they were found.

use std::sync::{Arc, Mutex};

use local_workspace::LocalWorkspace;
use rel_path::{FoundName, NameRule, NameSource, ProtectedNames, RelPath};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use wap_core::*;

use crate::fixture::workspace::*;

#[derive(Clone, Debug, Default)]
struct Source(Arc<Mutex<Vec<FoundName>>>);

impl Source {
    fn add(&self, path: &str, rule: NameRule) {
        let path = RelPath::parse(path).unwrap();
        let reason = "git runs it: a.b".to_owned();
        self.0.lock().unwrap().push(FoundName { path, rule, reason, is_at_any_depth: false });
    }
}

impl NameSource for Source {
    fn look(&self) -> Vec<FoundName> {
        self.0.lock().unwrap().clone()
    }
}

fn open(fixture: &Fixture, source: &Source, layered: Layered) -> LocalWorkspace {
    let names = ProtectedNames::default().with_found(source.clone());
    let root = FileRoot::open(&fixture.root(), &RootRules::none(), FsPolicy::default().with_protected(names));
    LocalWorkspace::open(root.unwrap(), fixture.open_journal(), fixture.layered_config(layered)).unwrap().0
}

#[test]
fn what_is_found_later_counts_for_every_tool_and_there_only() {
    for layered in LAYERS {
        let (fixture, source) = (Fixture::new(), Source::default());
        let workspace = open(&fixture, &source, layered);
        let script = "mkdir -p bin sub/bin && echo x > bin/run && echo x > sub/bin/run && echo x > bin/hook";
        assert_eq!(run(&workspace, script).unwrap().warnings, [""; 0], "the control ({layered:?})");
        source.add("bin/run", NameRule::Never);
        source.add("bin/hook", NameRule::Reported);
        let again = script.replace("echo x", "echo again");
        let warned = run(&workspace, &again).unwrap().warnings.join("\n");
        assert!(warned.contains("`bin/run` (protected as './bin/run': git runs it: a.b)"), "{warned}");
        assert!(warned.contains("`bin/hook` (git runs it: a.b)"), "{warned}");
        let error = change(&workspace, write("bin/run", "y\n")).unwrap_err();
        assert_eq!(error.reason(), Reason::Protected);
        assert_eq!(fixture.text("bin/run").as_deref(), Some("x\n"), "{layered:?}");
        for path in ["bin/hook", "sub/bin/run"] {
            assert_eq!(fixture.text(path).as_deref(), Some("again\n"), "{path} ({layered:?})");
        }
        // What the source no longer finds stays.
        source.0.lock().unwrap().clear();
        assert_eq!(change(&workspace, delete("bin/run")).unwrap_err().reason(), Reason::Protected);
    }
}

#[test]
fn no_link_and_no_mass_of_files_hides_what_is_found() {
    for layered in LAYERS {
        let (fixture, source) = (Fixture::new(), Source::default());
        source.add("scripts/hooks", NameRule::Reported);
        let workspace = open(&fixture, &source, layered);
        let link = "mkdir -p evil/hooks && echo x > evil/hooks/pre-commit && ln -s evil scripts";
        let warned = run(&workspace, link).unwrap().warnings.join("\n");
        assert!(warned.contains("`scripts`") && warned.contains("a link in place"), "{layered:?}: {warned}");
        assert!(!fixture.root().join("scripts").exists() && fixture.root().join("evil/hooks").exists());
    }
    // On a layer, a folder of very many files is one change, which would not name them.
    let (fixture, source) = (Fixture::new(), Source::default());
    source.add("scripts/hooks", NameRule::Reported);
    let workspace = open(&fixture, &source, Layered::Yes);
    let many = "mkdir -p scripts/hooks && cd scripts && seq 10001 | xargs touch && echo x > hooks/pre-commit";
    let warned = run(&workspace, many).unwrap().warnings.join("\n");
    assert!(warned.contains("`scripts/hooks/pre-commit`"), "{warned}");
}
