//! Proofs of many keys have the bytes of `vectors/mssmt/many.json`, which other implementations
//! read too; `examples/sum_vectors.rs` prints it.

use hedgerow::boundary::Shape;
use hedgerow_support::host::Host;
use hedgerow_support::sums::{Leaves, Sums};
use serde_json::Value;

fn hex(text: &Value) -> Vec<u8> {
    let text = text.as_str().expect("a string");
    (0..text.len() / 2)
        .map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("hex"))
        .collect()
}

fn key(text: &Value) -> [u8; 32] {
    hex(text).try_into().expect("32 bytes")
}

fn sum(text: &Value) -> u64 {
    text.as_str().and_then(|text| text.parse().ok()).expect("a sum")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn check(tree: &Value, leaves: &Leaves) -> usize {
    let mut sums = Sums::of(Host::new(Shape::STORED), leaves);
    assert_eq!(sums.root.hash, key(&tree["root_hash"]));
    assert_eq!(sums.root.sum, sum(&tree["root_sum"]));
    for proof in list(&tree["proofs"]) {
        let keys: Vec<_> = list(&proof["keys"]).iter().map(key).collect();
        assert_eq!(sums.prove(&keys, true).expect("a proof"), hex(&proof["proof"]));
    }
    list(&tree["proofs"]).len()
}

#[test]
fn proofs_of_many_keys_have_the_bytes_of_the_vectors() {
    let text = include_str!("../../vectors/mssmt/many.json");
    let all: Value = serde_json::from_str(text).expect("JSON");
    let mut proofs = 0;
    for tree in list(&all["trees"]) {
        let leaf = |leaf: &Value| (key(&leaf["key"]), (hex(&leaf["value"]), sum(&leaf["sum"])));
        proofs += check(tree, &list(&tree["leaves"]).iter().map(leaf).collect());
    }
    let thousand = &all["thousand"];
    let mut asked = list(&thousand["proofs"][0]["keys"]).iter().map(key);
    let leaves: Leaves = (0..1000)
        .map(|at: u64| {
            let key = hedgerow_support::sum_models::sha256(format!("leaf {at}").as_bytes());
            (key, (at.to_string().into_bytes(), at * at))
        })
        .collect();
    assert!(asked.any(|key| leaves.contains_key(&key)));
    proofs += check(thousand, &leaves);
    println!("{proofs} proofs");
    assert!(proofs >= 20);
}
