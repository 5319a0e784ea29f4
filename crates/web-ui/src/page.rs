//! The state that all requests of the page share.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use change_review::ProposalId;
use tokio::sync::Semaphore;
use wap_core::{Call, CancelFlag, ConversationId, Origin, Retention, RunKey};
use wap_http::Guard;
use workspace_host::obeyed_names::obeyed_names;
use workspace_host::{Failure, HostOptions};
use workspace_host::{SharedSessions, SharedWorkspace, WorkspacePaths};

use crate::access::Access;
use crate::answer::{Answer, Refused};
use crate::event_hub::EventHub;
use crate::page_host::PageHost;
use crate::reply_run::Runs;
use crate::watching::InboxState;

/// The most calls that run at once; more wait.
const MOST_CALLS: usize = 16;

/// The most concurrent calls that may wait for commands; more wait, without delaying other calls.
const MOST_LONG_CALLS: usize = 16;

/// The parts of a page.
pub struct PageConfig {
    /// The workspace, which this process uses for its other clients, too.
    pub workspace: Arc<SharedWorkspace>,
    /// The workspace folder and the state folder.
    pub paths: WorkspacePaths,
    /// The options of the workspace.
    pub options: HostOptions,
    /// The program's part of the answers.
    pub host: Arc<dyn PageHost>,
    /// The codes and browsers.
    pub access: Arc<Access>,
    /// The check of hosts and origins, and of the server's token.
    pub guard: Arc<Guard>,
    /// The address of the page for a new browser, apart from the code.
    pub url: String,
    /// The version of the program.
    pub version: &'static str,
    /// Raised when the server stops.
    pub stop: CancelFlag,
}

/// The page of one workspace.
pub struct Page {
    pub(crate) config: PageConfig,
    pub(crate) events: Arc<EventHub>,
    pub(crate) runs: Runs,
    pub(crate) inbox: Mutex<InboxState>,
    /// The running trials of proposals, each with its cancel flag.
    pub(crate) trials: Mutex<HashMap<ProposalId, CancelFlag>>,
    pub(crate) protected: rel_path::ProtectedNames,
    /// Opened by the first request, since opening the workspace can be slow.
    sessions: Mutex<Option<Arc<SharedSessions>>>,
    calls: Arc<Semaphore>,
    long_calls: Arc<Semaphore>,
}

impl Page {
    /// Returns the page of a workspace.
    #[must_use]
    pub fn new(config: PageConfig) -> Arc<Page> {
        let events = Arc::new(EventHub::new());
        let protected = obeyed_names(&config.options);
        Arc::new(Page {
            runs: Runs::new(&events),
            events,
            inbox: Mutex::default(),
            trials: Mutex::default(),
            protected,
            sessions: Mutex::default(),
            calls: Arc::new(Semaphore::new(MOST_CALLS)),
            long_calls: Arc::new(Semaphore::new(MOST_LONG_CALLS)),
            config,
        })
    }

    /// Begins to watch the inbox and the journal, once the workspace is open.
    ///
    /// # Errors
    ///
    /// If the workspace cannot be opened, or the system has no thread left.
    pub fn begin(self: &Arc<Page>) -> Result<(), Failure> {
        let sessions = self.sessions()?;
        crate::watching::begin(self, &sessions)
    }

    /// Ends every stream of events, so that the server can stop. Replies that run are stopped.
    pub fn end(&self) {
        self.runs.stop_all();
        self.stop_trials();
        self.events.close();
    }

