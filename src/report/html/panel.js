// Facts in words: the tooltip under the pointer, and the panel of the pinned item.

// The facts of an item: title, meaning, rows of name and value, links to other items.
function factsOf(run, it) {
  switch (it.kind) {
    case "span": return spanFacts(run, it.i);
    case "step": return stepFacts(run, it.i);
    case "seg": return segFacts(run, it.i);
    case "read": return readFacts(run, it.i);
    case "donation": return donationFacts(run, it.i);
    default: return { title: "", rows: [] };
  }
}

const link = (kind, i, word) => ({ kind, i, word });
const tokens = (n) => counted(n, "token");

function spanWord(run, s) {
  const { span } = run;
  return `${WORDS.works[span.work[s]]}${span.batch[s] >= 0 ? ` b${span.batch[s]}` : ""}, turn ${span.turn[s]}`;
}

function spanFacts(run, i) {
  const { span, group, step } = run;
  const rows = [
    ["begins", time(span.t0[i])],
    ["ends", time(span.t1[i])],
    ["takes", time(span.t1[i] - span.t0[i])],
    ["turn", `${span.turn[i]}`],
  ];
  const links = [];
  const groups = run.groupsOf.get(span.batch[i]) ?? [];
  let said = 0;
  let more = 0;
  for (const g of groups) {
    for (let r = group.first[g]; r < group.first[g] + group.rows[g]; r++) {
      if (said < 24) links.push(link("step", r, `${nameOf(step.req[r])}: ${stepWords(run, r)}${markWord(run, r)}`));
      else more += 1;
      said += 1;
    }
  }
  if (said) rows.push(["rows", `${said}`]);
  if (span.lane[i] === 1 && run.resultOf.has(span.batch[i])) {
    const to = run.resultOf.get(span.batch[i]);
    links.unshift(link("span", to, `its result: turn ${span.turn[to]}`));
  }
  if (span.lane[i] === 0 && WORDS.works[span.work[i]] === "result") {
    const reads = [];
    for (let at = lower(run.arrows, span.t0[i], (a) => span.t0[run.arrow.to[a]]); run.arrow.to[run.arrows[at]] === i; at++) {
      if (run.arrow.newer[run.arrows[at]] > 0) reads.push(run.arrows[at]);
    }
    for (const a of reads.slice(0, 8)) {
      links.push(link("read", a, `read ${WORDS.fields[run.arrow.field[a]]} newer than at prepare${run.arrow.changed[a] ? ": changed the decision" : ""}`));
    }
  }
  const means = {
    wait: "The CPU waits until the result of this batch is on the host.",
    ingest: "The scheduler takes in arrivals and aborts.",
    plan: "The next batch is planned: filter, merge, admission, retraction.",
    prepare: "The batch gets slots, pages, lengths and masks; shared fields of its requests advance.",
    launch: "The forward is queued on the GPU stream.",
    result: "The result is processed: tokens are appended, the rule decides, requests that ended are released.",
  }[WORDS.works[span.work[i]]];
  const where = ["CPU", "forward stream", "copy stream"][span.lane[i]];
  const batch = span.batch[i] >= 0 ? ` b${span.batch[i]}` : "";
  return { title: `${WORDS.works[span.work[i]]}${batch}`, where, means, rows, links, more };
}

function markWord(run, i) {
  const m = run.step.mark[i];
  if (m < 0 || !isBoundary(run, m)) return "";
  const cls = run.mark.class[m];
  return cls >= 0 ? `, ${WORDS.classes[cls]}` : run.mark.due_slot[m] >= 0 ? `, writes s${run.mark.due_slot[m]}` : "";
}

