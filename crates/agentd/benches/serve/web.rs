//! A thousand connections to the HTTP server at once, each reading a file.

use std::net::TcpStream;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crate::code_folder::CodeFolder;
use crate::http_server::HttpServer;

const READERS: usize = 1_000;

pub(crate) fn measure(code: &CodeFolder) {
    let server = HttpServer::start(code);
    let gate = Barrier::new(READERS + 1);
    let (outcomes, took) = thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|reader| {
                let (gate, server) = (&gate, &server);
                let reader = thread::Builder::new().stack_size(128 * 1024).spawn_scoped(scope, move || {
                    let stream = TcpStream::connect(server.address);
                    gate.wait();
                    read(server, stream.ok()?, reader)
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
    println!("  peak memory {:.1} MB (goal: under 40 MB)", server.peak_megabytes());
}

/// Reads a file and returns the time; `None` if the answer is not the file.
fn read(server: &HttpServer, stream: TcpStream, reader: usize) -> Option<Duration> {
    let began = Instant::now();
    let (folder, file) = (reader % 200, reader % 100);
    let json = format!("{{\"path\":\"tree/folder_{folder}/file_{folder}_{file}.txt\"}}");
    let answer = server.call(stream, "readFile", &json)?;
    let is_right = answer.starts_with("HTTP/1.1 200 ")
        && answer.contains(&format!("line 19 of file {file} in folder {folder}"));
    is_right.then(|| began.elapsed())
}
