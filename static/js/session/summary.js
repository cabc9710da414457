// A summary as the scoring reads it: bullets and citations, what is wrong with them, and where typing goes on.

const SEPARATORS = "\\s,;&\\-\\u2010-\\u2015";
const NUMBERS = `\\d{1,9}(?:[${SEPARATORS}]+\\d{1,9})*`;
const CITATION = new RegExp(`\\[[\\s,;]*(${NUMBERS})[\\s,;]*\\]`, "g");
const PART = /(\d+)(?:\s*[-\u2010-\u2015]\s*(\d+))?/g;
const OPEN = new RegExp(`\\[[\\d${SEPARATORS}]*$`);
const MARKER = /^\s*(?:[•◦‣▪●○■□·]|[-–—+*](?=\s|$)|\(?\d{1,3}[.)](?=\s|$))/;
const LONGEST_RANGE = 500;

// Where a click on a document's number goes: {start, end, insert, caret}, or null where it stands there already.
export function citeAt(value, caret, number) {
  const lineStart = value.lastIndexOf("\n", caret - 1) + 1;
  const lineEnd = (value.indexOf("\n", caret) + 1 || value.length + 1) - 1;
  const before = value.slice(lineStart, caret), after = value.slice(caret, lineEnd);
  for (const bracket of value.slice(lineStart, lineEnd).matchAll(/\[([\d\s,;&\-\u2010-\u2015]*)\]/g)) {
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
    const lead = /\d$/.test(open) ? ", " : /[,;&]$/.test(open) ? " " : "";
    const insert = `${lead}${number}${/^\s*\]/.test(after) ? "" : "]"}`;
    return { start: caret, end: caret, insert, caret: caret + insert.length };
  }
  const insert = `${before && !/\s$/.test(before) ? " " : ""}[${number}]`;
  return { start: caret, end: caret, insert, caret: caret + insert.length };
}

export function citedIn(value) {
  const found = new Set();
  for (const [, group] of value.matchAll(CITATION)) {
    for (const [, first, last] of group.matchAll(PART)) {
      const from = Number(first), to = Number(last ?? first);
      if (to - from >= 0 && to - from < LONGEST_RANGE) for (let n = from; n <= to; n++) found.add(n);
      else found.add(from).add(to);
    }
  }
  return [...found];
}

// The lines that count for something, as [line, index], and the bullets among them: as in the scoring, once one line
// has a bullet mark only such lines are bullets.
function parts(value) {
  const lines = value.split("\n").map((line, index) => [line, index]).filter(([line]) => /[\p{L}\p{N}]/u.test(line.replace(CITATION, "")) && !/^\s*#{1,6}\s/.test(line));
  const marked = lines.filter(([line]) => MARKER.test(line));
  return { lines, bullets: marked.length ? marked : lines.filter(([line], place) => place || lines.length === 1 || !line.trim().endsWith(":")) };
}

export function summaryFacts(value) {
  const { bullets } = parts(value);
  const words = bullets.flatMap(([line]) => line.replace(MARKER, "").replace(CITATION, " ").split(/\s+/)).filter((word) => /[\p{L}\p{N}]/u.test(word));
  return { bullets: bullets.length, words: words.length, uncited: bullets.filter(([line]) => !citedIn(line).length).length };
}

// What looks like a citation and is none, with what it was meant to be; `known` are the documents shown.
const ATTEMPTS = [
  ["words", /\[[^[\]\n]*\d[^[\]\n]*\]/g],
  ["round", new RegExp(`\\((?:\\s*(?:docs?|documents?)\\b\\.?)?[\\s,;]*${NUMBERS}(?:\\s*(?:and|und|et|y|e|&)\\s*\\d{1,9})?[\\s,;]*\\)`, "gi")],
  ["open", new RegExp(`\\[[${SEPARATORS}]*${NUMBERS}[\\s,;.]*$`, "g")],
];
const ONLY_NUMBERS = /^\[(?:[\s\d.,;&#\-\u2010-\u2015]|\b(?:and|or|und|oder|et|ou|y|o|e|docs?|documents?|nos?|nr|numbers?)\b)+\]$/i;
const numbersIn = (value) => (value.match(/\d+/g) ?? []).map(Number);

// {line, start, end, kind, cited, numbers} of each citation to look at, in the order of the text. Kinds: `unknown`
// (no such document here), `range` (right, but worth seeing: `numbers` are what it cites), `words`, `round` and `open`
// (not read as citations: `numbers` are what was meant), `loose` and `uncited` (of a whole line).
export function problemsIn(value, known) {
  const { lines, bullets } = parts(value), found = [];
  for (const [line, index] of lines) {
    const start = value.split("\n", index).join("\n").length + (index ? 1 : 0);
    const marker = line.match(MARKER)?.[0].length ?? 0;
    const add = (kind, at, cited, numbers) => found.push({ line: index + 1, start: start + at, end: start + at + cited.length, kind, cited, numbers });
    for (const { 0: cited, 1: group, index: at } of line.matchAll(CITATION)) {
      const numbers = citedIn(cited), unknown = numbers.filter((number) => !known.has(number));
      if (unknown.length) add("unknown", at, cited, unknown);
      else if (/[-\u2010-\u2015]/.test(group)) add("range", at, cited, numbers);
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
    const isBullet = bullets.some(([, place]) => place === index), text = line.trim();
    const at = line.indexOf(text);
    if (!isBullet && citedIn(line).length) add("loose", at, text, []);
    if (isBullet && !citedIn(line).length && found.at(-1)?.line !== index + 1) add("uncited", at, text, []);
  }
  return found.sort((one, other) => one.start - other.start || one.end - other.end);
}

// What Enter does in a list, as {start, end, insert}: the next bullet, or the end of the list on an empty one. Null
// where it does what it always does.
const ITEM = /^(\s*)([-–—+*•◦]|(\(?)(\d{1,3})([.)]))(\s+|$)/;
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
