//! A thousand connections to the HTTP server at once, each reading a file.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crate::code_folder::CodeFolder;
use crate::line_server::{measured_program, peak_megabytes};

const READERS: usize = 1_000;

pub(crate) fn measure(code: &CodeFolder) {
    let file = code.token_file();
    let mut server = Command::new(measured_program())
        .args(["serve", "--json", "--listen", "127.0.0.1:0", "--workspace"])
        .arg(code.folder())
        .arg("--base")
        .arg(code.state())
        .arg("--token-file")
        .arg(&file)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it is built");
    let mut text = String::new();
    let mut output = BufReader::new(server.stdout.take().expect("it is a pipe"));
    let listening: serde_json::Value = loop {
        assert_ne!(output.read_line(&mut text).expect("it writes text"), 0, "it does not serve");
        if let Ok(value) = serde_json::from_str(&text) {
            break value;
        }
    };
    let address = listening["url"].as_str().and_then(|url| url.strip_prefix("http://"));
    let address: SocketAddr = address.and_then(|address| address.parse().ok()).expect("it says where");
    let token = std::fs::read_to_string(&file).expect("it was made");
    let gate = Barrier::new(READERS + 1);
    let (outcomes, took) = thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|reader| {
                let (gate, token) = (&gate, token.trim());
                let reader = thread::Builder::new().stack_size(128 * 1024).spawn_scoped(scope, move || {
                    let stream = TcpStream::connect(address);
                    gate.wait();
                    read(stream.ok()?, address, token, reader)
                });
                reader.expect("a thread can be made")
            })
            .collect();
        gate.wait();
        let began = Instant::now();
        let outcomes: Vec<Option<Duration>> =
            readers.into_iter().map(|reader| reader.join().expect("it does not panic")).collect();
        (outcomes, began.elapsed())
    });
    let mut times: Vec<_> = outcomes.iter().flatten().copied().collect();
    times.sort_unstable();
    println!("\n{READERS} readers at once over HTTP, each on a connection of its own (goal: no error)");
    println!("  errors: {}", outcomes.len() - times.len());
    if let (Some(middle), Some(last)) = (times.get(times.len() / 2), times.last()) {
        let [middle, last, all] = [*middle, *last, took].map(|time| time.as_secs_f64() * 1e3);
        println!("  p50 {middle:.0} ms, last {last:.0} ms, all {all:.0} ms");
    }
    println!("  peak memory {:.1} MB (goal: under 40 MB)", peak_megabytes(server.id()));
    let _ = server.kill();
    let _ = server.wait();
}

/// Reads a file and returns the time; `None` if the answer is not the file.
fn read(mut stream: TcpStream, address: SocketAddr, token: &str, reader: usize) -> Option<Duration> {
    let began = Instant::now();
    let (folder, file) = (reader % 200, reader % 100);
    let body = format!("{{\"path\":\"tree/folder_{folder}/file_{folder}_{file}.txt\"}}");
    let request = format!(
        "POST /v1/tools/readFile HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let is_right = answer.starts_with("HTTP/1.1 200 ")
        && answer.contains(&format!("line 19 of file {file} in folder {folder}"));
    is_right.then(|| began.elapsed())
}