    /// Returns the sessions.
    pub(crate) fn sessions(&self) -> Result<Arc<SharedSessions>, Failure> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sessions) = &*sessions {
            return Ok(Arc::clone(sessions));
        }
        let opened = SharedSessions::over(Arc::clone(&self.config.workspace), self.config.paths.clone())?;
        let opened = Arc::new(opened);
        *sessions = Some(Arc::clone(&opened));
        Ok(opened)
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.config.options.command_timeout
    }

    pub(crate) fn base(&self) -> &PathBuf {
        &self.config.paths.base
    }

    /// Answers on a thread that may block.
    pub(crate) async fn answer(
        self: Arc<Page>,
        answer: impl FnOnce(&Arc<Page>) -> Answer + Send + 'static,
    ) -> axum::response::Response {
        let calls = Arc::clone(&self.calls);
        self.answer_among(calls, answer).await
    }

    /// Answers a call that may run commands or wait for them, which can take hours.
    pub(crate) async fn answer_long(
        self: Arc<Page>,
        answer: impl FnOnce(&Arc<Page>) -> Answer + Send + 'static,
    ) -> axum::response::Response {
        let calls = Arc::clone(&self.long_calls);
        self.answer_among(calls, answer).await
    }

    async fn answer_among(
        self: Arc<Page>,
        calls: Arc<Semaphore>,
        answer: impl FnOnce(&Arc<Page>) -> Answer + Send + 'static,
    ) -> axum::response::Response {
        let Ok(permit) = calls.acquire_owned().await else {
            return Refused::new(StatusCode::SERVICE_UNAVAILABLE, "the page is ending").into_response();
        };
        let answered = tokio::task::spawn_blocking(move || {
            // Held by the thread: a disconnecting browser drops this future, and the thread continues.
            let _permit = permit;
            answer(&self)
        });
        let broken =
            |_| Err(Refused::new(StatusCode::INTERNAL_SERVER_ERROR, "the request could not be answered"));
        answered.await.unwrap_or_else(broken).unwrap_or_else(Refused::into_response)
    }
}

/// Returns the origin of a call that belongs to no reply: each has a key of its own.
pub(crate) fn origin(conversation: &str) -> Origin {
    Origin {
        conversation: ConversationId(conversation.to_owned()),
        run: RunKey::unnumbered(uuid::Uuid::new_v4().to_string()),
        step: 0,
        retention: Retention::Process,
    }
}

/// Returns a call that is never cancelled.
pub(crate) fn call<'a>(origin: &'a Origin, cancel: &'a CancelFlag) -> Call<'a> {
    Call { origin, cancel, time_left: None }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::mpsc::channel;

    use cocode_runner::RunnerConfig;
    use wap_core::TaskFile;
    use wap_http::Metrics;
    use workspace_host::{Exit, NoNotices, SharedNotices};

    use super::*;
    use crate::Finding;
    use crate::answer::json;

    /// A program that has no answers.
    struct NoProgram;

    impl PageHost for NoProgram {
        fn command(&self) -> &'static str {
            "test"
        }

        fn task_files(&self, _: &str, _: &CancelFlag) -> Vec<TaskFile> {
            Vec::new()
        }

        fn surroundings(&self) -> Vec<String> {
            Vec::new()
        }

        fn findings(&self) -> Vec<Finding> {
            Vec::new()
        }

        fn runner(&self) -> Result<RunnerConfig, Failure> {
            Err(Failure::new(Exit::Missing, "there are no agents here"))
        }
    }

    fn page(folder: &std::path::Path) -> Arc<Page> {
        let options = HostOptions::new(folder);
        let paths = WorkspacePaths::find(&options).unwrap();
        let notices: SharedNotices = Arc::new(NoNotices);
        let address = SocketAddr::from(([127, 0, 0, 1], 80));
        Page::new(PageConfig {
            workspace: Arc::new(SharedWorkspace::new(&options, &paths, &notices)),
            access: Arc::new(Access::new(address.port())),
            paths,
            options,
            host: Arc::new(NoProgram),
            guard: Arc::new(Guard::new(None, address, &[], &Arc::new(Metrics::default()))),
            url: String::new(),
            version: "1",
            stop: CancelFlag::new(),
        })
    }

    #[tokio::test]
    async fn long_calls_delay_no_others_and_are_bounded_though_browsers_go_away() {
        let folder = tempfile::tempdir().unwrap();
        let page = page(folder.path());
        let (release, released) = channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let (begun, mut begins) = tokio::sync::mpsc::unbounded_channel();
        for _ in 0..MOST_LONG_CALLS {
            let (released, begun) = (Arc::clone(&released), begun.clone());
            let call = Arc::clone(&page).answer_long(move |_| {
                let _ = begun.send(());
                drop(released.lock().map(|released| released.recv()));
                Ok(json(&()))
            });
            let browser = tokio::spawn(call);
            begins.recv().await.unwrap();
            browser.abort();
            assert!(browser.await.is_err(), "it has gone away");
        }
        assert_eq!(page.long_calls.available_permits(), 0, "each of them still runs");
        // The page answers all the same.
        let answered = Arc::clone(&page).answer(|_| Ok(json(&()))).await;
        assert_eq!(answered.status(), StatusCode::OK);
        drop(release);
        let all = u32::try_from(MOST_LONG_CALLS).unwrap();
        drop(page.long_calls.acquire_many(all).await.unwrap());
    }
}
