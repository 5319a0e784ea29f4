//! The gain of embeddings against their cost, in words.

use super::embeddings::{Cost, Embeddings};
use super::{BOTH, EMBEDDINGS, FUSED, Measured, OURS, OwnCost, fusion};
use crate::setup::client_packages::SEARCH_MODEL;

/// The least gain, as a share of the mean reciprocal rank, for which an embedding model would be carried.
const LEAST_GAIN: f64 = 0.1;
/// The most bytes that it may take.
const MOST_BYTES: u64 = 100_000_000;

/// Renders what the peer takes and gains, or the reason why it is missing.
pub(super) fn paragraphs(
    functions: usize,
    measured: &[Measured],
    own: &OwnCost,
    peer: &Result<Embeddings, String>,
) -> String {
    let cost = match peer {
        Ok(peer) => &peer.cost,
        Err(why) => return format!("Embeddings of all-MiniLM-L6-v2 are not measured: {why}.\n"),
    };
    let Some(last) = measured.last() else { return String::new() };
    let rank = |engine: usize| last.engines[engine].1.mean_reciprocal();
    let gain = |engine: usize| rank(engine) / rank(OURS) - 1.0;
    let questions = measured.iter().map(|one| one.questions.questions.len()).sum();
    format!(
        "Embeddings are those of {SEARCH_MODEL}, compared by their cosine; a function counts with its first 256 tokens. Ranks are fused by the sum of 1 / ({} + rank) over the first {FUSED} hits of both. {}\n\nOn the {} set the fused ranks have a mean reciprocal rank of {:.3}, {:+.0} % against ours ({:.3}), and the embeddings alone {:.3}, {:+.0} %. {} Two reasons against it: it has the cost above, and needs a Python runtime; and the model was trained on CodeSearchNet's pairs of comment and function, from which CoSQA took its functions, so that it may gain less on code that it has not seen. {}\n",
        fusion::CONSTANT,
        costs(functions, questions, own, cost),
        last.name,
        rank(BOTH),
        gain(BOTH) * 100.0,
        rank(OURS),
        rank(EMBEDDINGS),
        gain(EMBEDDINGS) * 100.0,
        if gain(BOTH) > gain(EMBEDDINGS) {
            "Both together are better than either."
        } else {
            "Fused with ours, the embeddings get no better."
        },
        verdict(gain(BOTH), cost.package_bytes),
    )
}

/// Renders the time, memory and disk of the peer, and the time of ours.
fn costs(functions: usize, questions: usize, own: &OwnCost, cost: &Cost) -> String {
    let each =
        |seconds: f64, count: usize| seconds * 1000.0 / f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    format!(
        "To embed all {functions} functions took {:.0} s of processor time and to answer a question {:.0} ms, with at most {} MB of memory and {} MB of packages on disk ({} MB of them the model), without Python itself; ours, in a build without optimization, took {:.0} s to index them and {:.0} ms a question.",
        cost.function_seconds,
        each(cost.question_seconds, questions),
        megabytes(cost.peak_bytes),
        megabytes(cost.package_bytes),
        megabytes(cost.model_bytes),
        own.functions.as_secs_f64(),
        each(own.questions.as_secs_f64(), questions * super::LIMITS.len()),
    )
}

/// Returns whether a model is carried, by its gain and size.
fn verdict(gain: f64, bytes: u64) -> String {
    let rule = format!(
        "The rule is that a model is carried if the fused ranks gain at least {:.0} % on the test set and it takes at most {} MB",
        LEAST_GAIN * 100.0,
        megabytes(MOST_BYTES)
    );
    match (gain >= LEAST_GAIN, bytes <= MOST_BYTES) {
        (true, true) => format!("{rule}: both hold, so `agentd` should carry one, and does not yet."),
        (true, false) => format!(
            "{rule}: the gain is large enough, the size is not, so `agentd` does not carry one. A quarter of the size (weights rounded to bytes) and a runtime without Python would be worth another measurement, on code that the model has not seen."
        ),
        (false, _) => format!("{rule}: the gain is too small, so `agentd` does not carry one."),
    }
}

fn megabytes(bytes: u64) -> u64 {
    (bytes + 500_000) / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::{costs, verdict};
    use crate::outside::search::OwnCost;
    use crate::outside::search::embeddings::Cost;

    #[test]
    fn a_model_is_carried_only_if_it_gains_enough_and_is_small() {
        assert!(
            verdict(0.1, 100_000_000).ends_with("both hold, so `agentd` should carry one, and does not yet.")
        );
        assert!(verdict(0.6, 182_000_000).contains("the size is not, so `agentd` does not carry one"));
        assert!(verdict(0.09, 1).contains("the gain is too small"));
    }

    #[test]
    fn costs_are_those_of_one_question() {
        let own = OwnCost {
            functions: std::time::Duration::from_secs(9),
            questions: std::time::Duration::from_secs(8),
        };
        let cost = Cost {
            function_seconds: 400.4,
            question_seconds: 50.0,
            peak_bytes: 757_137_408,
            package_bytes: 182_000_000,
            model_bytes: 90_868_376,
        };
        let text = costs(6267, 1000, &own, &cost);
        assert!(text.contains("took 400 s of processor time and to answer a question 50 ms"), "{text}");
        assert!(
            text.contains("757 MB of memory and 182 MB of packages on disk (91 MB of them the model)"),
            "{text}"
        );
        assert!(text.ends_with("took 9 s to index them and 4 ms a question."), "{text}");
    }
}
