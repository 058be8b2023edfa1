//! The canonical form of nodes: as a [`Builder`](super::Builder) makes them of the same entries. A
//! node ends where the boundary function ends it, and nowhere before. If all nodes of a tree are in
//! canonical form, its root depends on its rows only.

use crate::boundary::Shape;
use crate::node::Node;

/// Returns whether `node` is in canonical form. A node that is the last of its level (`rightmost`) may end with any
/// entry. The `top` of a tree must not be an internal node with one child. Costs a hash of each key.
pub(super) fn is_canonical(shape: Shape, node: &Node<'_>, top: bool, rightmost: bool) -> bool {
    let ends = |nth: usize| match node {
        Node::Leaf(leaf) => leaf.ends(shape, nth),
        Node::Inner(inner) => inner.ends(shape, nth),
    };
    let (len, is_inner) = match node {
        Node::Leaf(leaf) => (leaf.len(), false),
        Node::Inner(inner) => (inner.len(), true),
    };
    let last = len - 1;
    !(0..last).any(ends) && (rightmost || ends(last)) && !(top && is_inner && len == 1)
}
