//! A reading of JSON independent of the core's: `serde_json` reads, and plain code here makes of it
//! what JavaScript makes.

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A value, with all members of its objects in the order of the text.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`, `true` or `false`.
    Word(&'static str),
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
    /// An array.
    Array(Vec<Value>),
    /// An object.
    Object(Vec<(String, Value)>),
}

/// The reason for which there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The text is not JSON.
    Malformed,
    /// It is beyond `serde_json`: half of a surrogate pair, a number too large for a double,
    /// nesting deeper than 128.
    Beyond,
}

/// Reads a text.
///
/// # Errors
/// If it is not JSON, or is beyond `serde_json`.
pub fn parse(text: &[u8]) -> Result<Value, Refusal> {
    serde_json::from_slice(text).map_err(|error| {
        let message = error.to_string();
        let beyond = ["surrogate", "hex escape", "out of range", "recursion limit"];
        let is_beyond = beyond.iter().any(|reason| message.contains(reason));
        if is_beyond { Refusal::Beyond } else { Refusal::Malformed }
    })
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Word("null"))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Word(if value { "true" } else { "false" }))
    }

    #[expect(clippy::cast_precision_loss, reason = "as JavaScript reads it")]
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "as JavaScript reads it")]
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = access.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut members: Vec<(String, Value)> = Vec::new();
        while let Some((name, value)) = access.next_entry::<String, Value>()? {
            match members.iter_mut().find(|(other, _)| *other == name) {
                Some((_, before)) => *before = value,
                None => members.push((name, value)),
            }
        }
        // Array indices come first.
        let index = |name: &str| {
            name.parse::<u32>().ok().filter(|index| *index < u32::MAX && index.to_string() == name)
        };
        members.sort_by_key(|(name, _)| index(name).map_or(u64::MAX, u64::from));
        Ok(Value::Object(members))
    }
}

impl Value {
    /// Returns the value at the end of a path of names.
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        let Some((name, rest)) = path.split_first() else { return Some(self) };
        match self {
            Self::Object(members) => members.iter().find(|(other, _)| other == name)?.1.at(rest),
            Self::Array(values) => {
                let index: usize = name.parse().ok()?;
                if index.to_string() == *name { values.get(index)?.at(rest) } else { None }
            }
            _ => None,
        }
    }

    /// Prints the value as `JSON.stringify` does.
    pub fn print(&self, out: &mut String) {
        match self {
            Self::Word(word) => out.push_str(word),
            Self::Number(number) => print_number(*number, out),
            Self::Text(text) => print_text(text, out),
            Self::Array(values) => {
                out.push('[');
                for (at, value) in values.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    value.print(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (at, (name, value)) in members.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    print_text(name, out);
                    out.push(':');
                    value.print(out);
                }
                out.push('}');
            }
        }
    }
}

fn print_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..' ' => {
                let code = format!("\\u{:04x}", u32::from(character));
                out.push_str(&code);
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

/// Prints a number from the digits that the standard library finds. (ECMA-262, 6.1.6.1.20)
fn print_number(number: f64, out: &mut String) {
    if number == 0.0 {
        out.push('0');
        return;
    }
    let text = format!("{:e}", number.abs());
    let (mantissa, exponent) = text.split_once('e').expect("an exponent");
    let digits = even_of_two(mantissa.replace('.', ""), number.abs());
    let point = exponent.parse::<i32>().expect("an exponent") + 1;
    let (count, place) = (digits.len(), point.unsigned_abs() as usize);
    if number < 0.0 {
        out.push('-');
    }
    let printed = if (-5..=0).contains(&point) {
        format!("0.{}{digits}", "0".repeat(place))
    } else if !(1..=21).contains(&point) {
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        let sign = if point > 0 { '+' } else { '-' };
        format!("{first}{dot}{rest}e{sign}{}", (point - 1).abs())
    } else if place >= count {
        format!("{digits}{}", "0".repeat(place - count))
    } else {
        format!("{}.{}", &digits[..place], &digits[place..])
    };
    out.push_str(&printed);
}

/// Returns the even one of two numbers that are equally near with as few digits, as JavaScript
/// does. The standard library rounds up.
fn even_of_two(digits: String, number: f64) -> String {
    let lower: u64 = digits.parse::<u64>().expect("digits") - 1;
    let exact = format!("{number:.800e}").replace('.', "");
    let (exact, _) = exact.split_once('e').expect("an exponent");
    let between = format!("{lower}5");
    let is_tie = lower.is_multiple_of(2) && exact.trim_end_matches('0') == between;
    if is_tie { lower.to_string() } else { digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_printed_as_javascript_does() {
        let text = r#"{"b":[1.0,-0,1e21,1e-7,0.000001,123456789012345680000,-1.5e300,0.1,"\u000b\n\u00e9"],
            "1":1,"b":{"x":null,"x":true},"0":[5e-324,9007199254740993]}"#;
        let mut out = String::new();
        parse(text.as_bytes()).unwrap().print(&mut out);
        assert_eq!(out, r#"{"0":[5e-324,9007199254740992],"1":1,"b":{"x":true}}"#);
        let text =
            r#"[1.0,-0,1e21,1e-7,0.000001,123456789012345680000,-1.5e300,0.1,"\u000b\n\u00e9"]"#;
        out.clear();
        parse(text.as_bytes()).unwrap().print(&mut out);
        let expected =
            "[1,0,1e+21,1e-7,0.000001,123456789012345680000,-1.5e+300,0.1,\"\\u000b\\né\"]";
        assert_eq!(out, expected);
        out.clear();
        print_number(567_899_127_295_500.2, &mut out);
        assert_eq!(out, "567899127295500.2");
        assert_eq!(parse(br#""\ud800""#), Err(Refusal::Beyond));
        assert_eq!(parse(b"1e999"), Err(Refusal::Beyond));
        assert_eq!(parse(b"[1,]"), Err(Refusal::Malformed));
    }
}
