//! `agentd cocode run --fleet` and `agentd fleet collect`: home's side of a fleet.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cocode_env::AgentState;
use cocode_fleet::{
    ClassName, FleetAddress, FleetConnection, FleetHome, FleetTimings, HomeConfig, PROTOCOL_VERSION,
    ResultJudge, Task, TaskName,
};
use cocode_runner::{
    AgentDefinition, AgentRecord, AgentsFile, BundleSource, Launchers, RunEvent, RunObserver, RunRequest,
    Runner, StopFlag,
};
use fleet_runner::{FleetObserver, HomeFolder, HomeJournal, fleet_confinement};
use tokio::sync::Notify;
use wap_core::CancelFlag;

use super::compare::compare;
use super::definitions::agents_file;
use super::failure::{error_chain, explain};
use super::options::{CocodeDefinitions, CocodeRun, WorktreesFolder};
use super::run::ending;
use super::runner_config::{least_level, open_hiding, state_folder};
use super::view::View;
use crate::commands::fleet::options::ServerChoice;
use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::fleet::early_home::EarlyHome;
use crate::views::console::Console;
use crate::views::count::counted;

/// The polling interval for requests to cancel, which come as files. Ends of agents are noticed at once.
const INTERVAL: Duration = Duration::from_millis(250);

/// The time limit for cancelled agents to end, while the fleet can be reached.
const ENDING: Duration = Duration::from_secs(15);

/// Submits the agents of a request, and judges what hosts deliver until all have ended.
pub(crate) fn run(
    common: &CommonOptions,
    console: Console,
    (options, early): (&CocodeRun, EarlyHome),
    mut request: RunRequest,
    runner: Runner,
    cancel: &CancelFlag,
) -> Outcome {
    let url = early.url.clone();
    let definitions = expand(&mut request, options.fleet.count)?;
    let folder = home_folder(common)?;
    let source = BundleSource::of_runner(&runner).map_err(unsendable)?;
    let records = runner.begin_elsewhere(&request, &url).map_err(explain)?;
    let submitted = submit(common, options, &folder, &source, (&request, &records, &definitions));
    if let Err(failure) = submitted {
        for record in &records {
            let _ = folder.tasks.remove(&task_name(record)?);
        }
        fail_unsubmitted(&folder, &runner, &records)?;
        return Err(failure);
    }
    // Searching all files takes a while, and nothing waits for it.
    let commit = records[0].start_commit.clone();
    let warning = thread::spawn(move || {
        let warnings = source.warnings(&commit).unwrap_or_default();
        warnings.iter().for_each(|warning| console.notice(warning));
    });
    let file = agents_file(common, &options.definitions)?;
    let home = Home { console, folder, runner, definitions: file, early };
    let own: HashSet<String> = records.iter().map(AgentRecord::key).collect();
    let view = View::new(console, &request);
    let ended =
        home.follow(view, cancel, if options.fleet.detach { Until::Queued(own) } else { Until::Ended(own) });
    // It only prints.
    let _ = warning.join();
    let (ended, runner) = ended?;
    if options.fleet.detach {
        console.result(&format!(
            "{} submitted; `agentd fleet collect --url {url}{}` judges the results",
            counted(records.len(), "task"),
            options.fleet.access.words()
        ));
        return Ok(if cancel.is_cancelled() { Exit::Interrupted } else { Exit::Done });
    }
    if options.compare {
        compare(console, &runner, &ended)?;
    }
    Ok(ending(&ended, options.all, cancel))
}

