//! The critic's part: the check of touched files, the user's command, and the critic agent.

use codali_envelope::critic::CriticStatus;
use codali_envelope::{CommandOutput, CriticResult, Role, critic};

use super::building::Built;
use super::running::{Running, TEST};
use super::verdict::{add_reason, join};
use super::{FlowError, FlowEvent, Plan, StepError, Verdict, read_verdict};

impl Running<'_> {
    /// Judges a round by the check, the user's command and the critic agent. The round fails if any of them does.
    pub(super) fn judge(
        &mut self,
        round: u32,
        plan: &Plan,
        built: &Built,
    ) -> Result<CriticResult, FlowError> {
        self.output = self.test()?;
        let settings = self.flow.settings;
        let Built { touched, reply } = built;
        let mut checked =
            critic::check(touched, &plan.targets, &settings.allowed, &settings.read_only, reply);
        if let Some(CommandOutput { command, succeeded: false, outcome, .. }) = &self.output {
            add_reason(&mut checked, &format!("the command `{command}` has failed: {outcome}"));
        }
        let (result, is_contradicted) = match settings.has_critic {
            false => (checked, false),
            true => {
                let verdict = self.verdict(plan, &checked)?;
                join(checked, &verdict)
            }
        };
        self.flow.events.event(&FlowEvent::Judged { round, result: result.clone(), is_contradicted });
        Ok(result)
    }

    /// Asks the critic agent, and once more if its reply has no verdict.
    fn verdict(&mut self, plan: &Plan, checked: &CriticResult) -> Result<Verdict, FlowError> {
        let guide = self.guide.critic(plan, checked);
        for is_last in [false, true] {
            let reply = self.converse(&Role::Critic, &guide)?;
            if let Some(verdict) = read_verdict(&reply) {
                return Ok(verdict);
            }
            if !is_last {
                self.instruct(
                    "there is no verdict in the critic's reply: its first line must be PASS or FAIL",
                );
            }
        }
        let reasons = vec!["the critic agent gave no verdict".to_owned()];
        Ok(Verdict { status: CriticStatus::Fail, reasons })
    }

    /// Runs the user's command, if there is one.
    fn test(&mut self) -> Result<Option<CommandOutput>, FlowError> {
        let Some(command) = &self.flow.settings.test else { return Ok(None) };
        let run = self.pending_run()?;
        if let Some(step) = self.steps.recorded(TEST)? {
            let number = self.steps.last();
            return serde_json::from_str(&step).map(Some).map_err(|_| StepError::Damaged { number }.into());
        }
        self.check_cancel()?;
        let output = self.flow.engine.run_command(run, command)?;
        // An interrupted command has no outcome.
        self.check_cancel()?;
        let text = serde_json::to_string_pretty(&output).expect("an output has string keys");
        self.steps.record(TEST, &text)?;
        self.flow.events.event(&FlowEvent::Tested {
            command: command.clone(),
            succeeded: output.succeeded,
            outcome: output.outcome.clone(),
        });
        Ok(Some(output))
    }
}
