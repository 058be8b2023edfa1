//! The splitters to compare, in floating point so that they read alike.

use hedgerow::boundary::MIN_CHILDREN;

/// The average size of a node that all of them aim for.
pub const TARGET: f64 = 4096.0;
/// 2 / sqrt(pi) x [`TARGET`]: the scale at which a Rayleigh variable has that mean.
const RAYLEIGH_SCALE: f64 = 4622.0;

/// An entry of a level, as a splitter sees it.
#[derive(Clone, Copy)]
pub struct Item {
    pub hash: u32,
    pub size: u32,
    /// Index of its key.
    pub key: u32,
}

/// The rule that derives from sizes the chance that an entry ends a node.
#[derive(Clone, Copy)]
pub enum Chance {
    /// Middle of the entry's size class, with this many classes to an octave (1 or 2), by target.
    Class(u32),
    /// Size of the entry by target.
    Proportional,
    /// The chance that a Weibull variable of shape 4 and scale target ends between the
    /// offsets before and after the entry when it has not ended before:
    /// `(F(b) - F(a)) / (1 - F(a))`, `F(x) = 1 - exp(-(x / target)^4)`. This is Dolt's
    /// `weibullCheck` in `go/store/prolly/tree/node_splitter.go`.
    Weibull4,
    /// The integral of the hazard of a Rayleigh variable between the two offsets.
    Rising,
}

/// The rule for a node that finds no boundary.
#[derive(Clone, Copy)]
pub enum Cap {
    /// From 4 x target on an entry with the lowest hash so far; from 8 x target on any.
    LowestSoFar,
    /// At 4 x target, the node is cut after the entry with the lowest hash in it.
    LowestOfWindow,
    /// From this many times the target on any entry.
    Any(f64),
}

#[derive(Clone, Copy)]
pub struct Contestant {
    pub name: &'static str,
    leaves: Chance,
    inner: Chance,
    cap: Cap,
    /// Fewest entries of a leaf and of an internal node.
    min_entries: [usize; 2],
    /// No boundary before this many bytes.
    min_bytes: u32,
}

/// The crate's splitter, which is compared with the crate boundary by boundary.
pub const PRESENT: Contestant = Contestant {
    name: "**rising (present)**",
    leaves: Chance::Rising,
    inner: Chance::Rising,
    cap: Cap::Any(4.0),
    min_entries: [1, MIN_CHILDREN],
    min_bytes: 0,
};

/// The crate's former splitter.
const FORMER: Contestant = Contestant {
    name: "size class, lowest so far (former)",
    leaves: Chance::Class(2),
    inner: Chance::Class(2),
    cap: Cap::LowestSoFar,
    min_entries: [2, 2],
    ..PRESENT
};

const PROPORTIONAL: Contestant = Contestant {
    name: "proportional, lowest so far",
    leaves: Chance::Proportional,
    inner: Chance::Proportional,
    min_entries: [1, 2],
    ..FORMER
};

pub const CONTESTANTS: &[Contestant] = &[
    PRESENT,
    FORMER,
    Contestant {
        name: "octave class, lowest so far",
        leaves: Chance::Class(1),
        inner: Chance::Class(1),
        ..FORMER
    },
    Contestant {
        name: "size class, lowest of window (lookahead)",
        cap: Cap::LowestOfWindow,
        ..FORMER
    },
    PROPORTIONAL,
    Contestant {
        name: "Weibull 4 (Dolt)",
        leaves: Chance::Weibull4,
        inner: Chance::Weibull4,
        min_bytes: 512,
        ..PRESENT
    },
    Contestant { name: "rising, leaves proportional", inner: Chance::Rising, ..PROPORTIONAL },
];

impl Chance {
    /// Returns the chance for an entry in the bytes `from..to` of its node.
    fn of(self, from: u32, to: u32) -> f64 {
        let octave = || f64::from(1_u32 << (to - from).ilog2());
        let (size, from, to) = (f64::from(to - from), f64::from(from), f64::from(to));
        match self {
            Self::Class(_) if size >= TARGET => 1.0,
            Self::Class(2) if size >= 1.5 * octave() => 1.75 * octave() / TARGET,
            Self::Class(2) => 1.25 * octave() / TARGET,
            Self::Class(_) => 1.5 * octave() / TARGET,
            Self::Proportional => size / TARGET,
            Self::Weibull4 => {
                let ended_by = |at: f64| -(-(at / TARGET).powi(4)).exp_m1();
                let (begun, ended) = (ended_by(from), ended_by(to));
                if begun >= 1.0 { 1.0 } else { (ended - begun) / (1.0 - begun) }
            }
            Self::Rising => (to * to - from * from) / (RAYLEIGH_SCALE * RAYLEIGH_SCALE),
        }
    }
}

impl Contestant {
    /// Returns where the node ends that begins the `items` of a level.
    pub fn end(&self, level: usize, items: impl Iterator<Item = Item>) -> usize {
        let min_entries = self.min_entries[level.min(1)];
        let chance = if level == 0 { self.leaves } else { self.inner };
        let mut to = 0;
        let (mut lowest, mut lowest_at, mut count) = (u32::MAX, 0, 0);
        for Item { hash, size, .. } in items {
            let from = to;
            to += size;
            count += 1;
            let below = hash < lowest;
            let enough = count >= min_entries;
            if below && (enough || !matches!(self.cap, Cap::LowestOfWindow)) {
                (lowest, lowest_at) = (hash, count);
            }
            if !enough {
                continue;
            }
            let bound = chance.of(from, to) * 4_294_967_296.0;
            let targets = f64::from(to) / TARGET;
            let ends = match self.cap {
                _ if to >= self.min_bytes && f64::from(hash) < bound => true,
                Cap::LowestSoFar => targets >= 8.0 || (below && targets >= 4.0),
                Cap::Any(most) => targets >= most,
                Cap::LowestOfWindow if targets >= 4.0 => return lowest_at,
                Cap::LowestOfWindow => false,
            };
            if ends {
                break;
            }
        }
        count
    }

    /// Returns how many bytes after an entry may move the boundary before it.
    pub const fn lookahead(&self) -> u32 {
        if matches!(self.cap, Cap::LowestOfWindow) { 4 * TARGET as u32 } else { 0 }
    }
}
