//! Random tests. A failure prints the seed, the number of the step, what the step did, the expected
//! and the actual value, and the command that runs only this seed.
//!
//! `SEED=n` runs one seed, `SEEDS=n` runs n seeds. Proptest keeps its own seeds: it first runs the cases
//! of `*.proptest-regressions`, which failed before.

use std::env;
use std::fmt::{self, Debug, Display, Formatter};

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
    /// The steps of a case that proptest draws.
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

    /// The command that runs only this seed, or only this test of proptest.
    fn command(&self) -> String {
        let seed = self.seed.map_or_else(String::new, |seed| format!("SEED={seed} "));
        let file = env::args().next().unwrap_or_default();
        let file = file.rsplit(['/', '\\']).next().unwrap_or_default();
        let file = file.rsplit_once('-').map_or(file, |(name, _)| name);
        let thread = std::thread::current();
        let test = thread.name().unwrap_or_default();
        format!("\n  alone: {seed}cargo test -p hedgerow --test {file} {test}")
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

/// Runs `body` for `count` seeds from 0, for as many as `SEEDS` says, or for the one that `SEED` names.
///
/// # Panics
///
/// If a comparison of `body` fails.
pub fn for_seeds(count: u64, mut body: impl FnMut(u64, &mut Steps) -> Result<(), Differs>) {
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SEEDS").unwrap_or(count),
    };
    for seed in seeds {
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

/// The debug text of a value, cut off if it is long.
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
    use super::{Steps, for_seeds, short};

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

    #[test]
    #[should_panic(expected = "SEED=3, step 0, \"third\": below 3: expected true, got false")]
    fn a_failure_says_its_seed() {
        for_seeds(5, |seed, steps| {
            steps.begin("third");
            steps.same("below 3", &(seed < 3), &true)
        });
    }
}
