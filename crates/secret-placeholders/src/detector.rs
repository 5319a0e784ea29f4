//! Finding secrets in a text by the rules of nosecrets and this crate's own.

mod check;
mod colours;
mod common_value;
mod field;
mod joint;
mod line_prefix;
mod nearby_names;
mod next_line;
mod own_rules;
mod placeholder_words;
mod rule;
mod text;
mod text_line;
mod token_rules;
mod value_end;
mod words;

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::LazyLock;
use std::thread;

use aho_corasick::{AhoCorasick, MatchKind};
use nosecrets_rules::Rule;

use self::check::Check;
pub(crate) use self::colours::Uncoloured;
pub(crate) use self::common_value::is_common;
pub(crate) use self::nearby_names::NAME_KIND;
use self::nearby_names::mark_names;
pub(crate) use self::next_line::{MOST_LINES as MOST_LINES_BELOW, may_be_below, may_begin_below};
use self::next_line::{line_of, value_below};
use self::own_rules::{REPLACED, own_rules};
use self::placeholder_words::is_of_placeholder;
use self::rule::CompiledRule;
pub(crate) use self::text::{is_ordinary, is_path};
pub(crate) use self::words::reads_like_words;
use crate::keyword_lines::KeywordLines;
use crate::{addresses, private_key};

/// The rule that names only the first line of a key; [`private_key`] finds what follows it.
const KEY_RULE: &str = "private-key";

/// Keywords that the library's rules can do without: their patterns need another keyword of the rule as well. Each is a
/// part of other words.
const NEEDLESS_KEYWORDS: [&str; 7] =
    ["anon", "supabase_anon", "service_role", "supabase_service", "mailchimp", "mailgun", "basic"];

/// The text length above which searching the halves on two threads is faster, including the start of a thread.
const HALVED_BYTES: usize = 256 * 1024;

/// A part of a text that is a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The byte range of the value alone. It never contains a line feed.
    pub range: Range<usize>,
    /// The name of the rule.
    pub kind: Cow<'static, str>,
}

/// Reports whether to cancel a search.
pub(crate) type IsCancelled<'a> = &'a (dyn Fn() -> bool + Sync);

/// The compiled rules.
///
/// Only lines with a keyword are examined, each by itself, so any whole lines of a text have the same secrets as in the
/// text. Exceptions are private keys, which are found by their first or last line, and values below the line of their
/// name. The time is linear in the length of the text.
#[derive(Debug)]
pub struct Detector {
    keywords: AhoCorasick,
    /// The lines with keywords, found faster; `None` where the processor has no instructions for it.
    keyword_lines: Option<KeywordLines>,
    /// The rules of each keyword, as bits.
    of_keyword: Vec<u128>,
    rules: Vec<CompiledRule>,
    /// The rules for named values, as bits.
    of_fields: u128,
}

