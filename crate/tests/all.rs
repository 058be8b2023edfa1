//! The tests of the core in one program: each file of its own would link the core again.
//! `cargo test --test all steps::` runs the tests of a file. `allocation.rs`, which counts allocations, is a program of
//! its own.

#[cfg(target_arch = "wasm32")]
#[macro_use]
extern crate hedgerow_wasm_test as wasm_bindgen_test;

mod canonical;
mod cases;
mod census;
mod charged;
mod collect;
mod collect_beside;
mod copies;
mod cost;
mod damage;
mod decode;
mod delta;
mod es6_numbers;
mod first_rows;
mod forged;
mod hash;
mod hostile;
mod hostile_trees;
mod index_arrays;
mod index_check;
mod index_vectors;
mod indexes;
mod large_reads;
mod lazy;
mod limits;
mod limits_of_size;
mod limits_of_trees;
mod model;
mod node_size;
mod packed;
mod parts;
mod patch;
mod proof;
mod reads;
mod rebase;
mod rehashed;
mod replace;
mod roles;
mod room;
mod slices;
mod steps;
mod sum_collect;
mod sum_commits;
mod sum_hostile;
mod sum_many_vectors;
mod sum_proofs;
mod sum_small_steps;
mod sum_tree;
mod sum_vectors;
mod sum_verify;
mod updates;
mod values;
mod verify;

/// Checks that each file is a module of this one: the tests of others never run.
#[cfg(not(target_arch = "wasm32"))] // There are no files.
#[test]
fn each_file_is_run() {
    let this = include_str!("all.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(name) = name.strip_suffix(".rs")
            && !["all", "allocation"].contains(&name)
        {
            assert!(this.contains(&format!("\nmod {name};\n")), "all.rs does not name {name}");
        }
    }
}
