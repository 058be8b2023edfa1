//! Commits with sum trees in a [`Host`], and a model of their results.

use crate::host::Host;
use crate::output::Value;
use crate::rows::{list, quote};
use crate::sums::{Held, Leaves, Sums, batch};
use hedgerow::boundary::Shape;
use hedgerow::error::Error;
use hedgerow::forest::Named;
use hedgerow::ingest::{Format, Ingest};
use hedgerow::sum_tree::{Rules, SumVerify};
use hedgerow::sum_update::{Base, Follower, Staged, SumUpdate, Wanted, tree_name};
use hedgerow::tree::Range;
use hedgerow::value::Kind;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// An object: its members, with the text of their values.
    Object(BTreeMap<&'static str, String>),
    /// Any other JSON text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Row {
    /// Returns the value as it is stored.
    pub fn value(&self) -> Value {
        match self {
            Self::Object(members) => {
                let members: Vec<_> =
                    members.iter().map(|(name, text)| format!("\"{name}\":{text}")).collect();
                (Kind::Json, format!("{{{}}}", members.join(",")).into_bytes())
            }
            Self::Text(text) => (Kind::Json, text.clone().into_bytes()),
            Self::Bytes(bytes) => (Kind::Bytes, bytes.clone()),
        }
    }

    fn part(&self, name: Option<&str>) -> Option<String> {
        let part = match (self, name) {
            (Self::Bytes(_), _) | (Self::Text(_), Some(_)) => None,
            (_, None) => String::from_utf8(self.value().1).ok(),
            (Self::Object(members), Some(name)) => members.get(name).cloned(),
        };
        part.filter(|text| text != "null")
    }
}

/// Defines the leaves of a tree: by members of rows, or by whole rows (`None`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Def {
    /// The member that is the key; `None` for the key of the row.
    pub key: Option<&'static str>,
    /// The member that is the sum.
    pub sum: Option<&'static str>,
    /// The member that is the value.
    pub value: Option<&'static str>,
    /// The prefix of the keys of its rows.
    pub prefix: &'static str,
}

impl Def {
    /// Returns its text.
    pub fn text(&self) -> Vec<u8> {
        let pointer = |name: Option<&str>| name.map_or(String::new(), |name| format!("/{name}"));
        let Self { key, sum, value, prefix } = self;
        let [key, sum, value] = [*key, *sum, *value].map(pointer);
        format!("[\"{key}\",\"{sum}\",\"{value}\",{}]", quote(prefix)).into_bytes()
    }

    fn leaf(&self, key: &str, row: &Row) -> Result<Option<KeyLeaf>, Error> {
        let (Some(sum), Some(value)) = (row.part(self.sum), row.part(self.value)) else {
            return Ok(None);
        };
        let text = match self.key {
            None => key.to_owned(),
            Some(name) => match row.part(Some(name)) {
                Some(text) if text.starts_with('"') => text.trim_matches('"').to_owned(),
                Some(text) if text.starts_with(|first: char| first.is_ascii_digit()) => text,
                _ => return Ok(None),
            },
        };
        let digits = sum.trim_matches('"');
        let is_whole = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        let sum = digits.parse().ok().filter(|_| is_whole).ok_or(Error::SumNotWhole)?;
        Ok(Some((Sha256::digest(text).into(), (value.into_bytes(), sum))))
    }
}

/// An edit of rows.
#[derive(Clone, Debug)]
pub enum Edit {
    /// Puts rows.
    Put(Vec<(String, Row)>),
    /// Deletes keys.
    Delete(Vec<String>),
    /// Deletes all keys with this prefix.
    DeletePrefix(String),
    /// Deletes all rows by a patch.
    Clear,
    /// Sets the member "sum" of a row by a patch.
    Update(String, String),
}

/// A key and its new leaf.
pub type KeyLeaf = ([u8; 32], Held);

/// The changes of a commit.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// The edits of rows.
    pub edits: Vec<Edit>,
    /// The edits of trees that are edited by hand; an empty value with the sum 0 deletes.
    pub staged: Vec<(String, Vec<KeyLeaf>)>,
    /// The wanted trees that follow rows, besides the existing ones.
    pub wanted: BTreeMap<String, Def>,
    /// Drops all other followers.
    pub alone: bool,
}

/// The contents of a store.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Rows.
    pub rows: BTreeMap<String, Row>,
    /// Trees that are edited by hand.
    pub hand: BTreeMap<String, Leaves>,
    /// Trees that follow rows.
    pub followers: BTreeMap<String, Def>,
}

