// A helper of examples in the docs, which include it by a hidden line.

use hedgerow_sums::{Root, Rules, SumBatch, SumMerge, key_of};
use hedgerow_trees::cache::Cache;
use hedgerow_trees::segment::Packer;
use hedgerow_trees::step::{Budget, Step};
use hedgerow_trees::tree::Tree;

/// Makes a sum tree of each list of leaves, names with sums, and a cache with the chunks of all trees.
pub fn store<const N: usize>(lists: [&[(&str, u64)]; N]) -> (Cache, [(Tree, Root); N]) {
    let mut cache = Cache::default();
    let mut ids = 1..;
    let trees = lists.map(|leaves| {
        let mut batch = SumBatch::new();
        for (name, sum) in leaves {
            batch.put(&key_of(name.as_bytes()), name.as_bytes(), *sum).expect("a short value");
        }
        let mut merge = SumMerge::new(&Rules::new(), Tree::EMPTY, batch);
        let mut packer = Packer::new();
        let step = merge.step(&cache, &mut Budget::of(usize::MAX), &mut packer);
        assert_eq!(step, Ok(Step::Done(())));
        packer.seal();
        for (segment, id) in packer.take_sealed().into_iter().zip(&mut ids) {
            cache.add_fresh(id, segment);
        }
        merge.made()
    });
    (cache, trees)
}
