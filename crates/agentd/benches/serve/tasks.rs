//! The tasks of the servers, each as a call of every server's own tool.

use serde_json::{Value, json};

use crate::code_folder::{CodeFolder, EDITED, edited_file};

/// One task for each program.
pub(crate) struct Task {
    pub(crate) title: String,
    /// The most that ours may take, as a part of the faster peer's time.
    pub(crate) goal: f64,
    pub(crate) turns: usize,
    /// In the order of the programs; `None` if one has no tool for it.
    pub(crate) calls: [Option<Calls>; 3],
}

/// The calls of one program.
pub(crate) struct Calls {
    pub(crate) tool: &'static str,
    /// The arguments of its turns, over and over.
    pub(crate) arguments: Vec<Value>,
}

/// The highest ratio of our median to a peer's where ours has its list of files.
const AHEAD: f64 = 0.1;

fn once(tool: &'static str, arguments: Value) -> Option<Calls> {
    Some(Calls { tool, arguments: vec![arguments] })
}

/// Files of two sizes, as text that can be edited by numbers of lines, and as the peers give them.
pub(crate) fn reads(code: &CodeFolder) -> Vec<Task> {
    let files = [("1 MiB", "1m.txt", 45), ("16 KiB", "16k.txt", 90)];
    let forms = [("", json!({})), (", without numbers of lines", json!({ "lineNumbers": false }))];
    let each = files.into_iter().flat_map(|file| forms.clone().map(|form| (file, form)));
    let task = |((size, name, turns), (form, mut arguments)): ((&str, &str, usize), (&str, Value))| {
        arguments["path"] = json!(name);
        let peer = || once("read_text_file", json!({ "path": code.in_folder(name) }));
        Task {
            title: format!("read a file of {size}{form}"),
            goal: 1.0,
            turns,
            calls: [once("readFile", arguments), peer(), peer()],
        }
    };
    each.map(task).collect()
}

/// One line of a file of 16 KiB. Ours records the change and has it on the disk before it answers.
pub(crate) fn edit(code: &CodeFolder) -> Task {
    let turns = [(EDITED[0], EDITED[1]), (EDITED[1], EDITED[0])];
    let ours = turns.map(|(old, new)| {
        let operation = json!({ "type": "replaceText", "oldText": old, "newText": new });
        json!({ "path": edited_file(0), "operations": [operation] })
    });
    let peer = |program| {
        let path = code.in_folder(&edited_file(program));
        let edits =
            turns.map(|(old, new)| json!({ "path": path, "edits": [{ "oldText": old, "newText": new }] }));
        Some(Calls { tool: "edit_file", arguments: edits.to_vec() })
    };
    Task {
        title: "edit one line (ours with its record and synced, the peers without)".to_owned(),
        goal: 3.0,
        turns: 90,
        calls: [Some(Calls { tool: "modifyFile", arguments: ours.to_vec() }), peer(1), peer(2)],
    }
}

/// Looking around in a tree of this many files.
pub(crate) fn searches(code: &CodeFolder, files: usize, turns: usize) -> Vec<Task> {
    let tree = code.in_folder("tree");
    let names = || once("search_files", json!({ "path": tree, "pattern": "**/*77_7*" }));
    let whole = || once("directory_tree", json!({ "path": tree }));
    let content = json!({ "paths": ["tree"], "query": "needle 7_7", "type": "literal", "contextLines": 0 });
    let query = json!({ "path": tree, "pattern": "**/*", "query": "needle 7_7", "is_regex": false });
    let task = |title: &str, calls| Task {
        title: title.replace("#", &files.to_string()),
        goal: AHEAD,
        turns,
        calls,
    };
    vec![
        task(
            "tree of # files (ours shows 500 and the total, the peers all)",
            [
                once("exploreFiles", json!({ "path": "tree", "recursive": true, "maxDepth": 9 })),
                whole(),
                whole(),
            ],
        ),
        task(
            "names in # files",
            [once("exploreFiles", json!({ "path": "tree", "pattern": "*77_7*" })), names(), names()],
        ),
        task(
            "contents of # files",
            [once("searchFiles", content), None, once("search_files_content", query)],
        ),
    ]
}

/// One folder of this many files.
pub(crate) fn list(code: &CodeFolder, files: usize, turns: usize) -> Task {
    let peer = || once("list_directory", json!({ "path": code.in_folder("flat") }));
    Task {
        title: format!("list of a folder of {files} files (ours shows 500 and the total, the peers all)"),
        goal: AHEAD,
        turns,
        calls: [once("exploreFiles", json!({ "path": "flat" })), peer(), peer()],
    }
}
