//! `fixtures/layers/scripts.json`: commands have the same effect on a layer as on a copy of the folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use cow_layer::{Layer, LayerChange, LayerChanges, LayerStore, ScanLimits, ScanRules, Side};
use sandbox_exec::{LayerKind, LayerMount, Outcome, Policy, ShellCommand, Timeout};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use serde_json::Value;

use crate::fixture::{Fixture, stderr};
use crate::layer::tree_image::{self, Image, Node};

/// The folder of layers, inside the workspace.
const STATE: &str = ".agentd";

fn cases() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/layers/scripts.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// A folder, its changed copy, and a launcher.
struct Scene {
    fixture: Fixture,
    /// The folder as the setup makes it.
    template: PathBuf,
}

impl Scene {
    fn new() -> Scene {
        let fixture = Fixture::contained();
        let report = fixture.launcher.report();
        assert_eq!(report.layer, LayerKind::Overlay, "not run: this machine gives only {report}");
        let lines = cases()["setup"].as_array().unwrap().clone();
        let setup = lines.iter().map(|line| line.as_str().unwrap()).collect::<Vec<_>>().join("\n");
        let template = fixture.root().join("template");
        fs::create_dir(&template).unwrap();
        assert!(Command::new("sh").args(["-ec", &setup]).current_dir(&template).status().unwrap().success());
        Scene { fixture, template }
    }

    fn run(&self, policy: &Policy, script: &str) -> Outcome {
        let command = ShellCommand::new(script).unwrap();
        let command = command.with_timeout(Timeout::new(Duration::from_secs(60)).unwrap());
        self.fixture.launcher.spawn(policy, &command).unwrap().wait().unwrap()
    }

    /// Makes the folder `name`, a copy of the template.
    fn folder(&self, name: &str) -> PathBuf {
        let folder = self.fixture.root().join(name);
        let made = Command::new("cp").arg("-a").args([&self.template, &folder]).status().unwrap();
        assert!(made.success());
        folder
    }

    fn policy(&self, folder: &Path) -> Policy {
        let mut policy = Policy::for_workspace(folder).with_git_writable();
        for variable in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
            policy.environment.insert(variable.into(), "2020-01-01T00:00:00Z".into());
        }
        policy
    }

    /// Runs a script on a layer over the folder.
    fn run_on_layer(&self, folder: &Path, script: &str) -> (Layer, Outcome) {
        let layers = folder.join(STATE).join("layers");
        fs::create_dir_all(&layers).unwrap();
        let root = FileRoot::open(folder, &RootRules::default(), FsPolicy::default()).unwrap();
        let held = fs::File::open(&layers).unwrap().into();
        let store = LayerStore::open(held, &layers, Arc::new(root)).unwrap();
        let layer = store.create(&"1".parse().unwrap()).unwrap();
        let spec = layer.mount_spec();
        let mut policy = self.policy(folder).with_layer(LayerMount::new(spec.lower, spec.upper, spec.work));
        policy.hidden = vec![folder.join(STATE)];
        let outcome = self.run(&policy, script);
        (layer, outcome)
    }
}

fn adopt_all(layer: &Layer, changes: &LayerChanges) -> Result<(), String> {
    layer.seal(changes).map_err(|error| error.to_string())?;
    if layer.sealed().map_err(|error| error.to_string())?.as_ref() != Some(changes) {
        return Err("the list of changes did not survive serialization".into());
    }
    layer.sync(changes).map_err(|error| error.to_string())?;
    for change in changes.in_adoption_order() {
        layer.adopt(change).map_err(|error| error.to_string())?;
    }
    layer.finish_folders(changes).map_err(|error| error.to_string())
}

/// Drops files that git writes differently each time.
fn without_git(mut image: Image) -> Image {
    image.retain(|path, _| !path.starts_with(b".git/"));
    image
}

fn is_side(side: Option<&Side>, node: Option<&Node>) -> bool {
    match (side, node) {
        (None, None) | (Some(Side::Special), Some(Node::Special { .. })) => true,
        (Some(Side::File { mode, size_bytes }), Some(Node::File { mode: expected, content, .. })) => {
            mode == expected && *size_bytes == content.len() as u64
        }
        (Some(Side::Folder { mode }), Some(Node::Folder { mode: expected })) => mode == expected,
        (Some(Side::Symlink { target }), Some(Node::Link { target: expected })) => target == expected,
        _ => false,
    }
}

/// Compares the layer's list with the changes of the copy.
fn check_list(changes: &[&LayerChange], before: &Image, after: &Image) -> Result<(), String> {
    let mut expected = tree_image::difference(before, after);
    for change in changes {
        let path = change.path.as_bytes();
        // A recreated folder may itself be unchanged.
        let same = before.get(path).filter(|_| change.tree.is_some()).map(|node| (Some(node), Some(node)));
        let pair = expected.remove(path).or(same);
        let (old, new) = pair.ok_or_else(|| format!("{} did not change", change.path))?;
        if change.saved_meanwhile || !is_side(change.before.as_ref(), old) {
            return Err(format!("{change:?} was {old:?}"));
        }
        if !is_side(change.after.as_ref(), new) {
            return Err(format!("{change:?} became {new:?}"));
        }
        if change.tree.is_some() {
            expected.retain(|other, _| !other.starts_with(&[path, b"/"].concat()));
        }
    }
    if expected.is_empty() { Ok(()) } else { Err(format!("not listed: {:?}", expected.keys())) }
}

