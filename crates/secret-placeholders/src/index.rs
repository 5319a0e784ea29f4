//! A code index whose answers hold no secrets.

use std::ops::Deref;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use wap_core::{
    Call, CodeIndex, DiagnoseImpact, DiagnoseImpactResponse, IndexError, ListSymbols, ListSymbolsResponse,
    ReadAst, ReadAstResponse, ReadImpact, ReadImpactResponse, ReadSnippet, ReadSnippetResponse, SearchCode,
    SearchCodeResponse,
};

use crate::withheld::{Verdict, Withheld};
use crate::{Secrets, json};

/// A code index for a model: masks what another one answers, and leaves out files of credentials. `I` is a pointer to that.
///
/// Without [`Secrets`] everything passes as it is.
#[derive(Clone, Debug)]
pub struct PlaceholderIndex<I> {
    inner: I,
    secrets: Option<Arc<Secrets>>,
    withheld: Withheld,
}

impl<I: Deref<Target: CodeIndex>> PlaceholderIndex<I> {
    /// Returns an index over another one; `None` shows secrets as they are.
    pub fn new(inner: I, secrets: Option<Arc<Secrets>>, withheld: Withheld) -> PlaceholderIndex<I> {
        PlaceholderIndex { inner, secrets, withheld }
    }

    fn masked<T: Serialize + DeserializeOwned>(&self, answer: T) -> T {
        match &self.secrets {
            Some(secrets) => json::masked(answer, &|text| secrets.mask(text)),
            None => answer,
        }
    }

    fn restored(&self, text: &str) -> String {
        let restored = self.secrets.as_ref().and_then(|secrets| secrets.restore(text).ok());
        restored.map_or_else(|| text.to_owned(), |text| text.into_owned())
    }

    fn is_visible(&self, path: &str) -> bool {
        // Without a look at the content: an index has better files to offer.
        self.secrets.is_none() || self.withheld.verdict(path) == Verdict::Visible
    }
}

impl<I: Deref<Target: CodeIndex> + Send + Sync> CodeIndex for PlaceholderIndex<I> {
    fn search(&self, call: &Call<'_>, request: &SearchCode) -> Result<SearchCodeResponse, IndexError> {
        let request = SearchCode { query: self.restored(&request.query), limit: request.limit };
        let mut hits = self.inner.search(call, &request)?;
        hits.hits.retain(|hit| self.is_visible(&hit.path));
        Ok(self.masked(hits))
    }

    fn snippet(&self, call: &Call<'_>, request: &ReadSnippet) -> Result<ReadSnippetResponse, IndexError> {
        let request = ReadSnippet { doc_id: self.restored(&request.doc_id), ..request.clone() };
        let read = self.inner.snippet(call, &request)?;
        if !self.is_visible(&read.path) {
            return Err(IndexError::UnknownDocument { doc_id: request.doc_id });
        }
        Ok(self.masked(read))
    }

    fn symbols(&self, call: &Call<'_>, request: &ListSymbols) -> Result<ListSymbolsResponse, IndexError> {
        let request = ListSymbols { file: self.restored(&request.file) };
        Ok(self.masked(self.inner.symbols(call, &request)?))
    }

    fn ast(&self, call: &Call<'_>, request: &ReadAst) -> Result<ReadAstResponse, IndexError> {
        let request = ReadAst { file: self.restored(&request.file), ..request.clone() };
        Ok(self.masked(self.inner.ast(call, &request)?))
    }

    fn impact(&self, call: &Call<'_>, request: &ReadImpact) -> Result<ReadImpactResponse, IndexError> {
        let request = ReadImpact { file: self.restored(&request.file), ..request.clone() };
        Ok(self.masked(self.inner.impact(call, &request)?))
    }

    fn impact_diagnostics(
        &self,
        call: &Call<'_>,
        request: &DiagnoseImpact,
    ) -> Result<DiagnoseImpactResponse, IndexError> {
        let file = request.file.as_ref().map(|file| self.restored(file));
        Ok(self.masked(self.inner.impact_diagnostics(call, &DiagnoseImpact { file, ..request.clone() })?))
    }
}
