// Foreign text for a person's eyes: nothing in it is unseen, and nothing in it changes how the rest is read.

// Controls but tab and line feed; then the characters of `wap_core::INVISIBLE`, as a test checks. The selector that makes a
// picture of the sign in front of it, U+FE0F, is seen by its effect there, and a mark anywhere else.
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|(?<![\p{Extended_Pictographic}0-9#*])\ufe0f/gu;

// Colours of terminals.
const COLOURS = /\u001b\[[0-9;:]*m/g;

// The most marks in one text: each is an element.
const MOST_MARKS = 2000;

const NAMES = new Map([
  [0x07, "BEL"], [0x08, "BS"], [0x0d, "CR"], [0x1b, "ESC"], [0x7f, "DEL"], [0xad, "SHY"], [0x200b, "ZWSP"], [0x200c, "ZWNJ"],
  [0x200d, "ZWJ"], [0x200e, "LRM"], [0x200f, "RLM"], [0x202a, "LRE"], [0x202b, "RLE"], [0x202c, "PDF"], [0x202d, "LRO"],
  [0x202e, "RLO"], [0x2060, "WJ"], [0x2066, "LRI"], [0x2067, "RLI"], [0x2068, "FSI"], [0x2069, "PDI"], [0xfeff, "BOM"],
]);

/// Returns a text as nodes: text, and a mark for each unseen character.
export function visible(text) {
  UNSEEN.lastIndex = 0;
  // Nearly every text is plain.
  if (!UNSEEN.test(text)) return document.createTextNode(text);
  UNSEEN.lastIndex = 0;
  const nodes = document.createDocumentFragment();
  let from = 0;
  let marks = 0;
  for (const match of text.matchAll(UNSEEN)) {
    nodes.append(text.slice(from, match.index));
    from = match.index + match[0].length;
    // The end of a line as Windows writes it.
    if (match[0] === "\r" && text[from] === "\n") continue;
    marks += 1;
    if (marks > MOST_MARKS) {
      nodes.append("\ufffd");
      continue;
    }
    nodes.append(mark(match[0].codePointAt(0)));
  }
  nodes.append(text.slice(from));
  return nodes;
}

/// Returns a text without the colours of terminals.
export function uncoloured(text) {
  return text.includes("\u001b") ? text.replace(COLOURS, "") : text;
}

function mark(code) {
  const hex = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  const span = document.createElement("span");
  span.className = "unseen";
  span.title = `an unseen character: ${hex}`;
  span.textContent = NAMES.get(code) ?? hex;
  return span;
}
