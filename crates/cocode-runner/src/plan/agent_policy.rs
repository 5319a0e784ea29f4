//! The policy of a confined agent: the files that it may read and change.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use sandbox_exec::{GitIdentity, GitSettings, KeptHome, Policy};

use crate::error::RunnerError;
use crate::plan::definition::{AgentCommand, AgentDefinition};
use crate::plan::host::Host;
use crate::repository::Repository;
use crate::repository::own_repository::OwnRepository;
use crate::repository::worktree::{Worktree, kept_objects, shared_folders};
use crate::runner::RunnerConfig;

/// Paths in the home folder where programs keep credentials. They are hidden from agents.
const CREDENTIALS: [&str; 57] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".vault-token",
    ".password-store",
    ".terraform.d",
    ".terraformrc",
    ".mozilla",
    ".thunderbird",
    ".boto",
    ".s3cfg",
    ".oci",
    ".config/gh",
    ".config/hub",
    ".config/git/credentials",
    ".config/gcloud",
    ".config/doctl",
    ".config/op",
    ".config/sops",
    ".config/rclone",
    ".config/google-chrome",
    ".config/chromium",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".m2/settings-security.xml",
    ".local/share/uv/credentials",
    ".dotnet/corefx/cryptography",
    ".nuget/NuGet/NuGet.Config",
    ".config/NuGet/NuGet.Config",
    ".gem/credentials",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".pub-cache/credentials.json",
    ".config/dart/pub-credentials.json",
    ".julia/servers",
    ".sbt/.credentials",
    ".ivy2/.credentials",
    ".yarnrc.yml",
    ".condarc",
    ".config/pnpm/auth.ini",
    ".config/containers/auth.json",
    ".config/netlify",
    ".fly",
    ".pulumi/credentials.json",
];

/// The facts from which an agent's policy is made.
pub(crate) struct PolicyContext<'a> {
    pub(crate) host: &'a Host,
    pub(crate) definition: &'a AgentDefinition,
    pub(crate) worktree: &'a Worktree,
    pub(crate) common_folder: &'a Path,
    /// Its own view of the repository; `None` if it shares the repository's folders with other agents.
    pub(crate) own: Option<&'a OwnRepository>,
    /// The folders of other repositories in which this one finds objects.
    pub(crate) objects_elsewhere: Vec<PathBuf>,
    pub(crate) body_file: &'a Path,
    /// The folder of all worktrees.
    pub(crate) worktrees: &'a Path,
    /// The folder with worktrees of other agents, hidden from an agent with its own file tree.
    pub(crate) others: &'a Path,
    /// The folder of its kept home.
    pub(crate) home: Option<PathBuf>,
    /// Folders of the program itself, hidden from agents.
    pub(crate) private: &'a [PathBuf],
    pub(crate) identity: Option<GitIdentity>,
}

/// Makes the policy: the worktree, exactly its git folders, and the definition's lists.
pub(crate) fn policy(context: &PolicyContext<'_>, environment: BTreeMap<OsString, OsString>) -> Policy {
    let PolicyContext { host, definition, worktree, common_folder, .. } = context;
    let mut policy = Policy::for_workspace(&worktree.path);
    policy.network = definition.network.policy();
    policy.environment = environment;
    // Made here, so that it is hidden below. If that fails, the agent has a fresh home.
    let home = context
        .home
        .clone()
        .filter(|home| DirBuilder::new().mode(0o700).recursive(true).create(home).is_ok());
    policy.kept_home = home.map(KeptHome::new);
    if let Some(identity) = &context.identity {
        policy.git_identity = identity.clone();
    }
    // Only limits the outcome; the log receives everything.
    policy.limits.output_bytes_per_stream = 16 * 1024;
    policy.readable.push((*common_folder).to_owned());
    policy.readable.push(context.body_file.to_owned());
    policy.readable.extend(home_entries(&host.home));
    policy.readable.extend(program_files(host, definition));
    policy.readable.extend(definition.readable.iter().filter(|path| path.exists()).cloned());
    policy.readable.extend(context.objects_elsewhere.iter().cloned());
    let listed = definition.writable.iter().map(|path| host.expand_home(path));
    policy.writable.extend(listed.filter(|path| path.is_absolute() && path.exists()));
    // These files select the repository and settings that git uses outside of the confinement. An agent that could
    // replace them could make the user's next git command in the worktree run the agent's programs.
    policy.pinned = vec![worktree.path.join(".git")];
    let names = ["commondir", "gitdir", "config.worktree"].map(|name| worktree.git_folder.join(name));
    policy.read_only = names.to_vec();
    match context.own {
        Some(own) => {
            policy.replaced = own.replaced();
            policy.replaced.push((own.view().to_owned(), context.others.to_owned()));
            policy.readable.push(own.git_folder.runners());
            policy.writable.push(own.git_folder.session());
            policy.read_only.extend(own.read_only());
        }
        None => {
            policy.plain = shared_folders(common_folder).to_vec();
            policy.plain.push(worktree.git_folder.clone());
            policy.writable.extend(policy.plain.iter().cloned());
            policy.read_only.extend(kept_objects(common_folder));
        }
    }
    // Hidden at their real paths, since hiding a symlink does not hide its target. Missing ones need no rule.
    let credentials = CREDENTIALS.iter().map(|entry| host.home.join(entry));
    let homes = context.home.as_ref().and_then(|home| home.parent());
    let homes = homes.into_iter().map(Path::to_owned);
    // The folder of the worktrees has no links on its path either.
    let private =
        context.private.iter().map(|folder| fs::canonicalize(folder).unwrap_or_else(|_| folder.clone()));
    let private = private.flat_map(|folder| all_but(&folder, context.worktrees)).chain(homes);
    policy.hidden = credentials.chain(private).filter_map(|path| fs::canonicalize(path).ok()).collect();
    policy
}

