//! A sum tree that is not in memory is read in steps of any size: missing segments are asked for in the
//! end, even if a step examines few of them.

use hedgerow::boundary::Shape;
use hedgerow_support::host::Host;
use hedgerow_support::pace::Pace;
use hedgerow_support::sum_commits::{Change, Def, Edit, Model, Row, commit};

const DEF: Def = Def { key: Some("id"), sum: Some("sum"), value: None, prefix: "" };

fn rows(from: u64, to: u64) -> Edit {
    let row = |at: u64| Row::Object([("id", at.to_string()), ("sum", "1".into())].into());
    Edit::Put((from..to).map(|at| (format!("{at:06}"), row(at))).collect())
}

#[test]
fn a_tree_that_is_not_in_memory_is_updated_in_the_smallest_steps() {
    let (mut host, mut model) = (Host::new(Shape::STORED), Model::default());
    let first = Change {
        edits: vec![rows(0, 300)],
        wanted: [("sums".into(), DEF)].into(),
        ..Change::default()
    };
    // Each chunk is a segment of its own, not in memory.
    host.pace = Some(Pace::new(&[7]));
    commit(&mut host, &first, usize::MAX).expect("a commit");
    model.apply(&first);
    host.reopen(0);
    let second = Change { edits: vec![rows(300, 320)], ..Change::default() };
    // Steps of one byte each, to the end.
    host.pace = Some(Pace::new(&[0]));
    commit(&mut host, &second, usize::MAX).expect("a commit");
    model.apply(&second);
    host.pace = None;
    model.check(&mut host);
}