/// Judges what came of earlier tasks, until none is unresolved.
pub(crate) fn collect(
    common: &CommonOptions,
    console: Console,
    server: &ServerChoice,
    worktrees: &WorktreesFolder,
    definitions: &CocodeDefinitions,
) -> Outcome {
    let cancel = cancel_flag()?;
    let runner = open_hiding(common, worktrees, server.access.key_file.as_slice())?;
    let folder = home_folder(common)?;
    // A submitter that was killed early leaves records without tasks; this would wait for them for ever.
    fail_unsubmitted(&folder, &runner, &runner.records().map_err(explain)?)?;
    let records = runner.records().map_err(explain)?;
    let is_open = |record: &&AgentRecord| {
        let is_retried = || task_name(record).is_ok_and(|name| folder.tasks.is_retried(&name));
        record.elsewhere.is_some() && (!record.state.is_final() || is_retried())
    };
    let own: Vec<&AgentRecord> = records.iter().filter(is_open).collect();
    if own.is_empty() {
        console.result("no task of this folder is unresolved");
        return Ok(Exit::Done);
    }
    let view = View::of(console, own.iter().map(|record| record.agent.clone()));
    let own: HashSet<String> = own.into_iter().map(AgentRecord::key).collect();
    let definitions = agents_file(common, definitions)?;
    let early = EarlyHome::begin(&server.access, &server.url)?;
    let home = Home { console, folder, runner, definitions, early };
    let (records, _) = home.follow(view, &cancel, Until::Ended(own))?;
    Ok(ending(&records, false, &cancel))
}

/// Opens the folder of this repository's tasks in fleets.
fn home_folder(common: &CommonOptions) -> Result<HomeFolder, Failure> {
    HomeFolder::open(&state_folder(common)?.join("fleet")).map_err(|error| {
        Failure::new(Exit::Failed, format!("the folder of fleets in the state folder: {error}"))
    })
}

/// Gives each agent of a request a unique name, `count` times, and returns the names of their definitions.
fn expand(request: &mut RunRequest, count: Option<u16>) -> Result<HashMap<String, String>, Failure> {
    let mut definitions = HashMap::new();
    let mut agents = Vec::new();
    for agent in &request.agents {
        let names: Vec<String> = match count {
            None => vec![agent.name.to_string()],
            Some(count) => (1..=count).map(|number| format!("{}-{number}", agent.name)).collect(),
        };
        for name in names {
            let parsed =
                name.parse().map_err(|error| Failure::new(Exit::Usage, format!("'{name}': {error}")))?;
            agents.push(AgentDefinition { name: parsed, ..agent.clone() });
            definitions.insert(name, agent.name.to_string());
        }
    }
    request.agents = agents;
    Ok(definitions)
}

/// Writes the tasks; from then on they are submitted.
fn submit(
    common: &CommonOptions,
    options: &CocodeRun,
    folder: &HomeFolder,
    source: &BundleSource,
    (request, records, definitions): (&RunRequest, &[AgentRecord], &HashMap<String, String>),
) -> Result<(), Failure> {
    let Some(first) = records.first() else { return Ok(()) };
    let usage = |what: &str, why: String| Failure::new(Exit::Usage, format!("{what}: {why}"));
    let bases = folder.chain.leading_to(source, &first.start_commit);
    let bases = bases.map_err(|error| Failure::new(Exit::Failed, error_chain(&error)))?;
    let bases: Vec<_> = bases.into_iter().map(|file| file.base).collect();
    let unsent = folder.tasks.mark_unsent(&task_name(first)?.run);
    unsent.map_err(|error| Failure::new(Exit::Failed, format!("the tasks of this folder: {error}")))?;
    let mut labels = options.fleet.labels.clone();
    let class = if labels.is_empty() { ClassName::any() } else { labels.remove(0) };
    for record in records {
        let name = record.agent.to_string();
        let definition = definitions.get(&name).unwrap_or(&name);
        let timeout = record.elsewhere.as_ref().map(|elsewhere| elsewhere.check.timeout_seconds);
        let is_confined = record.elsewhere.as_ref().is_none_or(|elsewhere| elsewhere.check.is_confined);
        let task = Task {
            name: task_name(record)?,
            definition: definition.parse().map_err(|error| usage(definition, format!("{error}")))?,
            class: class.clone(),
            issue_number: record.issue.get(),
            issue_url: record.issue_url.to_string(),
            issue_body: request.body.clone(),
            marker: record.marker.to_string(),
            base_commit: record.start_commit.clone(),
            bases: bases.clone(),
            timeout_seconds: timeout.and_then(|seconds| u32::try_from(seconds).ok()),
            clean_tree: record.clean_tree,
            labels: labels.clone(),
            least_confinement: match is_confined {
                true => fleet_confinement(least_level(common)),
                false => cocode_fleet::Confinement::None,
            },
            attempts: Task::ATTEMPTS,
            protocol: (PROTOCOL_VERSION, PROTOCOL_VERSION),
            generation: uuid::Uuid::new_v4().simple().to_string(),
        };
        folder.tasks.put(&task).map_err(|error| usage("the task", error.to_string()))?;
    }
    Ok(())
}