impl Detector {
    /// Returns the detector with the rules of the library, compiled once in a process.
    #[must_use]
    pub fn usual() -> &'static Detector {
        static USUAL: LazyLock<Detector> = LazyLock::new(|| {
            let mut rules =
                nosecrets_rules::load_builtin_rules().expect("the rules of the library are valid");
            for rule in &mut rules {
                rule.keywords.retain(|keyword| !NEEDLESS_KEYWORDS.contains(&&**keyword));
            }
            rules.retain(|rule| rule.id != KEY_RULE && !REPLACED.contains(&&*rule.id));
            let own = own_rules().into_iter().map(|(rule, check)| (rule, Some(check)));
            let rules: Vec<(Rule, Option<Check>)> =
                rules.into_iter().map(|rule| (rule, None)).chain(own).collect();
            Detector::new(&rules)
        });
        &USUAL
    }

    /// Compiles rules, each with an optional check of its values.
    fn new(rules: &[(Rule, Option<Check>)]) -> Detector {
        assert!(rules.len() <= u128::BITS as usize, "a rule is a bit");
        let mut keywords: Vec<String> = Vec::new();
        let mut of_keyword: Vec<u128> = Vec::new();
        for (bit, (rule, _)) in rules.iter().enumerate() {
            assert!(!rule.keywords.is_empty(), "{} has no keyword", rule.id);
            for keyword in rule.keywords.iter().map(|keyword| keyword.to_ascii_lowercase()) {
                let index = keywords.iter().position(|one| *one == keyword).unwrap_or_else(|| {
                    keywords.push(keyword);
                    of_keyword.push(0);
                    keywords.len() - 1
                });
                of_keyword[index] |= 1 << bit;
            }
        }
        let keyword_lines = KeywordLines::of(&keywords);
        let keywords = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(&keywords)
            .expect("keywords are few and short");
        let is_of_field = |check: &Option<Check>| check.is_some_and(Check::reads_field);
        let of_fields = rules.iter().enumerate().filter(|(_, (_, check))| is_of_field(check));
        Detector {
            of_fields: of_fields.fold(0, |bits, (bit, _)| bits | 1 << bit),
            keywords,
            keyword_lines,
            of_keyword,
            rules: rules.iter().map(|(rule, check)| CompiledRule::of(rule, *check)).collect(),
        }
    }

    /// Returns the secrets of a text, sorted and disjoint.
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<Span> {
        self.find_unless(text, &|| false).unwrap_or_default()
    }

    /// Like [`find`](Self::find), but returns `None` when cancelled; `is_cancelled` is called for each line examined.
    pub(crate) fn find_unless(&self, text: &str, is_cancelled: IsCancelled<'_>) -> Option<Vec<Span>> {
        let Some(plain) = Uncoloured::of(text) else { return self.find_plain(text, is_cancelled) };
        let spans = self.find_plain(&plain.text, is_cancelled)?.into_iter();
        Some(spans.map(|span| Span { range: plain.coloured(span.range), kind: span.kind }).collect())
    }

    fn find_plain(&self, text: &str, is_cancelled: IsCancelled<'_>) -> Option<Vec<Span>> {
        let mut hits = Vec::new();
        self.find_by_rules(text, is_cancelled, &mut hits);
        if is_cancelled() {
            return None;
        }
        let is_kind = |kind: &str| self.rules.iter().any(|rule| rule.kind.eq_ignore_ascii_case(kind));
        hits.retain(|hit| !is_of_placeholder(text, &hit.range, &is_kind));
        addresses::find(text, &mut hits);
        mark_names(text, &mut hits);
        private_key::find(text, &mut hits);
        Some(merge(hits))
    }

    /// Finds the values by rules, in both halves of a large text at once.
    fn find_by_rules(&self, text: &str, is_cancelled: IsCancelled<'_>, hits: &mut Vec<Span>) {
        let Some(middle) = middle(text) else {
            return self.find_in_part(text, 0..text.len(), is_cancelled, hits);
        };
        thread::scope(|scope| {
            let second = || {
                let mut hits = Vec::new();
                self.find_in_part(text, middle..text.len(), is_cancelled, &mut hits);
                hits
            };
            let elsewhere = thread::Builder::new().spawn_scoped(scope, second);
            self.find_in_part(text, 0..middle, is_cancelled, hits);
            // If the thread could not be started, search here.
            let second_half = elsewhere.ok().and_then(|thread| thread.join().ok());
            hits.extend(second_half.unwrap_or_else(second));
        });
    }

    /// Finds the values in a part of a text that consists of whole lines.
    fn find_in_part(
        &self,
        text: &str,
        part: Range<usize>,
        is_cancelled: IsCancelled<'_>,
        hits: &mut Vec<Span>,
    ) {
        let lines = &text[part.clone()];
        let Some(keyword_lines) = &self.keyword_lines else {
            return self.find_in_all(text, part, hits);
        };
        keyword_lines.each_of(lines, |line| {
            if !is_cancelled() {
                self.find_in_all(text, part.start + line.start..part.start + line.end, hits);
            }
        });
    }

    /// Finds the values in the lines of a part of a text.
    fn find_in_all(&self, text: &str, part: Range<usize>, hits: &mut Vec<Span>) {
        let lines = &text[part.clone()];
        let bytes = lines.as_bytes();
        let mut line = 0..0;
        let mut rules = 0_u128;
        let in_text = |line: &Range<usize>| part.start + line.start..part.start + line.end;
        for keyword in self.keywords.find_overlapping_iter(lines) {
            if keyword.end() > line.end {
                self.find_in_line(text, in_text(&line), rules, hits);
                let start = keyword.start();
                let begin = memchr::memrchr(b'\n', &bytes[..start]).map_or(0, |at| at + 1);
                let end = memchr::memchr(b'\n', &bytes[start..]).map_or(lines.len(), |at| start + at + 1);
                (line, rules) = (begin..end, 0);
            }
            rules |= self.of_keyword[keyword.pattern().as_usize()];
        }
        self.find_in_line(text, in_text(&line), rules, hits);
    }

    fn find_in_line(&self, text: &str, line: Range<usize>, rules: u128, hits: &mut Vec<Span>) {
        if rules == 0 {
            return;
        }
        let (offset, following) = (line.start, line.end);
        let line = &text[line];
        // Some rules require whitespace after the value, so terminate the last line, too.
        let whole = if line.ends_with('\n') { Cow::Borrowed(line) } else { Cow::Owned(format!("{line}\n")) };
        self.each_rule(rules, |rule| {
            rule.find(&whole, offset, hits);
        });
        if rules & self.of_fields != 0 {
            self.find_below(line, text, following, rules, hits);
        }
    }

    /// Finds the value below the line that ends with its name.
    fn find_below(&self, line: &str, text: &str, following: usize, rules: u128, hits: &mut Vec<Span>) {
        let Some(below) = value_below(line, &text[following..]) else { return };
        let name = line_of(below.name);
        for value in below.values {
            let value = following + value.start..following + value.end;
            let settings = format!("{name}{}\n", &text[value.clone()]);
            let mut of_value = Vec::new();
            self.each_rule(rules & self.of_fields, |rule| {
                rule.find(&settings, 0, &mut of_value);
            });
            let of_value = of_value.into_iter().filter(|hit| hit.range.start >= name.len());
            hits.extend(of_value.map(|Span { range, kind }| Span {
                range: value.start + range.start - name.len()..value.start + range.end - name.len(),
                kind,
            }));
        }
    }

    /// Checks whether a text has a value that is found by its name on a line above.
    pub(crate) fn has_value_below(&self, text: &str) -> bool {
        let mut start = 0;
        text.split_inclusive('\n').any(|line| {
            let following = start + line.len();
            start = following;
            let mut hits = Vec::new();
            if value_below(line, &text[following..]).is_some() {
                self.find_below(line, text, following, self.of_fields, &mut hits);
            }
            !hits.is_empty()
        })
    }

    fn each_rule(&self, mut rules: u128, mut each: impl FnMut(&CompiledRule)) {
        while rules != 0 {
            each(&self.rules[rules.trailing_zeros() as usize]);
            rules &= rules - 1;
        }
    }
}

