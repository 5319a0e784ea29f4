//! The check of delivered work, set up as if its agent had run on this machine.

use cocode_env::{AgentContext, AgentName};
use std::time::Duration;

use egress::Network;
use sandbox_exec::ShellCommand;

use crate::delivery::Delivery;
use crate::error::RunnerError;
use crate::plan::agent_policy::check_writable;
use crate::plan::definition::AgentDefinition;
use crate::plan::environment::agent_environment;
use crate::plan::{PlannedAgent, RunPlan, body_file};
use crate::record::AgentRecord;
use crate::record::elsewhere::CheckPermissions;
use crate::repository::Base;
use crate::runner::Runner;

impl Runner {
    /// Returns a plan for the check of delivered work, whose command is the check.
    pub(super) fn check_plan(
        &self,
        record: &AgentRecord,
        permissions: &CheckPermissions,
        delivery: &Delivery,
        check: &str,
    ) -> Result<RunPlan, RunnerError> {
        let definition = definition(&record.agent, permissions, delivery, check);
        // Checked again, since a record is a file.
        check_writable(&self.config, &self.repository, &definition)?;
        let context = AgentContext::new(
            record.worktree.clone(),
            record.issue,
            record.issue_url.clone(),
            body_file(&record.worktree),
            record.marker.clone(),
        )?;
        let refused = |source| RunnerError::Command { agent: record.agent.clone(), source };
        let agent = PlannedAgent {
            branch: record.branch.clone(),
            worktree: record.worktree.clone(),
            environment: agent_environment(&self.config.host, &definition, &context),
            context,
            command: ShellCommand::new(check).map_err(refused)?,
            timeout: Duration::from_secs(permissions.timeout_seconds),
            definition,
        };
        let base = Base { name: record.base.clone(), commit: record.start_commit.clone() };
        Ok(RunPlan { base, agents: vec![agent] })
    }
}

fn definition(
    name: &AgentName,
    permissions: &CheckPermissions,
    delivery: &Delivery,
    check: &str,
) -> AgentDefinition {
    AgentDefinition {
        environment: delivery.environment.clone(),
        check: Some(check.to_owned()),
        writable: permissions.writable.clone(),
        readable: permissions.readable.clone(),
        is_confined: permissions.is_confined,
        network: network(&permissions.network),
        ..AgentDefinition::new(name.clone())
    }
}

/// Parses the network of a record. An invalid text means no network.
fn network(text: &str) -> Network {
    match text.strip_prefix("allow=") {
        Some(names) => names.parse().map(Network::Names).unwrap_or(Network::Off),
        None if text == "on" => Network::On,
        None => Network::Off,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_network_of_a_record_is_that_of_the_definition() {
        for text in ["on", "off", "allow=api.example,*.cdn.example:443"] {
            assert_eq!(network(text).to_string(), text);
        }
        assert_eq!(network("allow=not a name").to_string(), "off");
    }
}
