//! Random tests. A failure prints the seed, the number of the step, what the step did, the expected
//! and the actual value, and the command that runs only this seed.
//!
//! A run takes an eighth of the seeds, from `SEED_BASE` on, which moves from day to day; `DEEP=1` takes all, from 1 on.
//! `SEED=n` runs one seed, `SEEDS=n` runs the seeds from 1 to n, and with `FIRST_SEED=m` only from m on. Proptest draws
//! its cases by `SEED_BASE`, too, after the cases of `*.proptest-regressions`, which failed before.

use std::env;
use std::fmt::{self, Debug, Display, Formatter};
use std::iter::Enumerate;
use std::ops::Range;
use std::vec::IntoIter;

/// A run that is not deep takes one seed in this many.
const SHARE: u64 = 8;

/// The seeds and items that a run takes.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    is_deep: bool,
    base: u64,
    seed: Option<u64>,
    seeds: Option<u64>,
    first: Option<u64>,
}

impl Run {
    fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let number = |name| variable(name).and_then(|text| text.parse().ok());
        Self {
            is_deep: number("DEEP") == Some(1),
            base: number("SEED_BASE").unwrap_or(0),
            seed: number("SEED"),
            seeds: number("SEEDS"),
            first: number("FIRST_SEED"),
        }
    }

    fn current() -> Self {
        Self::of(|name| env::var(name).ok())
    }

    /// Returns the seeds that this run takes of the `count` of a deep one.
    fn seeds(self, count: u64) -> Range<u64> {
        match (self.seed, self.seeds) {
            (Some(seed), _) => seed..seed + 1,
            (None, Some(last)) => self.first.unwrap_or(1)..last + 1,
            (None, None) if self.is_deep => 1..count + 1,
            (None, None) => self.base..self.base + count.div_ceil(SHARE),
        }
    }

    /// Returns whether this run takes at least `count` fixed seeds.
    fn has_all_seeds(self, count: u64) -> bool {
        let seeds = self.seeds(count);
        (self.is_deep || self.seeds.is_some()) && seeds.end.saturating_sub(seeds.start) >= count
    }

    fn sampled<T>(self, items: impl IntoIterator<Item = T>, of: usize) -> Sample<T> {
        let all: Vec<T> = items.into_iter().collect();
        let first = self.base as usize % of.min(all.len()).max(1);
        let takes = |at: usize| self.is_deep || at % of == first;
        let some = all.into_iter().enumerate().filter(|(at, _)| takes(*at)).map(|(_, item)| item);
        Sample { items: some.collect::<Vec<_>>().into_iter().enumerate(), run: self, last: None }
    }

    /// Prints the variables by which another run takes the same sample.
    fn again(self) -> String {
        let deep = if self.is_deep { "DEEP=1 " } else { "" };
        format!("{deep}SEED_BASE={} ", self.base)
    }
}

/// Returns whether this run is deep.
pub fn is_deep() -> bool {
    Run::current().is_deep
}

/// Returns whether this run takes at least `count` fixed seeds. With fewer or moving seeds, totals are a matter of
/// chance.
pub fn has_all_seeds(count: u64) -> bool {
    Run::current().has_all_seeds(count)
}

/// Returns where the seeds of this run begin, if it is not deep.
pub fn seed_base() -> u64 {
    Run::current().base
}

/// Takes every `of`-th of `items`, from a start that moves with `SEED_BASE`, so that each has its turn; in deep runs
/// all. For nested loops sample the pairs: two samples would meet in few of them.
pub fn sampled<T>(items: impl IntoIterator<Item = T>, of: usize) -> Sample<T> {
    Run::current().sampled(items, of)
}

/// A sample of items. A panic in the loop over them prints the command that takes the same sample again.
#[derive(Debug)]
pub struct Sample<T> {
    items: Enumerate<IntoIter<T>>,
    run: Run,
    last: Option<usize>,
}

impl<T> Iterator for Sample<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let next = self.items.next();
        self.last = next.as_ref().map(|(at, _)| *at);
        next.map(|(_, item)| item)
    }
}

impl<T> Drop for Sample<T> {
    fn drop(&mut self) {
        if let Some(at) = self.last
            && std::thread::panicking()
        {
            eprintln!("in item {at} of the sample{}", command(&self.run.again()));
        }
    }
}