fn total(leaves: &Leaves) -> Option<u64> {
    leaves.values().try_fold(0u64, |total, (_, sum)| total.checked_add(*sum))
}

impl Model {
    /// Returns the leaves of all trees by their names.
    ///
    /// # Errors
    /// All errors that a commit of this state may return.
    pub fn trees(&self) -> Result<BTreeMap<String, Leaves>, Vec<Error>> {
        let (mut trees, mut errors) = (self.hand.clone(), Vec::new());
        for (name, def) in &self.followers {
            let mut leaves = Leaves::new();
            for (key, row) in self.rows.iter().filter(|(key, _)| key.starts_with(def.prefix)) {
                match def.leaf(key, row) {
                    Ok(None) => {}
                    Ok(Some((key, leaf))) => {
                        if leaves.insert(key, leaf).is_some() {
                            errors.push(Error::SumKeyTwice);
                        }
                    }
                    Err(error) => errors.push(error),
                }
            }
            trees.insert(name.clone(), leaves);
        }
        if trees.values().any(|leaves| total(leaves).is_none()) {
            errors.push(Error::SumOverflow);
        }
        if errors.is_empty() { Ok(trees) } else { Err(errors) }
    }

    /// Applies a change.
    pub fn apply(&mut self, change: &Change) {
        for edit in &change.edits {
            match edit {
                Edit::Put(rows) => self.rows.extend(rows.iter().cloned()),
                Edit::Delete(keys) => self.rows.retain(|key, _| !keys.contains(key)),
                Edit::DeletePrefix(prefix) => self.rows.retain(|key, _| !key.starts_with(prefix)),
                Edit::Clear => self.rows.clear(),
                Edit::Update(key, sum) => {
                    if let Some(Row::Object(members)) = self.rows.get_mut(key) {
                        members.insert("sum", sum.clone());
                    }
                }
            }
        }
        for (name, edits) in &change.staged {
            let leaves = self.hand.entry(name.clone()).or_default();
            leaves.extend(edits.iter().cloned());
            leaves.retain(|_, leaf| *leaf != (vec![], 0));
        }
        self.hand.retain(|_, leaves| !leaves.is_empty());
        if change.alone {
            self.followers.clear();
        }
        // A tree with another definition is rebuilt.
        self.followers.extend(change.wanted.clone());
        // A follower never replaces a hand-edited tree.
        self.followers.retain(|name, _| !self.hand.contains_key(name));
        // A commit without rows has no followers.
        if self.rows.is_empty() {
            self.followers.clear();
        }
    }

    /// Returns the whole state as one change of an empty store.
    pub fn change(&self) -> Change {
        let rows = self.rows.iter().map(|(key, row)| (key.clone(), row.clone())).collect();
        let staged = self.hand.iter().map(|(name, leaves)| {
            (name.clone(), leaves.iter().map(|(key, leaf)| (*key, leaf.clone())).collect())
        });
        Change {
            edits: vec![Edit::Put(rows)],
            staged: staged.collect(),
            wanted: self.followers.clone(),
            alone: true,
        }
    }

    /// Checks that a host has exactly this state.
    pub fn check(&self, host: &mut Host) {
        let trees = self.trees().expect("a state that may be");
        let mut named = 0;
        for (name, leaves) in &trees {
            let fresh = Sums::of(Host::new(Shape::STORED), leaves);
            let def = self.followers.get(name);
            let mut reach = fresh.root.hash.to_vec();
            reach.extend_from_slice(&fresh.root.sum.to_le_bytes());
            reach.extend(def.map(Def::text).unwrap_or_default());
            assert_eq!(total(leaves), Some(fresh.root.sum));
            let name = tree_name(name).expect("a name");
            let expected = Named { name: name.clone(), tree: fresh.tree, reach: Some(reach) };
            assert_eq!(host.forest.named(&name), Some(&expected), "{leaves:?}");
            named += 1;
        }
        assert_eq!(host.forest.sums().count(), named);
        let mut fresh = Host::new(host.shape);
        commit(&mut fresh, &self.change(), usize::MAX).expect("a state that may be");
        assert_eq!(host.forest, fresh.forest);
        assert_eq!(host.root, fresh.root);
        let leaves = trees.values().map(|leaves| leaves.len() as u64).sum::<u64>();
        assert_eq!(verify_all(host), Ok(leaves));
    }
}

