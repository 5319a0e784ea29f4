//! Folders in which commands can make only plain files and folders.

use std::fs;

use sandbox_exec::{FileConfinement, Level};

use crate::fixture::{Fixture, stdout};

/// The ways to get a link or a pipe into `plain`, each of which prints its name if it succeeds, and the permitted operations.
const SCRIPT: &str = "P=../outside/plain; try() { name=$1; shift; \"$@\" 2>/dev/null && echo $name; }; \
    ln -s / link; mkfifo pipe; mkdir folder; ln -s / folder/link; mkdir empty; echo x > file; echo y > other; \
    try link ln -s / $P/link; try pipe mkfifo $P/pipe; \
    try moved-link perl -e 'rename \"link\", \"../outside/plain/ml\" or exit 1'; \
    try moved-pipe perl -e 'rename \"pipe\", \"../outside/plain/mp\" or exit 1'; \
    try hard-link perl -e 'link \"link\", \"../outside/plain/hl\" or exit 1'; \
    try moved-folder perl -e 'rename \"folder\", \"../outside/plain/mf\" or exit 1'; \
    try moved-empty perl -e 'rename \"empty\", \"../outside/plain/me\" or exit 1'; \
    mkdir $P/a $P/b; echo z > $P/a/z; \
    try file cp file $P/file; try moved-file mv other $P/other; try within mv $P/a/z $P/b/z; try folders mv $P/a $P/b/a";

#[test]
fn a_plain_folder_gets_no_link_and_no_pipe_by_any_way() {
    let made = |is_plain: bool| {
        let mut fixture = Fixture::at_level(Level::Landlock);
        let plain = fixture.outside("plain");
        fs::create_dir(&plain).unwrap();
        fixture.policy.writable.push(plain.clone());
        fixture.policy.plain.extend(is_plain.then_some(plain));
        let is_enforced = fixture.launcher.report().fs == FileConfinement::Landlock;
        (is_enforced, stdout(&fixture.run(SCRIPT)))
    };
    let (is_enforced, said) = made(true);
    if !is_enforced {
        println!("not run: this machine has no Landlock");
        return;
    }
    let possible = "file\nmoved-file\nwithin\nfolders\n";
    assert_eq!(said, possible);
    // The control: the same in a folder that is only writable.
    let all = "link\npipe\nmoved-link\nmoved-pipe\nmoved-folder\nmoved-empty\n";
    assert_eq!(made(false).1.replace("hard-link\n", ""), format!("{all}{possible}"));
}
