//! Rows, and a model of their entries in each index.

use hedgerow::index::Definition;
use hedgerow_support::rows::Rows;

/// A scalar in the order of indexes; numbers are halves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scalar {
    Bool(bool),
    Halves(i32),
    Text(String),
}

#[derive(Clone, Debug)]
pub enum Member {
    One(Scalar),
    Many(Vec<Option<Scalar>>),
    Null,
}

impl Scalar {
    pub fn json(&self) -> String {
        match self {
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
            Self::Null => "null".into(),
        }
    }

    fn scalars(&self) -> Vec<Scalar> {
        match self {
            Self::One(scalar) => vec![scalar.clone()],
            Self::Many(all) => all.iter().flatten().cloned().collect(),
            Self::Null => Vec::new(),
        }
    }
}

/// A row: two members, and how much there is besides them.
#[derive(Clone, Debug)]
pub struct Row {
    pub a: Member,
    pub b: Member,
    pub more: usize,
}

impl Row {
    pub fn json(&self) -> String {
        let (a, b, more) = (self.a.json(), self.b.json(), "x".repeat(self.more));
        format!("{{\"a\":{a},\"b\":{{\"c\":{b}}},\"more\":\"{more}\"}}")
    }
}

pub type Model = std::collections::BTreeMap<String, Row>;

pub fn rows_of(model: &Model) -> Rows {
    model.iter().map(|(key, row)| (key.clone(), row.json())).collect()
}

/// All that is tried: on `a`, on the nested member for some rows, and on both.
pub const DEFINITIONS: [&str; 3] = [r#"["","/a"]"#, r#"["b","/b/c"]"#, r#"["","/b/c","/a"]"#];

pub fn definition(which: usize) -> Definition {
    Definition::parse(DEFINITIONS[which]).unwrap()
}

pub fn expected(which: usize, model: &Model) -> Vec<(Vec<Scalar>, String)> {
    let mut all = Vec::new();
    for (key, row) in model {
        let columns = match which {
            0 => vec![&row.a],
            1 if key.starts_with('b') => vec![&row.b],
            1 => continue,
            _ => vec![&row.b, &row.a],
        };
        let arrays = columns.iter().filter(|member| matches!(member, Member::Many(_))).count();
        if arrays > 1 {
            continue;
        }
        let mut keys = vec![Vec::new()];
        for column in columns {
            let scalars = column.scalars();
            keys = keys
                .iter()
                .flat_map(|key| {
                    scalars.iter().map(|one| [&key[..], std::slice::from_ref(one)].concat())
                })
                .collect();
        }
        all.extend(keys.into_iter().map(|secondary| (secondary, key.clone())));
    }
    all.sort();
    all.dedup();
    all
}
