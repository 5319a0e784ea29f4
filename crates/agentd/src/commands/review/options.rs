//! The options of `agentd review`, and the option `--review` of commands that carry a model's changes.

use std::str::FromStr;

use change_review::ProposalId;
use clap::Args;
use workspace_host::ReviewPolicy;

#[derive(Debug, Args)]
pub(crate) struct ReviewOptions {
    /// The number of a proposal [default: those that wait].
    pub id: Option<ProposalId>,
    /// Print the list of the proposals that wait, or one proposal, instead of the view that fills the terminal.
    #[arg(long)]
    pub list: bool,
    /// Ask line by line instead of filling the terminal. Dumb terminals are asked so without it.
    #[arg(long, conflicts_with_all = ["list", "all", "leave_out", "take", "comment", "say", "try_it", "land", "send_back"])]
    pub plain: bool,
    /// Also list proposals that are over.
    #[arg(long, conflicts_with = "id")]
    pub all: bool,
    /// Show the differences to what you saw at your last review of the same conversation, where it was sent back.
    #[arg(long, requires = "id")]
    pub since: bool,
    /// Leave out a step, or one of its hunks, both counted from 1; may be given several times.
    #[arg(long, value_name = "STEP[:HUNK]", requires = "id")]
    pub leave_out: Vec<StepChoice>,
    /// Take a step or a hunk that was left out.
    #[arg(long, value_name = "STEP[:HUNK]", requires = "id")]
    pub take: Vec<StepChoice>,
    /// Comment on a step, or on lines of its file as the step leaves it; may be given several times.
    #[arg(long, value_name = "STEP[:LINE[-LINE]]=TEXT", requires = "id")]
    pub comment: Vec<CommentOption>,
    /// A comment to the model about the whole proposal.
    #[arg(long, value_name = "TEXT", requires = "id")]
    pub say: Option<String>,
    /// Try the choice out on a copy-on-write layer and show the results.
    #[arg(long = "try", requires = "id")]
    pub try_it: bool,
    /// Land the choice; it is tried first if it runs commands. What is left out goes back with the comments.
    #[arg(long, requires = "id")]
    pub land: bool,
    /// Carry out nothing, and send the comments to the model.
    #[arg(long, requires = "id", conflicts_with_all = ["land", "try_it"])]
    pub send_back: bool,
    /// Remove the unreadable parts of a damaged proposal. A proposal that is not damaged is refused.
    #[arg(long, requires = "id", conflicts_with_all = ["plain", "leave_out", "take", "comment", "say", "try_it", "land", "send_back"])]
    pub drop: bool,
}

impl ReviewOptions {
    /// Checks whether the command line only names what to look at.
    pub(crate) fn only_looks(&self) -> bool {
        let ReviewOptions {
            id: _,
            list,
            plain: _,
            all,
            since: _,
            leave_out,
            take,
            comment,
            say,
            try_it,
            land,
            send_back,
            drop,
        } = self;
        let has_choices = !leave_out.is_empty() || !take.is_empty() || !comment.is_empty() || say.is_some();
        !(*list || *all || has_choices || *try_it || *land || *send_back || *drop)
    }
}

/// A step or a hunk, as it is counted in the listing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepChoice {
    /// The step, counted from 1.
    pub step: usize,
    /// The hunk, counted from 1; `None` for the whole step.
    pub hunk: Option<usize>,
}

impl FromStr for StepChoice {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<StepChoice, &'static str> {
        const FORM: &str = "give the number of a step, or STEP:HUNK";
        let number = |text: &str| text.parse::<usize>().map_err(|_| FORM);
        Ok(match text.split_once(':') {
            Some((step, hunk)) => StepChoice { step: number(step)?, hunk: Some(number(hunk)?) },
            None => StepChoice { step: number(text)?, hunk: None },
        })
    }
}

/// A comment of the command line.
#[derive(Clone, Debug)]
pub(crate) struct CommentOption {
    /// The step, counted from 1.
    pub step: usize,
    /// The first and the last line, 1-based and inclusive; `None` for the step as a whole.
    pub lines: Option<(usize, usize)>,
    /// The comment.
    pub text: String,
}

impl FromStr for CommentOption {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<CommentOption, &'static str> {
        const FORM: &str = "give STEP=TEXT, STEP:LINE=TEXT or STEP:LINE-LINE=TEXT";
        let number = |text: &str| text.parse::<usize>().map_err(|_| FORM);
        let (subject, text) = text.split_once('=').ok_or(FORM)?;
        let (step, lines) = match subject.split_once(':') {
            None => (number(subject)?, None),
            Some((step, lines)) => {
                let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
                (number(step)?, Some((number(first)?, number(last)?)))
            }
        };
        if text.trim().is_empty() {
            return Err("the comment is empty");
        }
        Ok(CommentOption { step, lines, text: text.to_owned() })
    }
}

/// The option about which changes wait for a person.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct ReviewPolicyOption {
    /// Let changes wait for your review (`agentd review`): all of them, or commands only.
    #[arg(long, value_name = "all|commands|none", num_args = 0..=1, require_equals = true, default_missing_value = "all", default_value = "none")]
    pub review: ReviewPolicy,
}