function stepFacts(run, i) {
  const { span, step, group, mark } = run;
  const g = step.group[i];
  const m = step.mark[i];
  const [prepare, forward, result] = [group.prepare[g], group.forward[g], group.result[g]];
  const committed = step.k[i] + step.prepared[i];
  const rows = [["length", `${step.k[i] - step.adds[i]} → ${tokens(step.k[i])}`], ["mode", WORDS.modes[step.mode[i]]]];
  const cls = m >= 0 ? mark.class[m] : -1;
  const boundary = m >= 0 && isBoundary(run, m);
  if (boundary) {
    if (cls >= 0) rows.push(["class", WORDS.classes[cls], BAD.has(cls) ? "bad" : ""]);
    rows.push(["checkpoint due", dueWords(run, m)]);
    rows.push(["the rule fired", firedWords(run, m)]);
  }
  if (!Number.isNaN(step.lookahead[i])) rows.push(["lookahead L", `${step.lookahead[i]}`]);
  rows.push(["committed at prepare", tokens(committed)]);
  if (step.result[i]) rows.push(["committed at result", tokens(committed + step.result[i] - 1)]);
  const check = WORDS.checks[step.check[i]];
  if (check) rows.push(["boundary found by", check]);
  if (step.outputs[i] >= 0) rows.push(["outputs after", `${step.outputs[i]}`]);
  if (step.skipped[i]) rows.push(["result", `skipped: ${WORDS.passed[step.skipped[i]]}`]);
  if (result < 0) rows.push(["result", "not processed"]);
  if (forward >= 0) rows.push(["forward", `${time(span.t0[forward])} – ${time(span.t1[forward])}`]);
  const links = [];
  if (prepare >= 0) links.push(link("span", prepare, `prepared in turn ${span.turn[prepare]}`));
  if (forward >= 0) links.push(link("span", forward, `forward, ${time(span.t1[forward] - span.t0[forward])}`));
  if (result >= 0) links.push(link("span", result, `result in turn ${span.turn[result]}`));
  for (const slot of slotsOfStep(run, i)) {
    const seg = segAt(run, slot, result >= 0 ? span.t1[result] : span.t1[run.stepSpan(i)]);
    if (seg !== undefined) links.push(link("seg", seg, `slot s${slot} after that`));
  }
  const means = boundary && cls >= 0 ? CLASS_MEANS[WORDS.classes[cls]] : boundary && mark.due_slot[m] >= 0 ? "Its forward writes the state into a track slot." : "";
  return { title: `${nameOf(step.req[i])}, ${stepWords(run, i)}`, where: `${WORDS.modes[step.mode[i]]} in b${group.batch[g]}`, means, rows, links, sign: boundary ? cls : undefined };
}

// The segment of a slot at a moment.
function segAt(run, slot, t) {
  const ids = run.slots.get(slot);
  if (!ids) return undefined;
  const at = lower(ids, t + 0.5, (i) => run.seg.t1[i]);
  return ids[Math.min(at, ids.length - 1)];
}

function segFacts(run, i) {
  const { seg } = run;
  const fit = WORDS.fits[seg.fit[i]];
  const rows = [
    ["owner", ownerWords(run, i)],
    ["holds", seg.holds[i] < 0 ? "nothing written by its owner" : tokens(seg.holds[i])],
    ["written by", seg.writer[i] < 0 ? "no request since" : nameOf(seg.writer[i])],
    ["label", seg.label[i] < 0 ? "none" : tokens(seg.label[i])],
    ["label and content", FIT_MEANS[fit], fit === "wrong" || fit === "exposed" ? "bad" : ""],
    ["from", `${time(seg.t0[i])}, turn ${seg.turn[i]}`],
    ["to", time(seg.t1[i])],
    ["for", time(seg.t1[i] - seg.t0[i])],
  ];
  if (seg.lands[i] >= 0) rows.push(["written at", `${time(seg.lands[i])}, when its forward ends`]);
  return { title: `slot s${seg.slot[i]}`, where: ownerWords(run, i), rows, links: [] };
}

function readFacts(run, i) {
  const { arrow, span } = run;
  const field = WORDS.fields[arrow.field[i]];
  const rows = [
    ["rows", `${arrow.rows[i]}, first ${nameOf(arrow.req[i])}`],
    ["newer than at prepare", `${arrow.newer[i]}`],
    ["changed the decision", `${arrow.changed[i]}`, arrow.changed[i] ? "bad" : ""],
  ];
  const links = [];
  if (arrow.from[i] >= 0) links.push(link("span", arrow.from[i], `written in ${spanWord(run, arrow.from[i])}`));
  links.push(link("span", arrow.to[i], `read in ${spanWord(run, arrow.to[i])}`));
  const means = arrow.changed[i]
    ? "The result read a newer value than its own prepare saw, and with the older one the rule would have decided otherwise."
    : arrow.newer[i] ? "The result read a newer value than its own prepare saw." : "The result read the value that its own prepare saw.";
  return { title: field, where: "read of a shared field", means, rows, links };
}

