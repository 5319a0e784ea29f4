// Simple colours for code: comments, strings, numbers and words that languages reserve. Every token is a text node in a span.

import { el } from "../dom.js";

const WORDS =
  "abstract as async await bool break case catch char class const continue crate def default delete do double dyn elif else enum except export extends extern false final finally float fn for from func function global if impl implements import in instanceof int interface is lambda let long loop match mod move mut namespace new nil None not null nullptr object or override package pass private protected pub public raise ref return self Self short signed sizeof static string struct super switch template this throw trait True False true try type typedef typeof undefined union unsafe unsigned use using val var virtual void volatile where while with yield then fi done esac echo local select insert update into table create and";

const KEYWORDS = new Set(WORDS.split(" "));

const STRINGS = String.raw`"(?:\\.|[^"\\])*"?|` + "`(?:\\\\.|[^`\\\\])*`?";
const QUOTED = String.raw`|'(?:\\.|[^'\\])*'?`;
// A lifetime is no string.
const CHARACTER = String.raw`|'(?:\\[^']*|[^'\\])'`;

function family(comment, quoted) {
  return new RegExp(`(${comment})|(${STRINGS}${quoted})|(\\b\\d[\\w.]*)|([A-Za-z_]\\w*)`, "g");
}

const SLASH = String.raw`//.*|/\*.*?(?:\*/|$)`;
const HASH = String.raw`#.*`;
const DASH = String.raw`--.*`;

const FAMILIES = [
  [family(SLASH, CHARACTER), "rs"],
  [family(SLASH, QUOTED), "c cc cpp cs css cxx dart go h hpp java js json jsx kt kts mjs php proto scala scss swift ts tsx zig"],
  [family(HASH, QUOTED), "bash cfg cmake conf ini mk nix pl py pyi r rb sh tcl toml yaml yml zsh dockerfile makefile gitignore"],
  [family(DASH, QUOTED), "hs lua sql elm"],
];

const BY_ENDING = new Map(FAMILIES.flatMap(([pattern, endings]) => endings.split(" ").map((ending) => [ending, pattern])));

const CLASSES = ["", "token-comment", "token-string", "token-figure", "token-keyword"];

/// Returns a function that makes nodes of the lines of a file, one after the other.
export function colours(path) {
  const name = path.split("/").at(-1).toLowerCase();
  const pattern = BY_ENDING.get(name.split(".").at(-1));
  if (!pattern) return (line) => [line];
  let isInComment = false;
  return (line) => {
    const nodes = [];
    let from = 0;
    if (isInComment) {
      const end = line.indexOf("*/");
      isInComment = end < 0;
      from = end < 0 ? line.length : end + 2;
      nodes.push(el("span", { class: CLASSES[1] }, line.slice(0, from)));
    }
    pattern.lastIndex = from;
    for (let match = pattern.exec(line); match; match = pattern.exec(line)) {
      const kind = match.findIndex((text, index) => index > 0 && text !== undefined);
      if (kind === 4 && !KEYWORDS.has(match[0])) continue;
      if (match.index > from) nodes.push(line.slice(from, match.index));
      nodes.push(el("span", { class: CLASSES[kind] }, match[0]));
      from = match.index + match[0].length;
      if (kind === 1 && match[0].startsWith("/*") && !(match[0].length > 3 && match[0].endsWith("*/"))) isInComment = true;
    }
    if (from < line.length) nodes.push(line.slice(from));
    return nodes;
  };
}
