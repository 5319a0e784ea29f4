//! A browser of a test: Chromium without a window, through WebDriver.
//!
//! The protocol is JSON over HTTP, and the tests need nine of its commands. Of the two clients in Rust, one has a licence that
//! `deny.toml` does not allow, and the other changes how the program under test orders JSON (`serde_json/preserve_order`).

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use base64::Engine;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;
use ureq::Agent;

/// The time after which a test gives up on an event, in milliseconds.
const PATIENCE_MS: u64 = 60_000;

const CONTROL: char = '\u{e009}';
pub(crate) const ENTER: char = '\u{e007}';
pub(crate) const ESCAPE: char = '\u{e00c}';

/// A browser with one page or more; its processes end with it.
pub(crate) struct Browser {
    agent: Agent,
    /// The address of the session.
    session: String,
    // Ended before its folder is removed.
    _process: DriverProcess,
    _profile: TempDir,
}

struct DriverProcess(Child);

impl DriverProcess {
    /// Starts the driver with `home` as its home folder, and returns it with its port.
    ///
    /// The driver takes a port that is free in IPv4 and exits where a neighbour holds the same number in IPv6. So it gets
    /// another number then.
    fn start(home: &Path) -> (DriverProcess, String) {
        const STARTS: usize = 5;
        let mut said = Vec::new();
        for _ in 0..STARTS {
            said.clear();
            let mut command = Command::new("chromedriver");
            command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
            // A group of its own, so that everything ends with it.
            command.process_group(0).env("HOME", home).env("TMPDIR", home);
            let mut process = DriverProcess(command.spawn().unwrap());
            let mut lines = BufReader::new(process.0.stdout.take().unwrap()).lines().map_while(Result::ok);
            while let Some(line) = lines.next() {
                if let Some(rest) = line.split("started successfully on port ").nth(1) {
                    // It must be able to print.
                    std::thread::spawn(move || lines.for_each(drop));
                    return (process, rest.trim_end_matches('.').to_owned());
                }
                said.push(line);
            }
            if !said.iter().any(|line| line.contains("port not available")) {
                break;
            }
        }
        panic!("the driver does not start: {}", said.join(" "));
    }
}

impl Drop for DriverProcess {
    fn drop(&mut self) {
        // The browser is in the group, too, and stays if its session was not closed.
        if let Ok(id) = i32::try_from(self.0.id()) {
            let _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
        }
        let _ = self.0.wait();
    }
}

/// Opens a browser, or says that this test is skipped.
pub(crate) fn browser(test: &str) -> Option<Browser> {
    browser_with(test, &[])
}

/// The same with further options of Chromium.
pub(crate) fn browser_with(test: &str, options: &[&str]) -> Option<Browser> {
    let missing = ["chromium", "chromedriver"].into_iter().find(|program| !is_installed(program));
    if let Some(program) = missing {
        test_support::skip(test, &format!("{program} is not installed; `cargo xtask setup` installs it"));
        return None;
    }
    Some(Browser::open(options))
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Returns the file of axe-core, if `cargo xtask setup` has installed it.
pub(crate) fn axe() -> Option<PathBuf> {
    package("page-node/node_modules/axe-core/axe.min.js")
}

/// Returns a file or folder of the packages that `cargo xtask setup` has installed.
pub(crate) fn package(name: &str) -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_BIN_EXE_agentd")).ancestors().nth(2)?;
    Some(target.join("clients").join(name)).filter(|file| file.exists())
}

