// How texts are compared: forms of one sign are one, and signs that nobody sees are none; `benchmarks/scoring/text.py`
// does the same on the server.
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
// Accents and vowel signs that are left out as often as written; those of Thai or Devanagari never are.
const MARKS = /[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u0898-\u089f\u08ca-\u08e1\u08e3-\u08ff\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]/gu;
const PLAIN = [[/[\u2010-\u2015\u2212]/gu, "-"], [/[\u2018\u2019\u201b\u02bb\u02bc\u2032\u00b4]/gu, "'"], [/[\u201c-\u201f\u2033]/gu, '"']];
// One sign with the marks, joiners, later parts of Hangul and of emoji that make one shape with it
const JOINS = "[\\p{M}\\u200c\\u1160-\\u11ff\\ud7b0-\\ud7ff\\uff9e\\uff9f\\u{1f3fb}-\\u{1f3ff}]|\\u200d[\\u2190-\\u2bff\\u{1f000}-\\u{1faff}]?";
const GRAPHEME = new RegExp(`.(?:${JOINS})*`, "suy");
const STARTS = new RegExp(`^(?:${JOINS})`, "u");
const ALONE = 1, JOINED = 2;
const joins = new Uint8Array(65536); // whether a sign makes one shape with the one before it, as far as that is known
const folded = { true: new Map(), false: new Map() };

export const visible = (value) => value.normalize("NFKC").replace(UNSEEN, "");
const plain = (value) => PLAIN.reduce((text, [signs, one]) => text.replace(signs, one), value);

// What is left of a grapheme: nothing, one sign or several.
function foldGrapheme(signs, exact) {
  let value = folded[exact].get(signs);
  if (value === undefined) {
    value = plain(signs);
    if (!exact) value = value.normalize("NFKD").replace(MARKS, "").toLowerCase().replace(/\u03c2/g, "\u03c3");
    folded[exact].set(signs, value = plain(visible(value)).replace(/\s/g, " "));
  }
  return value;
}

function isJoined(code) {
  return (joins[code] ||= code >= 0xd800 && code < 0xe000 || STARTS.test(String.fromCharCode(code)) ? JOINED : ALONE) === JOINED;
}

// Gives {text, places}: the text as it is compared, and where in the original the grapheme of each of its signs begins;
// the last place is the end. White space of any kind and length is one space; unless `exact`, case and accents are ignored.
export function fold(value, exact) {
  const size = value.length;
  let signs = new Uint16Array(size), places = new Uint32Array(size + 1);
  let length = 0, last = 0;
  for (let at = 0; at < size; at++) {
    let code = value.charCodeAt(at);
    const next = value.charCodeAt(at + 1);
    if (code < 128 && !(next > 127 && isJoined(next))) {
      if (code > 8 && code < 14) code = 32;
      else if (!exact && code > 64 && code < 91) code += 32;
      if (code === 32 && last === 32) continue;
      signs[length] = last = code;
      places[length++] = at;
      continue;
    }
    let grapheme = value[at];
    if (isJoined(code) || isJoined(next)) {
      GRAPHEME.lastIndex = at;
      [grapheme] = GRAPHEME.exec(value);
    }
    const left = foldGrapheme(grapheme, exact);
    if (length + left.length + size - at > signs.length) {
      [signs, places] = [signs, places].map((old) => { const more = new old.constructor(2 * old.length + left.length); more.set(old); return more; });
    }
    for (let sign = 0; sign < left.length; sign++) {
      code = left.charCodeAt(sign);
      if (code === 32 && last === 32) continue;
      signs[length] = last = code;
      places[length++] = at;
    }
    at += grapheme.length - 1;
  }
  places[length] = size;
  return { text: new TextDecoder("utf-16").decode(signs.subarray(0, length)), places: places.subarray(0, length + 1) };
}
