// The lines of a summary as the scoring reads them (`benchmarks/scoring/text.py`): what kind each is, and what it cites.

export const DASH = "\\-\\u2010-\\u2015\\u2212", SEPARATORS = `\\s,;&${DASH}`;
export const NUMBERS = `\\p{Nd}{1,9}(?:[${SEPARATORS}]+\\p{Nd}{1,9})*`;
export const CITATION = new RegExp(`\\[[\\s,;]*(${NUMBERS})[\\s,;]*\\]`, "gu");
const PART = new RegExp(`(\\p{Nd}+)(?:\\s*[${DASH}]\\s*(\\p{Nd}+))?`, "gu");
const LONGEST_RANGE = 500;
const LETTER = "[\\p{L}\\p{Nl}\\p{No}_]";
export const GLYPHS = "•◦‣▪▫●○■□·∙⁃";
export const MARKER = new RegExp(`^\\s*(?:[${GLYPHS}]+\\s*|[-–—+*](?=\\s|$)\\s*|[-–](?=${LETTER})|\\(?\\p{Nd}{1,3}[.)](?=\\s|$|${LETTER}|\\*)\\s*|\\(?[a-z]\\)\\s+)`, "u");
const HEADING = new RegExp(`^\\s*#{1,6}(?=\\s|\\p{Nd}|${LETTER})`, "u");
const BOLD_ONLY = /^\s*(?:\*\*(?!\s)[^*]+\*\*|__(?!\s)[^_]+__)\s*:?\s*$/;
const NOTE = /^\s*(?:\[[^[\]]*\]|\(?\s*(?:total\s+)?word\s*count[^\p{L}\p{N}_]*\p{Nd}+[^\p{L}\p{N}_]*(?:words[^\p{L}\p{N}_]*)?)\s*$/iu;

// Digits of any script as a number: they come in tens, each beginning with its nought.
export function numberOf(digits) {
  if (/^\d+$/.test(digits)) return Number(digits);
  return Number([...digits].map((digit) => {
    const code = digit.codePointAt(0);
    let first = code;
    while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--;
    return (code - first) % 10;
  }).join(""));
}

export function citedIn(value) {
  const found = new Set();
  for (const [, group] of value.matchAll(CITATION)) {
    for (const [, first, last] of group.matchAll(PART)) {
      const from = numberOf(first), to = numberOf(last ?? first);
      if (to - from >= 0 && to - from < LONGEST_RANGE) for (let n = from; n <= to; n++) found.add(n);
      else found.add(from).add(to);
    }
  }
  return [...found];
}

const plain = (text) => text.replaceAll("**", "").replaceAll("__", "").replace(CITATION, " ").trim().replace(/\s+(?=[.,;:!?])/g, "");

// {text, start, line, marker, kind, nWords} of each line that is not blank: `kind` is "bullet", "header", "preamble" or
// "other", `line` counts from 1. Once one line has a bullet mark only such lines are bullets.
export function linesOf(value) {
  const lines = [];
  for (const { 0: text, index: start } of value.matchAll(/[^\r\n\u2028\u2029]+/g)) {
    if (!text.trim()) continue;
    const heading = text.match(HEADING)?.[0].length ?? 0, isHeader = Boolean(heading) || BOLD_ONLY.test(text);
    const marker = isHeader ? 0 : text.match(MARKER)?.[0].length ?? 0, words = plain(text.slice(heading || marker));
    const nWords = words.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
    lines.push({ text, start, line: value.slice(0, start).split("\n").length, marker, isHeader, isNote: NOTE.test(text), words, nWords });
  }
  const marked = lines.findIndex(({ marker }) => marker);
  const opening = lines.findIndex(({ isHeader, isNote }) => !isHeader && !isNote);
  const leadsIn = ({ words }, place) => place === opening && place + 1 < lines.length && words.endsWith(":");
  const kindOf = (line, place) => {
    if (!line.nWords || line.isNote) return "other";
    if (line.isHeader || line.marker) return line.isHeader ? "header" : "bullet";
    if (marked >= 0) return place < marked ? "preamble" : "other";
    return leadsIn(line, place) ? "preamble" : "bullet";
  };
  return lines.map((line, place) => ({ ...line, kind: kindOf(line, place) }));
}
