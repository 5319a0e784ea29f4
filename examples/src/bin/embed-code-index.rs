//! Embeds `code-index` alone: an index of a folder, searched by words and asked for a file's definitions.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use code_index::{FolderSource, IndexLimits, LocalIndex};
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use wap_core::{
    Call, CancelFlag, CodeIndex, ConversationId, ListSymbols, Origin, Retention, RunKey, SearchCode,
};

fn main() -> Result<(), Box<dyn Error>> {
    let (code, state) = (tempfile::tempdir()?, tempfile::tempdir()?);
    std::fs::write(
        code.path().join("login.py"),
        "def check_password(name, word):\n    return name == word\n",
    )?;
    std::fs::write(code.path().join("form.py"), "from login import check_password\n")?;

    let root = FileRoot::open(code.path(), &RootRules::default(), FsPolicy::default())?;
    let (index, _) = LocalIndex::open(state.path(), FolderSource::new(root), IndexLimits::default())?;
    let cancel = CancelFlag::new();
    let refreshed = index.refresh(&cancel, &mut |_| {})?;
    println!("{} files were read", refreshed.read);

    let (conversation, run) = (ConversationId("example".into()), RunKey::unnumbered("1"));
    let origin = Origin { conversation, run, step: 0, retention: Retention::Process };
    let call = Call { origin: &origin, cancel: &cancel, time_left: None };
    for hit in index.search(&call, &SearchCode { query: "checking passwords".into(), limit: 3 })?.hits {
        println!("{}:{} {}", hit.path, hit.line_start, hit.snippet.lines().next().unwrap_or_default());
    }
    for symbol in index.symbols(&call, &ListSymbols { file: "login.py".into() })?.symbols {
        println!("{} {}: {}", symbol.kind, symbol.name, symbol.signature);
    }
    Ok(())
}
