//! Whether a node is one that a [`Builder`](super::Builder) would make of the same entries: it ends
//! where the boundary function ends it, and nowhere before. If all nodes of a tree are, its root
//! follows from its rows.

use crate::boundary::Shape;
use crate::node::Node;

/// Whether `node` is in its canonical form. The last of its level, `rightmost`, may end with any
/// entry; the `top` of a tree has more than one child. Costs a hash of each key.
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
