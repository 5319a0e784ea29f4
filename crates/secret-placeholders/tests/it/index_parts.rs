//! Parts of files in answers of an index: cut lines, names, signatures and imports.

use std::sync::Arc;

use memory_workspace::MemoryIndex;
use secret_placeholders::{PlaceholderIndex, Secrets, Withheld};
use wap_core::{
    Call, CodeIndex, CodeSymbol, DiagnoseImpact, DiagnoseImpactResponse, IndexError, ListSymbols,
    ListSymbolsResponse, ReadAst, ReadAstResponse, ReadImpact, ReadImpactResponse, ReadSnippet,
    ReadSnippetResponse, SearchCode, SearchCodeResponse, UnresolvedImport,
};

use crate::masking::{secrets, token};
use crate::over_workspace::with_call;

/// An index with a test's answers over texts in memory.
#[derive(Default)]
struct Scripted {
    texts: MemoryIndex,
    excerpt: Option<String>,
    symbols: Vec<CodeSymbol>,
    imports: Vec<UnresolvedImport>,
}

impl Scripted {
    fn with_files<const COUNT: usize>(files: [(&str, &str); COUNT]) -> Scripted {
        Scripted { texts: MemoryIndex::with_files(files), ..Scripted::default() }
    }

    fn masked(self) -> PlaceholderIndex<Box<Scripted>> {
        self.masked_by(&Arc::new(secrets()))
    }

    fn masked_by(self, secrets: &Arc<Secrets>) -> PlaceholderIndex<Box<Scripted>> {
        PlaceholderIndex::new(Box::new(self), Some(Arc::clone(secrets)), Withheld::default())
    }

    fn plain(self) -> PlaceholderIndex<Box<Scripted>> {
        PlaceholderIndex::new(Box::new(self), None, Withheld::default())
    }
}

impl CodeIndex for Scripted {
    fn search(&self, call: &Call<'_>, request: &SearchCode) -> Result<SearchCodeResponse, IndexError> {
        let mut matched = self.texts.search(call, request)?;
        for hit in &mut matched.hits {
            hit.snippet = self.excerpt.clone().unwrap_or_else(|| std::mem::take(&mut hit.snippet));
        }
        Ok(matched)
    }

    fn snippet(&self, call: &Call<'_>, request: &ReadSnippet) -> Result<ReadSnippetResponse, IndexError> {
        self.texts.snippet(call, request)
    }

    fn symbols(&self, _: &Call<'_>, _: &ListSymbols) -> Result<ListSymbolsResponse, IndexError> {
        Ok(ListSymbolsResponse { symbols: self.symbols.clone(), ..ListSymbolsResponse::default() })
    }

    fn ast(&self, call: &Call<'_>, request: &ReadAst) -> Result<ReadAstResponse, IndexError> {
        self.texts.ast(call, request)
    }

    fn impact(&self, call: &Call<'_>, request: &ReadImpact) -> Result<ReadImpactResponse, IndexError> {
        self.texts.impact(call, request)
    }

    fn impact_diagnostics(
        &self,
        _: &Call<'_>,
        _: &DiagnoseImpact,
    ) -> Result<DiagnoseImpactResponse, IndexError> {
        let total = self.imports.len() as u64;
        Ok(DiagnoseImpactResponse { diagnostics: self.imports.clone(), total, ..Default::default() })
    }
}

fn search(index: &impl CodeIndex, query: &str) -> Vec<String> {
    let request = SearchCode { query: query.into(), limit: 9 };
    let hits = with_call(0, |call| index.search(call, &request)).unwrap().hits;
    hits.into_iter().map(|hit| hit.snippet).collect()
}

fn symbol(name: &str, container: Option<&str>, signature: &str) -> CodeSymbol {
    CodeSymbol {
        name: name.into(),
        kind: "method".into(),
        signature: signature.into(),
        line_start: 1,
        line_end: 1,
        container: container.map(str::to_owned),
    }
}

fn symbols(index: &impl CodeIndex, file: &str) -> Vec<CodeSymbol> {
    with_call(0, |call| index.symbols(call, &ListSymbols { file: file.into() })).unwrap().symbols
}

fn imports(index: &impl CodeIndex) -> Vec<String> {
    let request = DiagnoseImpact { file: None, limit: 9, offset: 0 };
    let diagnostics = with_call(0, |call| index.impact_diagnostics(call, &request)).unwrap().diagnostics;
    diagnostics.into_iter().map(|one| one.import).collect()
}

/// Checks whether a text has eight consecutive bytes of a value.
fn has_part(text: &str, value: &str) -> bool {
    (0..=value.len() - 8).any(|at| text.contains(&value[at..at + 8]))
}

