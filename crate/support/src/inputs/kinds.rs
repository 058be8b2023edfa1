//! The inputs of each kind.

use super::{Feed, Input, MIB};
use crate::rows::{issue, pairs, quote, spaced};
use hedgerow::boundary::Shape;
use hedgerow::index::Definition;
use hedgerow::ingest::Format;
use hedgerow::json::Pointer;
use hedgerow::rows::Framing;

/// Makes lines of rows that take about a mebibyte; also returns the length of the longest.
fn lines(mut row: impl FnMut(usize) -> String) -> (Vec<u8>, usize) {
    let (mut text, mut longest) = (String::new(), 0);
    for at in 0.. {
        let line = row(at);
        if !text.is_empty() && text.len() + line.len() > MIB {
            break;
        }
        longest = longest.max(line.len());
        text.push_str(&line);
        text.push('\n');
    }
    (text.into_bytes(), longest)
}

/// Makes a JSON array of rows, as [`lines`] makes lines.
fn array(row: impl FnMut(usize) -> String) -> (Vec<u8>, usize) {
    let (text, longest) = lines(row);
    let text = String::from_utf8(text).expect("text");
    (format!("[{}]", text.trim_end().replace('\n', ",")).into_bytes(), longest)
}

/// Joins parts that take at most `bytes` bytes in all.
fn filled(bytes: usize, mut part: impl FnMut(usize) -> String) -> String {
    let mut text = String::new();
    for at in 0.. {
        let part = part(at);
        if text.len() + part.len() > bytes {
            return text;
        }
        text.push_str(&part);
    }
    text
}

/// Joins parts as [`filled`], with commas between them.
fn listed(bytes: usize, mut part: impl FnMut(usize) -> String) -> String {
    let text = filled(bytes, |at| format!("{},", part(at)));
    text[..text.len() - 1].to_owned()
}

/// Makes a row with one member besides its key.
fn row(at: usize, value: &str) -> String {
    format!("{{\"id\":\"k{at:07}\",\"v\":{value}}}")
}

/// Makes one row of about a mebibyte.
fn one(value: impl FnOnce(usize) -> String) -> (Vec<u8>, usize) {
    let text = row(0, &value(MIB - 24));
    let longest = text.len();
    (text.into_bytes(), longest)
}

struct Kind {
    feed: Feed,
    indexes: Vec<Definition>,
    against: Option<&'static str>,
}

impl Kind {
    fn lines(against: Option<&'static str>) -> Self {
        Self { feed: Feed::Bytes(Framing::Lines), indexes: Vec::new(), against }
    }

    fn patch() -> Self {
        Self { feed: Feed::Patch(Framing::Lines), indexes: Vec::new(), against: Some("patch") }
    }

    fn add(&self, inputs: &mut Vec<Input>, name: &'static str, (text, longest): (Vec<u8>, usize)) {
        let (feed, indexes) = (self.feed.clone(), self.indexes.clone());
        inputs.push(Input { name, against: self.against, feed, text, indexes, longest });
    }
}

fn definitions(texts: &[&str]) -> Vec<Definition> {
    texts.iter().map(|text| Definition::parse(text).expect("a definition")).collect()
}

/// Two columns, one of which may be an array.
const COMPOSITE: &str = r#"["","/status","/v"]"#;

