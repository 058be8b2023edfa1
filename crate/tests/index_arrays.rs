//! Indexed arrays: their cost is in proportion to their bytes, with any columns.

use hedgerow::boundary::Shape;
use hedgerow::forest::INDEX;
use hedgerow::index::{Definition, Entries, Members};
use hedgerow::limits::MAX_ROW_ENTRIES_BYTES;
use hedgerow::secret::Secret;
use hedgerow::step::{Budget, Step};
use hedgerow_support::host::Host;
use hedgerow_support::rows::pairs;

const TWO: &str = r#"["","/status","/tags"]"#;

fn numbers(count: usize) -> String {
    let members: Vec<_> = (0..count).map(|at| at.to_string()).collect();
    format!("[{}]", members.join(","))
}

/// Counts the entries of a store's only index.
fn indexed(definition: &str, value: &str) -> u64 {
    let definition = Definition::parse(definition).expect("a definition");
    let mut host = Host::new(Shape::STORED);
    host.indexes = vec![definition.clone()];
    host.put(&[("k".to_owned(), value.to_owned())]);
    let streamed = host.forest.tree(&definition.name(INDEX)).count;
    // As a change of a store that has rows, too.
    let mut changed = Host::new(Shape::STORED);
    changed.indexes = vec![definition.clone()];
    changed.put(&[("a".to_owned(), "1".to_owned())]);
    changed.put(&[("k".to_owned(), value.to_owned())]);
    changed.delete(&["a".to_owned()]);
    assert_eq!(changed.root, host.root);
    streamed
}

#[test]
fn a_long_text_in_a_row_with_an_array_is_read_once() {
    // Reading the text for each member would copy 100 GB, and take minutes.
    let value = format!("{{\"status\":\"{}\",\"tags\":{}}}", "x".repeat(1 << 20), numbers(100_000));
    let definition = Definition::parse(TWO).expect("a definition");
    let (mut members, mut out) = (Members::new(Secret::new(1, 2)), Entries::default());
    let cost = definition.entries(b"k", value.as_bytes(), &mut members, &mut out);
    assert!(out.is_empty() && cost <= 4 * value.len(), "{cost} for {} bytes", value.len());
    assert_eq!(indexed(TWO, &value), 0);
}

#[test]
fn the_entries_of_an_array_are_limited_by_the_size_of_its_row() {
    for (status, tags, expected) in [
        // An ordinary row.
        ("open".to_owned(), numbers(20), 20),
        ("open".to_owned(), numbers(5000), 5000),
        ("x".repeat(900), numbers(4), 4),
        // 250 times 900 bytes for two kilobytes of row.
        ("x".repeat(900), numbers(250), 0),
        // More than a row of any size may have.
        ("open".to_owned(), numbers(MAX_ROW_ENTRIES_BYTES / 18 + 1), 0),
        ("open".to_owned(), format!("[{}1]", "0,".repeat(500_000)), 2),
    ] {
        let value = format!("{{\"status\":\"{status}\",\"tags\":{tags}}}");
        assert_eq!(indexed(TWO, &value), expected, "{:.60} of {} bytes", value, value.len());
    }
}

#[test]
fn the_words_of_a_text_are_limited_as_members_are() {
    let words = |count: usize| {
        let words: Vec<_> = (0..count).map(|at| format!("w{at}")).collect();
        words.join(" ")
    };
    let definition = r#"["","w/text"]"#;
    for (text, expected) in [
        (words(20), 20),
        (words(5000), 5000),
        (format!("{0} {0}", words(5000)), 5000),
        // One word, whose first characters count.
        ("x".repeat(2 << 20), 1),
        // More than a row of any size may have.
        (words(MAX_ROW_ENTRIES_BYTES / 8), 0),
        ("..".repeat(1 << 20), 0),
    ] {
        let value = format!(r#"{{"text":"{text}"}}"#);
        assert_eq!(indexed(definition, &value), expected, "{value:.60} of {}", value.len());
    }
    // Each word with a long text would take 900 bytes.
    let value = format!(r#"{{"status":"{}","text":"{}"}}"#, "x".repeat(900), words(1_000_000));
    let definition = Definition::parse(r#"["","/status","w/text"]"#).expect("a definition");
    let (mut members, mut out) = (Members::new(Secret::new(1, 2)), Entries::default());
    let cost = definition.entries(b"k", value.as_bytes(), &mut members, &mut out);
    assert!(out.is_empty() && cost <= 6 * value.len(), "{cost} for {} bytes", value.len());
}

#[test]
fn a_row_that_is_not_below_the_limit_costs_its_pointers() {
    let cost = |definition: &str, value: &str, expected: usize| {
        let definition = Definition::parse(definition).expect("a definition");
        let (mut members, mut out) = (Members::default(), Entries::default());
        let cost = definition.entries(b"k", value.as_bytes(), &mut members, &mut out);
        assert_eq!(out.len(), expected);
        cost
    };
    let text = "x".repeat(100_000);
    let value = format!(r#"{{"~v":7,"text":"{text}"}}"#);
    assert_eq!(
        cost(
            r#"["","/~0v","?","<\u0004\u0001@\u000e\u0000\u0000\u0000\u0000\u0000\u0000\u0000"]"#,
            &value,
            0
        ),
        r#"{"~v":7"#.len()
    );
    assert!(
        cost(
            r#"["","/~0v","?","<\u0004\u0001@\u0010\u0000\u0000\u0000\u0000\u0000\u0000\u0000"]"#,
            &value,
            1
        ) < 50
    );
    // An array has entries of its members below the limit, even if all members with the other column would take too
    // much.
    let value = format!(r#"{{"a":{},"b":"{}"}}"#, numbers(10_000), "x".repeat(900));
    for (definition, expected) in [
        (
            r#"["","/a","/b","<\u0004\u0001\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000"]"#,
            0,
        ),
        (r#"["","/a","/b","<\u0004\u0001@\u0004\u0000\u0000\u0000\u0000\u0000\u0000\u0000"]"#, 3),
    ] {
        assert!(cost(definition, &value, expected) < 8 * value.len(), "{definition}");
    }
}

#[test]
fn the_entries_of_a_row_are_counted_as_work_in_bounded_steps() {
    let definition = Definition::parse(r#"["","/tags"]"#).expect("a definition");
    let mut host = Host::new(Shape::STORED);
    host.indexes = vec![definition];
    let rows: Vec<_> = (0..20)
        .map(|at| (format!("k{at:02}"), format!("{{\"tags\":{}}}", numbers(15_000))))
        .collect();
    let text = pairs(&rows);
    let mut ingest = host.ingest();
    ingest.feed(text.clone().into_bytes(), text.len(), Vec::new(), hedgerow::ingest::Format::Pairs);
    let (slice, mut most, mut steps) = (256 << 10, 0, 0);
    loop {
        let mut budget = Budget::of(slice);
        let step = ingest.step(&host.cache, &mut budget).expect("rows");
        host.store(ingest.sealed());
        (most, steps) = (most.max(budget.spent() - slice.min(budget.spent())), steps + 1);
        match step {
            Step::Done(()) => break,
            Step::Need(wanted) => host.answer(&wanted),
            Step::Yield => {}
        }
    }
    // One row is one piece of work: its text, its entries, and their sort.
    assert!(steps >= 20, "{steps} steps");
    assert!(most <= 20 * MAX_ROW_ENTRIES_BYTES, "{most} over the budget");
}
