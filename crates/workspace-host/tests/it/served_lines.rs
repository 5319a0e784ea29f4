//! A workspace that is served over lines of JSON.

use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex};

use memory_workspace::MemoryWorkspace;
use wap_core::{CancelFlag, Workspace};
use workspace_host::{LinesEnd, serve_json_lines};

/// An output that the test reads afterwards.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An output whose reader has gone.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const CALLS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"readFile","params":{"path":"a.txt"}}
not JSON
{"jsonrpc":"2.0","id":"1","method":"readFile","params":{"path":"../b"}}
{"jsonrpc":"2.0","method":"readFile","params":{"path":"a.txt"}}
{"jsonrpc":"2.0","id":3,"method":"moveMountain","params":{}}
{"jsonrpc":"2.0","id":4,"method":"readFile","params":{"path":"a.txt","depth":3}}
"#;

fn workspace() -> Arc<dyn Workspace> {
    let workspace = MemoryWorkspace::new();
    workspace.set_file("a.txt", "one\ntwo\n");
    Arc::new(workspace)
}

#[test]
fn each_call_is_answered_on_a_line() {
    let output = Output::default();
    let input = Cursor::new(CALLS);
    let end =
        serve_json_lines(&workspace(), "/home/me/project".into(), input, output.clone(), &CancelFlag::new());
    assert!(matches!(end.unwrap(), LinesEnd::Input));
    let text = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
    // Calls run at the same time, so that their answers come in any order.
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_reader_that_has_gone_is_the_end_and_not_an_error() {
    let end = serve_json_lines(
        &workspace(),
        "/home/me/project".into(),
        Cursor::new(CALLS),
        Closed,
        &CancelFlag::new(),
    );
    assert!(matches!(end.unwrap(), LinesEnd::Input));
}
