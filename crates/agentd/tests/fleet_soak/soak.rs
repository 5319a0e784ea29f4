//! The run itself: everything starts, disorder lasts as long as the tasks, everything ends.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::cast::KINDS;
use crate::checks;
use crate::disorder::{What, draw, latencies};
use crate::figures::Figures;
use crate::network::{Namespace, Network};
use crate::plan::Plan;
use crate::server::Server;
use crate::site::Site;
use crate::submitter::Submitter;
use crate::worker::Worker;

/// The interval at which everything is looked at.
const INTERVAL: Duration = Duration::from_millis(50);

/// Short, so that a run with many lost hosts ends.
const LEASE_SECONDS: u32 = 8;

/// The interval at which the server's files are copied, as a sync would bring them to the disk. Server 2.9 has two minutes; this is
/// in the proportion of the leases.
const SYNC: Duration = Duration::from_secs(20);

/// The interval at which the run says how far it is.
const PROGRESS: Duration = Duration::from_secs(30);

/// The delay of a link that has become slow, in each direction.
const SLOW: Duration = Duration::from_millis(500);

/// After this time the next event comes even if no task ends meanwhile.
const LONGEST_PAUSE: Duration = Duration::from_secs(12);

/// Runs a plan, checks the result, and prints its figures.
pub(crate) fn run(plan: &Plan) {
    let mut site = Site::make(LEASE_SECONDS);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run_in(&site, plan)));
    let figures = outcome.unwrap_or_else(|panic| {
        figures_say(&format!("the folder is kept: {}", site.root.display()));
        site.keep();
        std::panic::resume_unwind(panic)
    });
    let problems = checks::nothing_is_left(&site, &figures);
    figures.print(plan);
    if !(figures.problems.is_empty() && problems.is_empty()) {
        site.keep();
        panic!("{:#?} {problems:#?}; the folder is kept: {}", figures.problems, site.root.display());
    }
}

fn run_in(site: &Site, plan: &Plan) -> Figures {
    let alone = checks::verdicts_alone(site);
    let of_each = plan.tasks.div_ceil(KINDS.len());
    let network = Network::make(plan.workers);
    let latencies = latencies(plan);
    for (worker, latency) in latencies.iter().enumerate() {
        network.delay(worker, *latency);
    }
    let mut fleet = Fleet::start(site, &network, of_each, latencies);
    let mut events = draw(plan).into_iter().enumerate().peekable();
    let (steps, tasks) = (plan.steps(), of_each * KINDS.len());
    let patience = Duration::from_secs(300 + 6 * (tasks + 5 * steps) as u64);
    let (began, mut last) = (Instant::now(), Instant::now());
    let (mut synced, mut said) = (Instant::now(), Instant::now());
    loop {
        thread::sleep(INTERVAL);
        if synced.elapsed() >= SYNC {
            synced = Instant::now();
            if let Some(server) = &fleet.server {
                server.sync_to(site);
                fleet.figures.syncs += 1;
            }
        }
        if said.elapsed() >= PROGRESS {
            said = Instant::now();
            fleet.figures.progress(began.elapsed(), (fleet.ends.len(), tasks), (steps - events.len(), steps));
        }
        let is_over = fleet.look(events.peek().is_none());
        if is_over {
            break;
        }
        assert!(began.elapsed() < patience, "{} of {tasks} tasks have ended", fleet.ends.len());
        // Disorder is spread over the first nine tenths of the tasks.
        let is_due = |number: usize| fleet.ends.len() * steps * 10 >= number * tasks * 9;
        if fleet.is_submitted
            && let Some((number, event)) = events.peek()
            && (last.elapsed() >= LONGEST_PAUSE || (last.elapsed() >= event.pause && is_due(*number)))
            && let Some(what) = fleet.victim(event.what)
        {
            fleet.befall(what);
            events.next();
            last = Instant::now();
        }
    }
    fleet.figures.took = began.elapsed();
    let mut figures = fleet.stop();
    figures.namespaces = network.inodes();
    figures.link_bytes = network.workers.iter().map(Namespace::bytes).sum();
    checks::records(site, &alone, tasks, &mut figures);
    figures
}