#[test]
fn a_line_that_is_cut_at_both_ends_shows_no_part_of_a_secret() {
    let token = token();
    let line = format!("{} {token}\" needle; \"{token} {}", "x".repeat(60), "y".repeat(60));
    let (first, second) = (61, 61 + token.len() + "\" needle; \"".len());
    for start in 0..token.len() + 2 {
        for end in
            [second - 2, second, second + 1, second + 9, second + token.len() - 1, second + token.len()]
        {
            let excerpt = format!("…{}…\n", &line[first + start..end]);
            let file = format!("one\n{line}\n");
            let scripted = || Scripted {
                excerpt: Some(excerpt.clone()),
                ..Scripted::with_files([("a.txt", file.as_str())])
            };
            let visible = search(&scripted().masked(), "needle").remove(0);
            assert!(visible.contains("needle") && !has_part(&visible, &token), "{start} {end}: {visible}");
            // The control: a part that is long enough was there.
            if start < 20 {
                assert!(has_part(&search(&scripted().plain(), "needle")[0], &token));
            }
        }
    }
}

#[test]
fn a_short_value_is_hidden_though_the_cut_took_the_name_by_which_it_is_recognised() {
    let password = ["post", "gres"].concat();
    let line = format!("let pwd = \"{password}\"; needle");
    for cut in 0..line.find('"').unwrap() + 1 {
        let excerpt = Some(format!("…{}\n", &line[cut..]));
        let file = format!("{line}\n");
        let index = Scripted { excerpt, ..Scripted::with_files([("a.txt", file.as_str())]) }.masked();
        let visible = search(&index, "needle").remove(0);
        assert!(visible.ends_with("⟦secret:password-assignment:1⟧\"; needle\n"), "{cut}: {visible}");
    }
    // The control: the same word outside of a password field.
    let file = format!("{password}; needle\n");
    let excerpt = Some(format!("…{password}; needle\n"));
    let index = Scripted { excerpt, ..Scripted::with_files([("a.txt", file.as_str())]) }.masked();
    assert_eq!(search(&index, "needle"), [format!("…{password}; needle\n")]);
}

#[test]
fn a_cut_line_that_is_not_in_the_file_any_more_shows_no_part_of_a_secret() {
    let token = token();
    for excerpt in [format!("…{} needle\n", &token[6..]), format!("needle {}…\n", &token[..30])] {
        let index = Scripted { excerpt: Some(excerpt), ..Scripted::with_files([("a.txt", "needle\n")]) };
        let visible = search(&index.masked(), "needle").remove(0);
        assert!(visible.contains("needle") && !has_part(&visible, &token), "{visible}");
    }
}

#[test]
fn a_signature_that_is_cut_within_a_value_shows_nothing_of_it() {
    let token = token();
    let text = format!("def  login(\tuser, key=\"{token}\", more=1):\n    pass\n");
    let whole = format!("def login( user, key=\"{token}\", more=1)");
    for cut in whole.find('"').unwrap() + 1..whole.len() {
        let signature = format!("{}…", &whole[..cut]);
        let mut index = Scripted::with_files([("a.py", text.as_str())]);
        index.symbols = vec![symbol("login", None, &signature)];
        let visible = symbols(&index.masked(), "a.py").remove(0);
        assert!(!has_part(&visible.signature, &token), "{}", visible.signature);
        assert!(visible.signature.starts_with("def login( user, key=\"") && visible.signature.ends_with('…'));
        assert_eq!(visible.name, "login");
        if cut > whole.find("\", more").unwrap() {
            assert!(visible.signature.contains("key=\"⟦secret:npm-token:1⟧"), "{}", visible.signature);
        }
    }
    // A value that is recognised on one line alone, where the name and the value have come together.
    let password = ["Zq8wLr3T", "nV5xKb2M"].concat();
    let text = format!("{text}def other(password=\n    \"{password}\"):\n    pass\n");
    let mut index = Scripted::with_files([("a.py", text.as_str())]);
    let other = symbol("other", None, &format!("def other(password= \"{password}\")"));
    index.symbols = vec![CodeSymbol { line_start: 3, line_end: 5, ..other }];
    let visible = symbols(&index.masked(), "a.py").remove(0).signature;
    assert_eq!(visible, "def other(password= \"⟦secret:password-assignment:1⟧\")");
    // Text that was trimmed after a value without a mark is a cut as well.
    let mut index = Scripted::with_files([("a.py", text.as_str())]);
    index.symbols = vec![symbol("login", None, &whole[..whole.find('"').unwrap() + 30])];
    assert!(!has_part(&symbols(&index.masked(), "a.py")[0].signature, &token));
}

