// The lanes of the requests: steps, marks of boundaries by decision class, kept labels, ends.

const ROW = 50;
const CELL = { top: 16, height: 17 };

// Hues avoid red, which marks wrong states.
const hueOf = (req) => (req < 0 ? 0 : 75 + ((req * 0.618034) % 1) * 255);

// The sign of a class around (x, y).
function sign(cls, x, y, r) {
  const at = (dx, dy) => `${px(x + dx * r)} ${px(y + dy * r)}`;
  switch (WORDS.classes[cls]) {
    case "agree": return `M${at(-1, 0)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
    case "settled": return `M${at(-0.9, 0)}a${0.9 * r} ${0.9 * r} 0 1 0 ${1.8 * r} 0a${0.9 * r} ${0.9 * r} 0 1 0 ${-1.8 * r} 0z`;
    case "early": return `M${at(-0.8, -1)}L${at(1.1, 0)}L${at(-0.8, 1)}z`;
    case "repeat": return `M${at(-1.5, -1)}L${at(0, 0)}L${at(-1.5, 1)}zM${at(0.1, -1)}L${at(1.6, 0)}L${at(0.1, 1)}z`;
    case "missed": return `M${at(-1, -1)}L${at(1, 1)}M${at(1, -1)}L${at(-1, 1)}`;
    case "wrong-label": return `M${at(-0.95, -0.95)}h${1.9 * r}v${1.9 * r}h${-1.9 * r}z`;
    case "wrong-slot": return `M${at(-1.1, -0.9)}L${at(1.1, -0.9)}L${at(0, 1.1)}z`;
    default: return `M${at(-0.75, -0.75)}h${1.5 * r}v${1.5 * r}h${-1.5 * r}z`;
  }
}

const classKey = (cls) => (cls < 0 ? "none" : WORDS.classes[cls]);

// Whether a boundary has a sign: not if no checkpoint was due and the rule did not fire.
const signed = (run, m) => isBoundary(run, m);

function requestRows(f) {
  const { run } = f;
  if (!state.live && !state.printing) return run.rows;
  return run.rows.filter((req) => run.reqs[req].from <= state.b && run.reqs[req].to >= state.a);
}

function drawRequests(f) {
  const rows = requestRows(f);
  const box = boxes.requests;
  fitBox(box, f, rows, ROW);
  const { first, last, y } = rowsSeen(box, rows, ROW);
  $("requests-count").textContent = rows.length < f.run.rows.length ? `${rows.length} of ${f.run.rows.length}` : `${rows.length}`;
  let out = turnLines(f, box.shown);
  let names = "";
  for (let at = first; at < last; at++) {
    const req = rows[at];
    const top = y + (at - first) * ROW;
    out += drawRequest(f, req, top, at);
    names += requestName(f, req, top);
  }
  box.svg.querySelector(".plot").innerHTML = out;
  box.svg.querySelector(".names").innerHTML = names || `<text class="sub" x="${f.left - 12}" y="20">none</text>`;
}

function requestName(f, req, top) {
  const { life, step, reqs } = f.run;
  const known = req < life.n;
  const hit = known && life.hit[req] ? ` · ${life.hit[req]} hit` : "";
  const outputs = known ? life.outputs[req] : 0;
  const chars = Math.floor((f.left - 16) / 7);
  const id = nameOf(req);
  const short = id.length > chars ? id.slice(0, chars - 1) + "…" : id;
  const sub = f.left < 100 ? "" : `<text class="sub" x="${f.left - 12}" y="${top + 36}">${known ? life.prompt[req] : "?"}${hit} → ${outputs} out</text>`;
  const gone = known && life.retracted[req] ? ` <tspan class="sub">↺${life.retracted[req]}</tspan>` : "";
  return `<rect class="dot" style="--h:${px(hueOf(req))}" x="${f.left - 8}" y="${top + 14}" width="4" height="${CELL.height + 4}" rx="2"/>` +
    `<text class="name" x="${f.left - 12}" y="${top + (sub ? 23 : 29)}">${html(short)}${gone}</text>${sub}`;
}

function drawRequest(f, req, top, at) {
  const { run, left, right } = f;
  const { span, step, mark, life, donation } = run;
  const of = run.reqs[req];
  const y = top + CELL.top;
  const mid = y + CELL.height / 2;
  const hue = px(hueOf(req));
  let back = at % 2 ? `<rect class="band" x="0" y="${top}" width="${px(right + GAP)}" height="${ROW}"/>` : "";
  const selected = state.pin && state.pin.req === req;
  if (selected) back += `<rect class="row-on" x="0" y="${top}" width="${px(right + GAP)}" height="${ROW}"/>`;

  // A line from arrival to end; dashed while the request waits.
  const x = (t) => clamp(f.xt(t), left, right);
  if (of.from <= state.b && of.to >= state.a) {
    // A request whose first step is a decode was prefilled before the turns shown.
    const running = of.steps.length && step.mode[of.steps[0]] !== MODE.extend;
    const firstStep = running ? of.from : of.steps.length ? span.t0[run.stepSpan(of.steps[0])] : of.to;
    back += `<path class="life wait" d="M${px(x(of.from))} ${mid}H${px(x(firstStep))}"/><path class="life" d="M${px(x(firstStep))} ${mid}H${px(x(of.to))}"/>`;
    const arrived = req < life.n ? life.arrived[req] : -1;
    if (arrived >= state.a && arrived <= state.b) back += `<path class="arrive" d="M${px(x(arrived))} ${y}v${CELL.height}"/>`;
  }

  let cells = "";
  let marks = "";
  let words = "";
  let plain = "";
  let lastMark = -Infinity;
  let lastWord = -Infinity;
  const dense = {};
  const steps = of.steps;
  for (let n = lower(steps, f.ua, (i) => f.scale.span1[run.stepSpan(i)]); n < steps.length; n++) {
    const i = steps[n];
    const s = run.stepSpan(i);
    if (f.scale.span0[s] > f.ub) break;
    const x0 = Math.max(f.x(f.scale.span0[s]), left);
    const x1 = Math.min(f.x(f.scale.span1[s]), right);
    const m = step.mark[i];
    const due = m >= 0 && mark.due_slot[m] >= 0;
    const width = Math.max(x1 - x0 - 0.8, 0.4);
    if (width < 3) plain += `M${px(x0)} ${y}h${px(Math.max(x1 - x0, 0.5))}v${CELL.height}h${-px(Math.max(x1 - x0, 0.5))}z`;
    else {
      const pre = step.mode[i] === MODE.extend;
      cells += `<rect class="cell${pre ? " pre" : ""}${step.skipped[i] ? " skipped" : ""}" data-i="${i}" x="${px(x0)}" y="${y}" width="${px(width)}" height="${CELL.height}" rx="2.5"/>`;
      if (due) cells += `<rect class="due" x="${px(x0)}" y="${y + CELL.height - 3}" width="${px(width)}" height="3"/>`;
      const text = cellWords(run, i, m, width);
      if (text) words += `<text class="k" x="${px((x0 + x1) / 2)}" y="${y + 12.5}">${text}</text>`;
    }
    if (m < 0 || !signed(run, m)) continue;
    const cls = mark.class[m];
    const middle = clamp((f.x(f.scale.span0[s]) + f.x(f.scale.span1[s])) / 2, left + 3, right - 3);
    // Where signs would overlap, only those of wrong decisions are drawn.
    if (middle - lastMark < 7 && !BAD.has(cls)) {
      dense[cls] = (dense[cls] ?? "") + `M${px(middle)} ${top + 6}v6`;
      continue;
    }
    lastMark = middle;
    marks += `<path class="mk c-${classKey(cls)}" data-m="${m}" d="${sign(cls, middle, top + 8.5, 4.6)}"/>`;
    if (cls >= 0 && WORDS.classes[cls] !== "agree" && middle - lastWord > 64 && x1 - x0 > 50) {
      lastWord = middle;
      marks += `<text class="cls c-${classKey(cls)}" x="${px(middle + 10)}" y="${top + 12}">${classKey(cls)}</text>`;
    }
  }
  for (const cls of Object.keys(dense)) back += `<path class="mkline c-${classKey(+cls)}" d="${dense[cls]}"/>`;
  if (plain) cells += `<path class="cell" d="${plain}"/>`;

  const donations = drawDonations(f, of, top);
  return `<g style="--h:${hue}">${back}${cells}${words}${drawKept(f, of, top, donations.words)}${drawEnd(f, req, y)}</g>${marks}${donations.out}`;
}

function cellWords(run, i, m, width) {
  const { step, mark } = run;
  const due = m >= 0 && mark.due_slot[m] >= 0;
  const pre = step.mode[i] === MODE.extend || step.adds[i] !== 1;
  const short = pre ? `${step.k[i] - step.adds[i]}–${step.k[i]}` : `${step.k[i]}`;
  const into = due ? ` → s${mark.due_slot[m]}` : "";
  const forms = [(pre ? short : `k ${short}`) + into, pre ? short : `k ${short}`, short];
  return forms.find((text) => text.length * 6.2 + 4 <= width) ?? "";
}

// The kept label, as a line below the steps; `taken` are the ranges of other texts.
function drawKept(f, of, top, taken) {
  const { left, right } = f;
  const y = top + ROW - 8;
  let out = "";
  for (const { t0, t1, label, slot } of of.kept) {
    if (t1 < state.a || t0 > state.b) continue;
    const x0 = clamp(f.xt(t0), left, right);
    const x1 = clamp(f.xt(t1), left, right);
    if (x1 - x0 < 1.5) continue;
    out += `<path class="kept" d="M${px(x0)} ${y}H${px(x1 - 1)}M${px(x0)} ${y - 3}v6"/>`;
    const from = Math.max(x0, ...taken.filter(([a, b]) => a < x1 && b > x0).map(([, b]) => b));
    const text = [`keeps ${label} in s${slot}`, `${label}@s${slot}`, `${label}`].find((text) => text.length * 5.6 + 10 <= x1 - from);
    if (text) out += `<text class="keeps" x="${px(from + 5)}" y="${y + 3.4}">${text}</text>`;
  }
  return out;
}

function drawEnd(f, req, y) {
  const { life } = f.run;
  if (req >= life.n || life.finished[req] < state.a || life.finished[req] > state.b || life.finished[req] < 0) return "";
  const x = f.xt(life.finished[req]);
  const word = WORDS.finishes[life.finish[req]] ?? "";
  const room = f.right - x > 50;
  return `<path class="end" d="M${px(x)} ${y - 2}v${CELL.height + 4}M${px(x + 3)} ${y - 2}v${CELL.height + 4}"/>` +
    (room ? `<text class="ended" x="${px(x + 8)}" y="${y - 4}">${word}</text>` : "");
}

const wrongDonation = (run, d) => !run.donation.right[d];

function drawDonations(f, of, top) {
  const { run } = f;
  const { donation, span } = run;
  let out = "";
  let last = -Infinity;
  const words = [];
  const y = top + ROW - 12;
  const near = run.turn.n <= 60 || state.b - state.a <= ((run.end - run.begin) * 40) / run.turn.n;
  for (const d of of.donations) {
    const t = span.t1[donation.span[d]];
    if (!(t >= state.a && t <= state.b)) continue;
    const x = f.xt(t);
    const wrong = wrongDonation(run, d);
    if (x - last < 5 && !wrong) continue;
    out += `<path class="donation${wrong ? " bad" : ""}" data-d="${d}" d="M${px(x - 4)} ${y}h8l-4 7z"/>`;
    const text = `${donation.label[d]}@s${donation.slot[d]} cached`;
    const end = x + 11 + text.length * 6;
    if (near && end < f.right && f.right - f.left > 300 && !words.some(([, b]) => b > x)) {
      out += `<text class="gives${wrong ? " bad" : ""}" x="${px(x + 7)}" y="${y + 7}">${text}</text>`;
      words.push([x, end]);
    }
    last = x;
  }
  return { out, words };
}

// Thin lines at the beginnings of turns, if they are far enough apart.
function turnLines(f, height) {
  const d = tickTurns(f, 24).map(([, x]) => `M${px(x)} 0v${height}`).join("");
  return `<path class="grid" d="${d}"/>`;
}
