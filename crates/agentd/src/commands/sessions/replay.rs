//! `agentd replay FILE`: a transcript once more, on a fresh copy.

use std::io::Read;
use std::path::Path;

use sandbox_exec::KeptHomes;
use sandbox_fs::{FileRoot, FsPolicy, NewNames, RootRules};
use serde::Serialize;
use similar::TextDiff;
use tag_session::{Difference, LeftOut, Transcript};
use workspace_host::WorkspacePaths;
use workspace_host::homes::{self, HomeUse};
use workspace_host::session_failure::explain;
use workspace_host::state;

use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;
use crate::views::count::counted;
use crate::views::progress::{Progress, one_line};

/// The largest transcript that is read, in bytes.
const TRANSCRIPT_LIMIT_BYTES: u64 = 256 << 20;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    session: String,
    rounds: usize,
    same: bool,
    differences: &'a [Difference],
    left_out: &'a [LeftOut],
}

/// Replays a transcript in a folder that is gone afterwards, and fails if anything comes out otherwise.
pub(crate) fn replay(common: &CommonOptions, console: Console, file: &Path) -> Outcome {
    if common.read_only {
        return Err(Failure::new(Exit::Refused, "--read-only refuses to carry out what a transcript holds"));
    }
    let transcript = Transcript::parse(&read(file)?)
        .map_err(|error| Failure::new(Exit::Usage, format!("{}: {error}", file.display())))?;
    let cancel = cancel_flag()?;
    let failed =
        |error: std::io::Error| Failure::new(Exit::Failed, format!("the copy cannot be made: {error}"));
    let folder = tempfile::Builder::new().prefix("agentd-replay-").tempdir().map_err(failed)?;
    let project = folder.path().join("project");
    std::fs::create_dir(&project).map_err(failed)?;
    // A project may have names of files that no tool would create.
    let policy = FsPolicy::default().with_new_names(NewNames::Any);
    let root = FileRoot::open(&project, &RootRules::none(), policy)
        .map_err(|error| Failure::new(Exit::Failed, format!("the copy cannot be made: {error}")))?;
    transcript
        .lay_out(&root)
        .map_err(|error| Failure::new(Exit::Usage, format!("{}: {error}", file.display())))?;
    let common = CommonOptions {
        workspace: project,
        base: Some(folder.path().join("state")),
        // Kept from one reply to the next, as it was, and gone afterwards.
        home: if common.home == HomeUse::Kept { HomeUse::Trial } else { common.home },
        read_only: false,
        ..common.clone()
    };
    for left_out in &transcript.left_out {
        console.progress(&format!("not in the transcript: {}: {}", left_out.what, left_out.why));
    }
    let sessions = state::open(&common.host(), &WorkspacePaths::find(&common.host())?, &console.shared())?;
    let mut progress = Progress::new(console);
    let differences =
        sessions.replay(&transcript, common.command_timeout(), &cancel, &mut progress).map_err(explain)?;
    // Commands may have left folders there that are closed to this user, too.
    let _ = KeptHomes::remove(&homes::trial_home(&folder.path().join("state")));
    report(console, &transcript, &differences);
    Ok(if differences.is_empty() { Exit::Done } else { Exit::Failed })
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    std::fs::File::open(file)
        .and_then(|file| file.take(TRANSCRIPT_LIMIT_BYTES + 1).read_to_end(&mut text))
        .map_err(|error| Failure::new(Exit::Usage, format!("cannot read {}: {error}", file.display())))?;
    if text.len() as u64 > TRANSCRIPT_LIMIT_BYTES {
        let text = format!("a transcript has at most {TRANSCRIPT_LIMIT_BYTES} bytes");
        return Err(Failure::new(Exit::Usage, text));
    }
    Ok(text)
}

fn report(console: Console, transcript: &Transcript, differences: &[Difference]) {
    let rounds = transcript.rounds.len();
    if console.json {
        console.json_result(&Report {
            session: transcript.session.to_string(),
            rounds,
            same: differences.is_empty(),
            differences,
            left_out: &transcript.left_out,
        });
        return;
    }
    for difference in differences {
        let Difference { sequence, what, expected, actual, .. } = difference;
        console.result(&format!("message {sequence}, {} came out otherwise:", one_line(what)));
        let diff = TextDiff::from_lines(expected, actual);
        console.result(&diff.unified_diff().header("transcript", "now").to_string());
    }
    let rounds = counted(rounds, "round");
    console.result(&match differences.len() {
        0 => format!("{rounds}, all as in the transcript"),
        count => format!("{rounds}, {}", counted(count, "difference")),
    });
}
