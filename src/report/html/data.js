// The data of the page: the columns that columns.rs writes, and the indices over them. A run is read when it is first shown.

const PAGE = JSON.parse($("page").textContent);
const WORDS = PAGE.words;
const NAMES = PAGE.names;
const nameOf = (req) => (req < 0 ? "no request" : NAMES[req] ?? `r${req}`);

function each(column, n, Kind = Float64Array) {
  if (Array.isArray(column)) return Kind.from(column);
  if (typeof column === "number") return new Kind(n).fill(column);
  const all = new Kind(n);
  for (let i = 0, at = 0; i < column.runs.length; i += 2) all.fill(column.runs[i], at, (at += column.runs[i + 1]));
  return all;
}

function summed(column, n, Kind = Float64Array) {
  const all = each(column, n, Kind);
  for (let i = 1; i < n; i++) all[i] += all[i - 1];
  return all;
}

const loaded = new Map();

function runOf(index) {
  if (!loaded.has(index)) loaded.set(index, read(index));
  return loaded.get(index);
}

function read(index) {
  const head = PAGE.runs[index];
  const raw = JSON.parse($(`run-${head.report.rule}`).textContent);
  const I = Int32Array;
  const of = (table, names, Kind = I) =>
    Object.fromEntries([["n", table.n], ...names.map((name) => [name, each(table[name], table.n, Kind)])]);
  const run = { index, head, report: head.report, kl: head.kl, end: Math.max(raw.end, 1), places: raw.places };

  run.turn = { ...of(raw.turns, ["rows", "used", "cached", "waiting"]) };
  run.turn.turn = summed(raw.turns.d_turn, raw.turns.n, I);
  run.turn.at = summed(raw.turns.d_at, raw.turns.n);
  run.begin = run.turn.n ? run.turn.at[0] : 0;

  const span = (run.span = of(raw.spans, ["lane", "work", "batch"]));
  span.turn = summed(raw.spans.d_turn, span.n, I);
  span.t0 = summed(raw.spans.d_start, span.n);
  span.t1 = each(raw.spans.dur, span.n);
  for (let i = 0; i < span.n; i++) {
    span.t1[i] += span.t0[i];
    run.begin = Math.min(run.begin, span.t0[i]);
    run.end = Math.max(run.end, span.t1[i]);
  }
  run.works = new Set(span.work);
  run.lanes = [0, 1, 2].map((lane) => indicesBy(span.n, (i) => span.lane[i] === lane, (i) => span.t0[i]));

  const group = (run.group = of(raw.groups, ["batch", "rows", "prepare", "forward", "result"]));
  group.first = new I(group.n);
  run.groupsOf = new Map();
  run.resultOf = new Map();
  run.spansOf = new Map();
  const step = (run.step = of(raw.steps, ["req", "mode", "k", "adds", "prepared", "result", "lookahead", "check", "outputs", "skipped"]));
  // L; NaN where there is none.
  step.lookahead = Float64Array.from(step.lookahead, (l) => (l === 0 ? NaN : l > 0 ? l - 1 : l));
  step.group = new I(step.n);
  for (let g = 0, at = 0; g < group.n; g++) {
    group.first[g] = at;
    push(run.groupsOf, group.batch[g], g);
    if (group.result[g] >= 0) run.resultOf.set(group.batch[g], group.result[g]);
    for (const end = at + group.rows[g]; at < end; at++) step.group[at] = g;
  }
  for (let i = 0; i < span.n; i++) {
    if (span.batch[i] < 0) continue;
    push(run.spansOf, span.batch[i], i);
    if (span.work[i] === WORK.result && !run.resultOf.has(span.batch[i])) run.resultOf.set(span.batch[i], i);
  }

  const mark = (run.mark = of(raw.marks, ["due_slot", "due_len", "fired", "label", "slot", "class"]));
  mark.step = summed(raw.marks.d_step, mark.n, I);
  step.mark = new I(step.n).fill(-1);
  for (let m = 0; m < mark.n; m++) step.mark[mark.step[m]] = m;

  run.stepSpan = (i) => (group.forward[step.group[i]] >= 0 ? group.forward[step.group[i]] : group.prepare[step.group[i]]);
  run.resultSpan = (i) => group.result[step.group[i]];
  const t0 = (i) => (run.stepSpan(i) >= 0 ? span.t0[run.stepSpan(i)] : 0);
  run.boundaries = indicesBy(mark.n, (m) => isBoundary(run, m), (m) => t0(mark.step[m]));

  const life = (run.life = of(raw.lives, ["arrived", "seen", "prompt", "hit", "outputs", "finish", "finished", "retracted"], Float64Array));
  const donation = (run.donation = of(raw.donations, ["req", "label", "key", "slot", "span", "finished", "existed", "right"]));
  const reqs = Math.max(life.n, NAMES.length);
  run.reqs = Array.from({ length: reqs }, (_, req) => ({ req, steps: [], donations: [], kept: [], from: Infinity, to: -Infinity }));
  for (let i = 0; i < step.n; i++) {
    const at = run.reqs[step.req[i]];
    const s = run.stepSpan(i);
    if (!at || s < 0) continue;
    at.steps.push(i);
    at.from = Math.min(at.from, span.t0[s]);
    at.to = Math.max(at.to, span.t1[s], run.resultSpan(i) >= 0 ? span.t1[run.resultSpan(i)] : 0);
  }
  for (let d = 0; d < donation.n; d++) run.reqs[donation.req[d]]?.donations.push(d);
  for (const at of run.reqs) {
    at.steps.sort((a, b) => t0(a) - t0(b) || a - b);
    if (at.req < life.n && life.arrived[at.req] >= 0) {
      at.from = Math.min(at.from, life.arrived[at.req]);
      at.to = Math.max(at.to, life.arrived[at.req], life.finished[at.req]);
    }
    at.kept = kept(run, at);
  }
  run.rows = run.reqs.filter((at) => at.from <= at.to && at.from <= run.end && at.to >= run.begin).map((at) => at.req);

  const seg = (run.seg = of(raw.segments, ["slot", "owner", "owner_req", "owner_idx", "holds", "writer", "label", "fit"]));
  seg.turn = summed(raw.segments.d_turn, seg.n, I);
  seg.t0 = summed(raw.segments.d_start, seg.n);
  seg.t1 = each(raw.segments.dur, seg.n);
  seg.lands = each(raw.segments.lands, seg.n);
  run.slots = new Map();
  run.holdsMost = 1;
  for (let i = 0; i < seg.n; i++) {
    seg.t1[i] += seg.t0[i];
    if (seg.lands[i] >= 0) seg.lands[i] += seg.t0[i];
    run.holdsMost = Math.max(run.holdsMost, seg.holds[i]);
    push(run.slots, seg.slot[i], i);
  }
  run.slotIds = [...run.slots.keys()].sort((a, b) => a - b);
  for (const list of run.slots.values()) list.sort((a, b) => seg.t0[a] - seg.t0[b] || a - b);
  // What differs only until the forward that writes it is launched, within one turn, is no exposure: nothing can donate in between.
  seg.bad = new Uint8Array(seg.n);
  for (const ids of run.slots.values()) {
    ids.forEach((i, at) => {
      const next = ids[at + 1];
      const passing = next !== undefined && seg.fit[next] === FIT.right && seg.label[next] === seg.label[i] && seg.turn[next] === seg.turn[i];
      seg.bad[i] = seg.fit[i] === FIT.wrong || (seg.fit[i] === FIT.exposed && !passing);
    });
  }
  // A slot that is free all the time has nothing to show.
  run.slotIds = run.slotIds.filter((slot) => run.slots.get(slot).some((i) => seg.owner[i] > 0));

  const arrow = (run.arrow = of(raw.arrows, ["field", "rows", "newer", "changed"]));
  arrow.to = summed(raw.arrows.d_to, arrow.n, I);
  arrow.req = summed(raw.arrows.d_req, arrow.n, I);
  arrow.from = each(raw.arrows.back, arrow.n, I).map((back, i) => (back < 0 ? -1 : arrow.to[i] - back));
  run.arrows = indicesBy(arrow.n, () => true, (i) => span.t0[arrow.to[i]] ?? 0);
  run.byField = WORDS.fields.map(() => ({ reads: 0, newer: 0, changed: 0 }));
  for (let i = 0; i < arrow.n; i++) {
    const sum = run.byField[arrow.field[i]];
    sum.reads += arrow.rows[i];
    sum.newer += arrow.newer[i];
    sum.changed += arrow.changed[i];
  }
  return run;
}

