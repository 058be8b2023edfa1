//! Decimal numbers as doubles, rounded to nearest, ties to even (IEEE 754-2008, 5.12.2).
//!
//! [`Near`] is exact for numbers of up to 19 digits and up to 25 places behind the point:
//! an estimate by the floating-point unit is off by two units at most in its last place, and
//! by how much exactly is told by the lower 64 bits of a difference. [`round`] takes any other number, with
//! integers of any length: slow, and in the place of tables of 10 KB.

#![expect(clippy::cast_possible_wrap, reason = "exponents and numbers of digits are small")]
#![expect(clippy::cast_sign_loss, reason = "what is cast was made positive")]

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Five to a higher power, and three times that, would not be told by 63 bits.
pub(super) const MAX_PLACES: usize = 25;

const POWERS_OF_FIVE: [u64; MAX_PLACES + 1] = {
    let mut powers = [1; MAX_PLACES + 1];
    let mut at = 1;
    while at <= MAX_PLACES {
        powers[at] = 5 * powers[at - 1];
        at += 1;
    }
    powers
};

const FRACTION_BITS: u32 = 52;
const HIDDEN_BIT: u64 = 1 << FRACTION_BITS;
const MIN_EXPONENT: i32 = -1074;
const MAX_EXPONENT: i32 = 971;

/// Digits that can make a difference; of those behind them only whether one is not zero does.
const MAX_DIGITS: usize = 800;

/// The double next to `digits / 10^places`, and how far from it that number is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    /// With its hidden bit.
    pub(super) mantissa: u64,
    pub(super) exponent: i32,
    /// By how much the number is above the double.
    pub(super) above: i64,
    /// The double's last place, in the same unit.
    pub(super) ulp: i64,
    /// One in the last of `digits`, in the same unit: two to this.
    pub(super) shift: u32,
}

impl Near {
    /// `None` where the answer is not plain: for numbers next to a power of two, and where
    /// the unit would not be whole.
    pub(super) fn of(digits: u64, places: usize) -> Option<Self> {
        if digits == 0 || places > MAX_PLACES {
            return None;
        }
        let power = POWERS_OF_FIVE[places];
        #[expect(clippy::cast_precision_loss, reason = "an estimate; the power is exact")]
        let estimate = (digits as f64 / power as f64).to_bits();
        let mut mantissa = estimate & (HIDDEN_BIT - 1) | HIDDEN_BIT;
        // Of the estimate, which lacks the powers of two of ten.
        let exponent = (estimate >> FRACTION_BITS) as i32 - 1075;
        let shift = u32::try_from(-exponent).ok()?;
        let ulp = power as i64;
        // The unit is 2^exponent / 5^places. Of both sides only the lower bits are made: they differ
        // by less than three last places, of 2^59 at most.
        let shifted = digits.checked_shl(shift).unwrap_or(0);
        let mut above = shifted.wrapping_sub(mantissa.wrapping_mul(power)) as i64;
        while 2 * above > ulp {
            mantissa += 1;
            above -= ulp;
        }
        while 2 * above < -ulp {
            mantissa -= 1;
            above += ulp;
        }
        if 2 * above.abs() == ulp && mantissa % 2 == 1 {
            let up = above > 0;
            mantissa = if up { mantissa + 1 } else { mantissa - 1 };
            above += if up { -ulp } else { ulp };
        }
        let exponent = exponent - places as i32;
        (mantissa > HIDDEN_BIT && mantissa < 2 * HIDDEN_BIT).then_some(Self {
            mantissa,
            exponent,
            above,
            ulp,
            shift,
        })
    }

    /// The double.
    pub(super) fn value(&self) -> f64 {
        scale(self.mantissa, self.exponent)
    }

    /// Whether `digits` are the fewest that stand for this double alone, and of those the
    /// nearest to it (ECMA-262, 6.1.6.1.20). There are 16 or 17 of them, and the last is not zero.
    /// `None` when it is between two.
    pub(super) fn is_shortest(&self, digits: u64) -> Option<bool> {
        // Of so many digits, one is 2^59 at most.
        let one = 1_i64 << self.shift;
        let last = (digits % 10) as i64;
        let below = (self.above - last * one).abs();
        let over = (self.above + (10 - last) * one).abs();
        let nearest = 2 * below.min(over);
        let off = 2 * self.above.abs();
        if nearest == self.ulp || off == one {
            return None;
        }
        Some(nearest > self.ulp && off < one)
    }
}

