//! Imports that lead to many files at once.

use std::time::{Duration, Instant};

use wap_core::{CodeIndex, ImpactEdge, ReadImpact, ReadImpactResponse};

use crate::fixture::{Fixture, call};

/// A hang guard: far longer than any of these tests takes.
const GUARD: Duration = Duration::from_secs(60);

fn impact(fixture: &Fixture, file: &str, max_depth: u32) -> ReadImpactResponse {
    let index = fixture.index();
    call(|call| index.impact(call, &ReadImpact { file: file.into(), max_depth })).unwrap()
}

/// Returns the number of edges at each depth from 1 on, and checks that no file occurs twice.
fn at_depths(edges: &[ImpactEdge]) -> Vec<usize> {
    let mut files: Vec<&str> = edges.iter().map(|edge| edge.file.as_str()).collect();
    files.dedup();
    assert_eq!(files.len(), edges.len());
    let deepest = edges.iter().map(|edge| edge.depth).max().unwrap_or_default();
    (1..=deepest).map(|depth| edges.iter().filter(|edge| edge.depth == depth).count()).collect()
}

#[test]
fn a_namespace_that_all_of_its_files_import_takes_no_longer_than_their_number() {
    let count = 2_500;
    let file =
        |number| (format!("C{number}.cs"), format!("using A;\nnamespace A {{ class C{number} {{ }} }}\n"));
    let fixture = Fixture::new((0..count).map(file));
    let began = Instant::now();
    let answer = impact(&fixture, "C7.cs", 9);
    assert!(began.elapsed() < GUARD, "{:?}", began.elapsed());
    assert_eq!(at_depths(&answer.inbound), [count - 1]);
    assert_eq!(at_depths(&answer.outbound), [count - 1]);
}

#[test]
fn groups_of_files_have_the_depths_of_single_ones() {
    // Few files are kept one by one, many as a group.
    for count in [3, 30] {
        let mut files = vec![("Top.cs".to_owned(), "using A;\n".to_owned())];
        for number in 0..count {
            files.push((
                format!("a{number}.cs"),
                format!("using B;\nnamespace A {{ class A{number} {{ }} }}\n"),
            ));
            files.push((
                format!("b{number}.cs"),
                format!("using A;\nnamespace B {{ class B{number} {{ }} }}\n"),
            ));
        }
        let fixture = Fixture::new(files);
        let top = impact(&fixture, "Top.cs", 9);
        assert_eq!((at_depths(&top.outbound), at_depths(&top.inbound)), (vec![count, count], vec![]));
        let shallow = impact(&fixture, "Top.cs", 1);
        assert_eq!(at_depths(&shallow.outbound), [count]);
        let of_b = impact(&fixture, "b0.cs", 9);
        // All of A depends on it, and the others of B and the top depend on A.
        assert_eq!(at_depths(&of_b.inbound), [count, count]);
        assert_eq!(at_depths(&of_b.outbound), [count, count - 1]);
    }
}