/// Ends the records that have no task: no host will ever have them.
fn fail_unsubmitted(folder: &HomeFolder, runner: &Runner, records: &[AgentRecord]) -> Result<(), Failure> {
    let failed =
        |error: std::io::Error| Failure::new(Exit::Failed, format!("the tasks of this folder: {error}"));
    let open = records.iter().filter(|record| record.elsewhere.is_some() && !record.state.is_final());
    for record in open {
        if folder.tasks.get(&task_name(record)?).map_err(failed)?.is_none() {
            let why = Some("it was not submitted");
            let epoch = record.elsewhere.as_ref().map_or(0, |elsewhere| elsewhere.epoch);
            runner.set_elsewhere_state(record, AgentState::Failed, None, epoch, why).map_err(explain)?;
        }
    }
    Ok(())
}

fn task_name(record: &AgentRecord) -> Result<TaskName, Failure> {
    let usage = |error: cocode_fleet::NameError| {
        Failure::new(Exit::Usage, format!("'{}' is not a name in a fleet: {error}", record.agent))
    };
    let run = record.run.parse().map_err(usage)?;
    Ok(TaskName::new(run, record.agent.as_str().parse().map_err(usage)?))
}

#[expect(clippy::needless_pass_by_value, reason = "it is used with map_err")]
fn unsendable(error: cocode_runner::BundleError) -> Failure {
    Failure::new(Exit::Usage, error_chain(&error))
}

/// The end of following tasks: when these agents, by the keys of their records, are queued or have ended.
enum Until {
    Queued(HashSet<String>),
    Ended(HashSet<String>),
}

/// The parts of home's side.
struct Home {
    console: Console,
    folder: HomeFolder,
    runner: Runner,
    definitions: AgentsFile,
    early: EarlyHome,
}

