//! Two models of sum trees, after the reference implementation. The full tree keeps every node on the
//! path to a leaf. In the compacted tree, a leaf replaces a subtree in which it is the only leaf. They
//! are slow, keep everything in memory and are independent of the core.

use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Computes SHA-256.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// A key.
pub type Key = [u8; 32];

/// A hash and a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sided {
    /// The hash.
    pub hash: [u8; 32],
    /// The sum.
    pub sum: u64,
}

/// A value and a sum. An empty value with the sum 0 stands for an absent leaf.
pub type Leaf = (Vec<u8>, u64);

/// Returns the side of `key` at `depth`.
pub fn side(key: &Key, depth: usize) -> bool {
    (key[depth / 8] >> (depth % 8)) & 1 == 1
}

/// Returns the node of a leaf.
pub fn leaf(value: &[u8], sum: u64) -> Sided {
    let hash = Sha256::new().chain_update(value).chain_update(sum.to_be_bytes()).finalize();
    Sided { hash: hash.into(), sum }
}

/// Returns the branch over two nodes, whose sums must fit.
///
/// # Errors
/// If they do not fit.
pub fn branch(left: Sided, right: Sided) -> Result<Sided, Overflow> {
    let sum = left.sum.checked_add(right.sum).ok_or(Overflow)?;
    let hash = Sha256::new().chain_update(left.hash).chain_update(right.hash);
    Ok(Sided { hash: hash.chain_update(sum.to_be_bytes()).finalize().into(), sum })
}

/// Sums that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow;

/// Returns the empty subtrees of all depths, from 0 to 256.
pub fn empty() -> Vec<Sided> {
    let mut empty = vec![leaf(&[], 0)];
    for depth in 0..256 {
        empty.push(branch(empty[depth], empty[depth]).expect("no sums"));
    }
    empty.reverse();
    empty
}

/// A model of a sum tree.
pub trait Model {
    /// Puts a leaf, or deletes one.
    ///
    /// # Errors
    /// If the sums do not fit; the model does not change then.
    fn insert(&mut self, key: &Key, leaf: &Leaf) -> Result<(), Overflow>;
    /// Returns the root.
    fn root(&self) -> Sided;
    /// Returns the siblings of a key from the leaf up.
    fn siblings(&self, key: &Key) -> Vec<Sided>;
}

/// Returns the root over a leaf with these siblings, from the leaf up.
///
/// # Errors
/// If the sums do not fit.
pub fn root_of(key: &Key, leaf: Sided, siblings: &[Sided]) -> Result<Sided, Overflow> {
    let mut node = leaf;
    for (at, sibling) in siblings.iter().enumerate() {
        let right = side(key, 255 - at);
        node = if right { branch(*sibling, node)? } else { branch(node, *sibling)? };
    }
    Ok(node)
}

/// Returns the compressed encoding of a proof.
pub fn encode(siblings: &[Sided]) -> Vec<u8> {
    let empty = empty();
    let (mut nodes, mut bits, mut count) = (Vec::new(), [0u8; 32], 0u16);
    for (at, sibling) in siblings.iter().enumerate() {
        if *sibling == empty[256 - at] {
            bits[at / 8] |= 1 << (at % 8);
        } else {
            count += 1;
            nodes.extend_from_slice(&sibling.hash);
            nodes.extend_from_slice(&sibling.sum.to_be_bytes());
        }
    }
    [&count.to_be_bytes()[..], &nodes, &bits].concat()
}

/// A full tree: all nodes that are not empty, by their depth and the bits that lead to them.
#[derive(Clone, Debug)]
pub struct Full {
    empty: Vec<Sided>,
    nodes: HashMap<(usize, Vec<bool>), Sided>,
}

impl Default for Full {
    fn default() -> Self {
        Self { empty: empty(), nodes: HashMap::new() }
    }
}

impl Full {
    fn at(&self, bits: &[bool]) -> Sided {
        let node = self.nodes.get(&(bits.len(), bits.to_vec()));
        node.copied().unwrap_or(self.empty[bits.len()])
    }
}

fn bits(key: &Key) -> Vec<bool> {
    (0..256).map(|depth| side(key, depth)).collect()
}