/// The processes, and when those that are down come back.
struct Fleet<'a> {
    site: &'a Site,
    network: &'a Network,
    server: Option<Server>,
    /// The process of a server that has lost its starter.
    orphan: Option<Pid>,
    /// The delay of each link at rest.
    latencies: Vec<Duration>,
    workers: Vec<Option<Worker>>,
    submitter: Option<Submitter>,
    /// A submitter that has not begun to follow its tasks has not submitted them.
    is_submitted: bool,
    back: Vec<(Instant, What)>,
    /// The number of times that each agent was said to have ended with a verdict.
    ends: BTreeMap<String, u32>,
    figures: Figures,
}

impl<'a> Fleet<'a> {
    fn start(site: &'a Site, network: &'a Network, of_each: usize, latencies: Vec<Duration>) -> Fleet<'a> {
        let server = Server::start(site, network);
        let workers = (0..network.workers.len()).map(|number| Worker::start(site, network, number));
        Fleet {
            site,
            network,
            server: Some(server),
            orphan: None,
            latencies,
            workers: workers.map(Some).collect(),
            submitter: Some(Submitter::run(site, network, of_each)),
            is_submitted: false,
            back: Vec::new(),
            ends: BTreeMap::new(),
            figures: Figures::default(),
        }
    }

    /// Looks at all processes. True once the submitter has nothing left to wait for, and nothing more is to happen.
    fn look(&mut self, is_quiet: bool) -> bool {
        let now = Instant::now();
        let (due, later): (Vec<_>, Vec<_>) = self.back.drain(..).partition(|(time, _)| *time <= now);
        self.back = later;
        for (_, what) in due {
            self.come_back(what);
        }
        for (number, worker) in self.workers.iter_mut().enumerate() {
            if let Some(worker) = worker {
                worker.assert_alive(number);
            }
        }
        let Some(submitter) = &mut self.submitter else { return false };
        let has_ended = submitter.has_ended();
        let events = submitter.events();
        self.hear(&events);
        if !has_ended {
            return false;
        }
        let events = self.submitter.take().map(Submitter::end).unwrap_or_default();
        self.hear(&events);
        if self.retry_given_up() {
            self.submitter = Some(Submitter::collect(self.site, self.network));
            return false;
        }
        if !is_quiet || !self.back.is_empty() {
            // What is still to happen befalls a fleet without tasks.
            self.submitter = Some(Submitter::collect(self.site, self.network));
            return false;
        }
        true
    }

    fn hear(&mut self, events: &[Value]) {
        for event in events {
            let text = |name: &str| event[name].as_str().unwrap_or_default();
            self.is_submitted |= text("event") == "fleet";
            if text("event") == "ended" && !event["verdict"].is_null() {
                *self.ends.entry(text("agent").to_owned()).or_default() += 1;
            }
            if text("event") == "fleet" {
                self.figures.count_said(text("text"));
            }
        }
    }

    /// Gives out again what was given up after three hosts were lost with it, as a person would. Returns whether there was any.
    fn retry_given_up(&mut self) -> bool {
        let records = self.site.records(&self.site.code());
        let given_up: Vec<&Value> = records.iter().filter(|record| record["verdict"].is_null()).collect();
        for record in &given_up {
            let task = format!("{}/{}", record["run"].as_str().unwrap(), record["agent"].as_str().unwrap());
            let mut command = self.site.agentd(Some(&self.network.server), "home");
            command.args(["fleet", "retry", &task, "--url", &Site::url()]);
            self.site.reach(&mut command, "home");
            // With the server away it is repeated: the next submitter ends at once, and this comes again.
            let is_done = command.status().unwrap().success();
            self.figures.retries += usize::from(is_done);
        }
        !given_up.is_empty()
    }

    /// Returns what happens now: where the host that was drawn is down or cut already, it is the next one. `None` as long as there is
    /// nothing that it could happen to.
    fn victim(&self, what: What) -> Option<What> {
        let count = self.workers.len();
        let next = |first: usize, is_there: &dyn Fn(usize) -> bool| {
            (first..first + count).map(|number| number % count).find(|number| is_there(*number))
        };
        let is_cut = |worker: usize| {
            let is_this = |what: &What| matches!(what, What::Cut { worker: one, .. } | What::Slow { worker: one, .. } if *one == worker);
            self.back.iter().any(|(_, what)| is_this(what))
        };
        match what {
            What::KillWorker { worker, back_after } => {
                let worker = next(worker, &|number| self.workers[number].is_some())?;
                Some(What::KillWorker { worker, back_after })
            }
            What::Cut { worker, length } => {
                Some(What::Cut { worker: next(worker, &|number| !is_cut(number))?, length })
            }
            What::Slow { worker, length } => {
                Some(What::Slow { worker: next(worker, &|number| !is_cut(number))?, length })
            }
            What::KillServer { .. } | What::OrphanServer { .. } | What::CutPower { .. } => {
                self.server.is_some().then_some(what)
            }
            What::KillSubmitter { .. } => self.submitter.is_some().then_some(what),
        }
    }

    /// Lets it happen.
    fn befall(&mut self, what: What) {
        let back_after = match what {
            What::KillWorker { worker, back_after } => {
                self.workers[worker].take().unwrap().kill();
                self.figures.killed_workers += 1;
                back_after
            }
            What::KillServer { back_after } => {
                self.server.take().unwrap().kill();
                self.figures.killed_servers += 1;
                back_after
            }
            What::OrphanServer { back_after } => {
                self.orphan = Some(self.server.take().unwrap().orphan());
                self.figures.adopted += 1;
                back_after
            }
            What::CutPower { back_after } => {
                self.server.take().unwrap().cut_power(self.site);
                self.figures.power_cuts += 1;
                back_after
            }
            What::KillSubmitter { back_after } => {
                let events = self.submitter.take().unwrap().end();
                self.hear(&events);
                self.figures.killed_submitters += 1;
                back_after
            }
            What::Cut { worker, length } => {
                self.network.cut(worker);
                self.figures.cuts += 1;
                self.figures.cut_for += length;
                length
            }
            What::Slow { worker, length } => {
                self.network.delay(worker, SLOW);
                self.figures.slow += 1;
                length
            }
        };
        self.back.push((Instant::now() + back_after, what));
    }

    fn come_back(&mut self, what: What) {
        match what {
            What::KillWorker { worker, .. } => {
                self.workers[worker] = Some(Worker::start(self.site, self.network, worker));
            }
            What::KillServer { .. } | What::CutPower { .. } => {
                self.server = Some(Server::start(self.site, self.network));
            }
            What::OrphanServer { .. } => {
                let server = Server::start(self.site, self.network);
                if Some(server.process()) != self.orphan.take() {
                    self.figures.problems.push("a server that was left was not adopted".to_owned());
                }
                self.server = Some(server);
            }
            What::KillSubmitter { .. } => {
                self.submitter = Some(Submitter::collect(self.site, self.network));
            }
            What::Cut { worker, .. } => self.network.heal(worker),
            What::Slow { worker, .. } => self.network.delay(worker, self.latencies[worker]),
        }
    }

    /// Ends all processes in order.
    fn stop(mut self) -> Figures {
        self.workers.drain(..).flatten().for_each(Worker::stop);
        if let Some(server) = self.server.take() {
            server.stop();
        }
        for (agent, times) in &self.ends {
            if *times > 1 {
                self.figures.problems.push(format!("{agent} was judged {times} times"));
            }
        }
        std::mem::take(&mut self.figures)
    }
}

impl Drop for Fleet<'_> {
    fn drop(&mut self) {
        if let Some(orphan) = self.orphan {
            let _ = kill_process(orphan, Signal::KILL);
        }
    }
}

#[expect(clippy::print_stderr, reason = "a long run that was requested says where its traces are")]
fn figures_say(text: &str) {
    eprintln!("{text}");
}
