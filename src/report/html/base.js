// Helpers without state: elements, escaping, numbers with units.

const $ = (id) => document.getElementById(id);
const html = (text) => String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
const px = (x) => Math.round(x * 10) / 10;
const number = (n) => n.toLocaleString("en-US");
const counted = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;

// A moment or a duration in virtual time. `step` is the least difference to show.
function time(ns, step) {
  if (ns < 0) return "-" + time(-ns, step);
  const [unit, size] = ns >= 1e9 ? ["s", 1e9] : ns >= 1e6 ? ["ms", 1e6] : ns >= 1e3 ? ["µs", 1e3] : ["ns", 1];
  const digits = step ? clamp(Math.ceil(Math.log10(size / step) - 1e-9), 0, 9) : size === 1 ? 0 : 3;
  const text = (ns / size).toFixed(digits);
  return `${step || !digits ? text : text.replace(/\.?0+$/, "")} ${unit}`;
}

// First index in a sorted list whose value is not below `x`.
function lower(list, x, of = (i) => i) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const mid = (low + high) >> 1;
    if (of(list[mid]) < x) low = mid + 1;
    else high = mid;
  }
  return low;
}

async function copyText(text, button) {
  const done = (word) => {
    const before = button.dataset.word || button.textContent;
    button.dataset.word = before;
    button.textContent = word;
    setTimeout(() => (button.textContent = before), 1200);
  };
  try {
    await navigator.clipboard.writeText(text);
    done("copied");
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    button.focus();
    done(copied ? "copied" : "select it");
  }
}
