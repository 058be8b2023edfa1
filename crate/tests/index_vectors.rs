//! Definitions, entries and words as `vectors/index/definitions.json` has them; the wrapper's tests read it, too.

use hedgerow::forest::INDEX;
use hedgerow::index::{Definition, Entries, Members, push_word, write_secondary};
use serde_json::Value;
use std::collections::BTreeSet;

fn vectors() -> Value {
    let text = include_str!("../../vectors/index/definitions.json");
    serde_json::from_str(text).expect("vectors")
}

/// Lists the words of a text, in its order.
fn words(text: &str) -> Vec<String> {
    let (mut chars, mut found) = (text.chars(), Vec::new());
    loop {
        let (mut word, mut json) = (Vec::new(), Vec::new());
        if !push_word(&mut chars, &mut word) {
            return found;
        }
        write_secondary(&word, 1, &mut json);
        found.push(serde_json::from_slice(&json).expect("a text"));
    }
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().map(|one| one.as_str().expect("a text")).collect()
}

#[test]
fn rows_make_the_entries_of_the_vectors() {
    let vectors = vectors();
    for case in vectors["entries"].as_array().expect("cases") {
        let text = case["tree"].as_str().expect("a text");
        let definition = Definition::parse(text).expect(text);
        assert_eq!(Definition::of_tree(&definition.name(INDEX)), Some((definition.clone(), true)));
        let (mut members, mut out) = (Members::default(), Entries::default());
        for row in case["rows"].as_array().expect("rows") {
            let (key, value) = (row["key"].as_str().expect("a key"), row["value"].as_str());
            if definition.takes(key.as_bytes()) {
                let value = value.expect("a value").as_bytes();
                definition.entries(key.as_bytes(), value, &mut members, &mut out);
            } else {
                out.clear();
            }
            let made: Vec<_> = out.iter().map(|entry| entry.to_vec()).collect();
            let expected: Vec<_> =
                texts(&row["entries"]).into_iter().map(|entry| entry.as_bytes().to_vec()).collect();
            assert_eq!(made, expected, "{text} of {row}");
        }
    }
}

#[test]
fn definitions_in_another_form_are_refused() {
    for text in texts(&vectors()["refused"]) {
        assert_eq!(Definition::parse(text), None, "{text}");
    }
}

#[test]
fn texts_have_the_words_of_the_vectors() {
    for case in vectors()["words"].as_array().expect("cases") {
        let mut found = words(case["text"].as_str().expect("a text"));
        let mut seen = BTreeSet::new();
        found.retain(|word| seen.insert(word.clone()));
        assert_eq!(found, texts(&case["words"]), "{case}");
    }
}

#[test]
fn a_word_is_its_own_only_word() {
    // U+03A2 is no character.
    let all = ('\0'..='\u{ffff}').filter(|char| *char != '\u{3a2}');
    for char in all.chain(['\u{10000}', '\u{10ffff}']) {
        for word in words(&char.to_string()) {
            assert_eq!(words(&word), std::slice::from_ref(&word), "{char:?}");
            assert!(word.len() <= char.len_utf8(), "{char:?} takes more bytes as a small letter");
        }
    }
}