impl Browser {
    fn open(options: &[&str]) -> Browser {
        let profile = tempfile::Builder::new().prefix("agentd-browser-").tempdir().unwrap();
        let (process, port) = DriverProcess::start(profile.path());
        let usual = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-extensions",
            "--no-first-run",
            "--force-color-profile=srgb",
            "--hide-scrollbars",
            "--window-size=1440,1000",
        ];
        let profile_option = format!("--user-data-dir={}", profile.path().join("profile").display());
        let arguments: Vec<&str> = usual.iter().chain(options).copied().chain([&*profile_option]).collect();
        let capabilities = json!({
            "browserName": "chrome",
            "goog:chromeOptions": { "binary": "/usr/bin/chromium", "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let agent: Agent = Agent::config_builder().http_status_as_error(false).build().into();
        let driver = format!("http://127.0.0.1:{port}/session");
        let opened = call(&agent, &driver, &json!({ "capabilities": { "alwaysMatch": capabilities } }));
        let opened = opened.expect("the browser starts");
        let session = format!("{driver}/{}", opened["sessionId"].as_str().unwrap());
        let browser = Browser { agent, session, _process: process, _profile: profile };
        browser.command("timeouts", &json!({ "script": 2 * PATIENCE_MS }));
        browser
    }

    /// Makes a call of the protocol.
    #[track_caller]
    fn command(&self, path: &str, body: &Value) -> Value {
        call(&self.agent, &format!("{}/{path}", self.session), body)
            .unwrap_or_else(|error| panic!("{path} {body}: {error}"))
    }

    #[track_caller]
    fn read(&self, path: &str) -> Value {
        let url = format!("{}/{path}", self.session);
        let text = self.agent.get(&url).call().unwrap().body_mut().read_to_string().unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["value"].take()
    }

    pub(crate) fn goto(&self, url: &str) {
        self.command("url", &json!({ "url": url }));
    }

    pub(crate) fn reload(&self) {
        self.command("refresh", &json!({}));
    }

    /// Opens a further tab and goes to it.
    pub(crate) fn new_tab(&self) -> String {
        let opened = self.command("window/new", &json!({ "type": "tab" }));
        let tab = opened["handle"].as_str().unwrap().to_owned();
        self.switch_to(&tab);
        tab
    }

    pub(crate) fn tab(&self) -> String {
        self.read("window").as_str().unwrap().to_owned()
    }

    pub(crate) fn switch_to(&self, tab: &str) {
        self.command("window", &json!({ "handle": tab }));
    }

    /// Goes into the frame of this index within the one where the browser is.
    pub(crate) fn enter_frame(&self, index: u32) {
        self.command("frame", &json!({ "id": index }));
    }

    /// Goes back from all frames to the page.
    pub(crate) fn leave_frames(&self) {
        self.command("frame", &json!({ "id": null }));
    }

    /// Sets the size of what the page sees, by the tools of the browser: a window has a least width.
    pub(crate) fn size(&self, width: u32, height: u32) {
        self.tools(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false }),
        );
    }

    pub(crate) fn prefer(&self, feature: &str, value: &str) {
        self.tools(
            "Emulation.setEmulatedMedia",
            json!({ "features": [{ "name": feature, "value": value }] }),
        );
    }

