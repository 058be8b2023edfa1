//! What exported functions do to show that rows, or all that is stored, are as they should be: proofs,
//! verifications and the census. As all that is exported by `sums.rs`, it is in the second part of the
//! module: the names of its exports begin with `check_`, and nothing in the first part calls any of
//! it.

use super::engine::{Engine, hand_out, set_output};
use super::faults::tell;
use super::reply::status;
use super::with;
use crate::boundary::Shape;
use crate::hash::Hash;
use crate::index::CheckIndex;
use crate::output::Output;
use crate::proof::{Prove, VerifyProof};
use crate::step::{Budget, Step};
use crate::tree::{Census, Verify};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::RefCell;
use wasm_bindgen::prelude::wasm_bindgen;

enum Check {
    Index { check: Box<CheckIndex>, root: Hash },
    Census(Census),
    Verify { verify: Box<Verify>, out: Output },
    Prove(Box<Prove>),
    VerifyProof { verify: Box<VerifyProof>, out: Output },
}

struct Global(RefCell<Vec<Option<Check>>>);

// SAFETY: the module is built without threads, so that no other thread can reach it.
unsafe impl Sync for Global {}

static CHECKS: Global = Global(RefCell::new(Vec::new()));

fn add(check: Check) -> u32 {
    let mut checks = CHECKS.0.borrow_mut();
    let at = checks.iter().position(Option::is_none).unwrap_or(checks.len());
    if at == checks.len() {
        checks.push(None);
    }
    checks[at] = Some(check);
    at as u32
}

/// The root that the host wrote after a range.
fn root(engine: &Engine, len: usize) -> Hash {
    Hash::read(&engine.scratch[len..])
}

/// Starts a census of the tree of rows. After its last step the reply holds the address and
/// number of its doubles, [`LEVEL_WORDS`](crate::tree::LEVEL_WORDS) for each level.
#[wasm_bindgen]
pub fn check_census(view: u32) -> u32 {
    add(Check::Census(Census::new(with(|engine| engine.tree(view)))))
}

/// Starts a walk that checks all of the tree of rows, or of the `nth` index of the view. On done and
/// yield the reply holds an output as of a scan, seven members for each fault (see `faults.rs`), and
/// after it the sound rows, nodes, values out of line and bytes so far.
#[wasm_bindgen]
pub fn check_verify(view: u32, nth: u32) -> u32 {
    let verify = Box::new(Verify::new(with(|engine| engine.nth_tree(view, nth)), Shape::STORED));
    add(Check::Verify { verify, out: Output::new() })
}

/// Starts to check that the `nth` index of the view is what its rows make; `scratch` holds 32 random
/// bytes. When it is done the reply holds 1 or 0, and the address of the index's root.
/// [`status::NO_OP`] for an index that this code cannot keep.
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

/// Starts a proof of a range, given as to [`scan`](super::scan), with the root after it in `scratch`.
/// When it is done the reply holds the address and length of the proof.
#[wasm_bindgen]
pub fn check_prove(flags: u32, len: u32) -> u32 {
    let len = len as usize;
    let prove = with(|engine| Prove::new(root(engine, len), engine.range(flags, len)));
    add(Check::Prove(Box::new(prove)))
}

/// Starts to verify the proof in the segment buffer, for a range and a root given as to
/// [`check_prove`]. Its output is that of a scan, and counts for nothing before it is done.
#[wasm_bindgen]
pub fn check_verify_proof(flags: u32, len: u32) -> u32 {
    let len = len as usize;
    let verify = with(|engine| {
        let proof = core::mem::take(&mut engine.incoming);
        VerifyProof::new(root(engine, len), engine.range(flags, len), proof)
    });
    add(Check::VerifyProof { verify: Box::new(verify), out: Output::new() })
}

/// Goes on with one of them, as [`step`](super::step) does.
#[wasm_bindgen]
pub fn check_step(op: u32, budget: u32) -> u32 {
    let mut checks = CHECKS.0.borrow_mut();
    let Some(Some(check)) = checks.get_mut(op as usize) else { return status::DONE };
    with(|engine| {
        let Engine { cache, reply, .. } = engine;
        let mut budget = Budget::of(budget as usize);
        let step = match check {
            Check::Census(census) => census.step(cache, &mut budget).inspect(|_| {
                let levels = census.levels();
                reply.set(&[f64::from(levels.as_ptr() as u32), levels.len() as f64]);
            }),
            Check::Verify { verify, out } => {
                out.clear();
                let step = verify.step(cache, &mut budget);
                if !matches!(step, Step::Need(_)) {
                    verify.take_faults().iter().for_each(|fault| tell(fault, out));
                    out.close();
                    set_output(reply, out, &[]);
                    let tally = verify.tally();
                    let counts = [tally.rows, tally.nodes, tally.values, tally.bytes];
                    reply.add(8, &counts.map(|count| count as f64));
                }
                Ok(step)
            }
            Check::Index { check, root } => check.step(cache, &mut budget).map(|step| match step {
                Step::Done(same) => {
                    let root = reply.hash(root);
                    reply.set(&[f64::from(u8::from(same)), root]);
                    Step::Done(())
                }
                Step::Yield => Step::Yield,
                Step::Need(ids) => Step::Need(ids),
            }),
            Check::Prove(prove) => prove.step(cache, &mut budget).inspect(|_| {
                let proof = prove.proof();
                reply.set(&[f64::from(proof.as_ptr() as u32), proof.len() as f64]);
            }),
            Check::VerifyProof { verify, out } => {
                out.reopen();
                let step = verify.step(&mut budget, out);
                hand_out(reply, out, step)
            }
        };
        reply.step(step)
    })
}

/// What a verification will want next, as [`ahead`](super::ahead) tells of a scan.
#[wasm_bindgen]
pub fn check_ahead(op: u32) -> u32 {
    let checks = CHECKS.0.borrow();
    let Some(Some(Check::Verify { verify, .. })) = checks.get(op as usize) else {
        return status::DONE;
    };
    with(|engine| {
        let ids = verify.ahead(&engine.cache);
        if ids.is_empty() { status::DONE } else { engine.reply.need(&ids) }
    })
}

/// Frees one of them.
#[wasm_bindgen]
pub fn check_free(op: u32) {
    if let Some(slot) = CHECKS.0.borrow_mut().get_mut(op as usize) {
        *slot = None;
    }
}
