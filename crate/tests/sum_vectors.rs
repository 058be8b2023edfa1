//! The vectors of taproot-assets, on a full tree, a compacted one and the stored one.

use hedgerow::boundary::Shape;
use hedgerow::error::Error;
use hedgerow::sum_tree::{Rules, SumProve, path, verify};
use hedgerow_support::host::Host;
use hedgerow_support::sum_models::{Compacted, Full, Leaf, Model, encode, leaf, root_of};
use hedgerow_support::sums::{Sums, batch};
use serde_json::Value;
use std::collections::HashMap;

/// The text of a file of vectors, with its name.
macro_rules! vector {
    ($name:literal) => {
        ($name, include_str!(concat!("../../vectors/mssmt/", $name, ".json")))
    };
}

const FILES: [(&str, &str); 5] = [
    vector!("mssmt_tree_deletion"),
    vector!("mssmt_tree_replacement"),
    vector!("mssmt_tree_error_cases"),
    vector!("mssmt_proofs_100"),
    vector!("mssmt_proofs_structured"),
];

fn read(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn hex(text: &Value) -> Vec<u8> {
    let text = text.as_str().expect("a string");
    (0..text.len() / 2)
        .map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("hex"))
        .collect()
}

fn key(text: &Value) -> [u8; 32] {
    hex(text).try_into().expect("32 bytes")
}

fn list<'v>(case: &'v Value, name: &str) -> &'v [Value] {
    case[name].as_array().map_or(&[], |list| list)
}

fn sum(text: &Value) -> u64 {
    text.as_str().and_then(|text| text.parse().ok()).expect("a sum")
}

fn node(node: &Value) -> Leaf {
    (hex(&node["value"]), sum(&node["sum"]))
}

type Named = HashMap<[u8; 32], Leaf>;

fn leaves(of: &[Value]) -> Named {
    of.iter().map(|leaf| (key(&leaf["key"]), node(&leaf["node"]))).collect()
}

/// A tree under test.
enum Tree {
    Model(Box<dyn Model>),
    /// The stored one; with a batch for each step, or one edit at a time.
    Stored(Box<Sums>, bool),
}

impl Tree {
    fn all() -> Vec<Self> {
        let host = || Box::new(Sums::new(Host::new(Shape::STORED)));
        vec![
            Self::Model(Box::new(Full::default())),
            Self::Model(Box::new(Compacted::default())),
            Self::Stored(host(), true),
            Self::Stored(host(), false),
        ]
    }

    fn apply(&mut self, edits: &[([u8; 32], Leaf)]) -> Result<(), ()> {
        match self {
            Self::Model(model) => {
                edits.iter().try_for_each(|(key, leaf)| model.insert(key, leaf)).map_err(|_| ())
            }
            Self::Stored(sums, is_batch) => {
                let len = if *is_batch { edits.len().max(1) } else { 1 };
                edits.chunks(len).try_for_each(|edits| {
                    let result = sums.merge(batch(edits.iter().map(|(key, leaf)| (key, leaf))));
                    assert!(matches!(result, Ok(()) | Err(Error::SumOverflow)));
                    result.map_err(|_| ())
                })
            }
        }
    }

    fn root(&self) -> ([u8; 32], u64) {
        match self {
            Self::Model(model) => (model.root().hash, model.root().sum),
            Self::Stored(sums, _) => (sums.root.hash, sums.root.sum),
        }
    }

    fn prove(&mut self, key: &[u8; 32]) -> Vec<u8> {
        match self {
            Self::Model(model) => encode(&model.siblings(key)),
            Self::Stored(sums, _) => {
                let mut prove = SumProve::new(&sums.rules, sums.tree, key);
                sums.host.run(|cache, budget| prove.step(cache, budget)).expect("a proof");
                let (root, proof) = prove.proof();
                assert_eq!(root, sums.root);
                proof
            }
        }
    }
}

