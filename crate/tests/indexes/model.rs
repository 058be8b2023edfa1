//! Rows, and a model of their entries in each index.

use hedgerow::index::Definition;
use hedgerow_support::rows::Rows;

/// A scalar in the order of indexes; numbers are halves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scalar {
    Null,
    Bool(bool),
    Halves(i32),
    Text(String),
}

#[derive(Clone, Debug)]
pub enum Member {
    One(Scalar),
    Many(Vec<Option<Scalar>>),
    Null,
    /// The row does not have the member.
    Missing,
}

impl Scalar {
    pub fn json(&self) -> String {
        match self {
            Self::Null => "null".into(),
            Self::Bool(value) => value.to_string(),
            Self::Halves(value) => (f64::from(*value) / 2.0).to_string(),
            Self::Text(text) => format!("\"{text}\""),
        }
    }
}

impl Member {
    pub fn json(&self) -> String {
        let one = |member: &Option<Scalar>| member.as_ref().map_or("null".into(), Scalar::json);
        match self {
            Self::One(scalar) => scalar.json(),
            Self::Many(all) => format!("[{}]", all.iter().map(one).collect::<Vec<_>>().join(",")),
            Self::Null | Self::Missing => "null".into(),
        }
    }

    /// Lists the scalars of it in a column; also returns whether there may be several.
    fn scalars(&self, words: bool) -> (Vec<Scalar>, bool) {
        let of_one = |scalar: &Scalar| match scalar {
            Scalar::Text(text) if words => words_of(text),
            scalar => vec![scalar.clone()],
        };
        match self {
            Self::One(scalar @ Scalar::Text(_)) if words => (of_one(scalar), true),
            Self::One(scalar) => (of_one(scalar), false),
            Self::Many(all) if all.is_empty() => (vec![Scalar::Null], true),
            Self::Many(all) => {
                let listed = |one: &Option<Scalar>| of_one(one.as_ref().unwrap_or(&Scalar::Null));
                (all.iter().flat_map(listed).collect(), true)
            }
            Self::Null | Self::Missing => (vec![Scalar::Null], false),
        }
    }
}

/// Lists the words of a text of the characters that rows here have; null for a text without words.
fn words_of(text: &str) -> Vec<Scalar> {
    let words: Vec<_> = text
        .split([' ', '～'])
        .filter(|word| !word.is_empty())
        .map(|word| Scalar::Text(word.to_lowercase()))
        .collect();
    if words.is_empty() { vec![Scalar::Null] } else { words }
}

/// A row: two members, and the size of the rest.
#[derive(Clone, Debug)]
pub struct Row {
    pub a: Member,
    pub b: Member,
    pub more: usize,
}

impl Row {
    pub fn json(&self) -> String {
        let named = |name: &str, member: &Member| match member {
            Member::Missing => String::new(),
            _ => format!("\"{name}\":{}", member.json()),
        };
        let a = named("a", &self.a);
        let comma = if a.is_empty() { "" } else { "," };
        let (b, more) = (named("c", &self.b), "x".repeat(self.more));
        format!("{{{a}{comma}\"b\":{{{b}}},\"more\":\"{more}\"}}")
    }
}

pub type Model = std::collections::BTreeMap<String, Row>;

pub fn rows_of(model: &Model) -> Rows {
    model.iter().map(|(key, row)| (key.clone(), row.json())).collect()
}

/// The definitions: on `a`, on the nested member for some rows, and on both; with null, with a limit, and
/// with words.
pub const DEFINITIONS: [&str; 8] = [
    r#"["","/a"]"#,
    r#"["b","/b/c"]"#,
    r#"["","/b/c","/a"]"#,
    r#"["","/a","?"]"#,
    r#"["b","/b/c","?","<\u0004\u0001?p\u0000\u0000\u0000\u0000\u0000\u0000\u0000"]"#,
    r#"["","/b/c","/a","?","<\u0005b\u0000"]"#,
    r#"["","/b/c","w/a","?"]"#,
    r#"["","w/a","/b/c","<\u0005b\u0000"]"#,
];

pub fn definition(which: usize) -> Definition {
    Definition::parse(DEFINITIONS[which]).unwrap()
}

pub fn expected(which: usize, model: &Model) -> Vec<(Vec<Scalar>, String)> {
    let nulls = matches!(which, 3..=6);
    let below = match which {
        4 => Some(Scalar::Halves(1)),
        5 | 7 => Some(Scalar::Text("b".into())),
        _ => None,
    };
    let mut all = Vec::new();
    for (key, row) in model {
        let columns = match which {
            0 | 3 => vec![row.a.scalars(false)],
            1 | 4 if key.starts_with('b') => vec![row.b.scalars(false)],
            1 | 4 => continue,
            6 => vec![row.b.scalars(false), row.a.scalars(true)],
            7 => vec![row.a.scalars(true), row.b.scalars(false)],
            _ => vec![row.b.scalars(false), row.a.scalars(false)],
        };
        if columns.iter().filter(|(_, several)| *several).count() > 1 {
            continue;
        }
        let mut keys = vec![Vec::new()];
        for (scalars, _) in columns {
            keys = keys
                .iter()
                .flat_map(|key| {
                    scalars.iter().map(|one| [&key[..], std::slice::from_ref(one)].concat())
                })
                .collect();
        }
        keys.retain(|key| nulls || !key.contains(&Scalar::Null));
        keys.retain(|key| below.as_ref().is_none_or(|below| key[0] < *below));
        all.extend(keys.into_iter().map(|secondary| (secondary, key.clone())));
    }
    all.sort();
    all.dedup();
    all
}
