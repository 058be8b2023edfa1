// A helper of examples in the docs, which include it by a hidden line.

use hedgerow_trees::boundary::Shape;
use hedgerow_trees::cache::Cache;
use hedgerow_trees::key::Key;
use hedgerow_trees::tree::{Builder, Tree};
use hedgerow_trees::value::{Kind, Value};

/// Makes a tree of each list of rows, whose keys ascend, and a cache with the chunks of all trees.
pub fn store<const N: usize>(lists: [&[(&str, &str)]; N]) -> (Cache, [Tree; N]) {
    let mut cache = Cache::default();
    let mut ids = 1..;
    let trees = lists.map(|rows| {
        let mut builder = Builder::new(Shape::STORED);
        for (key, json) in rows {
            let value = Value::trusted(Kind::Json, json.as_bytes());
            builder.push(Key::trusted(key.as_bytes()), value);
        }
        let tree = builder.finish().tree;
        builder.packer().seal();
        for (segment, id) in builder.packer().take_sealed().into_iter().zip(&mut ids) {
            cache.add_fresh(id, segment);
        }
        tree
    });
    (cache, trees)
}