/// `mantissa * 2^exponent`, which is a double or too large for one.
fn scale(mantissa: u64, exponent: i32) -> f64 {
    let bits = if exponent < -1022 {
        1 << (exponent - MIN_EXPONENT)
    } else {
        ((exponent + 1023) as u64) << FRACTION_BITS
    };
    #[expect(clippy::cast_precision_loss, reason = "at most 53 bits")]
    let mantissa = mantissa as f64;
    mantissa * f64::from_bits(bits)
}

/// The double nearest to `digits * 10^exponent`, where `digits` are ASCII.
pub(super) fn round(digits: impl Iterator<Item = u8>, exponent: i64) -> f64 {
    let (mut top, mut bottom) = (Big::default(), Big::default());
    let (mut count, mut exponent, mut rest) = (0, exponent, false);
    for digit in digits {
        if count < MAX_DIGITS {
            top.scale(10, u32::from(digit - b'0'));
            // Leading zeros are none.
            count += usize::from(!top.is_zero());
        } else {
            exponent = exponent.saturating_add(1);
            rest |= digit != b'0';
        }
    }
    let magnitude = exponent.saturating_add(count as i64);
    if top.is_zero() || magnitude < -330 {
        return 0.0;
    }
    if magnitude > 310 {
        return f64::INFINITY;
    }
    bottom.scale(1, 1);
    for _ in 0..exponent.unsigned_abs() {
        (if exponent > 0 { &mut top } else { &mut bottom }).scale(10, 0);
    }
    // The quotient gets 64 or 65 bits.
    let shift = 64 - (top.bits() as i32 - bottom.bits() as i32);
    let smaller = if shift > 0 { &mut top } else { &mut bottom };
    smaller.shift(shift.unsigned_abs());
    let mut quotient = 0_u128;
    bottom.shift(64);
    for _ in 0..65 {
        quotient <<= 1;
        if top.cmp(&bottom) != Ordering::Less {
            top.subtract(&bottom);
            quotient |= 1;
        }
        top.shift(1);
    }
    let bits = 128 - quotient.leading_zeros();
    let (mut drop, mut power) = (bits - 53, bits as i32 - 53 - shift);
    if power < MIN_EXPONENT {
        drop += power.abs_diff(MIN_EXPONENT);
        power = MIN_EXPONENT;
    }
    // The quotient is far below two to that.
    let drop = drop.min(127);
    let half = 1_u128 << (drop - 1);
    let off = quotient & (2 * half - 1);
    let mut mantissa = (quotient >> drop) as u64;
    if off > half || (off == half && (rest || !top.is_zero() || mantissa % 2 == 1)) {
        mantissa += 1;
    }
    if power > MAX_EXPONENT { f64::INFINITY } else { scale(mantissa, power) }
}

/// A whole number of any length: its 32-bit digits, lowest first, the highest not zero.
#[derive(Debug, Default)]
struct Big(Vec<u32>);

impl Big {
    const fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn bits(&self) -> u32 {
        32 * self.0.len() as u32 - self.0.last().map_or(0, |top| top.leading_zeros())
    }

    /// Multiplies and adds.
    fn scale(&mut self, factor: u32, summand: u32) {
        let mut carry = u64::from(summand);
        for digit in &mut self.0 {
            carry += u64::from(*digit) * u64::from(factor);
            *digit = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    /// Multiplies by two to the power of `bits`.
    fn shift(&mut self, bits: u32) {
        self.scale(1 << (bits % 32), 0);
        let (len, zeros) = (self.0.len(), (bits / 32) as usize);
        if len > 0 {
            self.0.resize(len + zeros, 0);
            self.0.copy_within(..len, zeros);
            self.0[..zeros].fill(0);
        }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let by_len = self.0.len().cmp(&other.0.len());
        by_len.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    /// Takes away a number that is not larger.
    fn subtract(&mut self, other: &Self) {
        let mut borrow = false;
        let others = other.0.iter().copied().chain(core::iter::repeat(0));
        for (digit, other) in self.0.iter_mut().zip(others) {
            let (difference, first) = digit.overflowing_sub(other);
            let (difference, second) = difference.overflowing_sub(borrow.into());
            *digit = difference;
            borrow = first | second;
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }
}