impl Model for Full {
    fn insert(&mut self, key: &Key, (value, sum): &Leaf) -> Result<(), Overflow> {
        let siblings = self.siblings(key);
        let mut bits = bits(key);
        let mut made = vec![leaf(value, *sum)];
        for (at, sibling) in siblings.iter().enumerate() {
            let node = made[at];
            let right = bits[255 - at];
            made.push(if right { branch(*sibling, node)? } else { branch(node, *sibling)? });
        }
        for node in made {
            if node == self.empty[bits.len()] {
                self.nodes.remove(&(bits.len(), bits.clone()));
            } else {
                self.nodes.insert((bits.len(), bits.clone()), node);
            }
            bits.pop();
        }
        Ok(())
    }

    fn root(&self) -> Sided {
        self.at(&[])
    }

    fn siblings(&self, key: &Key) -> Vec<Sided> {
        let bits = bits(key);
        let sibling = |depth: usize| {
            let mut bits = bits[..=depth].to_vec();
            bits[depth] ^= true;
            self.at(&bits)
        };
        (0..256).rev().map(sibling).collect()
    }
}

/// A subtree of a compacted tree.
#[derive(Clone, Debug)]
enum Subtree {
    Empty,
    Alone(Key, Leaf),
    Branch(Box<[Subtree; 2]>, Sided),
}

/// A compacted tree.
#[derive(Clone, Debug)]
pub struct Compacted {
    empty: Vec<Sided>,
    root: Subtree,
}

impl Default for Compacted {
    fn default() -> Self {
        Self { empty: empty(), root: Subtree::Empty }
    }
}

impl Compacted {
    /// Returns the node of a subtree at `depth`.
    fn node(&self, subtree: &Subtree, depth: usize) -> Sided {
        match subtree {
            Subtree::Empty => self.empty[depth],
            Subtree::Branch(_, node) => *node,
            Subtree::Alone(key, (value, sum)) => {
                let siblings: Vec<_> = (depth + 1..=256).rev().map(|at| self.empty[at]).collect();
                root_of(key, leaf(value, *sum), &siblings).expect("one sum")
            }
        }
    }

    fn set(
        &self,
        subtree: Subtree,
        depth: usize,
        key: &Key,
        new: &Leaf,
    ) -> Result<Subtree, Overflow> {
        let deletes = *new == (Vec::new(), 0);
        let alone = |key: &Key, leaf: &Leaf| Subtree::Alone(*key, leaf.clone());
        let mut sides = match subtree {
            Subtree::Empty if deletes => return Ok(Subtree::Empty),
            Subtree::Empty => return Ok(alone(key, new)),
            Subtree::Alone(other, _) if other == *key => {
                return Ok(if deletes { Subtree::Empty } else { alone(key, new) });
            }
            Subtree::Alone(other, leaf) => {
                if deletes {
                    return Ok(alone(&other, &leaf));
                }
                let mut sides = Box::new([Subtree::Empty, Subtree::Empty]);
                sides[usize::from(side(&other, depth))] = alone(&other, &leaf);
                sides
            }
            Subtree::Branch(sides, _) => sides,
        };
        let which = usize::from(side(key, depth));
        let old = std::mem::replace(&mut sides[which], Subtree::Empty);
        sides[which] = self.set(old, depth + 1, key, new)?;
        match &*sides {
            [Subtree::Alone(key, leaf), Subtree::Empty]
            | [Subtree::Empty, Subtree::Alone(key, leaf)] => return Ok(alone(key, leaf)),
            _ => {}
        }
        let below = [0, 1].map(|which| self.node(&sides[which], depth + 1));
        let node = branch(below[0], below[1])?;
        Ok(Subtree::Branch(sides, node))
    }
}

impl Model for Compacted {
    fn insert(&mut self, key: &Key, leaf: &Leaf) -> Result<(), Overflow> {
        self.root = self.set(self.root.clone(), 0, key, leaf)?;
        Ok(())
    }

    fn root(&self) -> Sided {
        self.node(&self.root, 0)
    }

    fn siblings(&self, key: &Key) -> Vec<Sided> {
        let mut siblings = Vec::new();
        let mut subtree = &self.root;
        for depth in 0..256 {
            let which = usize::from(side(key, depth));
            match subtree {
                Subtree::Branch(sides, _) => {
                    siblings.push(self.node(&sides[1 - which], depth + 1));
                    subtree = &sides[which];
                }
                Subtree::Alone(other, _) if usize::from(side(other, depth)) != which => {
                    siblings.push(self.node(subtree, depth + 1));
                    subtree = &Subtree::Empty;
                }
                _ => siblings.push(self.empty[depth + 1]),
            }
        }
        siblings.reverse();
        siblings
    }
}
