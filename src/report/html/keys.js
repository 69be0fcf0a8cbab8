// Keys, and the moves between findings and boundaries by keys and buttons.

function goFinding(index) {
  const { run } = state;
  const { findings } = run.report;
  if (!findings.length) return announce("there are no findings");
  const i = ((index % findings.length) + findings.length) % findings.length;
  state.finding = i;
  state.pin = null;
  const finding = findings[i];
  const t = findingTimes(run)[i];
  const req = NAMES.indexOf(finding.request);
  if (t !== null) {
    // From where the label comes from, if that is near, to the turn after.
    const at = turnAt(t);
    const story = storyOf(run, finding, i).map((part) => turnAt(part.t));
    const from = Math.min(at - 2, ...story.filter((turn) => turn > at - 8));
    if (run.turn.n > 14) showTurns(from, Math.max(at + 1, ...story.filter((turn) => turn < at + 8)));
    else if (t < state.a || t > state.b) showAll();
    drawNow();
    const f = frameOf();
    showRow(boxes.requests, requestRows(f).indexOf(req), ROW);
    if (finding.slot !== null) showRow(boxes.slots, slotRows(f).indexOf(finding.slot), SLOT);
  }
  for (const button of document.querySelectorAll("#findings .finding")) button.setAttribute("aria-pressed", +button.dataset.finding === i);
  const chosen = document.querySelector(`#findings [data-finding="${i}"]`);
  if (chosen) {
    const list = $("findings");
    list.scrollTop = chosen.offsetTop - list.offsetTop - 8;
  }
  drawPanel();
  announce(`finding ${i + 1} of ${findings.length}: ${finding.kind}, ${findingWords(finding)}: ${finding.reason}${t === null ? "; its turn is not shown" : ""}`);
  frame();
}

// The next boundary after the pinned item, or after the middle of the view.
function goBoundary(by) {
  const { run, pin } = state;
  const all = run.boundaries;
  if (!all.length) return announce("there are no boundaries");
  const m = pin?.kind === "step" ? run.step.mark[pin.i] : -1;
  let at = m >= 0 ? all.indexOf(m) : -1;
  if (at < 0) {
    const middle = pin ? pin.t0 : by > 0 ? state.a : state.b;
    at = lower(all, middle, (of) => run.span.t0[run.stepSpan(run.mark.step[of])]) - (by > 0 ? 1 : 0);
  }
  const next = clamp(at + by, 0, all.length - 1);
  pinItem(item(run, "step", run.mark.step[all[next]]), true);
}

function goAlong(by) {
  const { run, pin } = state;
  if (!pin) return goBoundary(by);
  const track = trackOf(run, pin);
  const at = track.findIndex(([, i]) => i === pin.i);
  const [kind, i] = track[clamp(at + by, 0, track.length - 1)];
  pinItem(item(run, kind, i), true);
}

// Pins an item; scrolls it into view if `into` is set.
function pinItem(it, into) {
  state.pin = it;
  if (it && into) {
    const f = frameOf();
    const [x0, x1] = [f.xt(it.t0), f.xt(it.t1)];
    if (x1 < f.left + 20 || x0 > f.right - 20) {
      const middle = (f.scale.to(it.t0) + f.scale.to(it.t1)) / 2;
      const half = (f.ub - f.ua) / 2;
      showAxis(middle - half, middle + half);
    }
    drawNow();
    const g = frameOf();
    if (it.req >= 0 && it.kind !== "read") showRow(boxes.requests, requestRows(g).indexOf(it.req), ROW);
    if (it.kind === "seg") showRow(boxes.slots, slotRows(g).indexOf(it.slot), SLOT);
  }
  drawPanel();
  if (it) {
    const facts = factsOf(state.run, it);
    announce(`${facts.title}, ${facts.where}. ${facts.rows.map(([name, value]) => `${name}: ${value}`).join("; ")}`);
  }
  frame();
}

function unpin() {
  state.pin = null;
  state.finding = -1;
  for (const button of document.querySelectorAll("#findings .finding")) button.setAttribute("aria-pressed", false);
  drawPanel();
  frame();
}

const announce = (text) => ($("say").textContent = text);

function help(open) {
  const dialog = $("help");
  if (open ?? !dialog.open) dialog.showModal();
  else dialog.close();
}

const scrollRows = (by) => {
  const box = boxes.requests.total > boxes.requests.shown ? boxes.requests : boxes.slots;
  if (box.total > box.shown) box.outer.scrollTop += by;
  else scrollBy(0, by);
};

const KEYS = {
  ArrowLeft: () => pan(-0.2), h: () => pan(-0.2),
  ArrowRight: () => pan(0.2), l: () => pan(0.2),
  ArrowUp: () => scrollRows(-ROW), k: () => scrollRows(-ROW),
  ArrowDown: () => scrollRows(ROW), j: () => scrollRows(ROW),
  "+": () => zoom(1.6), "=": () => zoom(1.6), "-": () => zoom(1 / 1.6), _: () => zoom(1 / 1.6),
  0: showAll,
  n: () => goFinding(state.finding + 1), p: () => goFinding(state.finding < 0 ? -1 : state.finding - 1),
  b: () => goBoundary(1), B: () => goBoundary(-1),
  "]": () => goAlong(1), "[": () => goAlong(-1),
  r: () => showRun((state.run.index + 1) % PAGE.runs.length),
  R: () => showRun((state.run.index + PAGE.runs.length - 1) % PAGE.runs.length),
  e: () => setEven(!state.even),
  d: () => toggleTheme(),
  "?": () => help(),
  Escape: unpin,
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  const at = event.target;
  const writes = at.matches?.("select, textarea, input:not([type=radio]):not([type=checkbox])");
  const arrows = event.key.startsWith("Arrow") && (at.matches?.("input[type=radio]") || at.closest?.(".rows"));
  if (writes || (arrows && !at.closest?.("#chart")) || at.matches?.("input[type=radio]") && event.key.startsWith("Arrow")) return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}
