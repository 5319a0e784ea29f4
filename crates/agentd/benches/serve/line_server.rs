//! A server of MCP over standard input and output, with the client's ends of the pipes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A program and how it is started; no command if it is not installed.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) command: Option<(String, Vec<String>)>,
}

/// The measured program of this project: the one that `BENCH_PROGRAM` names, a packaged one for instance, or the one of this build.
pub(crate) fn measured_program() -> String {
    std::env::var("BENCH_PROGRAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_agentd").to_owned())
}

pub(crate) struct LineServer {
    pub(crate) name: &'static str,
    /// From before it was started until it has answered `initialize`.
    pub(crate) started_in: Duration,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next_id: u64,
}

/// The answer to a call.
pub(crate) struct Answer {
    pub(crate) time: Duration,
    /// The bytes of the answer on the wire.
    pub(crate) bytes: usize,
    /// The beginning of the answer if it is a failure.
    pub(crate) failure: Option<String>,
}

impl LineServer {
    /// Starts a program and shakes hands; `None` if it is not installed.
    pub(crate) fn start(program: &Program) -> Option<LineServer> {
        let (executable, arguments) = program.command.as_ref()?;
        let began = Instant::now();
        let mut child = Command::new(executable)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it is installed");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let mut server =
            LineServer { name: program.name, started_in: Duration::ZERO, child, input, output, next_id: 0 };
        server.ask("initialize", &json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" }
        }));
        server.started_in = began.elapsed();
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        Some(server)
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        let began = Instant::now();
        let line = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let time = began.elapsed();
        let answer: Value = serde_json::from_str(&line).expect("it answers JSON");
        let is_failure = answer["result"]["isError"] == true || answer["error"].is_object();
        let excerpt = || line.trim_end().chars().take(160).collect();
        Answer { time, bytes: line.len(), failure: is_failure.then(excerpt) }
    }

    /// The most memory that it has had resident.
    pub(crate) fn peak_megabytes(&self) -> f64 {
        peak_megabytes(self.child.id())
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("it is open until the end");
        input.write_all(format!("{message}\n").as_bytes()).expect("it reads");
    }

    /// Sends a request and returns the line of its answer.
    fn ask(&mut self, method: &str, params: &Value) -> String {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        // Whatever precedes it, the answer is the line with the id near one of its ends.
        let (first, last) = (format!("\"id\":{id},"), format!("\"id\":{id}}}"));
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).expect("it writes text");
            assert_ne!(read, 0, "{} has ended", self.name);
            if line.contains(&first) || line.trim_end().ends_with(&last) {
                return line;
            }
        }
    }
}

impl Drop for LineServer {
    fn drop(&mut self) {
        self.input.take();
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(2) {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The most memory that a process has had resident, in MB.
pub(crate) fn peak_megabytes(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it is a process");
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse().expect("it is a number");
    kilobytes / 1024.0
}
