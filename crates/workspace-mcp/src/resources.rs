//! The resources of a server's workspace: runs from the journal, processes and proposals from the owner of the state folder.

use std::sync::Arc;

use change_review::{ProposalEnd, ProposalId, ProposalSummary};
use local_workspace::ProcessStatus;
use wap_core::{Call, WapError, visible_line};
use wap_mcp::{Listed, ListedPage, Mark, ResourceName, Watched, WorkspaceResources};
use workspace_host::{
    ListProcesses, ListProposals, RunViews, SecretRules, SharedWorkspace, ShowProposal, WorkspacePaths,
    proposal_text,
};

use crate::asking::ask;

/// The maximum number of processes, and of proposals, in the first part of a list.
const MOST_LISTED: usize = 100;

/// The maximum number of characters of a description in a list; a command can be one line of any length.
const MOST_CHARACTERS: usize = 200;

/// The resources of the workspace that a server serves.
pub struct ServedResources {
    workspace: Arc<SharedWorkspace>,
    paths: WorkspacePaths,
    rules: SecretRules,
}

impl ServedResources {
    /// Serves the resources of a workspace, without the secrets that `rules` recognise.
    #[must_use]
    pub fn new(
        workspace: Arc<SharedWorkspace>,
        paths: WorkspacePaths,
        rules: SecretRules,
    ) -> ServedResources {
        ServedResources { workspace, paths, rules }
    }

    fn runs(&self) -> RunViews<'_> {
        RunViews::new(&self.paths, &self.rules)
    }

    fn processes(&self, call: &Call<'_>) -> Result<Vec<ProcessStatus>, WapError> {
        ask(&self.workspace, &self.rules, &ListProcesses, call)
    }

    fn proposals(&self, call: &Call<'_>) -> Result<Vec<ProposalSummary>, WapError> {
        ask(&self.workspace, &self.rules, &ListProposals, call)
    }
}

impl WorkspaceResources for ServedResources {
    fn list(&self, call: &Call<'_>, before: Option<u64>) -> Result<ListedPage, WapError> {
        let mut page = ListedPage::default();
        if before.is_none() {
            let own = &call.origin.conversation;
            let processes = self.processes(call)?;
            let own = processes.iter().filter(|process| process.conversation == *own);
            page.resources
                .extend(own.filter_map(|process| listed_process(process, &self.rules)).take(MOST_LISTED));
            // The newest proposals, with the waiting ones first.
            let mut proposals = self.proposals(call)?;
            proposals.sort_by_key(|proposal| (!proposal.is_pending, std::cmp::Reverse(proposal.id)));
            let proposals = proposals.iter().take(MOST_LISTED);
            page.resources.extend(proposals.map(|proposal| listed_proposal(proposal, &self.rules)));
        }
        let runs = self.runs().list(before).map_err(|failure| self.workspace.unavailable(&failure))?;
        page.next = runs.next;
        page.resources.extend(
            runs.runs
                .into_iter()
                .map(|run| Listed { name: ResourceName::Run(run.number), description: run.description }),
        );
        Ok(page)
    }

    fn text(&self, call: &Call<'_>, name: &ResourceName) -> Result<Option<String>, WapError> {
        match name {
            ResourceName::Run(run) => self
                .runs()
                .differences(*run, call.cancel)
                .map_err(|failure| self.workspace.unavailable(&failure)),
            ResourceName::Review(number) => {
                let id = ProposalId(*number);
                if !self.proposals(call)?.iter().any(|proposal| proposal.id == id) {
                    return Ok(None);
                }
                let view = ask(&self.workspace, &self.rules, &ShowProposal(id), call)?;
                Ok(Some(proposal_text(&view, &self.rules)))
            }
            // The server reads these as the tool `readFile` does.
            ResourceName::Output(_) | ResourceName::Process(_) => Ok(None),
        }
    }

    fn marks(&self, call: &Call<'_>, watched: &[Watched]) -> Vec<Result<Option<Mark>, WapError>> {
        let has = |is_meant: fn(&ResourceName) -> bool| watched.iter().any(|watched| is_meant(&watched.name));
        let processes = match has(|name| matches!(name, ResourceName::Process(_))) {
            true => self.processes(call),
            false => Ok(Vec::new()),
        };
        let proposals = match has(|name| matches!(name, ResourceName::Review(_))) {
            true => self.proposals(call),
            false => Ok(Vec::new()),
        };
        let mark = |Watched { conversation, name }: &Watched| match name {
            ResourceName::Process(name) => {
                let is_meant =
                    |process: &&ProcessStatus| process.conversation == *conversation && process.name == *name;
                let process = processes.as_ref().map_err(WapError::clone)?.iter().find(is_meant);
                Ok(process.map(|process| format!("{} {}", process.is_running, process.output_bytes)))
            }
            ResourceName::Review(number) => {
                let proposals = proposals.as_ref().map_err(WapError::clone)?;
                let proposal = proposals.iter().find(|proposal| proposal.id.0 == *number);
                Ok(proposal.map(|proposal| format!("{} {:?}", proposal.is_pending, proposal.end)))
            }
            ResourceName::Run(run) => {
                self.runs().mark(*run).map_err(|failure| self.workspace.unavailable(&failure))
            }
            ResourceName::Output(_) => Ok(None),
        };
        watched.iter().map(|watched| Ok(mark(watched)?.map(Mark))).collect()
    }

    fn last_change(&self) -> Result<Option<u64>, WapError> {
        self.runs().last_change().map_err(|failure| self.workspace.unavailable(&failure))
    }

    fn failure(&self, run: Option<u64>) -> Result<Option<String>, WapError> {
        self.runs().failure(run).map_err(|failure| self.workspace.unavailable(&failure))
    }

    fn work(&self, call: &Call<'_>, conversation: Option<&str>) -> Result<Option<String>, WapError> {
        let own = &call.origin.conversation.0;
        self.runs()
            .work(own, conversation, call.cancel)
            .map_err(|failure| self.workspace.unavailable(&failure))
    }

    fn conversations(&self, prefix: &str, most: usize) -> Result<Vec<String>, WapError> {
        self.runs().conversations(prefix, most).map_err(|failure| self.workspace.unavailable(&failure))
    }
}

/// A process in the list; `None` if its name cannot be part of the name of a resource.
fn listed_process(process: &ProcessStatus, rules: &SecretRules) -> Option<Listed> {
    let name = format!("agentd://process/{}", process.name).parse().ok()?;
    let state = if process.is_running { "runs" } else { "has ended" };
    let description = format!("{state}, {} bytes: {}", process.output_bytes, process.command);
    Some(Listed { name, description: rules.mask_rest(&description) })
}

fn listed_proposal(proposal: &ProposalSummary, rules: &SecretRules) -> Listed {
    let state = match (proposal.is_pending, proposal.end) {
        _ if proposal.fault.is_some() => "cannot be read",
        (true, _) => "waits for the user",
        (false, None) => "is landing",
        (false, Some(ProposalEnd::Landed)) => "has landed",
        (false, Some(ProposalEnd::SentBack)) => "was sent back",
        (false, Some(ProposalEnd::Closed)) => "was closed without an answer",
    };
    let description = rules.mask_rest(&format!("{state}: {}", proposal.subject));
    let description = visible_line(&description, MOST_CHARACTERS);
    Listed { name: ResourceName::Review(proposal.id.0), description }
}