/// Returns the start of a line near the middle of a text that is worth splitting between two threads.
fn middle(text: &str) -> Option<usize> {
    static PROCESSORS: LazyLock<usize> =
        LazyLock::new(|| thread::available_parallelism().map_or(1, NonZeroUsize::get));
    if text.len() < HALVED_BYTES || *PROCESSORS < 2 {
        return None;
    }
    let half = text.len() / 2;
    memchr::memchr(b'\n', &text.as_bytes()[half..]).map(|at| half + at + 1)
}

/// Merges overlapping spans; the kind of the longest wins, preferring certain ones.
pub(crate) fn merge(mut spans: Vec<Span>) -> Vec<Span> {
    spans.retain(|span| !span.range.is_empty());
    spans.sort_by_key(|span| (span.range.start, usize::MAX - span.range.end));
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                let is_possible = |kind: &str| kind == private_key::POSSIBLE_KIND;
                let is_longer = span.range.len() > last.range.len() && !is_possible(&span.kind);
                if is_longer || is_possible(&last.kind) {
                    last.kind = span.kind;
                }
                last.range.end = last.range.end.max(span.range.end);
            }
            _ => merged.push(span),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Detector;
    use super::rule::{COST_OF_JUDGING, HOST, MOST_LOOKS};

    #[test]
    fn every_pattern_of_the_library_compiles() {
        let rules = &Detector::usual().rules;
        assert!(rules.len() > 20, "{}", rules.len());
        for pattern in
            rules.iter().flat_map(|rule| rule.allowed.iter().chain([&rule.pattern]).chain(&rule.within_words))
        {
            assert_eq!(pattern.get().as_str(), pattern.text);
        }
    }

    #[test]
    fn addresses_with_a_password_are_searched_up_to_their_host() {
        let addresses = Detector::usual()
            .rules
            .iter()
            .filter(|rule| rule.pattern.text.ends_with(&HOST[..HOST.len() - 1]));
        assert_eq!(addresses.count(), 5);
    }

    #[test]
    fn every_address_of_a_line_has_its_password_hidden() {
        let urls = ["postgres", "mysql", "mongodb", "redis", "sqlserver"].map(|scheme| {
            ["first1Pw", "second1Pw", "password", "third1Pw"]
                .map(|word| format!("{scheme}://u:{word}@host/db"))
        });
        for line in urls.map(|urls| urls.join(",")) {
            let hidden: Vec<&str> =
                Detector::usual().find(&line).into_iter().map(|hit| &line[hit.range]).collect();
            assert_eq!(hidden, ["first1Pw", "second1Pw", "third1Pw"], "{line}");
        }
    }

    /// Repeated units whose values do not count; where a rule allows, a value extends over the rest of the line.
    const REFUSED: [&str; 15] = [
        "postgres://u:test@",
        "mysql://u:example@",
        "mongodb://u:changeme@",
        "redis://:test@",
        "rediss://redis://:your@",
        "sqlserver://u:password@",
        "jdbc:mysql://password=test123,",
        "jdbc:mysql://pwd=jdbc:test12;",
        "password: 'password: ",
        "api_key=some-example-api_key=",
        "secret = 'xxx-client_secret_secret:",
        "password '",
        "'password', 'password': '",
        "password || \"\"\"",
        "vercel token='test-test-test-test-test-vercel_token'",
    ];

    #[test]
    fn no_line_is_examined_often_by_a_rule() {
        let rules = &Detector::usual().rules;
        for unit in REFUSED {
            for count in [100, 1_000] {
                let line = unit.repeat(count) + "\n";
                for rule in rules {
                    let looked_at = rule.find(&line, 0, &mut Vec::new());
                    let most = (MOST_LOOKS + COST_OF_JUDGING + 2) * line.len();
                    assert!(looked_at <= most, "{}: {looked_at} of {} of {unit}", rule.kind, line.len());
                }
            }
        }
        // The control: some values reach the end of the line, so the examined bytes would be its length times their
        // number.
        let reaches_end = |unit: &&&str| {
            let line = unit.repeat(1_000) + "\n";
            rules.iter().any(|rule| rule.find(&line, 0, &mut Vec::new()) > MOST_LOOKS * line.len())
        };
        assert_eq!(
            REFUSED.iter().filter(reaches_end).collect::<Vec<_>>(),
            [&REFUSED[6], &REFUSED[7], &REFUSED[9]]
        );
    }

    /// The beginning of a line without spaces, a unit to repeat, and the end of the line. Each value is short, but the
    /// next space is at the end of the line.
    const WITHOUT_SPACES: [(&str, &str, &str); 17] = [
        ("x(\"", "password=a,", "\")"),
        ("a=1&", "password=a&", ""),
        ("", "⟦secret:a:1⟧", ""),
        ("[", "{\"id\":1,\"email\":\"a@b\",\"password\":null,\"active\":true},", "{}]"),
        ("[", "{\"api_key\":false,\"secret\":0,\"pwd\":[]},", "{}]"),
        ("[", "{\\\"password\\\":null,\\\"secret\\\":null},", "{}]"),
        ("f(", "password=g('a'),", ")"),
        ("f(", "password=`a`,", ")"),
        ("f(", "password=a;", "                                "),
        ("", "Secret::new;", ""),
        ("f(", "\"--password=a\",", ")"),
        ("f(", "'PASSWORD=a;b=c',", ")"),
        ("f(", "Server=h;Password=a;", ")"),
        ("f(", "'password','a',", ")"),
        ("f(", "password=\"\"\"a\"\"\",", ")"),
        ("f(", "password||'a',", ")"),
        ("f(", "password=${A:-a},", ")"),
    ];

    #[test]
    fn a_rule_does_not_rescan_a_line_without_spaces() {
        let rules = &Detector::usual().rules;
        for (start, unit, end) in WITHOUT_SPACES {
            for count in [100, 10_000] {
                let line = [start, &unit.repeat(count), &end.repeat(count), "\n"].concat();
                for rule in rules {
                    let mut hits = Vec::new();
                    let looked_at = rule.find(&line, 0, &mut hits);
                    // Each name at the start of the line may be the only one on a settings line.
                    let most = MOST_LOOKS * line.len();
                    assert!(looked_at <= most, "{}: {looked_at} of {} of {unit}", rule.kind, line.len());
                    assert_eq!(hits, [], "{unit}");
                }
            }
            // The control: a rule that searched for the space after each value would have given up and hidden the rest
            // of the line.
            let line = [start, &unit.repeat(10_000)].concat();
            let units_from = |at: usize| line.len() - at * unit.len();
            assert!((0..10_000).map(units_from).sum::<usize>() > 100 * MOST_LOOKS * line.len());
        }
    }

    #[test]
    fn a_line_with_too_many_values_that_do_not_count_is_hidden_from_there_on() {
        let unit = "jdbc:mysql://host/?password=test123;";
        let find = |count: usize| {
            let text = format!("a\n{}jdbc:mysql://host/?password=kX7qzWm2\nb\n", unit.repeat(count));
            let hidden = Detector::usual().find(&text);
            hidden.into_iter().map(|hit| text[hit.range].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(find(20), ["kX7qzWm2"]);
        let [hidden] = &find(1_000)[..] else { panic!("one span") };
        assert!(hidden.len() > 900 * unit.len() && hidden.ends_with("=kX7qzWm2"), "{}", hidden.len());
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn keywords_are_found_by_the_faster_search() {
        assert!(!std::arch::is_x86_feature_detected!("avx2") || Detector::usual().keyword_lines.is_some());
    }

    #[test]
    fn the_halves_of_a_large_text_have_the_secrets_of_the_whole() {
        let line = "let key = \"AKIAIOSFODNN7EXAMPLQ\"; // é\nlet value = compute(1, 2);\n";
        let text = line.repeat(2 * super::HALVED_BYTES / line.len());
        let (mut by_halves, mut in_all) = (Vec::new(), Vec::new());
        Detector::usual().find_by_rules(&text, &|| false, &mut by_halves);
        Detector::usual().find_in_all(&text, 0..text.len(), &mut in_all);
        assert!(by_halves.len() > 1_000, "{}", by_halves.len());
        assert_eq!(by_halves, in_all);
    }

    proptest! {
        #[test]
        fn looking_at_lines_with_keywords_alone_misses_nothing(
            pieces in prop::collection::vec(
                prop_oneof![
                    Just("\n".to_owned()),
                    Just("key".to_owned()),
                    Just("API_KEY=".to_owned()),
                    Just("Password: \"".to_owned()),
                    Just("ghp_".to_owned()),
                    Just("AKIA".to_owned()),
                    Just("sk_live_".to_owned()),
                    "[A-Za-z0-9+/=_-]{1,40}",
                    "[ -~]{0,30}",
                    "\\PC{0,5}",
                ],
                0..60,
            ),
        ) {
            let text = pieces.concat();
            let (mut by_lines, mut in_all) = (Vec::new(), Vec::new());
            Detector::usual().find_by_rules(&text, &|| false, &mut by_lines);
            Detector::usual().find_in_all(&text, 0..text.len(), &mut in_all);
            prop_assert_eq!(by_lines, in_all);
        }
    }
}
