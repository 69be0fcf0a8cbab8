// Items under the pointer: hover, pin and their outlines. An item is a span, a step, a segment, a read or a donation.

// An item: { kind: "span" | "step" | "seg" | "read" | "donation", i, req, batch, slot, t0, t1 }
function item(run, kind, i) {
  const { span, step, group, seg, arrow, donation } = run;
  switch (kind) {
    case "span": return { kind, i, batch: span.batch[i], t0: span.t0[i], t1: span.t1[i] };
    case "step": {
      const s = run.stepSpan(i);
      return { kind, i, req: step.req[i], batch: group.batch[step.group[i]], t0: span.t0[s], t1: span.t1[s] };
    }
    case "seg": return { kind, i, slot: seg.slot[i], t0: seg.t0[i], t1: seg.t1[i] };
    case "read": return { kind, i, batch: span.batch[arrow.to[i]], t0: span.t0[Math.max(arrow.from[i], 0)], t1: span.t1[arrow.to[i]] };
    case "donation": return { kind, i, req: donation.req[i], slot: donation.slot[i], t0: span.t0[donation.span[i]], t1: span.t1[donation.span[i]] };
    default: return null;
  }
}

const same = (a, b) => a === b || (a && b && a.kind === b.kind && a.i === b.i);

function pick(event) {
  const svg = event.target.closest?.("svg.pickable");
  if (!svg || !state.run) return null;
  const { run } = state;
  const at = event.target.closest("[data-a], [data-d]");
  if (at?.dataset.a) return item(run, "read", +at.dataset.a);
  if (at?.dataset.d) return item(run, "donation", +at.dataset.d);
  const box = svg.getBoundingClientRect();
  const f = frameOf();
  const x = ((event.clientX - box.left) * state.width) / box.width;
  const y = event.clientY - box.top;
  if (svg.id === "lanes") return pickLane(f, x, y);
  if (svg.id === "requests") {
    const rows = requestRows(f);
    const row = rows[Math.floor((y + boxes.requests.scroll) / ROW)];
    return row === undefined || x < f.left ? null : pickStep(f, row, x);
  }
  if (svg.id === "slots") {
    const slot = slotRows(f)[Math.floor((y + boxes.slots.scroll) / SLOT)];
    if (slot === undefined || x < f.left) return null;
    const ids = run.slots.get(slot);
    const i = nearest(ids, f, x, f.scale.seg0, f.scale.seg1, (i) => i);
    return i === undefined ? null : item(run, "seg", i);
  }
  return null;
}

function pickLane(f, x, y) {
  if (x < f.left) return null;
  for (const lane of [0, 1, 2]) {
    const [top, h] = laneBox(lane);
    if (y < top - 2 || y > top + h + 2) continue;
    const i = nearest(f.run.lanes[lane], f, x, f.scale.span0, f.scale.span1, (i) => i);
    return i === undefined ? null : item(f.run, "span", i);
  }
  return null;
}

function pickStep(f, req, x) {
  const { run } = f;
  const i = nearest(run.reqs[req].steps, f, x, f.scale.span0, f.scale.span1, run.stepSpan);
  return i === undefined ? null : item(run, "step", i);
}

// The item at x, or the nearest within a few pixels.
function nearest(ids, f, x, starts, ends, of) {
  const u = f.ua + (x - f.left) / f.per;
  const slack = 4 / f.per;
  const at = lower(ids, u, (i) => ends[of(i)]);
  let best;
  let least = slack;
  for (const n of [at - 1, at, at + 1]) {
    if (n < 0 || n >= ids.length) continue;
    const s = of(ids[n]);
    const away = Math.max(starts[s] - u, u - ends[s], 0);
    if (away < least || (away === 0 && best === undefined)) [best, least] = [ids[n], away];
  }
  return best;
}