// Whether a step is a boundary: a checkpoint was due, or the rule fired or had to.
function isBoundary(run, m) {
  const { mark } = run;
  return mark.due_slot[m] >= 0 || mark.fired[m] > 0 || mark.class[m] > 0;
}

function push(map, key, value) {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

function indicesBy(n, wanted, key) {
  const all = [];
  for (let i = 0; i < n; i++) if (wanted(i)) all.push(i);
  for (let i = 1; i < all.length; i++) {
    if (key(all[i - 1]) > key(all[i])) return all.sort((a, b) => key(a) - key(b) || a - b);
  }
  return all;
}

// The labels of a request over time, from decisions, tracked prefills and donations.
function kept(run, { req, steps, donations }) {
  const { span, step, mark, group, donation, life } = run;
  const events = [];
  for (const i of steps) {
    const m = step.mark[i];
    if (m < 0) continue;
    if (mark.fired[m] && run.resultSpan(i) >= 0) {
      events.push([span.t1[run.resultSpan(i)], mark.label[m], mark.slot[m]]);
    } else if (step.mode[i] === MODE.extend && mark.due_slot[m] >= 0 && group.prepare[step.group[i]] >= 0) {
      events.push([span.t1[group.prepare[step.group[i]]], mark.due_len[m], mark.due_slot[m]]);
    }
  }
  for (const d of donations) events.push([span.t1[donation.span[d]] ?? run.end, -1, -1]);
  events.sort((a, b) => a[0] - b[0]);
  const end = req < life.n && life.finished[req] >= 0 ? life.finished[req] : run.end;
  const all = [];
  events.forEach(([t0, label, slot], at) => {
    const t1 = at + 1 < events.length ? events[at + 1][0] : end;
    if (label >= 0 && t1 > t0) all.push({ t0, t1, label, slot });
  });
  return all;
}