fn check_proof(tree: &mut Tree, key: &[u8; 32], of: Option<&Leaf>, expected: &Value) {
    let proof = tree.prove(key);
    assert_eq!(proof, hex(expected));
    let (hash, sum) = tree.root();
    let rules = Rules::new();
    let of = of.map(|(value, sum)| (value.as_slice(), *sum));
    let root = hedgerow::sum_tree::Root { hash, sum };
    verify(&rules, &root, key, of, &proof).expect("a valid proof");
    if let Tree::Model(model) = tree {
        let (value, sum) = of.unwrap_or_default();
        assert_eq!(root_of(key, leaf(value, sum), &model.siblings(key)), Ok(model.root()));
    }
}

#[test]
fn empty_subtrees_have_the_hashes_of_the_vectors() {
    let rules = Rules::new();
    let expected = read(vector!("empty_tree_hashes").1);
    let model = hedgerow_support::sum_models::empty();
    assert_eq!(expected.as_object().map(serde_json::Map::len), Some(257));
    for depth in 0..=256 {
        let expected = key(&expected[depth.to_string()]);
        assert_eq!(rules.empty_hash(depth as u16), expected, "{depth}");
        assert_eq!(model[depth].hash, expected, "{depth}");
    }
}

#[test]
fn all_valid_cases_hold_on_all_trees() {
    let (mut cases, mut proofs) = (0, 0);
    for (file, text) in FILES {
        let vector = read(text);
        let named = leaves(list(&vector, "all_tree_leaves"));
        for case in list(&vector, "valid_test_cases") {
            let put = |text: &Value| (key(text), named[&key(text)].clone());
            let inserted: Vec<_> = list(case, "inserted_leaves").iter().map(put).collect();
            let delete = |text: &Value| (key(text), (Vec::new(), 0));
            let deleted: Vec<_> = list(case, "deleted_leaves").iter().map(delete).collect();
            let replaced: Vec<_> = leaves(list(case, "replaced_leaves")).into_iter().collect();
            for (which, mut tree) in Tree::all().into_iter().enumerate() {
                for edits in [&inserted, &deleted, &replaced] {
                    tree.apply(edits).expect("sums that fit");
                }
                let expected = (key(&case["root_hash"]), sum(&case["root_sum"]));
                assert_eq!(tree.root(), expected, "{file}, tree {which}");
                for proof in list(case, "inclusion_proofs") {
                    let key = key(&proof["proof_key"]);
                    check_proof(&mut tree, &key, Some(&named[&key]), &proof["compressed_proof"]);
                    proofs += 1;
                }
                for proof in list(case, "exclusion_proofs") {
                    let key = key(&proof["proof_key"]);
                    check_proof(&mut tree, &key, None, &proof["compressed_proof"]);
                    proofs += 1;
                }
            }
            cases += 1;
        }
    }
    println!("{cases} cases, {proofs} proofs");
    assert!(cases >= 5 && proofs >= 4 * 32);
}

#[test]
fn in_error_cases_the_last_insert_fails_and_changes_nothing() {
    let mut cases = 0;
    for (_, text) in FILES {
        let vector = read(text);
        let named = leaves(list(&vector, "all_tree_leaves"));
        for case in list(&vector, "error_test_cases") {
            let inserted: Vec<_> = list(case, "inserted_leaves")
                .iter()
                .map(|text| (key(text), named[&key(text)].clone()))
                .collect();
            let (last, first) = inserted.split_last().expect("some leaves");
            for mut tree in Tree::all() {
                tree.apply(first).expect("all but the last");
                let before = tree.root();
                assert_eq!(tree.apply(std::slice::from_ref(last)), Err(()));
                assert_eq!(tree.root(), before);
            }
            cases += 1;
        }
    }
    assert!(cases >= 1);
}

#[test]
fn a_path_is_a_key_with_the_bits_of_each_byte_reversed() {
    let key: [u8; 32] = std::array::from_fn(|at| (at * 37) as u8);
    assert_eq!(path(&path(&key)), key);
    for depth in 0..256 {
        let bit = path(&key)[depth / 8] >> (7 - depth % 8) & 1 == 1;
        assert_eq!(bit, hedgerow_support::sum_models::side(&key, depth));
    }
}
