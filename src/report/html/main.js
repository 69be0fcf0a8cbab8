// Starts the page: run, theme, buttons, sizes, and all listeners.

function showRun(index) {
  const before = state.run;
  const run = runOf(index);
  state.run = run;
  state.hover = null;
  state.pin = null;
  state.finding = -1;
  if (!before) {
    state.even = run.turn.n <= 60;
    state.live = run.rows.length > 24 || run.slotIds.length > 60;
    [state.a, state.b] = [run.begin, run.end];
  } else {
    // Zoom and position stay; the view of a whole run stays a view of the whole run.
    const all = state.a <= before.begin && state.b >= before.end;
    if (all) [state.a, state.b] = [run.begin, run.end];
    else {
      state.a = clamp(state.a, run.begin, run.end - 1);
      state.b = clamp(state.b, state.a + 1, run.end);
    }
    announce(`${run.report.rule}: ${run.report.verdict}`);
  }
  for (const radio of document.querySelectorAll("#rules input")) radio.checked = +radio.value === index;
  $("map").dataset.key = "";
  drawHead();
  drawFields();
  drawPanel();
  drawPlots();
  syncTools();
  frame();
}

function syncTools() {
  $("even").setAttribute("aria-pressed", state.even);
  $("live").checked = state.live;
  $("reads").value = state.reads;
  const any = state.run.report.findings.length > 0;
  $("next").disabled = $("prev").disabled = !any;
}

function setEven(even) {
  const { a, b } = state;
  state.even = even;
  syncTools();
  showTime(a, b);
}

function drawFields() {
  const { run } = state;
  $("fields").innerHTML = WORDS.fields.map((field, i) => {
    const of = run.byField[i];
    const told = of.reads ? `${number(of.newer)} newer${of.changed ? `, ${number(of.changed)} changed` : ""} of ${number(of.reads)}` : "never read";
    return `<label><input type="checkbox" value="${i}"${state.fields.has(i) ? " checked" : ""}> <span>${field}</span> <span class="soft">${told}</span></label>`;
  }).join("");
}

// The theme of the system, until the user chooses one. Print is light.
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const onPaper = matchMedia("print");

function setTheme() {
  const dark = !onPaper.matches && !state.printing && (state.theme ? state.theme === "dark" : prefersDark.matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

function toggleTheme() {
  state.theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  setTheme();
  announce(`${state.theme} colours`);
}

function resize() {
  const width = Math.max(280, $("chart").clientWidth);
  state.width = state.printing ? 1040 : width;
  state.gutter = state.width < 560 ? 62 : 138;
  const high = innerHeight;
  boxes.requests.most = Math.max(ROW * 4 + 4, Math.min(ROW * 14 + 4, high * 0.46));
  boxes.slots.most = Math.max(SLOT * 5 + 4, Math.min(SLOT * 18 + 4, high * 0.36));
  if (state.run && PLOT.width !== plotWidth()) drawPlots();
  frame();
}

function onClick(event) {
  const menu = document.querySelector(".menu[open]");
  if (menu && !menu.contains(event.target)) menu.open = false;
  const at = event.target.closest("button");
  if (!at) return;
  const { run } = state;
  if (at.dataset.copy !== undefined) copyText(at.dataset.copy, at);
  else if (at.dataset.finding !== undefined) {
    goFinding(+at.dataset.finding);
    if (at.closest("#findings")) $("chart").scrollIntoView({ block: "nearest" });
  } else if (at.dataset.kind) pinItem(item(run, at.dataset.kind, +at.dataset.i), true);
  else if (at.dataset.do) DO[at.dataset.do]();
}

const DO = {
  in: () => zoom(1.6), out: () => zoom(1 / 1.6), fit: showAll, even: () => setEven(!state.even),
  next: () => KEYS.n(), prev: () => KEYS.p(), theme: toggleTheme, help: () => help(), unpin,
};

function onChange(event) {
  const at = event.target;
  if (at.name === "rule") showRun(+at.value);
  else if (at.id === "reads") {
    state.reads = at.value;
    frame();
  } else if (at.id === "live") {
    state.live = at.checked;
    frame();
  } else if (at.closest("#fields")) {
    if (at.checked) state.fields.add(+at.value);
    else state.fields.delete(+at.value);
    frame();
  }
}

function print(on) {
  state.printing = on;
  setTheme();
  resize();
  drawNow();
}

function start() {
  setTheme();
  prefersDark.addEventListener("change", setTheme);
  onPaper.addEventListener("change", () => print(onPaper.matches));
  makeBox("requests");
  makeBox("slots");
  $("source").textContent = PAGE.source;
  drawRules();
  drawers.push(drawMap, drawAxis, drawLanes, drawRequests, drawSlots, drawWindows);
  outlines.push(drawOver);
  resize();
  showRun(PAGE.first);
  drawNow();
  new ResizeObserver(resize).observe($("chart"));
  addEventListener("resize", resize);
  addEventListener("keydown", onKey);
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  document.addEventListener("click", onClick);
  document.addEventListener("change", onChange);
  const chart = $("chart");
  chart.addEventListener("wheel", onWheel, { passive: false });
  chart.addEventListener("pointerdown", onDown);
  addEventListener("pointermove", onMove);
  addEventListener("pointerup", onUp);
  addEventListener("pointercancel", onUp);
  chart.addEventListener("pointerleave", (event) => {
    state.hover = null;
    $("cross").hidden = true;
    drawTip(event);
    frameOutlines();
  });
  chart.addEventListener("dblclick", (event) => {
    const svg = event.target.closest("svg.zooms");
    if (svg) zoom(2.5, event.clientX - svg.getBoundingClientRect().left);
  });
}

start();