function donationFacts(run, i) {
  const { donation } = run;
  const wrong = wrongDonation(run, i);
  const rows = [
    ["label", tokens(donation.label[i])],
    ["cached under", tokens(donation.key[i])],
    ["slot", `s${donation.slot[i]}`],
    ["the request", donation.finished[i] ? "had finished" : "goes on"],
    ["the node", donation.existed[i] ? "had a state already: the slot was freed" : "had no state: it takes this one"],
  ];
  if (wrong) rows.push(["content", "differs from the label", "bad"]);
  const seg = segAt(run, donation.slot[i], run.span.t1[donation.span[i]]);
  const links = [link("span", donation.span[i], spanWord(run, donation.span[i]))];
  if (seg !== undefined) links.push(link("seg", seg, `slot s${donation.slot[i]} at that moment`));
  return { title: `${nameOf(donation.req[i])} donates s${donation.slot[i]}`, where: "to the radix tree", rows, links };
}

const signSvg = (cls, r = 5) => `<svg class="sign" viewBox="-9 -8 18 16" aria-hidden="true"><path class="mk c-${classKey(cls)}" d="${sign(cls, 0, 0, r)}"/></svg>`;

function rowsHtml(rows) {
  return `<dl>${rows.map(([name, value, tone]) => `<dt>${html(name)}</dt><dd${tone ? ` class="${tone}"` : ""}>${html(value)}</dd>`).join("")}</dl>`;
}

const replayHtml = (line) => `<div class="replay"><code>${html(line)}</code><button type="button" class="copy" data-copy="${html(line)}">copy</button></div>`;

function drawPanel() {
  const { run, pin, finding } = state;
  const panel = $("panel-body");
  $("unpin").hidden = !pin && finding < 0;
  if (!pin && finding >= 0) {
    panel.innerHTML = findingHtml(run, finding);
    return;
  }
  if (!pin) {
    panel.innerHTML = legendHtml();
    return;
  }
  const facts = factsOf(run, pin);
  const links = (facts.links ?? []).map((to) => `<li><button type="button" class="go" data-kind="${to.kind}" data-i="${to.i}">${html(to.word)}</button></li>`).join("");
  panel.innerHTML = `<p class="kicker">${html(facts.where)}</p><h2>${facts.sign === undefined ? "" : signSvg(facts.sign)}${html(facts.title)}</h2>` +
    (facts.means ? `<p>${html(facts.means)}</p>` : "") + rowsHtml(facts.rows) +
    (links ? `<ul class="links">${links}</ul>` : "") + (facts.more ? `<p class="soft">and ${number(facts.more)} more rows</p>` : "") +
    (finding >= 0 ? `<p><button type="button" class="go" data-finding="${finding}">back to finding ${finding + 1}</button></p>` : "");
}

function drawTip(event) {
  const tip = $("tip");
  const it = state.hover;
  if (!it || state.dragging) {
    tip.hidden = true;
    return;
  }
  const facts = factsOf(state.run, it);
  const few = facts.rows.slice(0, it.kind === "seg" ? 5 : 6);
  const key = `${it.kind}${it.i}`;
  if (tip.dataset.key !== key || tip.hidden) {
    tip.dataset.key = key;
    tip.innerHTML = `<p class="kicker">${html(facts.where)}</p><h2>${facts.sign === undefined ? "" : signSvg(facts.sign)}${html(facts.title)}</h2>${facts.sign !== undefined && facts.means ? `<p>${html(facts.means)}</p>` : ""}${rowsHtml(few)}`;
    tip.hidden = false;
    state.tipSize = [tip.offsetWidth, tip.offsetHeight];
  }
  const [w, h] = state.tipSize;
  const x = event.clientX + 16 + w > innerWidth ? event.clientX - w - 12 : event.clientX + 16;
  const y = event.clientY + 18 + h > innerHeight ? event.clientY - h - 12 : event.clientY + 18;
  tip.style.transform = `translate(${Math.round(clamp(x, 4, Math.max(4, innerWidth - w - 4)))}px, ${Math.round(Math.max(4, y))}px)`;
}
