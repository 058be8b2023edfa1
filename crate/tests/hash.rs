//! BLAKE3 of the core, which uses the vector instructions of the machine or of WebAssembly, against the test
//! vectors of its authors and a model without vector instructions.

use hedgerow::hash::Hash;
use hedgerow_support::blake3::blake3;
use hedgerow_support::property::for_seeds;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

#[test]
fn the_vectors_hold() {
    let vectors: Value =
        serde_json::from_str(include_str!("../../vectors/crypto/blake3.json")).expect("JSON");
    let key: [u8; 32] =
        vectors["key"].as_str().and_then(|key| key.as_bytes().try_into().ok()).expect("32 bytes");
    let tests = vectors["tests"].as_array().expect("tests");
    assert_eq!(tests.len(), 35);
    for test in tests {
        let size = test["size"].as_u64().expect("a size");
        let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
        for (name, got, model) in [
            ("hash", Hash::of(&bytes), blake3(None, &bytes)),
            ("keyed", Hash::keyed(&key, &bytes), blake3(Some(&key), &bytes)),
        ] {
            let expected = test[name].as_str().expect("a hash");
            assert_eq!(got.to_string(), expected, "{name} of {size} bytes");
            assert_eq!(Hash(model).to_string(), expected, "{name} of {size} bytes, the model");
        }
    }
}

/// Hashes bytes of any length, at any address: vectors are loaded from where the bytes are.
#[test]
fn bytes_of_any_length_hash_as_in_the_model() {
    for_seeds(400, |seed, steps| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // Most chunks of a store are of 1 to 8 KiB. Four vectors of chunks of BLAKE3 are 16 KiB.
        let most = if seed % 4 == 0 { 40_000 } else { 9000 };
        let (start, size) = (random.random_range(0..16), random.random_range(0..most));
        let mut bytes = vec![0; start + size];
        random.fill_bytes(&mut bytes);
        let mut key = [0; 32];
        random.fill_bytes(&mut key);
        steps.begin((start, size));
        let bytes = &bytes[start..];
        steps.same("hash", &Hash::of(bytes), &Hash(blake3(None, bytes)))?;
        steps.same("keyed", &Hash::keyed(&key, bytes), &Hash(blake3(Some(&key), bytes)))
    });
}