/// Verifies all sum trees of a host; returns the number of their leaves.
///
/// # Errors
/// The errors of [`SumVerify::step`].
pub fn verify_all(host: &mut Host) -> Result<u64, Error> {
    let (rules, mut leaves) = (Rules::new(), 0);
    let sums: Vec<_> = host.forest.sums().cloned().collect();
    for Named { tree, reach, .. } in sums {
        let mut verify = SumVerify::new(&rules, tree, &reach.unwrap_or_default());
        host.run(|cache, budget| verify.step(cache, budget))?;
        leaves += verify.tally()[0];
    }
    Ok(leaves)
}

/// Feeds an ingest the edits of rows of a change, and steps it until it awaits sums or is done.
pub fn start(host: &mut Host, change: &Change) -> Ingest {
    let mut ingest = host.ingest();
    if !change.staged.is_empty() || !change.wanted.is_empty() || change.alone {
        ingest.expect_sums();
    }
    for edit in &change.edits {
        let mut patch = |host: &mut Host, ops: &str| {
            host.feed(&mut ingest, &format!("[{ops}]"), &Format::Patch).expect("a good patch");
        };
        match edit {
            Edit::Put(rows) => {
                let rows: Vec<_> = rows.iter().map(|(key, row)| (key, row.value())).collect();
                let rows = rows.iter().map(|(key, value)| (*key, value));
                host.feed_values(&mut ingest, rows).expect("good rows");
            }
            Edit::Delete(keys) => {
                host.feed(&mut ingest, &list(keys), &Format::Deletes).expect("good keys");
            }
            Edit::DeletePrefix(prefix) => {
                ingest.drop_range(Range::prefix(prefix.as_bytes()));
                host.drive(&mut ingest).expect("a range");
            }
            Edit::Clear => patch(host, r#"{"op":"clear"}"#),
            Edit::Update(key, sum) => {
                let key = quote(key);
                let op = format!("{{\"op\":\"update\",\"key\":{key},\"merge\":{{\"sum\":{sum}}}}}");
                patch(host, &op);
            }
        }
    }
    ingest.finish();
    host.drive(&mut ingest).expect("no more than rows");
    ingest
}

/// The state to retry a commit that lost a race: [`SumUpdate::into_retry_state`].
pub type Made = (Vec<Base>, Vec<Staged>);

/// Updates the sum trees of an ingest, if it awaits them; returns the state for a retry, and the number of
/// steps.
///
/// # Errors
/// The errors of [`SumUpdate::step`].
pub fn bring(
    host: &mut Host,
    ingest: &mut Ingest,
    change: &Change,
    before: &Made,
    spill_bytes: usize,
) -> Result<(Made, usize), Error> {
    if !ingest.awaits_sums() {
        return Ok((Made::default(), 0));
    }
    let follower = |(name, def): (&String, &Def)| Follower {
        name: tree_name(name).expect("a name"),
        definition: def.text(),
    };
    let followers: Vec<_> = change.wanted.iter().map(follower).collect();
    let wanted = Wanted { followers: &followers, alone: change.alone };
    let staged = |(name, edits): &(String, Vec<KeyLeaf>)| Staged {
        name: tree_name(name).expect("a name"),
        batch: batch(edits.iter().map(|(key, leaf)| (key, leaf))),
    };
    let (bases, retry) = before;
    let staged =
        if retry.is_empty() { change.staged.iter().map(staged).collect() } else { retry.clone() };
    let mut bring = SumUpdate::new(&Rules::new(), ingest, staged, wanted, bases);
    bring.spill_at(spill_bytes);
    let mut steps = 0;
    host.steps(|cache, budget| {
        steps += 1;
        let step = bring.step(cache, budget, ingest);
        (step, ingest.sealed())
    })?;
    Ok((bring.into_retry_state(), steps))
}

/// Moves a host to the commit of an ingest.
pub fn adopt(host: &mut Host, ingest: &Ingest) {
    let (root, forest) = ingest.committed().expect("a commit after the last step");
    (host.root, host.forest) = (root, forest.clone());
}

/// Commits a change.
///
/// # Errors
/// The errors of [`SumUpdate::step`]; then the host is unchanged.
pub fn commit(host: &mut Host, change: &Change, spill_bytes: usize) -> Result<(), Error> {
    let mut ingest = start(host, change);
    bring(host, &mut ingest, change, &Made::default(), spill_bytes)?;
    adopt(host, &ingest);
    Ok(())
}