pub fn ordinary(inputs: &mut Vec<Input>) {
    Kind::lines(None).add(inputs, "lines", lines(|at| issue(at).1));
    let kind = Kind { feed: Feed::Bytes(Framing::Array), ..Kind::lines(None) };
    kind.add(inputs, "array", array(|at| issue(at).1));
    let kind = Kind { feed: Feed::Patch(Framing::Lines), ..Kind::lines(None) };
    let put =
        |at| format!("{{\"op\":\"put\",\"key\":\"{}\",\"value\":{}}}", issue(at).0, issue(at).1);
    kind.add(inputs, "patch", lines(put));
    let pointer = Pointer::parse("/id").expect("a pointer");
    let kind = Kind { feed: Feed::Block(Format::Rows(pointer)), ..Kind::lines(None) };
    kind.add(inputs, "block", array(|at| issue(at).1));
    let kind = Kind { feed: Feed::Block(Format::Pairs), ..Kind::lines(None) };
    let rows: Vec<_> = (0..5900).map(issue).collect();
    let text = pairs(&rows);
    kind.add(inputs, "pairs", (text.into_bytes(), 200));
    let indexes = definitions(&[r#"["","/status","/owner"]"#]);
    let kind = Kind { indexes, ..Kind::lines(None) };
    kind.add(inputs, "indexed", lines(|at| issue(at).1));
}

pub fn texts(inputs: &mut Vec<Input>) {
    let kind = Kind::lines(Some("lines"));
    kind.add(inputs, "spaces", lines(|at| spaced(&issue(at).1)));
    kind.add(
        inputs,
        "blank lines",
        lines(|at| if at % 1000 == 0 { row(at, "0") } else { String::new() }),
    );
    kind.add(inputs, "white space", lines(|at| row(at, &format!("{}1", " \t".repeat(400)))));
    kind.add(inputs, "escapes", lines(|at| row(at, &format!("\"{}\"", "\\u0041".repeat(40)))));
    kind.add(inputs, "slashes", lines(|at| row(at, &format!("\"{}\"", "\\/".repeat(100)))));
    let pairs = "\\ud83d\\ude00".repeat(20);
    kind.add(inputs, "surrogates", lines(|at| row(at, &format!("\"{pairs}\""))));
    kind.add(
        inputs,
        "control characters",
        lines(|at| row(at, &format!("\"{}\"", "\\u0000".repeat(40)))),
    );
    kind.add(inputs, "wide text", lines(|at| row(at, &quote(&"é".repeat(80)))));
    kind.add(inputs, "one long text", one(|bytes| format!("\"{}\"", "x".repeat(bytes - 2))));
    kind.add(
        inputs,
        "one escaped text",
        one(|bytes| format!("\"{}\"", "\\u0041".repeat(bytes / 6 - 1))),
    );
    kind.add(
        inputs,
        "values just out of line",
        lines(|at| row(at, &format!("\"{}\"", "x".repeat(4097)))),
    );
    kind.add(inputs, "tiny rows", lines(|at| format!("{{\"id\":\"{at:x}\"}}")));
    kind.add(
        inputs,
        "tiny texts",
        lines(|at| row(at, &format!("[{}]", listed(200, |_| "\"\"".into())))),
    );
}

pub fn numbers(inputs: &mut Vec<Input>) {
    let kind = Kind::lines(Some("lines"));
    let mut of = |name, number: &dyn Fn(usize) -> String| {
        kind.add(
            inputs,
            name,
            lines(|at| row(at, &format!("[{}]", listed(400, |n| number(at + n))))),
        );
    };
    of("exponents", &|_| "1e-300".into());
    of("large exponents", &|_| "9e306".into());
    of("small exponents", &|_| "1e5".into());
    of("smallest numbers", &|_| "4.9e-324".into());
    of("decimals that end with zero", &|_| "1.0".into());
    of("seventeen digits", &|n| format!("0.{}", 10_000_000_000_000_001_u64 + n as u64));
    of("twenty digits", &|n| format!("0.{}", 10_000_000_000_000_000_001_u64 + n as u64));
    // As near to the middle between two doubles as this many digits can be.
    of("ambiguous exponents", &|_| "9007199254740993e-300".into());
    of("middles", &|_| "2.47032822920623272e-324".into());
    of("whole middles", &|_| "9007199254740993".into());
    of("middles with a long tail", &|_| format!("9007199254740993.{}1", "0".repeat(80)));
    // Without the point it would be too large for a double, and refused.
    kind.add(inputs, "one number", one(|bytes| format!("0.{}", "7".repeat(bytes - 2))));
    kind.add(inputs, "long numbers", lines(|at| row(at, &format!("0.{}", "123456789".repeat(80)))));
}

pub fn shapes(inputs: &mut Vec<Input>) {
    let kind = Kind::lines(Some("lines"));
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    kind.add(inputs, "deep arrays", lines(|at| row(at, &deep(500))));
    let object = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    kind.add(inputs, "deep objects", lines(|at| row(at, &object(500))));
    let moved = format!("{}0{}", "{\"b\":0,\"1\":1,\"b\":".repeat(500), "}".repeat(500));
    kind.add(inputs, "members that move at every level", lines(|at| row(at, &moved)));
    kind.add(
        inputs,
        "empty containers",
        lines(|at| row(at, &format!("[{}]", listed(400, |_| "{}".into())))),
    );
    let members = |name: &dyn Fn(usize) -> String| {
        one(|bytes| format!("{{{}}}", listed(bytes - 2, |n| format!("\"{}\":0", name(n)))))
    };
    kind.add(inputs, "many members", members(&|n| format!("n{n}")));
    kind.add(inputs, "members in no order", members(&|n| format!("{}", n * 7919 % 130_003)));
    kind.add(
        inputs,
        "names in no order",
        members(&|n| format!("n{}", (n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44)),
    );
    kind.add(inputs, "one name", members(&|_| "n".into()));
    kind.add(inputs, "indices backwards", members(&|n| format!("{}", 1_000_000 - n)));
    kind.add(
        inputs,
        "names of one beginning",
        members(&|n| format!("{}{n:08}", "same".repeat(250))),
    );
    kind.add(inputs, "names of one length", members(&|n| format!("beginning{n:06}")));
    let few = format!("{{{}}}", listed(64 * 110, |n| format!("\"{}{n:04}\":0", "a".repeat(100))));
    kind.add(inputs, "few names of one beginning", lines(|at| row(at, &few)));
    let repeated = format!("{{{}}}", listed(64 * 12, |n| format!("\"name{}\":0", n % 60)));
    kind.add(inputs, "repeated names", lines(|at| row(at, &repeated)));
    let kind = Kind { feed: Feed::Bytes(Framing::Array), ..Kind::lines(Some("array")) };
    kind.add(inputs, "an array of tiny rows", array(|at| format!("{{\"id\":\"{at:x}\"}}")));
    kind.add(inputs, "an array of deep rows", array(|at| row(at, &deep(500))));
    let pointer = Pointer::parse("/id").expect("a pointer");
    let kind = Kind { feed: Feed::Block(Format::Rows(pointer)), ..Kind::lines(Some("block")) };
    kind.add(inputs, "a block of tiny rows", array(|at| format!("{{\"id\":\"{at:x}\"}}")));
    kind.add(inputs, "a block of deep rows", array(|at| row(at, &object(500))));
    kind.add(inputs, "a block of names", array(|at| row(at, &few)));
    let kind = Kind { feed: Feed::Block(Format::Pairs), ..Kind::lines(Some("pairs")) };
    kind.add(inputs, "tiny pairs", array(|at| format!("\"{at:x}\",0")));
}

pub fn keys(inputs: &mut Vec<Input>) {
    let kind = Kind::lines(Some("lines"));
    kind.add(inputs, "shuffled keys", lines(|at| issue(at * 7919 % 100_003).1));
    kind.add(inputs, "descending keys", lines(|at| row(9_999_999 - at, "0")));
    let long = |at: usize| format!("{{\"id\":\"{}{at:07}\"}}", "k".repeat(1000));
    kind.add(inputs, "long keys", lines(long));
    kind.add(inputs, "long keys, descending", lines(|at| long(9_999_999 - at)));
    kind.add(
        inputs,
        "escaped keys",
        lines(|at| format!("{{\"id\":\"{}{at:07}\"}}", "\\u006b".repeat(40))),
    );
    kind.add(inputs, "one key", lines(|_| row(0, "0")));
    // Each row ends a leaf. There are few rows, because mining their keys takes long.
    let ends = |key: &str| Shape::STORED.ends(0, key.as_bytes(), 0, key.len() + 5, 1);
    let keys = (0..).map(|number| format!("{number:012}")).filter(|key| ends(key));
    let row = |key: String| format!("{{\"id\":\"{key}\",\"v\":\"{}\"}}\n", "x".repeat(60));
    let mined: String = keys.take(300).map(row).collect();
    kind.add(inputs, "keys that end leaves", (mined.into_bytes(), 90));
}

pub fn patches(inputs: &mut Vec<Input>) {
    let kind = Kind::patch();
    let update = |key: &str, merge: &str, rest: &str| {
        format!("{{\"op\":\"update\",\"key\":\"{key}\",\"merge\":{merge}{rest}}}")
    };
    // All updates make one row.
    let whole = |(text, _): (Vec<u8>, usize)| {
        let len = text.len();
        (text, len)
    };
    kind.add(inputs, "updates of one key", lines(|at| update("k", &format!("{{\"n\":{at}}}"), "")));
    kind.add(
        inputs,
        "new members of one key",
        whole(lines(|at| update("k", &format!("{{\"n{at}\":0}}"), ""))),
    );
    let constrain = ",\"constrain\":[\"n0\"]";
    let one = |at: usize| update("k", &format!("{{\"n{at}\":0}}"), constrain);
    kind.add(inputs, "updates that constrain one key", lines(one));
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(MIB / 2));
    let after_large = |at: usize| {
        if at == 0 {
            return update("k", &large, "");
        }
        update("k", &format!("{{\"n{}\":0}}", at % 5), ",\"constrain\":[\"a\",\"n0\",\"n1\"]")
    };
    kind.add(inputs, "updates that constrain a large row", lines(after_large));
    let names = listed(900, |n| format!("\"n{n}\""));
    let many = |at: usize| {
        update("k", &format!("{{\"n{}\":0}}", at % 300), &format!(",\"constrain\":[{names}]"))
    };
    kind.add(inputs, "long lists of names", lines(many));
    kind.add(
        inputs,
        "updates of many keys",
        lines(|at| update(&format!("k{at}"), "{\"n\":0}", "")),
    );
    kind.add(inputs, "clears", lines(|_| "{\"op\":\"clear\"}".into()));
    let cleared = |at: usize| {
        if at.is_multiple_of(2) {
            "{\"op\":\"clear\"}".into()
        } else {
            format!("{{\"op\":\"put\",\"key\":\"k{at}\",\"value\":{at}}}")
        }
    };
    kind.add(inputs, "rows that are cleared", lines(cleared));
    kind.add(inputs, "deletions", lines(|at| format!("{{\"op\":\"del\",\"key\":\"{at:x}\"}}")));
    let other = |at: usize| {
        format!("{{{},\"op\":\"del\",\"key\":\"{at:x}\"}}", listed(300, |n| format!("\"x{n}\":0")))
    };
    kind.add(inputs, "members that mean nothing", lines(other));
    let kind = Kind { feed: Feed::Block(Format::Patch), ..Kind::patch() };
    kind.add(
        inputs,
        "updates of one key in a block",
        whole(array(|at| update("k", &format!("{{\"n{at}\":0}}"), ""))),
    );
}

pub fn arrays(inputs: &mut Vec<Input>) {
    let indexes = || definitions(&[COMPOSITE]);
    let with = |at: usize, status: &str, values: &str| {
        format!("{{\"id\":\"k{at:07}\",\"status\":{status},\"v\":[{values}]}}")
    };
    // Each entry is a row of the index's tree: the cost of ordinary ones.
    let ten = |at| with(at, "0", "0,1,2,3,4,5,6,7,8,9");
    Kind { indexes: indexes(), ..Kind::lines(None) }.add(inputs, "short arrays", lines(ten));
    let kind = Kind { indexes: indexes(), ..Kind::lines(Some("short arrays")) };
    let small = |at| with(at, "0", &listed(900, |n| n.to_string()));
    kind.add(inputs, "arrays of small numbers", lines(small));
    kind.add(
        inputs,
        "arrays of short texts",
        lines(|at| with(at, "0", &listed(900, |n| format!("\"{n:x}\"")))),
    );
    let text = |bytes: usize| format!("\"{}\"", "x".repeat(bytes));
    let with_text = |bytes: usize, members: usize| {
        move |at| with(at, &text(bytes), &listed(members, |n| n.to_string()))
    };
    kind.add(inputs, "arrays beside a text", lines(with_text(100, 100)));
    kind.add(inputs, "arrays beside a long text", lines(with_text(900, 900)));
    // The most members that a row with a text of this length may have.
    kind.add(inputs, "the most members beside a text", lines(with_text(60, 120)));
    let huge = with(0, &text(MIB / 2), &listed(MIB / 2 - 100, |n| n.to_string()));
    let longest = huge.len();
    kind.add(inputs, "an array beside a huge text", (huge.into_bytes(), longest));
    let equal = with(0, "0", &listed(MIB - 100, |_| "0".into()));
    let longest = equal.len();
    kind.add(inputs, "equal members", (equal.into_bytes(), longest));
    let long = with(0, "0", &listed(MIB - 100, |n| format!("\"{}{n}\"", "x".repeat(900))));
    let longest = long.len();
    kind.add(inputs, "long members", (long.into_bytes(), longest));
    let eight: Vec<_> =
        (0..7).map(|at| format!("\"/{}\"", "abcdefg".as_bytes()[at] as char)).collect();
    let definition = format!("[\"\",{},\"/v\"]", eight.join(","));
    let kind = Kind { indexes: definitions(&[&definition]), ..Kind::lines(Some("short arrays")) };
    let columns = "\"a\":0,\"b\":0,\"c\":0,\"d\":0,\"e\":0,\"f\":0,\"g\":0";
    let wide = |at: usize| {
        format!("{{\"id\":\"k{at:07}\",{columns},\"v\":[{}]}}", listed(300, |n| n.to_string()))
    };
    kind.add(inputs, "arrays under eight columns", lines(wide));
    let kind =
        Kind { indexes: definitions(&[r#"["","/v"]"#]), ..Kind::lines(Some("short arrays")) };
    kind.add(
        inputs,
        "exponents under an index",
        lines(|at| row(at, &format!("[{}]", listed(400, |n| format!("{}e-300", 1 + n))))),
    );
}
