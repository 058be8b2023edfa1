//! The cost of an input is in proportion to its bytes. A mebibyte of the worst of each kind costs at most ten
//! times as much as a mebibyte of ordinary rows, and no step exceeds its budget by much.
//!
//! Work is counted in units of the budget. The example `cost` prints these units and the time of the
//! processor, to check by hand that they match.

#![expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]

use hedgerow_support::inputs::{Cost, Input, SLICE, inputs};
use hedgerow_support::property::sampled;
use std::collections::{BTreeMap, BTreeSet};

/// The most that a byte of any input costs, relative to a byte of ordinary rows.
const MOST: f64 = 10.0;

/// The most that a byte of rows with indexed arrays costs, relative to a byte of ordinary rows: each member
/// makes an entry, which is a row in the tree of the index. The README names this limit.
const MOST_OF_ARRAYS: f64 = 140.0;

/// The most that a step goes beyond its budget, besides the work on one row: it sorts gathered
/// edits.
const MOST_BEYOND: usize = 5 * SLICE;

/// The most that one row costs in one step, in units for each of its bytes: it is read whole, its
/// members are put in order, and its entries in an index found.
const ROW_FACTOR: usize = 12;

fn per_byte(input: &Input, cost: &Cost) -> f64 {
    cost.units as f64 / input.text.len() as f64
}

#[test]
fn the_cost_of_an_input_is_in_proportion_to_its_bytes() {
    let all = inputs();
    let names: BTreeSet<_> = all.iter().map(|input| input.name).collect();
    assert_eq!(names.len(), all.len(), "two kinds of one name");
    let (ordinary, others): (Vec<_>, Vec<_>) =
        all.iter().partition(|input| input.against.is_none());
    let inputs: Vec<_> = ordinary.iter().copied().chain(sampled(others, 8)).collect();
    let costs: BTreeMap<_, _> = inputs.iter().map(|input| (input.name, input.run())).collect();
    let ordinary: BTreeMap<_, _> =
        ordinary.iter().map(|input| (input.name, per_byte(input, &costs[input.name]))).collect();
    let mut faults = Vec::new();
    for input in inputs {
        let cost = &costs[input.name];
        assert!(cost.rows.is_some_and(|rows| rows > 0), "{} was refused", input.name);
        // At least a pass over the text is counted.
        assert!(cost.units >= input.text.len(), "{}: {} units", input.name, cost.units);
        let ratio = per_byte(input, cost) / ordinary[input.against.unwrap_or(input.name)];
        if ratio > MOST {
            faults.push(format!("{}: {ratio:.2} times as much", input.name));
        }
        let of_lines = per_byte(input, cost) / ordinary["lines"];
        if !input.indexes.is_empty() && of_lines > MOST_OF_ARRAYS {
            faults.push(format!("{}: {of_lines:.2} times ordinary lines", input.name));
        }
        if cost.beyond > MOST_BEYOND + ROW_FACTOR * input.longest {
            faults.push(format!("{}: a step {} beyond its budget", input.name, cost.beyond));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    check_entries(&all);
}

/// Checks the cost of the many small entries of arrays. Each is a row in the tree of the index, and
/// costs no more than the one entry of a row without arrays.
fn check_entries(all: &[Input]) {
    let units = |name: &str, entries: u64| {
        let cost = all.iter().find(|input| input.name == name).expect("a kind").run();
        cost.units as f64 / (cost.rows.expect("rows") * entries) as f64
    };
    let (one, ten) = (units("indexed", 1), units("short arrays", 10));
    assert!(ten <= one, "{ten:.0} units for each of ten entries, {one:.0} for one");
}
