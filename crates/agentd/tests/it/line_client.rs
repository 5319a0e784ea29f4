//! A program that takes JSON-RPC messages on standard input, one a line, and answers likewise.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::daemon::PATIENCE;
use crate::project::Ran;

/// A running server with its client's ends of the pipes.
pub(crate) struct LineClient {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
    /// What has arrived and was not asked for yet.
    early: VecDeque<Value>,
    next_id: u64,
}

impl LineClient {
    pub(crate) fn start(mut command: Command) -> LineClient {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (sender, output) = channel();
        let stdout = child.stdout.take().unwrap();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take();
        LineClient { child, input, output, early: VecDeque::new(), next_id: 1 }
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Sends bytes as they are.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    /// Sends a request and returns its id.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and returns its answer, whatever else arrives meanwhile.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// The result of a request that succeeds.
    #[track_caller]
    pub(crate) fn does(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params.clone());
        assert!(answer.get("error").is_none(), "{method} {params}: {answer}");
        answer["result"].take()
    }

    /// Waits for the answer to a request.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        self.wait_for(&format!("the answer to {id}"), |message| message["id"] == id)
    }

    /// Waits for the next message of whatever kind.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Value {
        self.wait_for("a message", |_| true)
    }

    /// Waits for a message.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, what: &str, is_meant: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.early.iter().position(&is_meant) {
            return self.early.remove(index).unwrap();
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = match self.output.recv_timeout(left) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => panic!("{what} never came: {:?}", self.early),
                Err(RecvTimeoutError::Disconnected) => panic!("{what} never came: {}", self.ending()),
            };
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"));
            if is_meant(&message) {
                return message;
            }
            self.early.push_back(message);
        }
    }

    /// Describes how the program ended: its status and the end of its standard error.
    fn ending(&mut self) -> String {
        let status = self.child.wait().expect("the program is a child");
        let mut stderr = String::new();
        if let Some(mut pipe) = self.child.stderr.take() {
            let _ = pipe.read_to_string(&mut stderr);
        }
        let skipped = stderr.chars().count().saturating_sub(2_000);
        format!("the program ended with {status}: {}", stderr.chars().skip(skipped).collect::<String>())
    }

    /// Whether nothing more comes for a moment.
    pub(crate) fn is_silent(&mut self) -> bool {
        self.early.is_empty() && self.output.recv_timeout(Duration::from_millis(200)).is_err()
    }

    /// Says nothing more.
    pub(crate) fn close_input(&mut self) {
        self.input.take();
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends the input and waits until the program has ended.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ran {
        self.close_input();
        self.wait()
    }

    /// Waits until the program has ended by itself.
    #[track_caller]
    pub(crate) fn wait(mut self) -> Ran {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() > deadline => panic!("it does not end"),
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        let mut stderr = String::new();
        std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut stderr).unwrap();
        let stdout: Vec<_> = self.output.iter().collect();
        Ran { code: status.code().unwrap_or(-1), stdout: stdout.join("\n"), stderr }
    }
}

impl Drop for LineClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
