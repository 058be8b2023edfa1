//! A part of a sum tree in memory: the pieces that an operation has opened, as a binary trie.

use crate::piece::{
    FIXED_BYTES, Form, LINK_BYTES, Link, MAX_PIECE_BYTES, MIN_PIECE_BYTES, REF_BYTES, Record,
    Records, fetch, stated,
};
use crate::rules::{DEPTH, Rules, State, bit, branch, bytes, common, words};
use alloc::vec::Vec;
use hedgerow_trees::cache::{Cache, Fetch, Want};
use hedgerow_trees::error::{DecodeError, Error, Field};
use hedgerow_trees::hash::Hash;
use hedgerow_trees::step::{Budget, Step};
use hedgerow_trees::tree::Tree;

/// Stands for "no node".
pub(crate) const NONE: u32 = u32::MAX;
/// The value of [`Node::at`] for a leaf whose hash is not known yet.
pub(crate) const UNKNOWN: u16 = DEPTH + 1;
/// The cost of opening a piece: two compressions for each of about forty branches.
const OPEN_WORK: usize = 8 << 10;

/// The form in which the trie has the value of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// The value itself, which its record contains.
    Inline,
    /// The rest of the record of a longer value.
    Ref,
    /// A longer value that is not stored yet.
    New,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Leaf {
        held: Held,
        start: u32,
        len: u32,
    },
    Branch {
        left: u32,
        right: u32,
    },
    /// A piece that is not open.
    Link,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// The path of a leaf below it.
    pub(crate) path: [u8; 32],
    /// The hash of the node; for a leaf, of the subtree at the depth `at` in which it is the only leaf.
    pub(crate) hash: State,
    pub(crate) sum: u64,
    pub(crate) count: u64,
    /// The depth of the branch; [`DEPTH`] for a leaf.
    pub(crate) depth: u16,
    pub(crate) at: u16,
    /// Bytes of its records in a piece.
    pub(crate) size: u16,
    pub(crate) kind: Kind,
    /// The chunk of the piece whose first node it is, if known.
    pub(crate) chunk: Hash,
}

/// A part of a sum tree in memory: the pieces that an operation has opened, as a binary trie.
#[derive(Debug)]
pub(crate) struct Trie {
    pub(crate) rules: Rules,
    pub(crate) nodes: Vec<Node>,
    /// The values of leaves.
    pub(crate) bytes: Vec<u8>,
    pub(crate) root: u32,
    /// Nodes on the way to paths, each with the range of its paths; see [`Trie::reach`].
    frontier: Vec<(u32, u32, u32)>,
    /// Such nodes whose pieces must be loaded first.
    missing: Vec<(u32, u32, u32)>,
}