#[test]
fn a_name_that_is_a_part_of_a_value_is_not_shown() {
    let value = ["Alpha9Beta::", "Gamma7Delta"].concat();
    let config = format!("password = \"{value}\"\n");
    let text = format!("void {value}() {{ login(); }}\n");
    let secrets = Arc::new(secrets());
    let _ = secrets.mask(&config);
    let signature = format!("void {value}()");
    let script = |text: &str| {
        let mut index = Scripted::with_files([("a.cpp", text)]);
        index.symbols = vec![
            symbol("Gamma7Delta", Some("Alpha9Beta"), &signature),
            symbol(&value, None, "void"),
            symbol("login", None, "login()"),
            symbol("login/0", None, "other()"),
            symbol("Gamma7Delta/0", None, "login("),
        ];
        index
    };
    let visible = symbols(&script(&text).masked_by(&secrets), "a.cpp");
    let placeholder = "⟦secret:password-assignment:1⟧";
    let rows: Vec<_> = visible
        .iter()
        .map(|one| (one.name.as_str(), one.container.as_deref().unwrap_or("-"), one.signature.as_str()))
        .collect();
    let of_value = format!("void {placeholder}()");
    assert_eq!(
        rows,
        [
            ("…", "…", of_value.as_str()),
            (placeholder, "-", "void"),
            ("login", "-", "login()"),
            ("login/0", "-", "…"),
            ("…", "-", "login("),
        ]
    );
    // The control: the same names in a file in which they are no part of a value.
    let free = text.replace("::", " ");
    let visible = symbols(&script(&free).masked_by(&secrets), "a.cpp");
    assert_eq!(
        (visible[0].name.as_str(), visible[0].container.as_deref()),
        ("Gamma7Delta", Some("Alpha9Beta"))
    );
    // Of a file that cannot be read nothing is known.
    let visible = symbols(&script(&text).masked_by(&secrets), "gone.cpp");
    assert!(visible.iter().all(|one| one.name == "…" && one.signature == "…"), "{visible:?}");
    // Another index may know the file.
    let reading = script(&text).masked_by(&secrets).reading_files_of(Box::new(script("")));
    assert_eq!(symbols(&reading, "a.cpp")[2].name, "login");
}

#[test]
fn an_import_that_is_a_part_of_a_value_is_not_shown_and_none_of_a_file_of_credentials() {
    let value = ["a1b2c3/../", "d4e5f6g7"].concat();
    let secrets = Arc::new(secrets());
    let _ = secrets.mask(&format!("password = \"{value}\"\n"));
    let text = format!("import \"{value}\";\nimport \"./missing\";\n");
    let mut index = Scripted::with_files([("a.js", text.as_str()), ("b.js", "import d4e5f6g7\n")]);
    let import =
        |file: &str, import: &str| UnresolvedImport { file: file.into(), line: 1, import: import.into() };
    index.imports = vec![
        import("a.js", "d4e5f6g7"),
        import("a.js", "./missing"),
        import("a.js", "from x import d4e5f6g7"),
        import("b.js", "d4e5f6g7"),
        import(".env", "TOKEN"),
    ];
    let plain = index.imports.len();
    assert_eq!(imports(&index.masked_by(&secrets)), ["…", "./missing", "…", "d4e5f6g7"]);
    assert_eq!(plain, 5, "the control");
    let index = Scripted::with_files([(".env", "import a\n")]).masked();
    let refused = IndexError::UnknownFile { file: ".env".into() };
    let request = ReadImpact { file: ".env".into(), max_depth: 1 };
    assert_eq!(with_call(0, |call| index.impact(call, &request)).unwrap_err(), refused);
    let request = DiagnoseImpact { file: Some(".env".into()), limit: 1, offset: 0 };
    assert_eq!(with_call(0, |call| index.impact_diagnostics(call, &request)).unwrap_err(), refused);
}

#[test]
fn a_hit_by_a_word_within_a_secret_is_left_out() {
    let token = token();
    let file = format!("key = {token}\nvisible\n");
    let files = [("u.txt", file.as_str()), ("v.txt", "a1 visible b2\n")];
    let hits_of = |query: &str| search(&Scripted::with_files(files).masked(), query);
    assert_eq!(hits_of("visible").len(), 2);
    // The controls: the word is visible in another file, and is matched where secrets are shown.
    assert_eq!(hits_of("a1"), ["a1 visible b2\n"]);
    assert_eq!(search(&Scripted::with_files(files).plain(), "a1").len(), 2);
    for query in ["c3", "D4e5", &token, "c3 qqq"] {
        assert_eq!(hits_of(query), Vec::<String>::new(), "{query}");
    }
}

#[test]
fn the_words_of_a_placeholder_in_a_query_are_not_searched_for() {
    let words = ["correct horse battery ", "staple 42"].concat();
    let secrets = Arc::new(secrets());
    let masked = secrets.mask(&format!("password = \"{words}\"\n")).into_owned();
    let placeholder = &masked[masked.find('⟦').unwrap()..masked.find('⟧').unwrap() + '⟧'.len_utf8()];
    let files = [("a.txt", "a horse\n"), ("b.txt", "a secret password\n")];
    let hits_of = |query: &str| search(&Scripted::with_files(files).masked_by(&secrets), query);
    assert_eq!(secrets.restore(placeholder).unwrap(), words);
    assert_eq!(hits_of(placeholder), Vec::<String>::new());
    assert_eq!(hits_of(&format!("{placeholder} secret")), ["a secret password\n"]);
    assert_eq!(hits_of("horse"), ["a horse\n"], "the control");
}