fn run_case(scene: &Scene, case: &Value, rules: ScanRules<'_>) -> Result<(), String> {
    let (name, script) = (case["name"].as_str().unwrap(), case["script"].as_str().unwrap());
    let with_git = case["git"].as_bool().unwrap_or(false);
    let image = |folder: &Path| {
        let image = tree_image::take(folder, STATE);
        if with_git { without_git(image) } else { image }
    };
    let (folder, copy) = (scene.folder("workspace-of-layer"), scene.folder("copy"));
    let before = image(&folder);
    assert_eq!(before, image(&copy));
    let plain = scene.run(&scene.policy(&copy), script);
    let after = image(&copy);
    let (layer, outcome) = scene.run_on_layer(&folder, script);
    let ending = format!("{} {}", outcome.ending, stderr(&outcome));
    if plain.ending != outcome.ending {
        return Err(format!("{name}: {} in a copy, {ending} on a layer", plain.ending));
    }
    let code = case["exit"].as_i64().unwrap_or(0);
    if !outcome.ending.to_string().starts_with(&format!("exit code {code}")) {
        return Err(format!("{name}: {ending}"));
    }
    if image(&folder) != before {
        return Err(format!("{name}: the lower folder was changed"));
    }
    let mut changes = layer.changes(rules).map_err(|error| format!("{name}: {error}"))?;
    let again = layer.changes(rules).map_err(|error| format!("{name}: {error}"))?;
    if summary(&changes) != summary(&again) {
        return Err(format!("{name}: a second scan lists something else"));
    }
    layer.separate(&mut changes, 1 << 20).map_err(|error| format!("{name}: {error}"))?;
    let listed: Vec<&LayerChange> =
        changes.iter().filter(|change| !(with_git && change.path.as_bytes().starts_with(b".git/"))).collect();
    check_list(&listed, &before, &after).map_err(|error| format!("{name}: {error}"))?;
    adopt_all(&layer, &changes).map_err(|error| format!("{name}: {error}"))?;
    let adopted = image(&folder);
    if adopted != after {
        return Err(format!("{name}: adopted otherwise:\n{}", tree_image::report(&after, &adopted)));
    }
    if with_git && git_says(&folder) != git_says(&copy) {
        return Err(format!("{name}: {} instead of {}", git_says(&folder), git_says(&copy)));
    }
    // Adopting again changes nothing.
    for change in changes.in_adoption_order() {
        layer.adopt(change).map_err(|error| format!("{name}, a second time: {error}"))?;
    }
    layer.finish_folders(&changes).unwrap();
    if image(&folder) != adopted {
        return Err(format!("{name}: adopting twice differs from adopting once"));
    }
    layer.discard().map_err(|error| format!("{name}: {error}"))?;
    if image(&folder) != adopted {
        return Err(format!("{name}: discarding removed something"));
    }
    Ok(())
}

/// Returns a list of changes without its time.
fn summary(changes: &LayerChanges) -> Vec<String> {
    let line = |change: &LayerChange| {
        format!("{} {:?} {:?} {:?}", change.path, change.before, change.after, change.tree)
    };
    changes.iter().map(line).collect()
}

fn git_says(folder: &Path) -> String {
    let text = "export GIT_OPTIONAL_LOCKS=0; git fsck --strict 2>&1; git status --porcelain -- . ':!.agentd'; git log --all --format='%H %s'; git stash list; \
                git config -l --local; find .git -name '*.lock'; cat .git/HEAD";
    let output = Command::new("sh").args(["-c", text]).current_dir(folder).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Makes every folder accessible again, so that the next case can remove it.
fn clear(scene: &Scene) {
    let folders = ["workspace-of-layer", "copy"].map(|name| scene.fixture.root().join(name));
    let text = "chmod -R u+rwx \"$@\" 2>/dev/null; rm -rf \"$@\"";
    assert!(Command::new("sh").args(["-c", text, "sh"]).args(folders).status().unwrap().success());
}

fn hold(rules: ScanRules<'_>, is_part: impl Fn(&str) -> bool) {
    let scene = Scene::new();
    let cases = cases();
    let mut failures = Vec::new();
    for case in cases["cases"].as_array().unwrap() {
        if is_part(case["script"].as_str().unwrap()) {
            failures.extend(run_case(&scene, case, rules).err());
            clear(&scene);
        }
    }
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

/// Checks whether a script makes or removes folders, so that it matters which of them are one change.
fn is_about_folders(script: &str) -> bool {
    ["mkdir", "rm -r", "cp -", "mv dir "].iter().any(|word| script.contains(word))
}

#[test]
fn scripts_on_a_layer_do_what_they_do_to_a_copy() {
    hold(ScanRules::default(), |_| true);
}

#[test]
fn the_same_holds_when_every_new_and_removed_folder_is_one_change() {
    hold(ScanRules::default().whole_folders(&|_| true), is_about_folders);
}

#[test]
fn the_same_holds_when_folders_are_one_change_beyond_a_few_entries() {
    hold(ScanRules::new(ScanLimits::default().with_tree_entries(3)), is_about_folders);
}