/// Prints the command that runs only this test, with some variables.
fn command(variables: &str) -> String {
    let file = env::args().next().unwrap_or_default();
    let file = file.rsplit(['/', '\\']).next().unwrap_or_default();
    let file = file.rsplit_once('-').map_or(file, |(name, _)| name);
    let thread = std::thread::current();
    let test = thread.name().unwrap_or_default();
    format!("\n  alone: {variables}cargo test -p hedgerow --test {file} {test}")
}

/// The longest text of a value that a failure prints.
const LONGEST_TEXT: usize = 600;

/// A difference from the expected value. Its `Debug` is its text, so that `unwrap` prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Differs(String);

impl Debug for Differs {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Display for Differs {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Differs {}

/// The steps of a random test. A failed comparison is reported with its step.
#[derive(Debug, Default)]
pub struct Steps {
    seed: Option<u64>,
    count: usize,
    last: String,
}

impl Steps {
    /// Begins the steps of a case that proptest draws.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a step, which does `what`.
    pub fn begin(&mut self, what: impl Debug) {
        self.count += 1;
        self.last = short(&what);
    }

    /// Compares two values.
    ///
    /// # Errors
    ///
    /// If they differ: the step, the expected and the actual value.
    pub fn same<T: PartialEq + Debug>(
        &self,
        what: impl Display,
        got: &T,
        expected: &T,
    ) -> Result<(), Differs> {
        if got == expected {
            return Ok(());
        }
        let (expected, got) = (short(expected), short(got));
        Err(self.differs(format_args!("{what}: expected {expected}, got {got}")))
    }

    /// Compares two lists, and reports their first difference.
    ///
    /// # Errors
    ///
    /// If they differ: the step, and the first items that differ.
    pub fn same_items<T: PartialEq + Debug>(
        &self,
        what: impl Display,
        got: impl IntoIterator<Item = T>,
        expected: impl IntoIterator<Item = T>,
    ) -> Result<(), Differs> {
        let got: Vec<T> = got.into_iter().collect();
        let expected: Vec<T> = expected.into_iter().collect();
        if got == expected {
            return Ok(());
        }
        let at = got.iter().zip(&expected).take_while(|(one, other)| one == other).count();
        let item =
            |list: &[T]| list.get(at).map_or_else(|| "the end".to_owned(), |item| short(item));
        let lengths = format!("{} items of {}", got.len(), expected.len());
        let (expected, got) = (item(&expected), item(&got));
        Err(self
            .differs(format_args!("{what}, item {at}: expected {expected}, got {got} ({lengths})")))
    }

    fn differs(&self, what: impl Display) -> Differs {
        Differs(format!("{self}{what}{}", self.command()))
    }

