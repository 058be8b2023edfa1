//! Numbers as `Number.prototype.toString` prints them (ECMA-262, 6.1.6.1.20).

use alloc::vec::Vec;

/// So many significant digits survive the way through a double and back, whatever they are.
const SAFE_DIGITS: usize = 15;

/// Whether `text`, a well-formed JSON number, is printed just so. The common forms are told
/// by their digits; the rest is printed and compared.
#[must_use]
pub fn is_normal_number(text: &[u8]) -> bool {
    plain(text).unwrap_or_else(|| {
        let mut printed = Vec::with_capacity(32);
        push_number(text, &mut printed);
        printed == text
    })
}

/// The answer for integers and fractions of few digits; `None` for all others.
fn plain(text: &[u8]) -> Option<bool> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let Some(point) = digits.iter().position(|byte| !byte.is_ascii_digit()) else {
        // JSON has no leading zeros.
        let negative_zero = digits == b"0" && text.len() > 1;
        return (digits.len() <= SAFE_DIGITS).then_some(!negative_zero);
    };
    if digits[point] != b'.' {
        return None;
    }
    let (whole, fraction) = (&digits[..point], &digits[point + 1..]);
    if !fraction.iter().all(u8::is_ascii_digit) || whole.len() + fraction.len() > SAFE_DIGITS {
        return None;
    }
    let zeros = fraction.iter().take_while(|byte| **byte == b'0').count();
    // From 1e-7 downwards there is an exponent.
    if whole == b"0" && zeros > 5 {
        return None;
    }
    Some(fraction.last() != Some(&b'0'))
}

/// Appends the number that `text`, a well-formed JSON number, stands for, as JavaScript
/// prints it; `null` when it is too large for a double.
pub fn push_number(text: &[u8], out: &mut Vec<u8>) {
    let number: f64 =
        core::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0);
    if !number.is_finite() {
        out.extend_from_slice(b"null");
    } else if number == 0.0 {
        // Negative zero, too.
        out.push(b'0');
    } else {
        out.extend_from_slice(ryu_js::Buffer::new().format_finite(number).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    fn printed(text: &str) -> String {
        let mut out = Vec::new();
        push_number(text.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_printed_as_javascript_does() {
        for (text, expected) in [
            ("0", "0"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("0e5", "0"),
            ("1.0", "1"),
            ("100", "100"),
            ("1e2", "100"),
            ("1E+2", "100"),
            ("123456789012345680000", "123456789012345680000"),
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("1.5e300", "1.5e+300"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("-1.25e-9", "-1.25e-9"),
            ("5e-324", "5e-324"),
            ("2e-324", "0"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("1e309", "null"),
            ("0.1", "0.1"),
            ("0.30000000000000004", "0.30000000000000004"),
            ("9007199254740993", "9007199254740992"),
            ("333333333.33333329", "333333333.3333333"),
        ] {
            assert_eq!(printed(text), expected, "{text}");
            assert_eq!(is_normal_number(text.as_bytes()), text == expected, "{text}");
        }
    }

    #[test]
    fn the_short_answer_is_the_long_one() {
        // Every number of up to four digits with the point anywhere, and either sign.
        for digits in 0..10_000_u32 {
            for places in 0..8_u8 {
                let text = alloc::format!(
                    "{:.*}",
                    places.into(),
                    f64::from(digits) / 10_f64.powi(places.into())
                );
                for text in [text.clone(), alloc::format!("-{text}")] {
                    assert_eq!(is_normal_number(text.as_bytes()), printed(&text) == text, "{text}");
                }
            }
        }
    }
}
