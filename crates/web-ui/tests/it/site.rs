//! The page of a temporary folder, served in this process, and a browser that has access.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cocode_runner::RunnerConfig;
use serde_json::{Value, json};
use tempfile::TempDir;
use wap_core::{CancelFlag, TaskFile};
use wap_http::{Guard, Metrics, Shutdown, Sockets, serve};
use web_ui::{Access, Finding, Page, PageConfig, PageHost, site};
use workspace_host::{Exit, Failure, HostOptions, NoNotices, SharedNotices, SharedWorkspace, WorkspacePaths};

/// A page in this process, closed when it is dropped.
pub(crate) struct Site {
    folder: TempDir,
    address: SocketAddr,
    page: Arc<Page>,
    stop: CancelFlag,
    shutdown: Shutdown,
    thread: Option<JoinHandle<()>>,
    cookie: String,
    key: String,
}

/// A program without answers.
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

impl Site {
    pub(crate) fn new() -> Site {
        let folder = tempfile::tempdir().unwrap();
        let options = HostOptions::new(folder.path());
        let paths = WorkspacePaths::find(&options).unwrap();
        let notices: SharedNotices = Arc::new(NoNotices);
        let workspace = Arc::new(SharedWorkspace::staying(&options, &paths, &notices));
        workspace.open().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let metrics = Arc::new(Metrics::default());
        let guard = Arc::new(Guard::new(None, address, &[], &metrics));
        let access = Arc::new(Access::new(address.port()));
        let (stop, shutdown) = (CancelFlag::new(), Shutdown::default());
        let page = Page::new(PageConfig {
            workspace,
            paths,
            options,
            host: Arc::new(NoProgram),
            access: Arc::clone(&access),
            guard,
            url: format!("http://{address}/ui/"),
            version: "1",
            stop: stop.clone(),
        });
        page.begin().unwrap();
        let (router, stopped) = (site(Arc::clone(&page)), shutdown.clone());
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                serve(listener, router, 64, metrics, &Sockets::default(), stopped).await.unwrap();
            });
        });
        let thread = Some(thread);
        let (cookie, key) = (String::new(), String::new());
        let mut site = Site { folder, address, page, stop, shutdown, thread, cookie, key };
        let (head, entered) = site.ask("POST /ui/api/enter", Some(&json!({ "code": access.code() })));
        let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        site.cookie = cookie.split(';').next().unwrap().to_owned();
        site.key = entered["key"].as_str().unwrap().to_owned();
        site
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Puts a reply into the inbox as a whole.
    pub(crate) fn drop_reply(&self, name: &str, text: &str) {
        self.drop_bytes(name, text.as_bytes());
    }

    /// Puts a file into the inbox as a whole.
    pub(crate) fn drop_bytes(&self, name: &str, bytes: &[u8]) {
        let unfinished = self.folder.path().join(".agentd").join(name);
        std::fs::write(&unfinished, bytes).unwrap();
        std::fs::rename(unfinished, self.folder.path().join(".agentd/inbox").join(name)).unwrap();
    }

    /// Makes a request; returns the head of the answer in lower case, and its body.
    fn ask(&self, line: &str, body: Option<&Value>) -> (String, Value) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let address = self.address;
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = format!(
            "{line} HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nCookie: {}\r\nX-Agentd-Key: {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.cookie,
            self.key,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_lowercase(), serde_json::from_str(body).unwrap_or(Value::Null))
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let (head, body) = self.ask(&format!("GET /ui/api/{path}"), None);
        assert!(head.contains(" 200 "), "{path}: {head}\n{body}");
        body
    }

    /// Sends a value; returns the status and the answer.
    pub(crate) fn send(&self, path: &str, value: &Value) -> (u16, Value) {
        let (head, body) = self.ask(&format!("POST /ui/api/{path}"), Some(value));
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body)
    }

    /// Begins a session and returns its id.
    pub(crate) fn session(&self) -> String {
        let (status, session) = self.send("sessions", &json!({ "task": "Do it" }));
        assert_eq!(status, 200, "{session}");
        session["session"].as_str().unwrap().to_owned()
    }

    /// Begins to run a reply, which has to be taken, and returns how it has ended.
    pub(crate) fn run(&self, session: &str, reply: &Value) -> Value {
        let (status, begun) = self.send(&format!("sessions/{session}/run"), reply);
        assert_eq!(status, 200, "{begun}");
        let run = eventually("the run ends", || {
            let run = self.get(&format!("sessions/{session}/run"));
            (run["run"] == begun["run"] && !run["ended"].is_null()).then_some(run)
        });
        run["ended"].clone()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop.cancel();
        self.page.end();
        self.shutdown.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Retries until there is an answer.
pub(crate) fn eventually<T>(what: &str, ask: impl Fn() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{what}: not within a minute");
        thread::sleep(Duration::from_millis(20));
    }
}