    /// Prints the command that runs only this seed, or draws the cases of proptest again.
    fn command(&self) -> String {
        command(&self.seed.map_or_else(|| Run::current().again(), |seed| format!("SEED={seed} ")))
    }
}

impl Display for Steps {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(seed) = self.seed {
            write!(f, "SEED={seed}, ")?;
        }
        if self.count > 0 {
            write!(f, "step {}, {}: ", self.count - 1, self.last)?;
        }
        Ok(())
    }
}

/// An assertion that panics does not know the step, so the step is printed after it.
impl Drop for Steps {
    fn drop(&mut self) {
        if std::thread::panicking() && self.seed.is_some() {
            eprintln!("in {self}{}", self.command());
        }
    }
}

/// Runs `body` for each seed that this run takes of `count`.
///
/// # Panics
///
/// If a comparison of `body` fails.
pub fn for_seeds(count: u64, mut body: impl FnMut(u64, &mut Steps) -> Result<(), Differs>) {
    for seed in Run::current().seeds(count) {
        let mut steps = Steps::new();
        steps.seed = Some(seed);
        let result = body(seed, &mut steps);
        // The error contains the step already.
        steps.seed = None;
        if let Err(differs) = result {
            panic!("{differs}");
        }
    }
}

/// Prints a value for debugging, cut off if it is long.
pub fn short(value: &impl Debug) -> String {
    let mut text = format!("{value:?}");
    if text.len() > LONGEST_TEXT {
        let end = (0..=LONGEST_TEXT).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Run, Steps, for_seeds, short};

    #[test]
    fn a_difference_says_its_step_and_where_it_begins() {
        let mut steps = Steps::new();
        assert_eq!(steps.same("rows", &1, &1), Ok(()));
        steps.begin("put");
        steps.begin(("delete", 7));
        let text = steps.same("rows", &1, &2).unwrap_err().to_string();
        assert!(text.starts_with("step 1, (\"delete\", 7): rows: expected 2, got 1\n"), "{text}");
        assert!(text.contains("a_difference_says_its_step_and_where_it_begins"), "{text}");
        let text = steps.same_items("keys", [1, 2, 3], [1, 2]).unwrap_err().to_string();
        assert!(text.contains("keys, item 2: expected the end, got 3 (3 items of 2)"), "{text}");
    }

    #[test]
    fn long_values_are_cut_between_characters() {
        assert!(short(&"é".repeat(2000)).len() < 700);
    }

    fn run(variables: &[(&str, &str)]) -> Run {
        Run::of(|name| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_run_takes_an_eighth_of_the_seeds_and_a_deep_one_all() {
        assert_eq!(run(&[("SEED_BASE", "400")]).seeds(20), 400..403);
        assert_eq!(run(&[("SEED_BASE", "400")]).seeds(16), 400..402);
        assert_eq!(run(&[]).seeds(1), 0..1);
        assert_eq!(run(&[("DEEP", "1"), ("SEED_BASE", "400")]).seeds(20), 1..21);
        assert!(run(&[("DEEP", "1")]).has_all_seeds(20));
        assert!(!run(&[("SEED_BASE", "400")]).has_all_seeds(1));
    }

    #[test]
    fn seeds_can_be_named() {
        assert_eq!(run(&[("DEEP", "1"), ("SEED", "7"), ("SEEDS", "9")]).seeds(20), 7..8);
        assert_eq!(run(&[("SEEDS", "3")]).seeds(20), 1..4);
        assert_eq!(run(&[("FIRST_SEED", "11"), ("SEEDS", "13")]).seeds(20), 11..14);
        assert!(run(&[("FIRST_SEED", "11"), ("SEEDS", "13")]).has_all_seeds(3));
        assert!(!run(&[("FIRST_SEED", "11"), ("SEEDS", "13")]).has_all_seeds(4));
        assert!(!run(&[("DEEP", "1"), ("SEED", "7")]).has_all_seeds(20));
    }

    #[test]
    fn each_item_is_in_the_sample_of_some_base() {
        for of in [1, 5, 8] {
            for len in [0, 1, 4, 5, 8, 16, 21] {
                let mut seen = vec![0; len];
                for base in 400..400 + of as u64 {
                    let run = Run { base, ..Run::default() };
                    let sample: Vec<_> = run.sampled(0..len, of).collect();
                    assert_eq!(sample.is_empty(), len == 0);
                    assert!(run.sampled(0..len, of).eq(sample.iter().copied()), "again");
                    for at in sample {
                        seen[at] += 1;
                    }
                }
                // With fewer items than bases some samples are alike.
                assert!(seen.iter().all(|count| if len < of { *count > 0 } else { *count == 1 }));
            }
        }
        let deep = Run { is_deep: true, base: 3, ..Run::default() };
        assert!(deep.sampled(0..20, 8).eq(0..20));
    }

    #[test]
    fn the_variables_that_are_printed_repeat_the_run() {
        for is_deep in [false, true] {
            let first = Run { is_deep, base: 403, ..Run::default() };
            let text = first.again();
            let pairs: Vec<_> =
                text.split_whitespace().filter_map(|one| one.split_once('=')).collect();
            let again = run(&pairs);
            assert!(again.sampled(0..99, 8).eq(first.sampled(0..99, 8)));
            assert_eq!(again.base, first.base);
        }
    }

    #[test]
    fn a_failure_says_its_seed() {
        let seeds = Run::current().seeds(5);
        let body = |seed: u64, steps: &mut Steps| {
            steps.begin("last");
            steps.same("not the last", &(seed + 1 < seeds.end), &true)
        };
        let cause = std::panic::catch_unwind(|| for_seeds(5, body)).expect_err("the last fails");
        let text = cause.downcast_ref::<String>().expect("a text");
        let last = seeds.end - 1;
        let expected =
            format!("SEED={last}, step 0, \"last\": not the last: expected true, got false");
        assert!(text.starts_with(&expected), "{text}");
        assert!(text.contains(&format!("alone: SEED={last} cargo test ")), "{text}");
    }
}
