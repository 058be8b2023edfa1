//! Fuzz targets of Hedgerow's core, as plain functions of bytes.
//!
//! Each module has one, `run`, which panics when the core breaks a promise. The files in
//! `fuzz_targets/` hand it to libFuzzer; the tests below hand it the committed seeds and
//! all inputs that ever made it panic.
//!
//! `node scripts/long/fuzz.mjs` runs each target for some seconds with the pinned toolchain.
//! `cargo +nightly fuzz run decode`, in `crate/`, runs one for as long as you like with
//! the address sanitizer. Put an input that makes a target panic into
//! `regressions/<target>/`, under a name that says what was wrong.

pub mod allocation;
pub mod bytes;
mod damage;
pub mod decode;
pub mod delta;
pub mod input;
pub mod json;
pub mod lazy;
mod op;
pub mod ops;
pub mod oracle;
pub mod patch;
pub mod proof;
pub mod rehashed;
pub mod rows;
pub mod steps;
pub mod sum_proof;

#[cfg(test)]
mod tests {
    use std::fs::read_dir;
    use std::path::Path;

    /// Runs `run` on every file kept for `target`.
    fn replay(target: &str, run: fn(&[u8])) {
        let mut seeds = 0;
        for kind in ["corpus", "regressions"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(kind).join(target);
            let Ok(files) = read_dir(&folder) else { continue };
            for file in files {
                let path = file.expect("a readable folder").path();
                println!("{}", path.display());
                run(&std::fs::read(&path).expect("a readable file"));
                seeds += usize::from(kind == "corpus");
            }
        }
        assert!(seeds > 0, "{target} has no seeds");
    }

    #[test]
    fn decode_takes_all_kept_inputs() {
        replay("decode", crate::decode::run);
    }

    #[test]
    fn delta_takes_all_kept_inputs() {
        replay("delta", crate::delta::run);
    }

    #[test]
    fn lazy_takes_all_kept_inputs() {
        replay("lazy", crate::lazy::run);
    }

    #[test]
    fn rehashed_takes_all_kept_inputs() {
        replay("rehashed", crate::rehashed::run);
    }

    #[test]
    fn ops_takes_all_kept_inputs() {
        replay("ops", crate::ops::run);
    }

    #[test]
    fn steps_takes_all_kept_inputs() {
        replay("steps", crate::steps::run);
    }

    #[test]
    fn rows_takes_all_kept_inputs() {
        replay("rows", crate::rows::run);
    }

    #[test]
    fn proof_takes_all_kept_inputs() {
        replay("proof", crate::proof::run);
    }

    #[test]
    fn sum_proof_takes_all_kept_inputs() {
        replay("sum_proof", crate::sum_proof::run);
    }

    #[test]
    fn bytes_takes_all_kept_inputs() {
        replay("bytes", crate::bytes::run);
    }

    #[test]
    fn patch_takes_all_kept_inputs() {
        replay("patch", crate::patch::run);
    }
}
