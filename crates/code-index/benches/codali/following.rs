//! The time from saving a file until a following index contains it.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use code_index::{FollowingIndex, Follows, LocalIndex};
use file_index::{ChangeFeed, ContentKind, FileIndex, IndexLimits, IndexRules};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsPolicy, RootRules};
use wap_core::{CancelFlag, CodeIndex, SearchCode};

use crate::speed::milliseconds;
use crate::{call, figure};

struct Everything;

impl IndexRules for Everything {
    fn hides(&self, _: &RelPath) -> bool {
        false
    }

    fn leaves_out(&self, _: &RelPath) -> bool {
        false
    }

    fn content_kind(&self, _: &RelPath, _: &[u8]) -> ContentKind {
        ContentKind::Text
    }
}

/// Returns a name of letters only: a digit would be a separate word, which many files contain.
fn name(number: usize) -> String {
    let letter = |index: usize| char::from(b'a' + (index % 26) as u8);
    format!("followedname{}{}", letter(number / 26), letter(number))
}

/// Measures saved files against an up-to-date index over `code`.
pub(crate) fn measure(index: LocalIndex, code: &Path) {
    let root = FileRoot::open(code, &RootRules::none(), FsPolicy::default()).unwrap();
    let limits = IndexLimits { file_bytes: 0, ..IndexLimits::default() };
    let feed = Arc::new(FileIndex::start(Arc::new(root), Everything, limits).unwrap());
    let began = Instant::now();
    while feed.cursor().is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    let memory = feed.report().memory_bytes / 1_000;
    println!("  changes are noticed after {:.0} ms, in {memory} KB", milliseconds(began.elapsed()));
    let follows = Follows::Feed(feed as Arc<dyn ChangeFeed>);
    let index = FollowingIndex::new(index, follows, Duration::from_secs(60));
    let finds = |index: &dyn CodeIndex, number: usize| {
        let request = SearchCode { query: name(number), limit: 1 };
        !call(|call| index.search(call, &request)).unwrap().hits.is_empty()
    };
    let save = |number: usize| {
        let text = format!("fn {}() {{ call(); }}\n", name(number));
        fs::write(code.join(format!("round0/followed{number}.rs")), text).unwrap();
        Instant::now()
    };
    assert!(!finds(&index, 0));

    let mut slowest = Duration::ZERO;
    for number in 0..20 {
        let began = save(number);
        assert!(finds(&index, number));
        slowest = slowest.max(began.elapsed());
    }
    let taken = milliseconds(slowest);
    figure("saved, then asked about, slowest of 20", format!("{taken:.1} ms"), "< 100 ms", taken < 100.0);

    let ends = CancelFlag::new();
    let mut times = Vec::new();
    thread::scope(|scope| {
        scope.spawn(|| index.keep_up(&ends));
        for number in 20..40 {
            thread::sleep(Duration::from_millis(150));
            let began = save(number);
            // The inner index does not update itself at a request.
            while !finds(index.index(), number) {
                thread::sleep(Duration::from_millis(1));
            }
            times.push(milliseconds(began.elapsed()));
        }
        ends.cancel();
    });
    times.sort_by(f64::total_cmp);
    let (middle, slowest) = (times[10], times[19]);
    println!("  saved, then indexed without a request, p50: {middle:.1} ms");
    figure("the same, slowest of 20", format!("{slowest:.1} ms"), "< 100 ms", slowest < 100.0);
}