// The items of the same lane, in order.
function trackOf(run, it) {
  switch (it.kind) {
    case "span": return run.lanes[run.span.lane[it.i]].map((i) => ["span", i]);
    case "step": return run.reqs[it.req].steps.map((i) => ["step", i]);
    case "seg": return run.slots.get(it.slot).map((i) => ["seg", i]);
    case "donation": return run.reqs[it.req].donations.map((i) => ["donation", i]);
    case "read": return run.arrows.filter((i) => readShown(run, i)).map((i) => ["read", i]);
    default: return [];
  }
}

function drawOver(f) {
  const { run } = f;
  const over = { lanes: "", requests: "", slots: "" };
  const around = (it, name) => {
    if (!it) return;
    const x = (t) => clamp(f.xt(t), f.left, f.right);
    // All spans of the batch.
    if (it.batch >= 0) {
      for (const s of run.spansOf.get(it.batch) ?? []) {
        if (run.span.t1[s] < state.a || run.span.t0[s] > state.b) continue;
        const [y, h] = laneBox(run.span.lane[s]);
        over.lanes += frameRect(name, x(run.span.t0[s]), x(run.span.t1[s]), y, h);
      }
      const forward = (run.spansOf.get(it.batch) ?? []).find((s) => run.span.lane[s] === 1);
      if (forward !== undefined && run.span.t1[forward] >= state.a && run.span.t0[forward] <= state.b) {
        const [x0, x1] = [x(run.span.t0[forward]), x(run.span.t1[forward])];
        over.requests += `<rect class="column ${name}" x="${px(x0)}" y="0" width="${px(Math.max(x1 - x0, 1))}" height="${boxes.requests.shown}"/>`;
      }
    }
    if (it.kind === "step" || it.kind === "donation") {
      const row = requestRows(f).indexOf(it.req);
      const y = row * ROW - boxes.requests.scroll;
      if (row >= 0 && it.t1 >= state.a && it.t0 <= state.b && it.kind === "step") over.requests += frameRect(name, x(it.t0), x(it.t1), y + CELL.top, CELL.height);
    }
    if (it.kind === "seg" && it.t1 >= state.a && it.t0 <= state.b) {
      const row = slotRows(f).indexOf(it.slot);
      if (row >= 0) over.slots += frameRect(name, x(it.t0), x(it.t1), row * SLOT - boxes.slots.scroll + 3, SLOT - 6);
    }
    if (it.kind === "read") {
      const path = document.querySelector(`#lanes .read[data-a="${it.i}"]`);
      if (path) over.lanes += `<path class="read-on" d="${path.getAttribute("d")}"/>`;
    }
    const slots = it.kind === "step" ? slotsOfStep(run, it.i) : it.kind === "donation" ? [it.slot] : [];
    for (const slot of slots) {
      const row = slotRows(f).indexOf(slot);
      if (row >= 0) over.slots += `<rect class="row-on" x="0" y="${row * SLOT - boxes.slots.scroll}" width="${f.right + GAP}" height="${SLOT}"/>`;
    }
  };
  around(state.pin, "pinned");
  if (!same(state.hover, state.pin)) around(state.hover, "hover");
  for (const name of Object.keys(over)) $(name).querySelector(".over").innerHTML = over[name] + findingLine(f, name);
}

function slotsOfStep(run, i) {
  const m = run.step.mark[i];
  if (m < 0) return [];
  return [...new Set([run.mark.due_slot[m], run.mark.slot[m]])].filter((slot) => slot >= 0);
}

function frameRect(name, x0, x1, y, h) {
  return `<rect class="frame ${name}" x="${px(x0 - 1)}" y="${px(y - 1)}" width="${px(Math.max(x1 - x0 + 1.3, 2.5))}" height="${h + 2}" rx="3"/>`;
}

// The line of the selected finding, through all rows.
function findingLine(f, name) {
  if (state.finding < 0) return "";
  const t = findingTimes(f.run)[state.finding];
  if (t === null || t < state.a || t > state.b) return "";
  const height = name === "lanes" ? lanesHeight(f.run) : boxes[name].shown;
  return `<path class="found" d="M${px(f.xt(t))} 0v${height}"/>`;
}
