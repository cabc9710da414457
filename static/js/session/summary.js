// A summary while it is written: what is wrong with its citations, and where typing goes on.
import { CITATION, DASH, GLYPHS, MARKER, NUMBERS, SEPARATORS, citedIn, linesOf, numberOf } from "./lines.js";

const OPEN = new RegExp(`\\[[\\p{Nd}${SEPARATORS}]*$`, "u");
const BRACKET = new RegExp(`\\[([\\p{Nd}${SEPARATORS}]*)\\]`, "gu");

// Where the number of a document goes that is cited at the caret: {start, end, insert, caret}, or null where it stands
// there already. No word is cut in two.
export function citeAt(value, at, number) {
  const rest = /[\p{L}\p{N}]$/u.test(value.slice(0, at)) ? value.slice(at).match(/^[\p{L}\p{N}]*/u)[0] : "";
  const caret = /\[[^\]\n]*$/.test(value.slice(0, at)) ? at : at + rest.length;
  const lineStart = value.lastIndexOf("\n", caret - 1) + 1;
  const lineEnd = (value.indexOf("\n", caret) + 1 || value.length + 1) - 1;
  const before = value.slice(lineStart, caret), after = value.slice(caret, lineEnd);
  for (const bracket of value.slice(lineStart, lineEnd).matchAll(BRACKET)) {
    const start = lineStart + bracket.index, close = start + bracket[0].length - 1;
    const isNear = caret > start ? !value.slice(Math.min(caret, close + 1), caret).trim().replace(/^\.$/, "") : !value.slice(caret, start).trim();
    if (!isNear) continue;
    if (citedIn(bracket[0]).includes(number)) return null;
    const kept = bracket[1].replace(/[\s,;&]+$/, "");
    const insert = kept.trim() ? `, ${number}` : `${number}`;
    const place = start + 1 + kept.length;
    return { start: place, end: close, insert, caret: caret > close ? caret + insert.length - (close - place) : place + insert.length };
  }
  const open = before.match(OPEN)?.[0];
  if (open) {
    const lead = /\p{Nd}$/u.test(open) ? ", " : /[,;&]$/.test(open) ? " " : "";
    const insert = `${lead}${number}${/^\s*\]/.test(after) ? "" : "]"}`;
    return { start: caret, end: caret, insert, caret: caret + insert.length };
  }
  const insert = `${before && !/\s$/.test(before) ? " " : ""}[${number}]`;
  return { start: caret, end: caret, insert, caret: caret + insert.length };
}

// The number of the document that is cited at the caret, or nearest to it in its line; null where the line cites none.
export function citedAt(value, caret) {
  const lineStart = value.lastIndexOf("\n", caret - 1) + 1, place = caret - lineStart;
  const [line] = value.slice(lineStart).split("\n", 1);
  const away = (start, end) => Math.max(start - place, place - end, 0);
  const cited = [...line.matchAll(CITATION)].flatMap(({ 0: bracket, index }) =>
    [...bracket.matchAll(/\p{Nd}+/gu)].map((digits) => ({ number: numberOf(digits[0]), away: away(index + digits.index, index + digits.index + digits[0].length) })));
  return cited.reduce((nearest, each) => (nearest && nearest.away <= each.away ? nearest : each), null)?.number ?? null;
}

// The line of the caret and the one it changes places with, above (-1) or below (1): {start, end, insert, caret}, or null.
export function moved(value, caret, by) {
  const lines = value.split("\n"), at = value.slice(0, caret).split("\n").length - 1, other = at + by;
  if (other < 0 || other >= lines.length) return null;
  const first = Math.min(at, other), start = lines.slice(0, first).reduce((n, line) => n + line.length + 1, 0);
  const insert = `${lines[first + 1]}\n${lines[first]}`;
  return { start, end: start + insert.length, insert, caret: caret + by * (lines[other].length + 1) };
}

export function summaryFacts(value) {
  const bullets = linesOf(value).filter(({ kind }) => kind === "bullet");
  const words = bullets.reduce((sum, { nWords }) => sum + nWords, 0);
  return { bullets: bullets.length, words, uncited: bullets.filter(({ text }) => !citedIn(text).length).length };
}

