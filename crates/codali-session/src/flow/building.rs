//! The builder's part: edits that are applied as one run.

use codali_envelope::Role;
use serde::{Deserialize, Serialize};

use super::running::{EDITS, Running};
use super::{Applied, FlowError, FlowEvent, Plan, StepError};

/// The most characters of an output that the history quotes.
const DETAIL_CHARACTERS: usize = 4_000;

/// The outcome of a builder's turn.
pub(super) struct Built {
    /// The paths that the session has changed so far.
    pub(super) touched: Vec<String>,
    /// The builder's last reply.
    pub(super) reply: String,
}

/// A step with the outcome of edits.
#[derive(Serialize, Deserialize)]
struct EditsStep {
    #[serde(flatten)]
    applied: Applied,
    touched: Vec<String>,
}

impl Running<'_> {
    /// Lets the builder carry out a plan. Failed edits are reported to it once, a person's review every time.
    pub(super) fn build(&mut self, plan: &Plan) -> Result<Built, FlowError> {
        let guide = self.guide.builder(plan);
        let (mut has_applied, mut is_reviewed, mut is_last) = (false, false, false);
        let mut touched = Vec::new();
        loop {
            let reply = self.converse(&Role::Builder, &guide)?;
            // The review that it answers may not ask for further edits.
            if is_reviewed && has_applied && !self.flow.engine.has_edits(&reply) {
                return Ok(Built { touched, reply });
            }
            let applied;
            EditsStep { applied, touched } = self.apply(&reply)?;
            has_applied |= applied.has_edit();
            is_reviewed = !applied.review.is_empty();
            let failure = applied.failure();
            if failure.is_none() || (is_last && has_applied && !is_reviewed) {
                self.instruct(&applied.report());
                return Ok(Built { touched, reply });
            }
            let request = if is_reviewed {
                "Send the edits that the review still wants, and no others; if it wants none, say so."
            } else if is_last {
                return Err(FlowError::EditsRefused { reason: failure.unwrap_or_default() });
            } else {
                is_last = true;
                "Send the edits that failed once more, corrected, and no others."
            };
            self.instruct(&format!("{}\n{request}", applied.report()));
        }
    }

    fn apply(&mut self, reply: &str) -> Result<EditsStep, FlowError> {
        let run = self.pending_run()?;
        if let Some(step) = self.steps.recorded(EDITS)? {
            let number = self.steps.last();
            return serde_json::from_str(&step).map_err(|_| StepError::Damaged { number }.into());
        }
        self.check_cancel()?;
        let applied = self.flow.engine.apply(run, reply)?;
        let step = EditsStep { applied, touched: self.flow.engine.touched()? };
        let text = serde_json::to_string_pretty(&step).expect("results have string keys");
        self.steps.record(EDITS, &text)?;
        self.flow.events.event(&FlowEvent::Applied {
            run,
            refusal: step.applied.refusal.clone(),
            results: step.applied.results.clone(),
            touched: step.touched.clone(),
        });
        Ok(step)
    }
}

impl Applied {
    /// Returns true if anything was changed or run.
    fn has_edit(&self) -> bool {
        self.results.iter().any(|result| result.is_edit && result.succeeded)
    }

    /// Returns the first reason why not everything was carried out; `None` if it was.
    fn failure(&self) -> Option<String> {
        if let Some(refusal) = &self.refusal {
            return Some(refusal.clone());
        }
        if !self.results.iter().any(|result| result.is_edit) {
            let failed = self.results.iter().find(|result| !result.succeeded);
            return Some(
                failed.map_or("the reply holds no edit".to_owned(), |failed| failed.summary.clone()),
            );
        }
        self.results.iter().find(|result| !result.succeeded).map(|failed| failed.summary.clone())
    }

    /// Writes the outcome for the history.
    fn report(&self) -> String {
        if let Some(refusal) = &self.refusal {
            return format!("nothing of the builder's reply was carried out: {refusal}");
        }
        if self.results.is_empty() {
            return "no edit was found in the builder's reply, so nothing was done".to_owned();
        }
        let mut text = "the builder's edits:".to_owned();
        for result in &self.results {
            let mark = if result.succeeded { "done" } else { "FAILED" };
            text.push_str(&format!("\n- {mark}: {}", result.summary));
            if !result.details.is_empty() {
                let details: String = result.details.chars().take(DETAIL_CHARACTERS).collect();
                details.lines().for_each(|line| text.push_str(&format!("\n  {line}")));
                let left_out = result.details[details.len()..].chars().count();
                if left_out > 0 {
                    text.push_str(&format!("\n  [{left_out} more characters of this output are left out]"));
                }
            }
        }
        if !self.review.is_empty() {
            text.push_str("\nthe user's review of them:");
            self.review.trim().lines().for_each(|line| text.push_str(&format!("\n  {line}")));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{Applied, DETAIL_CHARACTERS};
    use crate::EditResult;

    #[test]
    fn a_long_output_reports_the_omitted_characters() {
        let report = |characters: usize| {
            let details = "é".repeat(characters);
            let result = EditResult { summary: "Ran 'make'".to_owned(), details, ..EditResult::default() };
            Applied { results: vec![result], ..Applied::default() }.report()
        };
        assert!(
            report(DETAIL_CHARACTERS + 7).ends_with("é\n  [7 more characters of this output are left out]")
        );
        // The control: an output that is quoted completely.
        assert!(report(DETAIL_CHARACTERS).ends_with('é'));
    }
}
