//! Decimal numbers as doubles, rounded to nearest, ties to even (IEEE 754-2008, 5.12.2).
//!
//! [`round`] takes any number. It multiplies the first 19 digits by at most nine powers of ten of 64 bits,
//! and bounds the error. If the bound does not show on which side of the middle between two doubles the
//! number is, integers of any length decide. So nearly all numbers cost a few multiplications, and the
//! rest at most some hundreds.
//!
//! [`Near`] is the distance of a number from its double, for up to 19 digits with up to 25 places after
//! the point. The floating-point unit estimates the double, at most two units in the last place off;
//! the lower 64 bits of a difference give the exact distance.

#![expect(clippy::cast_possible_wrap, reason = "exponents and numbers of digits are small")]
#![expect(clippy::cast_sign_loss, reason = "values are made positive before a cast")]

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Any number of this many significant digits survives the conversion to a double and back.
pub(super) const SAFE_DIGITS: usize = 15;

/// Three times five to a higher power would not fit 63 bits.
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

/// Digits that can affect rounding; further ones matter only if one of them is not zero.
const MAX_DIGITS: usize = 800;

/// The distance of `digits / 10^places` from the nearest double.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    /// The number minus the double, in units of 2^exponent / 5^places.
    pub(super) above: i64,
    /// One in the last place of the double, in the same unit.
    pub(super) ulp: i64,
    /// One in the last of `digits` is two to this power, in the same unit.
    shift: u32,
}

impl Near {
    /// Returns `None` for numbers next to a power of two, and if the values would not be whole in that unit.
    pub(super) fn of(digits: u64, places: usize) -> Option<Self> {
        if digits == 0 || places > MAX_PLACES {
            return None;
        }
        let power = POWERS_OF_FIVE[places];
        #[expect(clippy::cast_precision_loss, reason = "an estimate; the power is exact")]
        let estimate = (digits as f64 / power as f64).to_bits();
        let mut mantissa = estimate & (HIDDEN_BIT - 1) | HIDDEN_BIT;
        // The exponent of the estimate, which leaves out the powers of two in 10^places.
        let exponent = (estimate >> FRACTION_BITS) as i32 - 1075;
        let shift = u32::try_from(-exponent).ok()?;
        let ulp = power as i64;
        // The unit is 2^exponent / 5^places. Wrapping keeps the lower 64 bits of both sides, which is
        // enough: they differ by less than three last places, each of 2^59 at most.
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
        let is_plain = mantissa > HIDDEN_BIT && mantissa < 2 * HIDDEN_BIT;
        is_plain.then_some(Self { above, ulp, shift })
    }

