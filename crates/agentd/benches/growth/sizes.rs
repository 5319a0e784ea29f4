//! Growth with the size of a file.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::code_folder::{CodeFolder, Shape};
use crate::curve::Curves;
use crate::files::{ours, times};
use crate::line_server::LineServer;

const MEGABYTES: [u32; 3] = [1, 10, 100];
const TURNS: usize = 9;

/// The first line of a file, in turns.
const FIRST: [&str; 2] = ["the first line, one of two", "the first line, two of two"];

/// Measures calls on files of these sizes, and a plain copy that is synced and renamed, which any safe edit needs.
pub(crate) fn measure(parent: &Path) {
    let code = CodeFolder::make(parent, Shape::Tree(1_000));
    let mut curves = Curves::new("growth-sizes", "Calls on one file", "MB");
    let mut server = LineServer::start(&ours(&code)).expect("it is built");
    for megabytes in MEGABYTES {
        let name = format!("{megabytes}mb.txt");
        let text = text(megabytes);
        fs::write(code.folder().join(&name), &text).expect("there is room");
        let middle = text.lines().count() / 2;
        let range = json!({ "path": name, "startLine": middle, "endLine": middle + 100 });
        let search = json!({ "paths": [name], "query": "the only needle", "type": "literal" });
        let edit = |old: &str, new: &str| {
            let operation = json!({ "type": "replaceText", "oldText": old, "newText": new });
            json!({ "path": name, "operations": [operation] })
        };
        let edits = vec![edit(FIRST[0], FIRST[1]), edit(FIRST[1], FIRST[0])];
        for (line, tool, arguments) in [
            ("read 100 lines of its middle", "readFile", vec![range]),
            ("search in it", "searchFiles", vec![search]),
            ("edit its first line", "modifyFile", edits),
        ] {
            match times(&mut server, tool, &arguments) {
                Ok(times) => curves.add(line, megabytes, times),
                Err(why) => curves.none(line, megabytes, &why),
            }
        }
        let copies = (0..TURNS).map(|_| copied(&code, text.as_bytes()));
        curves.add("write, sync and rename", megabytes, copies.collect());
        fs::remove_file(code.folder().join(&name)).expect("it is there");
    }
    curves.end();
}

fn text(megabytes: u32) -> String {
    let bytes = megabytes as usize * 1_000_000;
    let mut text = format!("{}\n", FIRST[0]);
    while text.len() < bytes {
        let _ = writeln!(text, "    let value_{} = \"a line of code\";", text.len());
    }
    text.push_str("the only needle\n");
    text
}

fn copied(code: &CodeFolder, bytes: &[u8]) -> Duration {
    let (temporary, path) = (code.folder().join("copy.tmp"), code.folder().join("copy.txt"));
    let began = Instant::now();
    let mut file = File::create(&temporary).expect("it can be made");
    file.write_all(bytes).and_then(|()| file.sync_all()).expect("there is room");
    fs::rename(&temporary, &path).expect("it is there");
    let took = began.elapsed();
    fs::remove_file(path).expect("it is there");
    took
}
