"use strict";
// Creates elements and formats numbers. Text is always inserted as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

const html = (tag, attributes, ...children) =>
  build(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  build(document.createElementNS(SVG, tag), attributes, children);
const byId = (id) => document.getElementById(id);
const colour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const km = (value) => `${value.toFixed(value < 9.95 ? 2 : 1)} km`;
/** Rounds up, because it is an upper bound: to three digits, or to an integer from 100 on. */
function times(value) {
  const unit = value < 100 ? 10 ** (Math.floor(Math.log10(value)) - 2) : 1;
  return Number((Math.ceil(value / unit - 1e-9) * unit).toFixed(6)).toLocaleString("en");
}
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

function divisor(a, b) {
  return b === 0 ? a : divisor(b, a % b);
}

/** numerator/denominator in lowest terms, as text. */
function fraction(numerator, denominator) {
  const shared = divisor(numerator, denominator);
  const [top, bottom] = [numerator / shared, denominator / shared];
  return bottom === 1 ? String(top) : `${top}/${bottom}`;
}

/** Radio buttons that look like labels. The browser handles arrow keys and focus. */
function radios(host, name, options, onchange) {
  for (const { value, label, hint } of options) {
    const input = html("input", { type: "radio", name, value, onchange: () => onchange(value) });
    host.append(html("label", { class: "option", title: hint || null }, input,
      typeof label === "string" ? html("span", {}, label) : label));
  }
  return (value) => {
    for (const input of host.querySelectorAll("input")) input.checked = input.value === String(value);
  };
}

const tip = {
  show(text, x, y) {
    const box = byId("tip");
    box.textContent = text;
    box.hidden = false;
    const left = Math.min(Math.max(8, x + 14), window.innerWidth - box.offsetWidth - 8);
    const above = y - box.offsetHeight - 12;
    box.style.left = `${left}px`;
    box.style.top = `${above > 8 ? above : y + 18}px`;
  },
  hide() {
    byId("tip").hidden = true;
  },
};