// What looks like a citation and is none, with what it was meant to be; `known` are the documents shown.
const ATTEMPTS = [
  ["words", /\[[^[\]\n]*\p{Nd}[^[\]\n]*\]/gu],
  ["round", new RegExp(`[(（［【〔](?:\\s*(?:docs?|documents?)\\b\\.?)?[\\s,;]*${NUMBERS}(?:[，、；]\\p{Nd}{1,9})*(?:\\s*(?:and|und|et|y|e|&)\\s*\\p{Nd}{1,9})?[\\s,;]*[)）］】〕]`, "giu")],
  ["open", new RegExp(`\\[[${SEPARATORS}]*${NUMBERS}[\\s,;.]*$`, "gu")],
];
const ONLY_NUMBERS = /^\[(?:[\s\p{Nd}.,;，、；&#\-\u2010-\u2015]|\b(?:and|or|und|oder|et|ou|y|o|e|docs?|documents?|nos?|nr|numbers?)\b)+\]$/iu;
const WORTH_SEEING = new RegExp(`[${DASH}]|(?!\\d)\\p{Nd}`, "u"); // ranges, and digits of another script
const numbersIn = (value) => (value.match(/\p{Nd}+/gu) ?? []).map(numberOf);

// {line, start, end, kind, cited, numbers} of each citation to look at, in the order of the text. Kinds: `unknown`
// (no such document here), `range` (right, but worth seeing: `numbers` are what it cites), `words`, `round` and `open`
// (not read as citations: `numbers` are what was meant; `round` are brackets of any other shape), `loose` and `uncited`
// (of a whole line).
export function problemsIn(value, known) {
  const found = [];
  for (const { text: line, start, line: number, marker, kind: lineKind, nWords } of linesOf(value)) {
    if (!nWords || lineKind === "header") continue;
    const add = (kind, at, cited, numbers) => found.push({ line: number, start: start + at, end: start + at + cited.length, kind, cited, numbers });
    for (const { 0: cited, 1: group, index: at } of line.matchAll(CITATION)) {
      const numbers = citedIn(cited), unknown = numbers.filter((number) => !known.has(number));
      if (unknown.length) add("unknown", at, cited, unknown);
      else if (WORTH_SEEING.test(group)) add("range", at, cited, numbers);
    }
    for (const [kind, pattern] of ATTEMPTS) for (const { 0: cited, index: at } of line.matchAll(pattern)) {
      const numbers = numbersIn(cited), areKnown = numbers.every((number) => known.has(number));
      const isMeant = {
        words: ONLY_NUMBERS.test(cited) || numbers.some((number) => known.has(number)),
        round: areKnown || (Math.max(...numbers) < 1000 && /^[\s.]*$/.test(line.slice(at + cited.length))), // at the end of a bullet
        open: areKnown,
      }[kind];
      if (isMeant && at >= marker && !citedIn(cited).length) add(kind, at, cited, numbers);
    }
    const isBullet = lineKind === "bullet", text = line.trim(), at = line.indexOf(text), isCited = citedIn(line).length > 0;
    if (!isBullet && isCited) add("loose", at, text, []);
    if (isBullet && !isCited && found.at(-1)?.line !== number) add("uncited", at, text, []);
  }
  return found.sort((one, other) => one.start - other.start || one.end - other.end);
}

// What Enter does in a list, as {start, end, insert}: the next bullet, or the end of the list on an empty one. Null
// where it does what it always does.
const ITEM = new RegExp(`^(\\s*)([-–—+*${GLYPHS}]|(\\(?)(\\d{1,3})([.)]))(\\s+|$)`);
export function continued(value, start, end) {
  const lineStart = value.lastIndexOf("\n", start - 1) + 1;
  const lineEnd = (value.indexOf("\n", end) + 1 || value.length + 1) - 1;
  const line = value.slice(lineStart, lineEnd), item = line.match(ITEM);
  if (!item || start < lineStart + item[0].length) return null;
  if (start === end && !line.slice(item[0].length).trim()) return { start: lineStart, end: lineEnd, insert: "" };
  const [, indent, mark, before, number, after] = item;
  return { start, end, insert: `\n${indent}${number ? `${before}${Number(number) + 1}${after}` : mark} ` };
}

// Where somebody types the mark that Enter has put there: {start, end} of what is too much, or null.
export function doubled(value, caret) {
  const line = value.slice(value.lastIndexOf("\n", caret - 1) + 1, caret);
  const mark = line.match(/^\s*(\S{1,5}) \1 $/)?.[1];
  return mark && MARKER.test(`${mark} `) ? { start: caret - mark.length - 1, end: caret } : null;
}