    fn tools(&self, command: &str, parameters: Value) {
        self.command("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }));
    }

    /// Runs a script and returns its value.
    #[track_caller]
    pub(crate) fn script(&self, script: &str, arguments: &[Value]) -> Value {
        self.command("execute/sync", &json!({ "script": script, "args": arguments }))
    }

    /// Returns the value of an expression.
    #[track_caller]
    pub(crate) fn value(&self, expression: &str) -> Value {
        self.script(&format!("return ({expression})"), &[])
    }

    /// Runs a script that ends by calling its last argument.
    #[track_caller]
    pub(crate) fn later(&self, script: &str, arguments: &[Value]) -> Value {
        self.command("execute/async", &json!({ "script": script, "args": arguments }))
    }

    /// Waits until an expression is true, and returns its value.
    #[track_caller]
    pub(crate) fn wait(&self, expression: &str) -> Value {
        let script = format!(
            "const done = arguments[arguments.length - 1]; const began = performance.now(); \
             (function look() {{ let value = null; try {{ value = ({expression}); }} catch {{}} \
             if (value) done(value); else if (performance.now() - began > {PATIENCE_MS}) done(null); \
             else setTimeout(look, 15); }})();"
        );
        let value = self.later(&script, &[]);
        assert!(
            !value.is_null(),
            "never: {expression}\n{}\n{:?}",
            self.value("document.body.innerText"),
            self.console()
        );
        value
    }

    /// Waits until the page shows a text.
    #[track_caller]
    pub(crate) fn sees(&self, text: &str) {
        self.wait(&format!("document.body.innerText.includes({})", json!(text)));
    }

    /// Waits until the plan of a reply is there, with this sentence.
    #[track_caller]
    pub(crate) fn plans(&self, sentence: &str) {
        let plan = "document.querySelector('.plan:not([aria-busy]) h3')?.textContent";
        self.wait(&format!("{plan} === {}", json!(sentence)));
    }

    /// Presses keys one after the other, wherever the focus is.
    pub(crate) fn press(&self, keys: &str) {
        self.keys(keys.chars().flat_map(|key| [("keyDown", key), ("keyUp", key)]));
    }

    /// Presses a key while Control is held.
    pub(crate) fn press_with_control(&self, key: char) {
        self.keys([("keyDown", CONTROL), ("keyDown", key), ("keyUp", key), ("keyUp", CONTROL)].into_iter());
    }

    fn keys(&self, actions: impl Iterator<Item = (&'static str, char)>) {
        let actions: Vec<Value> = actions.map(|(kind, key)| json!({ "type": kind, "value": key })).collect();
        self.command("actions", &json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] }));
    }

    /// Puts a text on the clipboard, as the person does in the chat window. The focus of the page stays.
    pub(crate) fn copy_in_the_chat(&self, text: &str) {
        self.in_the_chat(text, 'c');
    }

    /// Returns the text on the clipboard, as the person would paste it into the chat window.
    pub(crate) fn clipboard(&self) -> String {
        self.in_the_chat("", 'v')
    }

    /// Makes a box that stands for the chat window, presses a key in it, and returns its text. It is a modal dialog, out of which the
    /// page, which does not see another window, cannot take the focus either.
    fn in_the_chat(&self, text: &str, key: char) -> String {
        let open = "window.chat = document.createElement('textarea'); window.chat.value = arguments[0]; \
                    window.before = document.activeElement; const other = document.createElement('dialog'); \
                    other.append(window.chat); document.body.append(other); other.showModal(); \
                    window.chat.focus(); window.chat.select()";
        self.script(open, &[json!(text)]);
        self.press_with_control(key);
        let close = "const text = window.chat.value; window.chat.parentNode.close(); \
                     window.chat.parentNode.remove(); window.before?.focus(); return text";
        self.script(close, &[]).as_str().unwrap_or_default().to_owned()
    }

    /// Returns what the browser has logged since the last call.
    pub(crate) fn console(&self) -> Vec<String> {
        let log = self.command("se/log", &json!({ "type": "browser" }));
        let entries = log.as_array().cloned().unwrap_or_default();
        entries.iter().map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Returns a picture of what is in sight, as PNG.
    pub(crate) fn screenshot(&self) -> Vec<u8> {
        base64::prelude::BASE64_STANDARD.decode(self.read("screenshot").as_str().unwrap()).unwrap()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // What does not end by this ends with the process of the driver.
        let _ = self.agent.delete(&self.session).call();
    }
}

/// Sends a command; an error of the protocol is a text.
fn call(agent: &Agent, url: &str, body: &Value) -> Result<Value, String> {
    let describe = |error: ureq::Error| error.to_string();
    let request = agent.post(url).header("Content-Type", "application/json");
    let mut answer = request.send(body.to_string()).map_err(describe)?;
    let text = answer.body_mut().read_to_string().map_err(describe)?;
    let mut value: Value = serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))?;
    match value["value"]["error"].is_string() && value["value"]["message"].is_string() {
        true => Err(value["value"]["message"].to_string()),
        false => Ok(value["value"].take()),
    }
}
