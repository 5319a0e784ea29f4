//! A real folder for one case, with the state folder of the daemon in it and something outside of it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use change_journal::{Journal, JournalLimits};
use local_workspace::{EngineConfig, LayerUse, LocalWorkspace, SandboxNeed};
use rel_path::RelPath;
use sandbox_exec::{LauncherConfig, Policy, SpawnerProgram, User};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use serde_json::Value;
use tag_session::{Sessions, StateFolders};
use tempfile::TempDir;
use wap_core::{Limits, Workspace};

use super::problem::Problem;

/// The state folder, where it lies by default.
const STATE_FOLDER: &str = ".agentd";

/// The content of the files outside of the workspace.
pub(super) const OUTSIDE_TEXT: &str = "hit outside\n";

/// A folder with `workspace`, `outside`, `home` and `scratch`, removed when it is dropped.
pub(crate) struct Fixture {
    path: PathBuf,
    _folder: Option<TempDir>,
}

impl Fixture {
    /// Makes an empty workspace; beside it are the files `outside/file` and `outside/secret` and the empty folder
    /// `outside/folder`.
    pub(crate) fn new() -> Result<Fixture, Problem> {
        let folder = tempfile::Builder::new().prefix("conformance-").tempdir()?;
        let fixture = Fixture { path: fs::canonicalize(folder.path())?, _folder: Some(folder) };
        let state_folder = format!("workspace/{STATE_FOLDER}");
        for name in ["workspace", &state_folder, "outside", "outside/folder", "home", "scratch"] {
            fs::create_dir(fixture.path.join(name))?;
        }
        for name in ["file", "secret"] {
            fs::write(fixture.outside().join(name), OUTSIDE_TEXT)?;
        }
        Ok(fixture)
    }

    /// Opens the fixture that another process has made and will remove.
    pub(super) fn at(path: &Path) -> Fixture {
        Fixture { path: path.to_owned(), _folder: None }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.path.join("workspace")
    }

    pub(super) fn outside(&self) -> PathBuf {
        self.path.join("outside")
    }

    pub(super) fn state(&self) -> PathBuf {
        self.workspace().join(STATE_FOLDER)
    }

    /// Returns a case with the names of places that it leaves open filled in.
    pub(super) fn fill_in(&self, case: &Value) -> Value {
        let (workspace, outside) = (self.workspace(), self.outside());
        let (workspace, outside) = (workspace.to_string_lossy(), outside.to_string_lossy());
        filled(case, &|text| {
            text.replace("<WS>", &workspace).replace("<ROOT>", &workspace).replace("<OUTSIDE>", &outside)
        })
    }

    /// Writes a file into the workspace, with its folders.
    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> Result<(), Problem> {
        let path = self.workspace().join(name);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        Ok(fs::write(path, content)?)
    }

    /// Puts a link into the workspace.
    pub(super) fn link(&self, name: &str, target: impl AsRef<Path>) -> Result<(), Problem> {
        Ok(symlink(target, self.workspace().join(name))?)
    }

    /// Returns every regular file of the workspace with its bytes, those of the state folder apart.
    pub(crate) fn files(&self) -> Result<BTreeMap<String, Vec<u8>>, Problem> {
        let mut files = tree(&self.workspace())?;
        files.retain(|path, _| Path::new(path).iter().next().is_none_or(|first| first != STATE_FOLDER));
        let regular = files.into_iter().filter_map(|(path, content)| Some((path, content?)));
        Ok(regular.collect())
    }

    /// Returns the text of a file of the workspace.
    pub(super) fn text(&self, name: &str) -> Result<String, Problem> {
        Ok(fs::read_to_string(self.workspace().join(name))?)
    }

    /// Checks that nothing outside of the workspace was added, changed or removed.
    pub(super) fn is_outside_untouched(&self) -> Result<bool, Problem> {
        let text = || Some(OUTSIDE_TEXT.as_bytes().to_vec());
        let untouched = [("file", text()), ("folder", None), ("secret", text())];
        let untouched: BTreeMap<_, _> =
            untouched.into_iter().map(|(name, content)| (name.to_owned(), content)).collect();
        Ok(tree(&self.outside())? == untouched)
    }

    /// Opens the workspace as the daemon does, with a journal in the state folder.
    pub(super) fn engine(&self, limits: Limits) -> Result<(LocalWorkspace, Journal), Problem> {
        let rules = RootRules { home: Some(self.path.join("home")), ..RootRules::default() };
        let root = FileRoot::open(&self.workspace(), &rules, FsPolicy::default())?;
        let (journal, _) = Journal::open(&self.state().join("journal"), JournalLimits::default())?;
        let user = User {
            name: "tester".to_owned(),
            home: self.path.join("home"),
            search_path: std::env::var_os("PATH").unwrap_or_default(),
            language: "C.UTF-8".into(),
        };
        let spawner = SpawnerProgram::this_program();
        let mut policy = Policy::for_workspace(&self.workspace());
        policy.hidden.push(self.state());
        let config = EngineConfig {
            limits,
            read_only: false,
            sandbox: SandboxNeed::Whatever,
            launcher: LauncherConfig::new(spawner, user, self.path.join("scratch")),
            network: egress::Network::Off,
            policy,
            state_folder: Some(RelPath::parse(STATE_FOLDER)?),
            output_folder: self.state().join("output"),
            layers_folder: Some(self.state().join("layers")),
            layer: LayerUse::default(),
        };
        let (engine, _) = LocalWorkspace::open(root, journal.clone(), config)?;
        Ok((engine, journal))
    }

    /// Opens the sessions of the state folder.
    pub(crate) fn sessions(&self) -> Result<Sessions<LocalWorkspace>, Problem> {
        self.sessions_over(|engine| engine)
    }

    /// Opens the sessions over something that stands in front of the engine.
    pub(crate) fn sessions_over<W: Workspace>(
        &self,
        in_front: impl FnOnce(LocalWorkspace) -> W,
    ) -> Result<Sessions<W>, Problem> {
        let (engine, journal) = self.engine(Limits::default())?;
        let folders = StateFolders::open(&self.state())?;
        Ok(Sessions::open(in_front(engine), journal, folders)?.0)
    }
}

/// Everything beneath a folder by its relative path: the bytes of a regular file, `None` for anything else.
fn tree(folder: &Path) -> io::Result<BTreeMap<String, Option<Vec<u8>>>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(&inner)? {
            let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
            let content = if kind.is_file() { Some(fs::read(&path)?) } else { None };
            let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
            files.insert(name, content);
            if kind.is_dir() {
                folders.push(path);
            }
        }
    }
    Ok(files)
}

/// Changes every text within a value, the keys of objects apart.
fn filled(value: &Value, change: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => change(text).into(),
        Value::Array(items) => items.iter().map(|item| filled(item, change)).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, member)| (key.clone(), filled(member, change))).collect()
        }
        other => other.clone(),
    }
}
