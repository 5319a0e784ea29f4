//! Running one command to its end on its files.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::PoisonError;

use egress::Network;
use rel_path::RelPath;
use sandbox_exec::{
    Denied, OutputStream as ExecStream, Running, ShellCommand, SpawnError, Spool, Step, StepError,
};
use wap_core::{Call, CommandObserver, ConversationId, OUTPUT_PREFIX, OutputStream};

use crate::command::answer::{CommandOutcome, answer, spawn_error, wait_error};
use crate::command::command_files::CommandFiles;
use crate::command::output_store::OUTPUT_LIMIT_BYTES;
use crate::engine::LocalWorkspace;

/// Outputs up to this size in both streams together are not written to a file.
const SMALL_OUTPUT_BYTES: u64 = 4_000;

/// A command that was checked and whose start is recorded.
#[derive(Debug)]
pub(crate) struct PreparedCommand<'a> {
    pub command: &'a ShellCommand,
    /// The confinement in force.
    pub report: &'a str,
    /// The name of the file for its whole output.
    pub output_name: &'a str,
    pub warnings: Vec<String>,
}

/// The end of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub outcome: CommandOutcome,
    /// The files that it ran on, which may differ from the requested ones.
    pub files: CommandFiles,
    /// True if all its processes have certainly ended.
    pub is_over: bool,
}

impl LocalWorkspace {
    pub(crate) fn run(
        &self,
        call: &Call<'_>,
        mut prepared: PreparedCommand<'_>,
        files: CommandFiles,
        observer: &mut dyn CommandObserver,
    ) -> Ran {
        // Missing paths cannot be protected, and are checked afterwards.
        let policy = &self.config.policy;
        let is_missing = |path: &&PathBuf| path.symlink_metadata().is_err();
        let missing: Vec<PathBuf> = [&policy.read_only, &policy.pinned, &policy.hidden]
            .into_iter()
            .flatten()
            .filter(is_missing)
            .cloned()
            .collect();
        let (spawned, files) = self.spawn(&call.origin.conversation, &mut prepared, files);
        let running = match spawned {
            Ok(running) => running,
            Err(error) => {
                // Only a command that was never started is known to be over.
                let is_over = !matches!(error, SpawnError::Unconfirmed);
                return Ran { outcome: Err(spawn_error(error)), files, is_over };
            }
        };
        if let Some(why) = running.home_fault() {
            prepared.warnings.push(format!("the command had a fresh home, and nothing in it is kept: {why}"));
        }
        self.warn_unprotected(&running, &files, &missing, &mut prepared.warnings);
        let (outcome, is_over) = self.wait(call, prepared, running, observer);
        Ran { outcome, files, is_over }
    }

    /// Starts the command; without its layer, if that cannot be mounted.
    fn spawn(
        &self,
        conversation: &ConversationId,
        prepared: &mut PreparedCommand<'_>,
        files: CommandFiles,
    ) -> (Result<Running, SpawnError>, CommandFiles) {
        // With background processes, the command shares their network.
        let network = self.processes.network(conversation);
        let spawn = |files: &CommandFiles| match (self.launcher(), &network) {
            (Ok(launcher), None) => launcher.spawn(&self.policy_on(files), prepared.command),
            (Ok(launcher), Some(network)) => {
                launcher.spawn_in(network, &self.policy_on(files), prepared.command)
            }
            // It was there when the confinement was determined.
            (Err(_), _) => Err(SpawnError::NotStarted),
        };
        match (spawn(&files), files) {
            (Err(SpawnError::Step(StepError { step: Step::Layer, .. })), CommandFiles::Layer(layer)) => {
                let Ok(folder) = self.folder_files() else {
                    return (Err(SpawnError::NotStarted), CommandFiles::Layer(layer));
                };
                // The layer is empty; if it stays, the next opening removes it.
                let _ = layer.discard();
                let spawned = spawn(&folder);
                let text =
                    "the copy-on-write layer could not be mounted, so the command changed the folder itself";
                prepared.warnings.push(text.to_owned());
                (spawned, folder)
            }
            (spawned, files) => (spawned, files),
        }
    }

    /// Waits for the end. Returns the outcome, and true if all processes are known to be gone.
    fn wait(
        &self,
        call: &Call<'_>,
        prepared: PreparedCommand<'_>,
        running: Running,
        observer: &mut dyn CommandObserver,
    ) -> (CommandOutcome, bool) {
        let PreparedCommand { report, output_name, mut warnings, .. } = prepared;
        observer.started(report);
        let killer = running.killer();
        let _kill_on_cancel = call.cancel.on_cancel(Box::new(move || killer.cancel()));
        // Without a file the command still runs; omitted output is then only counted.
        let spool = self.outputs.create(output_name).ok().map(|file| Spool::new(file, OUTPUT_LIMIT_BYTES));
        let mut watch = |stream: ExecStream, bytes: &[u8]| {
            let stream = match stream {
                ExecStream::Stdout => OutputStream::Stdout,
                ExecStream::Stderr => OutputStream::Stderr,
            };
            observer.output(stream, bytes);
        };
        let mut outcome = match running.wait_with(&mut watch, spool) {
            Ok(outcome) => outcome,
            Err(error) => {
                self.outputs.discard(output_name);
                return (Err(wait_error(error)), false);
            }
        };
        let total = outcome.stdout.total_bytes + outcome.stderr.total_bytes;
        let is_kept = total > SMALL_OUTPUT_BYTES && outcome.spooled.is_some();
        if !is_kept {
            self.outputs.discard(output_name);
        }
        let whole_output = is_kept.then(|| format!("{OUTPUT_PREFIX}{output_name}"));
        if let Some(spooled) = outcome.spooled.filter(|spooled| is_kept && spooled.omitted_bytes > 0) {
            warnings.push(format!("the last {} bytes of the output were not kept", spooled.omitted_bytes));
        }
        // A receipt names it.
        let is_named = outcome.denied.iter().any(Denied::is_of_background_job);
        if matches!(self.config.network, Network::Names(_)) {
            // A background process, which would outlive the command, cannot be restricted to allowed names.
            outcome
                .denied
                .iter_mut()
                .filter(|denied| denied.is_of_background_job())
                .for_each(|denied| denied.allow = None);
        }
        if !outcome.output_complete && !is_named {
            warnings.push("a process that stayed in the background was ended with the command".to_owned());
        }
        self.outputs.make_room(output_name);
        (answer(&outcome, whole_output, report, warnings), true)
    }

    /// Names the paths that no mount could protect while the command ran, except those that were `missing` and those
    /// that an earlier answer has named. Paths on a layer need no mount.
    fn warn_unprotected(
        &self,
        running: &Running,
        files: &CommandFiles,
        missing: &[PathBuf],
        warnings: &mut Vec<String>,
    ) {
        if matches!(files, CommandFiles::Layer(_)) {
            return;
        }
        let workspace = &self.config.policy.workspace;
        let mut named = self.named_unprotected.lock().unwrap_or_else(PoisonError::into_inner);
        let names: Vec<_> = running
            .unprotected()
            .iter()
            .filter(|path| !missing.contains(path))
            .filter_map(|path| {
                RelPath::from_bytes(path.strip_prefix(workspace).ok()?.as_os_str().as_bytes()).ok()
            })
            .map(|path| format!("`{path}`"))
            .filter(|name| named.insert(name.clone()))
            .collect();
        if !names.is_empty() {
            warnings.push(format!(
                "could not be protected while the command ran, nor are they while later ones do: {}",
                names.join(", ")
            ));
        }
    }
}
