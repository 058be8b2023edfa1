//! Prints `vectors/mssmt/many.json`: trees and proofs of many of their keys.
//! `cargo run --release -p hedgerow --example sum_vectors > vectors/mssmt/many.json`

use hedgerow::boundary::Shape;
use hedgerow_support::host::Host;
use hedgerow_support::sums::{Leaves, Sums};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::fmt::Write;

type Key = [u8; 32];

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a string takes all");
    }
    text
}

fn flipped(mut key: Key, bit: usize) -> Key {
    key[bit / 8] ^= 1 << (bit % 8);
    key
}

fn named(text: &str) -> Key {
    hedgerow_support::sum_models::sha256(text.as_bytes())
}

fn proofs(sums: &mut Sums, asked: &[Vec<Key>]) -> Vec<Value> {
    let proof = |keys: &Vec<Key>| {
        let proof = sums.prove(keys, true).expect("a proof");
        let keys: Vec<_> = keys.iter().map(|key| hex(key)).collect();
        json!({ "keys": keys, "proof": hex(&proof) })
    };
    asked.iter().map(proof).collect()
}

fn tree(name: &str, leaves: &Leaves, asked: &[Vec<Key>]) -> Value {
    let mut sums = Sums::of(Host::new(Shape::STORED), leaves);
    let told: Vec<_> = leaves
        .iter()
        .map(|(key, (value, sum))| {
            json!({ "key": hex(key), "value": hex(value), "sum": sum.to_string() })
        })
        .collect();
    json!({
        "name": name,
        "root_hash": hex(&sums.root.hash),
        "root_sum": sums.root.sum.to_string(),
        "leaves": told,
        "proofs": proofs(&mut sums, asked),
    })
}

fn forty(random: &mut ChaCha8Rng) -> Leaves {
    let mut leaves = Leaves::new();
    let mut key: Key = random.random();
    while leaves.len() < 40 {
        let at = leaves.len();
        let bit = [0, 255, random.random_range(0..256)][at % 3];
        key = if at.is_multiple_of(4) { random.random() } else { flipped(key, bit) };
        let value: Vec<u8> = (0..at % 7 * 6).map(|_| random.random()).collect();
        let sum = if value.len() == 6 { 0 } else { 1 + random.random_range(0..1 << 57) };
        leaves.insert(key, (value, sum));
    }
    leaves
}

fn main() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let key: Key = random.random();
    let absent: Vec<Key> = (0..5).map(|_| random.random()).collect();
    let none = Leaves::new();
    let one = Leaves::from([(key, (b"one".to_vec(), 7))]);
    let mut trees = vec![
        tree("no leaf", &none, &[vec![], vec![key], absent.clone()]),
        tree("one leaf", &one, &[vec![], vec![key], vec![flipped(key, 255), key, absent[0]]]),
    ];
    for (name, bit) in [("first", 0), ("last", 255), ("a middle", 100)] {
        let other = flipped(key, bit);
        let leaf = (b"the same".to_vec(), 1 << 63);
        let leaves = Leaves::from([(key, leaf.clone()), (other, (leaf.0, leaf.1 - 1))]);
        let asked = [vec![key], vec![other, key], vec![flipped(key, 101), key, flipped(other, 7)]];
        trees.push(tree(&format!("two leaves that differ in {name} bit"), &leaves, &asked));
    }
    let leaves = forty(&mut random);
    let keys: Vec<Key> = leaves.keys().copied().collect();
    let some: Vec<Key> = keys.iter().copied().step_by(4).chain(absent.clone()).collect();
    let beside = keys.iter().map(|key| flipped(*key, 254)).collect();
    trees.push(tree("forty leaves", &leaves, &[keys.clone(), some, absent, beside]));
    let thousand: Leaves = (0..1000)
        .map(|at: u64| (named(&format!("leaf {at}")), (at.to_string().into_bytes(), at * at)))
        .collect();
    let mut sums = Sums::of(Host::new(Shape::STORED), &thousand);
    let asked: Vec<Key> = (990..1010).map(|at| named(&format!("leaf {at}"))).collect();
    let thousand = json!({
        "root_hash": hex(&sums.root.hash),
        "root_sum": sums.root.sum.to_string(),
        "proofs": proofs(&mut sums, &[asked]),
    });
    let all = json!({ "trees": trees, "thousand": thousand });
    println!("{}", serde_json::to_string_pretty(&all).expect("JSON"));
}