/// Checks that no writable path of a definition leads out of the confinement: to credentials, this or another
/// repository, this program's own files, or the home folder as a whole.
pub(crate) fn check_writable(
    config: &RunnerConfig,
    repository: &Repository,
    definition: &AgentDefinition,
) -> Result<(), RunnerError> {
    let host = &config.host;
    // A missing path has no symlinks to resolve, so its text is compared.
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let home = real(&host.home);
    let settings = GitSettings::of_user(&host.home, |name| host.variable(name).map(OsStr::to_owned));
    let credentials: Vec<PathBuf> = CREDENTIALS.iter().map(|entry| real(&host.home.join(entry))).collect();
    let repository = [&repository.root, &repository.common_folder].map(|path| real(path));
    let private = config.private.iter().chain([&config.worktrees, &config.state_folder]);
    let private: Vec<PathBuf> = private.map(|path| real(path)).collect();
    for listed in &definition.writable {
        let path = host.expand_home(listed);
        let real = real(&path);
        let is_near = |other: &PathBuf| real.starts_with(other) || other.starts_with(&real);
        let why = if !path.is_absolute() {
            "it is not an absolute path"
        } else if home.starts_with(&real) {
            "it is the home folder, or holds it"
        } else if credentials.iter().any(|entry| real.starts_with(entry)) {
            "programs keep credentials there"
        } else if repository.iter().any(is_near) {
            "the repository is there"
        } else if private.iter().any(is_near) {
            "this program keeps its own files there"
        } else if settings.would_read(&real) {
            "git would obey what an agent writes there"
        } else {
            continue;
        };
        let (agent, path) = (definition.name.clone(), listed.clone());
        return Err(RunnerError::Writable { agent, path, why });
    }
    Ok(())
}

/// Returns the entries of the home folder, each to be made visible by itself: the folder itself stays private, so that
/// programs can make temporary files in it. Symlinks are left out, since the user has not listed their targets.
fn home_entries(home: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(home) else { return Vec::new() };
    let is_visible = |path: &PathBuf| {
        let is_plain = fs::symlink_metadata(path).is_ok_and(|data| data.is_dir() || data.is_file());
        is_plain && !CREDENTIALS.iter().any(|entry| home.join(entry) == *path)
    };
    entries.flatten().map(|entry| entry.path()).filter(is_visible).collect()
}

/// Returns the files that the agent's command names by absolute paths, so that a program in any folder can be an agent.
fn program_files(host: &Host, definition: &AgentDefinition) -> Vec<PathBuf> {
    let words: Vec<PathBuf> = match &definition.command {
        AgentCommand::Program { program, arguments } => {
            let program = host.find_program(&host.expand_home(program).to_string_lossy());
            program.into_iter().chain(arguments.iter().map(PathBuf::from)).collect()
        }
        AgentCommand::Shell { text } => text.split_whitespace().map(PathBuf::from).collect(),
    };
    words.into_iter().filter(|path| path.is_absolute() && path.is_file()).collect()
}

/// Returns the folder itself, or its entries without the one that leads to `kept`.
fn all_but(folder: &Path, kept: &Path) -> Vec<PathBuf> {
    if !kept.starts_with(folder) {
        return vec![folder.to_owned()];
    }
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter(|path| *path != *kept).flat_map(|path| all_but(&path, kept)).collect()
}
