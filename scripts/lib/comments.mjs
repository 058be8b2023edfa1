// Reads the comments of sources and the prose of pages, and cuts both into sentences.

// TypeScript 7 has no scanner for other programs.
import ts from 'typescript-5.4';
import { NOISE } from './rust-modules.mjs';

/** Returns the texts of the comments of a TypeScript or JavaScript source; adjacent line comments are one text. */
export function typeScriptComments(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false, scriptKind(file));
  const found = new Map();
  const visit = (node) => {
    for (const range of [
      ...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
    ]) {
      found.set(range.pos, range.end);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  // Comments before a closing brace belong to no node.
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, false, ts.LanguageVariant.Standard);
  const braces = [...text.matchAll(/^\s*(\/\/[^\n]*|\/\*[\s\S]*?\*\/)/gm)];
  for (const { 0: all, 1: comment, index } of braces) {
    const pos = index + all.length - comment.length;
    scanner.setText(text, pos);
    const isKnown = [...found].some(([from, to]) => pos >= from && pos < to);
    if (!isKnown && !isInString(source, pos)) found.set(pos, pos + comment.length);
  }
  return joinLines(
    text,
    [...found].sort(([a], [b]) => a - b),
  ).map(withoutMarks);
}

const TITLED = new Set(['it', 'test', 'describe', 'suite']);

/** Returns the titles of the tests of a source; a computed part is one word. */
export function testTitles(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false, scriptKind(file));
  const titles = [];
  const nameOf = (called) => {
    if (ts.isPropertyAccessExpression(called) || ts.isCallExpression(called)) {
      return nameOf(called.expression);
    }
    return ts.isIdentifier(called) ? called.text : undefined;
  };
  const visit = (node) => {
    if (ts.isCallExpression(node) && TITLED.has(nameOf(node.expression))) {
      const title = titleOf(node.arguments[0]);
      if (title !== undefined) titles.push(title);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
}

function titleOf(node) {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return capitalized(node.text);
  if (!ts.isTemplateExpression(node)) return undefined;
  const rest = node.templateSpans.map(({ literal }) => `CODE${literal.text}`);
  return capitalized(node.head.text + rest.join(''));
}

const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function scriptKind(file) {
  if (file.endsWith('.tsx')) return ts.ScriptKind.TSX;
  return /\.m?js$/.test(file) ? ts.ScriptKind.JS : ts.ScriptKind.TS;
}

/** Whether a position is within a string or a template. */
function isInString(source, pos) {
  let isInside = false;
  const visit = (node) => {
    if (node.pos > pos || node.end <= pos) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node)) {
      isInside ||= node.getStart(source) <= pos;
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return isInside;
}

/** Returns the texts of the comments of a Rust source. Examples in documentation are no prose. */
export function rustComments(text) {
  const ranges = [...text.matchAll(NOISE)]
    .filter(([match]) => match.startsWith('/'))
    .map(({ 0: match, index }) => [index, index + match.length]);
  return joinLines(text, ranges).map(withoutMarks);
}

/** Joins line comments that stand alone on lines one below the other. */
function joinLines(text, ranges) {
  const joined = [];
  for (const [from, to] of ranges) {
    const last = joined.at(-1);
    const isAlone = text.slice(text.lastIndexOf('\n', from) + 1, from).trim() === '';
    const isLine = isAlone && text.startsWith('//', from);
    if (isLine && last?.isLine && /^[ \t]*\n[ \t]*$/.test(text.slice(last.to, from))) last.to = to;
    else joined.push({ from, to, isLine });
  }
  return joined.map(({ from, to }) => text.slice(from, to));
}

function withoutMarks(comment) {
  return comment
    .replace(/^\/\*\*?|\*\/$/g, '')
    .replace(/^[ \t]*(?:\/\/[/!]?|\*)[ \t]?/gm, '')
    .trim();
}

/** Returns the prose of a page of Markdown: no code, no headings, no comments; a cell of a table is a separate text. */
export function proseOf(page) {
  return page
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/^```[\s\S]*?^```/gm, '\n')
    .replace(/^#.*$/gm, '\n')
    .replace(/^\s*\|?[-| :]+\|\s*$/gm, '\n')
    .replace(/^\|(.*)\|\s*$/gm, (_, cells) => `\n${cells.replace(/(?<!\\)\|/g, '\n\n')}\n`)
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/<[^>]+>/g, ' ');
}

/** Returns the sentences of a text. Lists and paragraphs end a sentence; code in it is one word. */
export function sentencesOf(text) {
  return text
    .replace(/```[\s\S]*?```/g, '\n\n')
    .replace(/`[^`\n]*`/g, 'CODE')
    .split(/\n\s*\n|\n\s*(?:[-*]|\d+\.)\s|\n\s*@\w+/)
    .flatMap((part) => part.replace(/\s+/g, ' ').split(/(?<=[.!?:;][)"'*]*)\s+(?=[A-Z"'*(])/))
    .map((sentence) => sentence.trim().replace(/^(?:[-*]|\d+\.)\s+/, ''))
    .filter((sentence) => /[a-z]{2,} [a-z]/i.test(sentence));
}