    /// Returns whether `digits` are the shortest that identify this double, and of these the nearest to it (ECMA-262,
    /// 6.1.6.1.20). `digits` are 16 or 17, and the last is not zero. `None` in a tie.
    pub(super) fn is_shortest(&self, digits: u64) -> Option<bool> {
        // With 16 or 17 digits, this is 2^59 at most.
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

/// Digits of the first estimate: any that many fit a 64-bit integer.
const WORD_DIGITS: usize = 19;

/// 10 to the powers 1, 2, 4 and so on: 64 bits with the highest one set, rounded to nearest.
const POWERS: [u64; 9] = [
    0xa000_0000_0000_0000,
    0xc800_0000_0000_0000,
    0x9c40_0000_0000_0000,
    0xbebc_2000_0000_0000,
    0x8e1b_c9bf_0400_0000,
    0x9dc5_ada8_2b70_b59e,
    0xc278_1f49_ffcf_a6d5,
    0x93ba_47c9_80e9_8ce0,
    0xaa7e_ebfb_9df9_de8e,
];

/// 10 to the powers -1, -2, -4 and so on.
const INVERSES: [u64; 9] = [
    0xcccc_cccc_cccc_cccd,
    0xa3d7_0a3d_70a3_d70a,
    0xd1b7_1758_e219_652c,
    0xabcc_7711_8461_cefd,
    0xe695_94be_c44d_e15b,
    0xcfb1_1ead_4539_94ba,
    0xa87f_ea27_a539_e9a5,
    0xddd0_467c_64bc_e4a1,
    0xc031_4325_637a_193a,
];

/// Bounds of the error in the last place of a mantissa: for each factor, and for digits left out.
const FACTOR_ERROR: u64 = 3;
const DIGITS_ERROR: u64 = 19;

/// Returns the exponent of a power of ten as [`POWERS`] has it: `floor(log2(10^power)) - 63`.
const fn power_exponent(power: i32) -> i32 {
    ((power * 217_706) >> 16) - 63
}

/// `mantissa * 2^exponent`, where `mantissa` is off by at most `error`.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    mantissa: u64,
    exponent: i32,
    error: u64,
}

impl Estimate {
    /// Estimates `digits * 10^power`. `digits` must not be zero; `is_cut` if nonzero digits followed them.
    fn of(digits: u64, power: i32, is_cut: bool) -> Self {
        let zeros = digits.leading_zeros();
        let (mut mantissa, mut exponent) = (digits << zeros, -(zeros as i32));
        let mut error = if is_cut { DIGITS_ERROR } else { 0 };
        let powers = if power < 0 { &INVERSES } else { &POWERS };
        for (at, factor) in powers.iter().enumerate() {
            if power.unsigned_abs() >> at & 1 == 1 {
                let product = u128::from(mantissa) * u128::from(*factor);
                let shift = product.leading_zeros();
                mantissa = (product << shift >> 64) as u64;
                exponent += power_exponent(power.signum() << at) + 64 - shift as i32;
                error += FACTOR_ERROR;
            }
        }
        Self { mantissa, exponent, error }
    }
}

/// Returns `mantissa * 2^exponent`, which is a double or too large for one.
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

/// Returns the double nearest to `digits * 10^exponent`, where `digits` are ASCII; a point among
/// them is ignored.
pub(super) fn round(digits: &[u8], exponent: i64) -> f64 {
    let (mut word, mut count, mut cut, mut is_cut) = (0, 0, 0_i64, false);
    for digit in digits.iter().filter(|digit| **digit != b'.') {
        if count < WORD_DIGITS {
            word = 10 * word + u64::from(digit - b'0');
            // Leading zeros do not count.
            count += usize::from(word > 0);
        } else {
            cut += 1;
            is_cut |= *digit != b'0';
        }
    }
    let power = exponent.saturating_add(cut);
    let magnitude = power.saturating_add(count as i64);
    if word == 0 || magnitude < -330 {
        return 0.0;
    }
    if magnitude > 310 {
        return f64::INFINITY;
    }
    let Estimate { mantissa, exponent: low, error } = Estimate::of(word, power as i32, is_cut);
    // Bits beyond the precision of a double: more for numbers below the smallest normal one.
    let drop = (64 - 53 + (MIN_EXPONENT - 64 + 53 - low).max(0) as u32).min(127);
    let exponent_of_last = low + drop as i32;
    let half = 1_u128 << (drop - 1);
    let mut rounded = (u128::from(mantissa) >> drop) as u64;
    let rest = u128::from(mantissa) & (2 * half - 1);
    let order = if rest.abs_diff(half) > error.into() {
        rest.cmp(&half)
    } else if error == 0 {
        Ordering::Equal
    } else {
        against_middle(digits, exponent, 2 * rounded + 1, exponent_of_last - 1)
    };
    if order == Ordering::Greater || (order == Ordering::Equal && rounded % 2 == 1) {
        rounded += 1;
    }
    if exponent_of_last > MAX_EXPONENT {
        f64::INFINITY
    } else {
        scale(rounded, exponent_of_last.max(MIN_EXPONENT))
    }
}

/// Compares `digits * 10^power` with `middle * 2^exponent`. Costs some hundred multiplications.
#[cold]
fn against_middle(digits: &[u8], power: i64, middle: u64, exponent: i32) -> Ordering {
    let (mut number, mut other) = (Big::default(), Big::default());
    let (mut count, mut power, mut rest) = (0, power as i32, false);
    let (mut part, mut scale) = (0, 1);
    for digit in digits.iter().filter(|digit| **digit != b'.') {
        if count < MAX_DIGITS {
            part = 10 * part + u32::from(digit - b'0');
            scale *= 10;
            count += usize::from(part > 0 || !number.is_zero());
            if scale == 1_000_000_000 {
                number.scale(scale, part);
                (part, scale) = (0, 1);
            }
        } else {
            power += 1;
            rest |= *digit != b'0';
        }
    }
    number.scale(scale, part);
    other.scale(1, (middle >> 32) as u32);
    other.shift(32);
    other.scale(1, middle as u32);
    // Ten is five times two: multiply by five and shift by two, on the side where that is whole.
    let fives = if power > 0 { &mut number } else { &mut other };
    for _ in 0..power.unsigned_abs() / FIVES {
        fives.scale(5_u32.pow(FIVES), 0);
    }
    fives.scale(5_u32.pow(power.unsigned_abs() % FIVES), 0);
    let shift = power - exponent;
    if shift > 0 { &mut number } else { &mut other }.shift(shift.unsigned_abs());
    let order = number.cmp(&other);
    if order == Ordering::Equal && rest { Ordering::Greater } else { order }
}

/// The number of fives that are multiplied at once.
const FIVES: u32 = 13;

/// A whole number of any length: its 32-bit digits, lowest first, the highest not zero.
#[derive(Debug, Default)]
struct Big(Vec<u32>);

impl Big {
    const fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// Multiplies by `factor` and adds `summand`.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_ten_are_rounded_to_nearest() {
        for at in 0..9 {
            let power = 1_i32 << at;
            for (power, mantissa) in [(power, POWERS[at]), (-power, INVERSES[at])] {
                assert!(mantissa >> 63 == 1);
                // The number is between the two middles next to the mantissa.
                for (middle, expected) in [
                    (2 * u128::from(mantissa) - 1, Ordering::Greater),
                    (2 * u128::from(mantissa) + 1, Ordering::Less),
                ] {
                    let (mut number, mut other) = (Big(alloc::vec![1]), Big::default());
                    for word in (0..3).rev() {
                        other.shift(32);
                        other.scale(1, (middle >> (32 * word)) as u32);
                    }
                    for _ in 0..power.unsigned_abs() {
                        if power > 0 { &mut number } else { &mut other }.scale(10, 0);
                    }
                    let shift = power_exponent(power) - 1;
                    if shift < 0 { &mut number } else { &mut other }.shift(shift.unsigned_abs());
                    let order = number.cmp(&other);
                    assert!(order == expected || order == Ordering::Equal, "10^{power}");
                }
            }
        }
    }

    #[test]
    fn an_estimate_is_off_by_its_error_at_most() {
        let mut state = 1_u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let digits = (state >> 1 | 1 << 62) >> (state % 60);
            let power = (state >> 20) as i32 % 340;
            let Estimate { mantissa, exponent, error } = Estimate::of(digits, power, false);
            for (bound, expected) in [
                (mantissa.saturating_sub(error), Ordering::Less),
                (mantissa.saturating_add(error), Ordering::Greater),
            ] {
                let text = alloc::format!("{digits}");
                let order = against_middle(text.as_bytes(), power.into(), bound, exponent);
                assert!(order != expected, "{digits}e{power}: {mantissa} +- {error}");
            }
        }
    }
}
