//! Exported functions that prove and verify rows and indexes, and the census. Like the functions of
//! `sums/` they are in the later part of the module: their names begin with `check_`, and the first part
//! does not call them.

use super::abi::{IndexChecked, Tally, status};
use super::engine::with;
use super::engine::{Engine, hand_out};
use super::faults::tell;
use super::global::Global;
use super::slots::Slots;
use crate::boundary::Shape;
use crate::hash::Hash;
use crate::index::CheckIndex;
use crate::output::Output;
use crate::proof::{Prove, VerifyProof};
use crate::step::{Budget, Step};
use crate::tree::{Census, Verify};
use alloc::boxed::Box;
use wasm_bindgen::prelude::wasm_bindgen;

enum Check {
    Index { check: Box<CheckIndex>, root: Hash },
    Census(Census),
    Verify { verify: Box<Verify>, out: Output },
    Prove(Box<Prove>),
    VerifyProof { verify: Box<VerifyProof>, out: Output },
}

static CHECKS: Global<Slots<Check>> = Global::new();

fn add(check: Check) -> u32 {
    CHECKS.with(|checks| checks.add(check))
}

/// Reads the root that the host wrote after a range.
fn root(engine: &Engine, len: u32) -> Hash {
    Hash::read(&engine.scratch[len as usize..])
}

/// Starts a census of the tree of rows.
#[wasm_bindgen]
pub fn check_census(view: u32) -> u32 {
    add(Check::Census(Census::new(with(|engine| engine.tree(view)))))
}

/// Starts a verification of the tree of rows (`nth` 0), or of the `nth` index of the view, from 1. Its
/// output has seven members for each fault (see `faults.rs`).
#[wasm_bindgen]
pub fn check_verify(view: u32, nth: u32) -> u32 {
    let verify = Box::new(Verify::new(with(|engine| engine.nth_tree(view, nth)), Shape::STORED));
    add(Check::Verify { verify, out: Output::new() })
}

/// Starts to check that the `nth` index of the view has exactly the entries of its rows; `scratch` holds
/// 32 random bytes. [`status::NO_OP`] for an index that this code does not know.
#[wasm_bindgen]
pub fn check_index(view: u32, nth: u32) -> u32 {
    let made = with(|engine| {
        let index = engine.nth_index(view, nth)?;
        let Hash(key) = root(engine, 0);
        let check = CheckIndex::new(&index, engine.tree(view), key)?;
        Some(Check::Index { check: Box::new(check), root: index.tree.root })
    });
    made.map_or(status::NO_OP, add)
}

/// Starts a proof of a range. `scratch` holds the range, as for [`scan`](super::reads::scan), and then
/// the root.
#[wasm_bindgen]
pub fn check_prove(flags: u32, len: u32) -> u32 {
    let prove = with(|engine| Prove::new(root(engine, len), engine.range(flags, len)));
    add(Check::Prove(Box::new(prove)))
}

/// Starts to verify the proof in the segment buffer, for a range and a root as for [`check_prove`]. Its
/// output is as of a scan, and is proved only when it is done.
#[wasm_bindgen]
pub fn check_verify_proof(flags: u32, len: u32) -> u32 {
    let verify = with(|engine| {
        let proof = core::mem::take(&mut engine.incoming);
        VerifyProof::new(root(engine, len), engine.range(flags, len), proof)
    });
    add(Check::VerifyProof { verify: Box::new(verify), out: Output::new() })
}

/// Continues a check, as [`step`](super::step) does. The reply:
///
/// | operation | when it is done | when it yields |
/// |---|---|---|
/// | census | [`Numbers`](super::abi::Numbers), [`LEVEL_WORDS`](super::abi::size::LEVEL_WORDS) for each level | the same, so far |
/// | verify | [`Output`](super::abi::Output) with faults, and [`Tally`] | the same, so far |
/// | index | [`IndexChecked`] | no reply |
/// | prove | [`Bytes`](super::abi::Bytes), the proof | ignore it |
/// | verify a proof | [`Output`](super::abi::Output), as of a scan | the same; not proved until it is done |
#[wasm_bindgen]
pub fn check_step(op: u32, budget: u32) -> u32 {
    CHECKS.with(|checks| {
        let Some(check) = checks.get_mut(op) else { return status::DONE };
        with(|engine| {
            let mut budget = engine.begin(budget);
            go_on(check, engine, &mut budget)
        })
    })
}

fn go_on(check: &mut Check, engine: &mut Engine, budget: &mut Budget) -> u32 {
    let Engine { cache, reply, .. } = engine;
    let step = match check {
        Check::Census(census) => {
            census.step(cache, budget).inspect(|_| reply.numbers(census.levels()))
        }
        Check::Verify { verify, out } => {
            out.clear();
            let step = verify.step(cache, budget);
            if !matches!(step, Step::Need(_)) {
                verify.take_faults().iter().for_each(|fault| tell(fault, out));
                out.close();
                reply.output(out, &[]);
                let tally = verify.tally();
                reply.tell(Tally {
                    rows: tally.rows as f64,
                    nodes: tally.nodes as f64,
                    values: tally.values as f64,
                    bytes: tally.bytes as f64,
                    remote_rows: tally.remote_rows as f64,
                    remote_nodes: tally.remote_nodes as f64,
                });
            }
            Ok(step)
        }
        Check::Index { check, root } => check.step(cache, budget).map(|step| match step {
            Step::Done(same) => {
                let (is_same, root) = (f64::from(u8::from(same)), reply.hash(root));
                reply.tell(IndexChecked { is_same, root });
                Step::Done(())
            }
            Step::Yield => Step::Yield,
            Step::Need(wanted) => Step::Need(wanted),
        }),
        Check::Prove(prove) => prove.step(cache, budget).inspect(|_| reply.bytes(prove.proof())),
        Check::VerifyProof { verify, out } => {
            out.reopen();
            let step = verify.step(budget, out);
            hand_out(reply, out, step)
        }
    };
    reply.step(step)
}

/// Finds the segments that a verification will need next, as [`ahead`](super::ahead) for a scan.
#[wasm_bindgen]
pub fn check_ahead(op: u32) -> u32 {
    CHECKS.with(|checks| {
        let Some(Check::Verify { verify, .. }) = checks.get(op) else { return status::DONE };
        with(|engine| {
            let ids = verify.ahead(&engine.cache);
            if ids.is_empty() { status::DONE } else { engine.reply.need(&ids) }
        })
    })
}

/// Frees a check.
#[wasm_bindgen]
pub fn check_free(op: u32) {
    CHECKS.with(|checks| drop(checks.take(op)));
}
