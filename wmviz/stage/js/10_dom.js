// Making elements. Text from users only ever goes through textContent and setAttribute.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = apart(value);
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc](?:[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\s]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc])?/g;

/** Set words that run from right to left apart, so that the numbers behind them stay where they are. */
function apart(text) {
  return typeof text === "string" ? text.replace(RIGHT_TO_LEFT, "\u2068$&\u2069") : text;
}

/** A number with a comma between each three digits. */
function grouped(number) {
  return number.toLocaleString("en");
}

const ICONS = {
  start: "M5 4v12M16 4v12l-8-6z",
  back: "M14 4v12l-8-6z",
  play: "M6 3.5v13l11-6.5z",
  pause: "M6 4h3v12H6zM11.5 4h3v12h-3z",
  forward: "M6 4v12l8-6z",
  end: "M15 4v12M4 4v12l8-6z",
  close: "M5 5l10 10M15 5L5 15",
};

function icon(name) {
  return svg("svg", { viewBox: "0 0 20 20", class: "wmviz-icon", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

const HOLLOW = new Set([0, 3, 5, 6]);
const CROSS = 4;
const LOST = 6;

/** The marble of a fate, as it stands in the ledger: colour is never the only sign. */
function glyph(look, shape) {
  return svg(
    "svg",
    { viewBox: "-9 -9 18 18", class: "wmviz-glyph", "aria-hidden": "true" },
    svg("path", { d: shape, class: `wmviz-marble wmviz-look-${look}` }),
  );
}
