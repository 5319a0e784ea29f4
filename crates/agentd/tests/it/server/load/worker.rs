//! One of the clients: what it does, and what it knows to have done.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::fixture::web_server::WebServer;
use crate::server::load::connection::{Connection, Speech};

/// The number of clients that share a file, in which each has its own line.
pub(super) const SHARING: u64 = 10;

/// One in this many clients runs commands: these queue, so that more of them would only wait for each other.
const RUNNING: u64 = 20;

/// One in this many clients speaks MCP.
const SPEAKING_MCP: u64 = 4;

pub(super) struct Worker {
    number: u64,
    connection: Connection,
}

/// The work of one client.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) number: u64,
    /// The number of acknowledged increments of its line in the shared file.
    pub(super) counted: u64,
    /// The number of lines that it has appended to the common log.
    pub(super) appended: u64,
    /// Each call with the time that it took.
    pub(super) calls: Vec<(&'static str, Duration)>,
}

impl Worker {
    pub(super) fn connect(server: &WebServer, number: u64) -> Worker {
        let speech = if number.is_multiple_of(SPEAKING_MCP) { Speech::Mcp } else { Speech::Http };
        Worker { number, connection: Connection::open(server, speech, &format!("client-{number}")) }
    }

    pub(super) fn work(mut self, is_over: &AtomicBool) -> Work {
        let mut work = Work { number: self.number, counted: 0, appended: 0, calls: Vec::new() };
        // Not everybody does the same at the same time.
        let mut turn = self.number;
        while !is_over.load(Ordering::Relaxed) {
            turn += 1;
            self.take_turn(turn, &mut work);
        }
        work
    }

    fn take_turn(&mut self, turn: u64, work: &mut Work) {
        let file = format!("src/f{:02}.txt", turn % 50);
        match turn % 10 {
            0..=3 => {
                let read = self.timed("readFile", &json!({ "path": file }), work);
                let text = if read.is_string() { &read } else { &read["content"] };
                assert!(text.as_str().unwrap().ends_with(&format!("line 200 of file {}\n", turn % 50)));
            }
            4 => {
                let explored = self.timed("exploreFiles", &json!({ "path": "src" }), work);
                assert_eq!(explored["files"].as_array().unwrap().len(), 50);
            }
            5 => {
                let query = format!("line {} of file {}", turn % 200 + 1, turn % 50);
                let search =
                    json!({ "paths": ["src"], "query": query, "type": "literal", "contextLines": 0 });
                self.timed("searchFiles", &search, work);
            }
            6 | 7 => self.count_up(work),
            8 => {
                let line = format!("{} {}\n", self.number, work.appended);
                let append = json!({ "path": "log.txt", "content": line, "mode": "append" });
                self.timed("writeFile", &append, work);
                work.appended += 1;
            }
            _ if self.number.is_multiple_of(RUNNING) => {
                self.timed("executeCommand", &json!({ "command": "wc -l < src/f00.txt" }), work);
            }
            _ => {
                self.timed("getWorkspaceInfo", &json!({}), work);
            }
        }
    }

    /// Reads the shared file, and replaces its own line by the next one, while others do the same with theirs.
    fn count_up(&mut self, work: &mut Work) {
        let path = format!("shared/{}.txt", self.number / SHARING);
        let own = format!("client {} {}", self.number, work.counted);
        let read = self.timed("readFile", &json!({ "path": path, "lineNumbers": false }), work);
        let (text, version) = match self.connection.speech() {
            Speech::Http => (read["content"].as_str().unwrap(), read["version"].as_str()),
            Speech::Mcp => {
                let (header, text) = read.as_str().unwrap().split_once('\n').unwrap();
                (text, header.split_once("version ").map(|(_, version)| version))
            }
        };
        let line = text.lines().position(|line| line == own);
        let line = line.unwrap_or_else(|| panic!("'{own}' is lost: {text}")) + 1;
        let next = format!("client {} {}", self.number, work.counted + 1);
        let operation = json!({ "type": "replace", "startLine": line, "endLine": line, "newContent": next });
        let mut change = json!({ "path": path, "operations": [operation] });
        if self.connection.speech() == Speech::Mcp {
            // Without a session the server keeps no shown versions.
            change["expectedVersion"] = json!(version.unwrap());
        }
        self.timed("modifyFile", &change, work);
        work.counted += 1;
    }

    fn timed(
        &mut self,
        tool: &'static str,
        arguments: &serde_json::Value,
        work: &mut Work,
    ) -> serde_json::Value {
        let began = Instant::now();
        let answer = self.connection.call(tool, arguments);
        work.calls.push((tool, began.elapsed()));
        answer
    }
}
