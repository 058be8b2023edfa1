//! Operations of patches, as texts and on a model of rows.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

pub fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

/// The members of an object in JavaScript's order.
pub type Members = Vec<(String, String)>;

#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    Text(String),
    Object(Members),
}

#[derive(Clone, Debug)]
pub enum Op {
    Put(String, Row),
    Del(String),
    Clear,
    /// With the names to keep, and the names to remove.
    Update(String, Option<Members>, Option<Vec<String>>, Option<Vec<String>>),
}

fn set(members: &mut Members, name: &str, value: &str) {
    match members.iter_mut().find(|(other, _)| other == name) {
        Some((_, old)) => *old = value.into(),
        None => members.push((name.into(), value.into())),
    }
}

/// Removes repeated names.
pub fn unique(row: &Row) -> Row {
    let Row::Object(members) = row else { return row.clone() };
    let mut unique = Members::new();
    for (name, value) in members {
        set(&mut unique, name, value);
    }
    Row::Object(unique)
}

pub fn text_of(row: &Row) -> String {
    let Row::Object(members) = row else {
        let Row::Text(text) = row else { unreachable!() };
        return text.clone();
    };
    let mut unique = members.clone();
    // No name is another spelling of an index, except with a leading zero.
    let index = |name: &String| {
        let parsed = name.parse::<u32>().ok().filter(|_| !name.starts_with('0'));
        parsed.unwrap_or(u32::MAX)
    };
    unique.sort_by_key(|(name, _)| index(name));
    object(&unique)
}

/// Prints an object in the order given, with repeated names.
fn object(members: &Members) -> String {
    let texts: Vec<_> =
        members.iter().map(|(name, value)| format!("{}:{value}", quote(name))).collect();
    format!("{{{}}}", texts.join(","))
}

impl Op {
    /// Prints the operation as the wrapper does, or as other programs may.
    pub fn text(&self, normal: bool) -> String {
        let space = if normal { "" } else { " " };
        let body = |members: &Members| {
            if normal { text_of(&unique(&Row::Object(members.clone()))) } else { object(members) }
        };
        match self {
            Self::Put(key, row) => {
                let value = match row {
                    Row::Object(members) => body(members),
                    Row::Text(text) => text.clone(),
                };
                let key = quote(key);
                if normal {
                    format!("{{\"op\":\"put\",\"key\":{key},\"value\":{value}}}")
                } else {
                    // Members in another order, one of them twice, and an unknown one.
                    format!(
                        "{{\"value\":1, \"value\": {value},\"more\":[{{}}],\"k\\u0065y\":{key} , \"op\":\"put\"}}"
                    )
                }
            }
            Self::Del(key) => format!("{{\"op\":\"del\",{space}\"key\":{}}}", quote(key)),
            Self::Clear => format!("{{{space}\"op\"{space}:\"clear\"}}"),
            Self::Update(key, merge, constrain, unset) => {
                let mut text = format!("{{\"op\":\"update\",\"key\":{}", quote(key));
                for (word, names) in [("unset", unset), ("constrain", constrain)] {
                    let Some(names) = names else { continue };
                    let names: Vec<_> = names.iter().map(|name| quote(name)).collect();
                    let _ = write!(text, ",{space}\"{word}\":[{}]", names.join(","));
                }
                if let Some(merge) = merge {
                    let _ = write!(text, ",\"merge\":{space}{}", body(merge));
                }
                text + "}"
            }
        }
    }
}

/// Applies one operation; returns `false` if it updates a value that is not an object.
pub fn step(rows: &mut BTreeMap<String, Row>, op: &Op) -> bool {
    match op {
        Op::Put(key, row) => drop(rows.insert(key.clone(), unique(row))),
        Op::Del(key) => drop(rows.remove(key)),
        Op::Clear => rows.clear(),
        Op::Update(key, merge, constrain, unset) => {
            let row = rows.entry(key.clone()).or_insert_with(|| Row::Object(Members::new()));
            let Row::Object(members) = row else { return false };
            for (name, value) in merge.iter().flatten() {
                set(members, name, value);
            }
            members.retain(|(name, _)| !unset.iter().flatten().any(|other| other == name));
            if let Some(names) = constrain.as_ref().filter(|names| !names.is_empty()) {
                members.retain(|(name, _)| names.contains(name));
            }
        }
    }
    true
}

/// Returns whether a later operation overrides this one.
pub fn is_moot(ops: &[Op], at: usize) -> bool {
    let Op::Update(key, ..) = &ops[at] else { return false };
    ops[at..].iter().any(|op| match op {
        Op::Put(other, _) | Op::Del(other) => other == key,
        Op::Clear => true,
        Op::Update(..) => false,
    })
}