impl Trie {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            nodes: Vec::new(),
            bytes: Vec::new(),
            root: NONE,
            frontier: Vec::new(),
            missing: Vec::new(),
        }
    }

    pub(crate) fn node(&self, at: u32) -> &Node {
        &self.nodes[at as usize]
    }

    pub(crate) fn push(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    pub(crate) fn leaf(&mut self, path: [u8; 32], sum: u64, held: Held, value: &[u8]) -> u32 {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(value);
        let rest = if held == Held::New { REF_BYTES } else { value.len() };
        self.push(Node {
            path,
            hash: [0; 8],
            sum,
            count: 1,
            depth: DEPTH,
            at: UNKNOWN,
            size: (FIXED_BYTES + rest) as u16,
            kind: Kind::Leaf { held, start, len: value.len() as u32 },
            chunk: Hash::ZERO,
        })
    }

    /// Returns the form in which the trie has the value of a leaf, and the bytes.
    pub(crate) fn value(&self, node: &Node) -> (Held, &[u8]) {
        match node.kind {
            Kind::Leaf { held, start, len } => {
                (held, &self.bytes[start as usize..start as usize + len as usize])
            }
            _ => (Held::Inline, &[]),
        }
    }

    /// Returns which of two siblings are cut off as pieces of their own. This depends only on the two
    /// subtrees, so that equal leaves are always cut in the same way.
    ///
    /// If they are too large for one piece, both are cut off. Further up, pieces have links rather than
    /// leaves, so that few of them lead to many. But if most leaves are on one side, only the other side is
    /// cut off, and earlier. So many such branches, one below the other, share a piece, and no keys can
    /// make a path of many pieces.
    pub(crate) fn cuts(&self, left: u32, right: u32) -> (bool, bool) {
        let (left, right) = (self.node(left), self.node(right));
        let left_is_light = left.count <= right.count;
        let (light, heavy) = if left_is_light { (left, right) } else { (right, left) };
        let size = usize::from(left.size) + usize::from(right.size);
        let is_skewed = light.count < heavy.count / 4;
        let may_cut = |node: &Node| node.count > 1 && usize::from(node.size) >= MIN_PIECE_BYTES;
        // A link takes fewer bytes than the leaves below it.
        let has_links =
            |node: &Node| (FIXED_BYTES as u64).saturating_mul(node.count) > node.size.into();
        let must_cut = |node, other| may_cut(node) && has_links(other) && !has_links(node);
        let is_large = size > MAX_PIECE_BYTES / if is_skewed { 2 } else { 1 };
        let cut_light = must_cut(light, heavy) || (is_large && may_cut(light));
        let least = size - usize::from(light.size) + LINK_BYTES;
        let keeps_heavy = is_skewed && cut_light && least <= MAX_PIECE_BYTES;
        let cut_heavy =
            must_cut(heavy, light) || (size > MAX_PIECE_BYTES && may_cut(heavy) && !keeps_heavy);
        if left_is_light { (cut_light, cut_heavy) } else { (cut_heavy, cut_light) }
    }

    /// Adds a branch over two nodes, without its hash.
    pub(crate) fn join(&mut self, depth: u16, left: u32, right: u32) -> Result<u32, Error> {
        let cuts = self.cuts(left, right);
        let (a, b) = (self.node(left), self.node(right));
        let size = |node: &Node, cut| if cut { LINK_BYTES } else { usize::from(node.size) };
        let sum = a.sum.checked_add(b.sum).ok_or(Error::SumOverflow)?;
        let node = Node {
            path: a.path,
            hash: [0; 8],
            sum,
            count: a.count.saturating_add(b.count),
            depth,
            at: depth,
            size: (size(a, cuts.0) + size(b, cuts.1)) as u16,
            kind: Kind::Branch { left, right },
            chunk: Hash::ZERO,
        };
        Ok(self.push(node))
    }

    /// Returns the hash at `depth` of a subtree whose only content is `node`, which is below.
    pub(crate) fn hash_at(&self, node: &Node, depth: u16) -> State {
        self.rules.fold(node.hash, node.sum, &node.path, node.at, depth)
    }

    /// Computes the hash of a branch from the hashes of its children.
    pub(crate) fn hash_branch(&mut self, at: u32) {
        let node = self.node(at);
        if let Kind::Branch { left, right } = node.kind {
            let below = [left, right].map(|at| self.hash_at(self.node(at), node.depth + 1));
            let hash = branch(&below[0], &below[1], node.sum);
            self.nodes[at as usize].hash = hash;
        }
    }

    fn read(&mut self, record: &Record<'_>) -> u32 {
        let Record { path, hash, sum, .. } = *record;
        let hash = words(&hash);
        let at = match record.form {
            Form::Inline(value) => self.leaf(path, sum, Held::Inline, value),
            Form::Ref(rest) => self.leaf(path, sum, Held::Ref, rest),
            Form::Link(Link { depth, count, size, chunk }) => {
                let kind = Kind::Link;
                self.push(Node { path, hash, sum, count, depth, at: depth, size, kind, chunk })
            }
        };
        self.nodes[at as usize].hash = hash;
        at
    }

    /// Joins `right` with each waiting node on its left whose branch is at the depth `from` or below, the nearest
    /// first.
    fn close(
        &mut self,
        waiting: &mut Vec<(u32, u16)>,
        mut right: u32,
        from: u16,
    ) -> Result<u32, DecodeError> {
        while let Some((left, depth)) = waiting.pop_if(|(_, depth)| *depth >= from) {
            let cuts = self.cuts(left, right);
            for (at, cut) in [(left, cuts.0), (right, cuts.1)] {
                let node = &mut self.nodes[at as usize];
                if matches!(node.kind, Kind::Link) != cut {
                    return Err(wrong(Field::Boundary));
                }
                if node.depth == DEPTH {
                    node.at = depth + 1;
                }
            }
            right = self.join(depth, left, right).map_err(|_| wrong(Field::Sum))?;
            self.hash_branch(right);
        }
        Ok(right)
    }

    /// Builds the nodes of a checked piece, and hashes its branches.
    pub(crate) fn build(&mut self, chunk: &[u8]) -> Result<u32, DecodeError> {
        // Nodes that wait for their right sibling, and the depths of the branches over them.
        let mut waiting = Vec::new();
        let mut last = NONE;
        for record in Records::of(chunk) {
            let next = self.read(&record);
            if last != NONE {
                let depth = common(&self.node(last).path, &record.path);
                last = self.close(&mut waiting, last, depth + 1)?;
                waiting.push((last, depth));
            }
            last = next;
        }
        self.close(&mut waiting, last, 0)
    }

    /// Opens the link at `at`; returns the segment of its piece if that is not in memory.
    pub(crate) fn open(&mut self, cache: &Cache, at: u32) -> Result<Option<Want>, Error> {
        let Node { path, hash: claim, sum, count, depth, size, chunk: hash, .. } = *self.node(at);
        let form = Form::Link(Link { depth, count, size, chunk: hash });
        let link = Record { path, hash: bytes(&claim), sum, form };
        let chunk = match fetch(cache, hash, Some(&link), true)? {
            Fetch::At(want) => return Ok(Some(want)),
            Fetch::Here(chunk) => chunk,
        };
        let built = self.build(chunk).and_then(|built| {
            let is_it = self.node(built).hash == claim;
            if is_it { Ok(built) } else { Err(wrong(Field::SumHash)) }
        });
        let built = built.map_err(|cause| Error::CorruptChunk { hash, cause: Some(cause) })?;
        // The root of the piece replaces the link; its other nodes stay where they are.
        self.nodes[at as usize] = Node { chunk: hash, ..*self.node(built) };
        Ok(None)
    }

    /// Opens the top of `tree`; returns its segment if that is not in memory.
    pub(crate) fn enter(&mut self, cache: &Cache, tree: Tree) -> Result<Option<Want>, Error> {
        if tree.is_empty() || self.root != NONE {
            return Ok(None);
        }
        let hash = tree.root;
        let chunk = match fetch(cache, hash, None, true)? {
            Fetch::At(want) => return Ok(Some(want)),
            Fetch::Here(chunk) => chunk,
        };
        let built = self.build(chunk).and_then(|built| {
            let node = &mut self.nodes[built as usize];
            if node.depth == DEPTH {
                node.at = 0;
            }
            let node = self.node(built);
            let (hash, sum) = stated(chunk);
            if node.count != tree.count {
                return Err(wrong(Field::EntryCount));
            }
            if node.sum != sum {
                return Err(wrong(Field::Sum));
            }
            let is_it = self.hash_at(node, 0) == hash;
            if is_it { Ok(built) } else { Err(wrong(Field::SumHash)) }
        });
        self.root = built.map_err(|cause| Error::CorruptChunk { hash, cause: Some(cause) })?;
        Ok(None)
    }

    /// Returns the root of the whole tree.
    pub(crate) fn total(&self) -> Root {
        if self.root == NONE {
            return Root { hash: self.rules.empty_hash(0), sum: 0 };
        }
        let root = self.node(self.root);
        Root { hash: bytes(&self.hash_at(root, 0)), sum: root.sum }
    }

    /// Opens all pieces of `tree` that `paths`, which must ascend, lead into. It goes level by level, and
    /// asks for all missing pieces of a level at once.
    pub(crate) fn reach(
        &mut self,
        cache: &Cache,
        budget: &mut Budget,
        tree: Tree,
        paths: &[[u8; 32]],
    ) -> Result<Step<()>, Error> {
        if self.root == NONE && !tree.is_empty() {
            if let Some(id) = self.enter(cache, tree)? {
                return Ok(Step::Need(Vec::from([id.whole()])));
            }
            self.frontier.push((self.root, 0, paths.len() as u32));
        }
        self.frontier.append(&mut self.missing);
        // The segment that the first of `missing` needs.
        let mut awaited = None;
        while let Some((at, from, to)) = self.frontier.pop() {
            if budget.is_over(cache) {
                self.frontier.push((at, from, to));
                // Ask for missing pieces first; otherwise the next step would begin with them again.
                if awaited.is_none() {
                    return Ok(Step::Yield);
                }
                break;
            }
            budget.spend(64);
            let node = *self.node(at);
            let (depth, path) = (node.depth, node.path);
            let within = &paths[from as usize..to as usize];
            // The paths that share all bits above its first branch.
            let first =
                within.partition_point(|other| *other < path && common(other, &path) < depth);
            let within = &within[first..];
            let len = within.partition_point(|other| common(other, &path) >= depth);
            let from = from + first as u32;
            let to = from + len as u32;
            if len == 0 || depth == DEPTH {
                continue;
            }
            match node.kind {
                Kind::Branch { left, right } => {
                    let middle = within[..len].partition_point(|path| !bit(path, depth));
                    let middle = from + middle as u32;
                    self.frontier.push((right, middle, to));
                    self.frontier.push((left, from, middle));
                }
                _ => {
                    if let Some(id) = self.open(cache, at)? {
                        awaited.get_or_insert(id);
                        self.missing.push((at, from, to));
                    } else {
                        budget.spend(OPEN_WORK);
                        self.frontier.push((at, from, to));
                    }
                }
            }
        }
        let hashes = self.missing.iter().map(|(at, _, _)| &self.node(*at).chunk);
        Ok(awaited.map_or(Step::Done(()), |id| Step::Need(cache.parts_ahead(id, hashes))))
    }
}

/// The root of a sum tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// The hash.
    pub hash: [u8; 32],
    /// The sum of all leaves.
    pub sum: u64,
}

const fn wrong(field: Field) -> DecodeError {
    DecodeError::new(field, 2, 0, 0)
}
