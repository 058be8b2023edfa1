// `node scripts/write-abi.mjs`: writes `js/hedgerow/src/base/abi/` from `crate/src/wasm/abi.rs`, the one list of the numbers
// that both sides of the wasm boundary know. With `--check` it writes no file, and exits with 1 when a file is out of
// date.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CommandFailed, ROOT, runMain } from './lib/run.mjs';

const SOURCE = 'crate/src/wasm/abi.rs';
const OUT = 'js/hedgerow/src/base/abi';
const HEAD = `// Written by scripts/write-abi.mjs from ${SOURCE}; not for editing.\n`;

// The reserved words of JavaScript that are used as names.
const RESERVED = new Set(['yield']);

const camel = (name) =>
  name.toLowerCase().replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());

function refuse(line) {
  throw new CommandFailed(`${SOURCE}: the script does not understand: ${line.trim()}`);
}

function numberOf(text, line) {
  const plain = text.replaceAll('_', '');
  const shift = /^(\d+) << (\d+)$/.exec(plain);
  if (shift !== null) return Number(shift[1]) * 2 ** Number(shift[2]);
  if (/^(-?\d+|0x[0-9a-f]+)$/.test(plain)) return Number(plain);
  return refuse(line);
}

/** Reads the modules with their constants: `{ name, doc, members: [{ name, doc, value }] }`. */
function modulesOf(lines) {
  const modules = [];
  let open;
  let doc = [];
  for (const line of lines) {
    const text = /^\s*\/\/\/ (.*)$/.exec(line)?.[1];
    const name = /^pub mod (\w+) \{$/.exec(line)?.[1];
    const constant = /^ {4}pub const (\w+): (?:u32|i32|usize) = ([^;]+);$/.exec(line);
    if (text !== undefined) doc.push(text);
    else if (name !== undefined) {
      open = { name, doc: doc.splice(0), members: [] };
      modules.push(open);
    } else if (constant !== null && open !== undefined) {
      const value = numberOf(constant[2], line);
      open.members.push({ name: constant[1], doc: doc.splice(0), value });
    } else if (line === '}') open = undefined;
    // Ignores lines outside of all modules.
    else if (open !== undefined && line !== '') refuse(line);
    else doc = [];
  }
  return modules;
}

/** Returns the index of each word of each reply, as such a module. */
function repliesOf(text) {
  const ends = new Map();
  const members = [];
  let doc = [];
  for (const [, comment, name, before, body] of text.matchAll(
    /^ {4}(?:\/\/\/ (.*)|(\w+)(?: after (\w+))? \{([^}]*)\})$/gm,
  )) {
    if (comment !== undefined) {
      doc.push(comment);
      continue;
    }
    if (before !== undefined && !ends.has(before)) refuse(`${name} after ${before}`);
    const first = ends.get(before) ?? 0;
    const fields = [...body.matchAll(/(\w+),/g)].map(([, field]) => field);
    const own = fields.map((field, at) => ({
      name: `${name}_${field}`,
      doc: [],
      value: first + at,
    }));
    if (own.length > 0) own[0].doc = doc.splice(0);
    doc = [];
    members.push(...own.map((member) => ({ ...member, name: lowerFirst(member.name) })));
    ends.set(name, first + fields.length);
  }
  const declared = text.match(/^ {4}\w+(?: after \w+)? \{/gm)?.length ?? 0;
  if (declared === 0 || ends.size !== declared) refuse('replies! { … }');
  return { name: 'reply', doc: ['Where the words of each reply stand.'], members };
}

// Turns `SumLeaves_count` into `sum_leaves_count`, so that `camel` can split it into words.
const lowerFirst = (name) => name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();

const comment = (lines, indent = '') => {
  if (lines.length === 0) return '';
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
};

function declared({ name, doc, value }) {
  const own = camel(name);
  const number =
    value >= 2 ** 16 ? `0x${value.toString(16).replace(/(?<=.)(.{4})$/, '_$1')}` : value;
  if (!RESERVED.has(own)) return `${comment(doc)}export const ${own} = ${number};\n`;
  return `${comment(doc)}const ${own}_ = ${number};\n\nexport { ${own}_ as ${own} };\n`;
}

function fileOf({ doc, members }) {
  return `${HEAD}${comment(doc)}\n${members.map(declared).join('')}`;
}

/** Returns the files by their names, generated from the text of `abi.rs`. */
export function abiFiles(rust) {
  const [modules, table, rest] = rust.split(/^replies! \{\n/m);
  if (table === undefined || rest !== undefined) refuse('replies! { … }');
  const groups = [...modulesOf(modules.split('\n')), repliesOf(table)];
  return new Map(groups.map((group) => [`${group.name.replaceAll('_', '-')}.ts`, fileOf(group)]));
}

/** Returns the files in `dir` that are out of date, missing or superfluous. */
export function staleFiles(wanted, dir = join(ROOT, OUT)) {
  const names = new Set([...wanted.keys(), ...(existsSync(dir) ? readdirSync(dir) : [])]);
  const read = (name) => {
    const file = join(dir, name);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
  return [...names].filter((name) => read(name) !== wanted.get(name)).sort();
}

function main() {
  const wanted = abiFiles(readFileSync(join(ROOT, SOURCE), 'utf8'));
  const stale = staleFiles(wanted);
  if (process.argv.includes('--check')) {
    if (stale.length === 0) return;
    throw new CommandFailed(
      `${OUT}: ${stale.join(', ')} out of date: run node scripts/write-abi.mjs`,
    );
  }
  const dir = join(ROOT, OUT);
  mkdirSync(dir, { recursive: true });
  for (const name of stale) {
    const text = wanted.get(name);
    if (text === undefined) rmSync(join(dir, name));
    else writeFileSync(join(dir, name), text);
  }
  console.log(stale.length === 0 ? `${OUT}: up to date` : `${OUT}: wrote ${stale.join(', ')}`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await runMain(main);