impl Home {
    /// Follows the tasks of this folder, and returns the records of the agents that were waited for.
    fn follow(
        self,
        view: View,
        cancel: &CancelFlag,
        until: Until,
    ) -> Result<(Vec<AgentRecord>, Arc<Runner>), Failure> {
        let stop = StopFlag::new();
        let raised = stop.clone();
        let _guard = cancel.on_cancel(Box::new(move || raised.raise()));
        let queued = Arc::new(Mutex::new(HashSet::new()));
        let changed = Arc::new(Notify::new());
        // The checks of all deliveries have one proof of the confinement.
        let runner = Arc::new(self.runner.with_launchers(Launchers::new()));
        let HomeFolder { tasks, chain, incoming } = self.folder;
        let watch = QueueWatch {
            view,
            queued: Arc::clone(&queued),
            changed: Arc::clone(&changed),
            connection: Mutex::default(),
        };
        let journal =
            Arc::new(HomeJournal::new(Arc::clone(&runner), tasks, chain, self.definitions, stop, watch));
        let EarlyHome { address, timings, connection, runtime, .. } = self.early;
        let mut config = HomeConfig::new(address.clone(), incoming);
        config.timings = timings;
        let (Until::Queued(own) | Until::Ended(own)) = &until;
        let waits_for_ends = matches!(until, Until::Ended(_));
        runtime.block_on(async {
            let judge: Arc<dyn ResultJudge> = Arc::<HomeJournal<QueueWatch>>::clone(&journal);
            let fleet_home = FleetHome::start_on(connection, config, judge);
            let mut cancelled = HashSet::new();
            let mut over_since = None;
            loop {
                // A notice that comes while the records are read is kept for the next turn.
                let _ = tokio::time::timeout(INTERVAL, changed.notified()).await;
                let records = own_records(&runner, own)?;
                let is_done = |record: &&AgentRecord| match waits_for_ends {
                    true => record.state.is_final(),
                    false => record.state != AgentState::Pending || lock(&queued).contains(record.agent.as_str()),
                };
                let left: Vec<&AgentRecord> = records.iter().filter(|record| !is_done(record)).collect();
                if left.is_empty() {
                    return Ok(());
                }
                let is_over = cancel.is_cancelled();
                if is_over && !waits_for_ends {
                    return Ok(());
                }
                if is_over && over_since.get_or_insert_with(Instant::now).elapsed() > ENDING {
                    self.console.notice("not all agents have ended yet, and `agentd fleet collect` ends them");
                    return Ok(());
                }
                let wanted = left.iter().filter(|record| is_over || runner.is_cancel_requested(record));
                for record in wanted {
                    let name = task_name(record)?;
                    // Without a server, if none has it: the address may be a wrong one, and never answer.
                    let withdrawn = journal.withdraw(&name, record);
                    if withdrawn.map_err(|error| Failure::new(Exit::Failed, format!("{name}: {error}")))? {
                        continue;
                    }
                    if cancelled.insert(record.key())
                        && let Ok(Some(task)) = journal.tasks().get(&name)
                    {
                        if cancel_task(&address, timings, &name, &task.generation).await {
                            // A delivered task rests between two tries to judge it, and nothing on the server wakes home for it.
                            fleet_home.journal_changed();
                            continue;
                        }
                        // The server is away: asked again with the next look.
                        cancelled.remove(&record.key());
                        if is_over {
                            self.console.notice("the fleet cannot be reached: its hosts go on, and `agentd fleet collect` judges what comes");
                            return Ok(());
                        }
                    }
                }
            }
        })?;
        runtime.shutdown_timeout(Duration::from_secs(10));
        let records = own_records(&runner, own)?;
        if waits_for_ends {
            journal.observer().view.finish(&records);
        }
        Ok((records, runner))
    }
}

async fn cancel_task(
    address: &FleetAddress,
    timings: FleetTimings,
    name: &TaskName,
    generation: &str,
) -> bool {
    match FleetConnection::open(address, timings).await {
        Ok(connection) => connection.cancel_task(name, generation).await.is_ok(),
        Err(_) => false,
    }
}

fn own_records(runner: &Runner, own: &HashSet<String>) -> Result<Vec<AgentRecord>, Failure> {
    let mut records = runner.records().map_err(explain)?;
    records.retain(|record| record.elsewhere.is_some() && own.contains(&record.key()));
    Ok(records)
}

fn lock(queued: &Mutex<HashSet<String>>) -> std::sync::MutexGuard<'_, HashSet<String>> {
    queued.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows events, and remembers which tasks are in the queue.
struct QueueWatch {
    view: View,
    queued: Arc<Mutex<HashSet<String>>>,
    /// Notified when a task is queued, or an agent has ended.
    changed: Arc<Notify>,
    /// The last word about the connection, which is said once.
    connection: Mutex<Option<String>>,
}

impl RunObserver for QueueWatch {
    fn event(&self, event: &RunEvent) {
        self.view.event(event);
        if matches!(event, RunEvent::Ended { .. }) {
            self.changed.notify_one();
        }
    }
}

impl FleetObserver for QueueWatch {
    fn queued(&self, agent: &str) {
        lock(&self.queued).insert(agent.to_owned());
        self.changed.notify_one();
        self.view.queued(agent);
    }

    fn say(&self, agent: &str, text: &str) {
        self.view.say(agent, text);
    }

    fn connection(&self, problem: Option<&str>) {
        let mut last = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let text = problem.unwrap_or_default().to_owned();
        if last.as_ref() != Some(&text) {
            self.view.connection(problem);
            *last = Some(text);
        }
    }
}
