// Wheel, mouse and touch: zoom at the pointer, pan, pick.

function onWheel(event) {
  const svg = event.target.closest("svg.zooms");
  if (!svg || event.ctrlKey) return;
  const x = (event.clientX - svg.getBoundingClientRect().left);
  // Left of the chart the wheel scrolls the page; with Shift it scrolls rows.
  if (x < state.gutter || event.shiftKey) return;
  event.preventDefault();
  const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    pan((event.deltaX * unit) / (state.width - state.gutter));
    return;
  }
  zoom(Math.exp(-clamp(event.deltaY * unit, -300, 300) / 400), x);
}

const pointers = new Map();

function onDown(event) {
  const svg = event.target.closest("svg.zooms");
  if (!svg || event.button > 0) return;
  pointers.set(event.pointerId, [event.clientX, event.clientY]);
  state.press = { x: event.clientX, y: event.clientY, svg, moved: false, pinch: spread() };
}

function spread() {
  const [a, b] = [...pointers.values()];
  return b ? Math.hypot(a[0] - b[0], a[1] - b[1]) : 0;
}

function onMove(event) {
  const { press } = state;
  if (press && pointers.has(event.pointerId)) {
    const [x, y] = pointers.get(event.pointerId);
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (pointers.size === 2) {
      const now = spread();
      const [a, b] = [...pointers.values()];
      if (press.pinch > 0 && now > 0) zoom(now / press.pinch, (a[0] + b[0]) / 2 - press.svg.getBoundingClientRect().left);
      press.pinch = now;
      press.moved = true;
      return;
    }
    if (!press.moved && Math.hypot(event.clientX - press.x, event.clientY - press.y) > 4) {
      press.moved = true;
      press.svg.setPointerCapture?.(event.pointerId);
      state.dragging = true;
      document.body.classList.add("dragging");
    }
    if (press.moved) {
      const room = state.width - state.gutter - GAP;
      if (press.svg.id === "map") {
        const size = frameOf().ub - frameOf().ua;
        const to = (event.clientX - press.svg.getBoundingClientRect().left - state.gutter) / room;
        showAxis(to - size / 2, to + size / 2);
      } else {
        pan(-(event.clientX - x) / room);
        const rows = press.svg.closest(".rows");
        if (rows && event.pointerType === "mouse") rows.scrollTop -= event.clientY - y;
      }
      state.hover = null;
      drawTip(event);
      return;
    }
  }
  if (event.pointerType === "touch") return;
  const it = pick(event);
  const cross = $("cross");
  const chart = $("chart").getBoundingClientRect();
  const x = event.clientX - chart.left;
  const inside = event.target.closest("svg.zooms") && x >= state.gutter && x <= state.width - GAP;
  cross.hidden = !inside;
  if (inside) {
    cross.style.transform = `translateX(${x}px)`;
    const f = frameOf();
    const t = f.back(x);
    cross.dataset.at = time(clamp(t, state.run.begin, state.run.end), Math.max(1, (state.b - state.a) / 1000));
  }
  if (!same(it, state.hover)) {
    state.hover = it;
    frameOutlines();
  }
  drawTip(event);
}

function onUp(event) {
  const { press } = state;
  pointers.delete(event.pointerId);
  if (!press) return;
  if (pointers.size) return;
  state.press = null;
  state.dragging = false;
  document.body.classList.remove("dragging");
  if (press.moved || event.type === "pointercancel") return;
  const flag = event.target.closest("[data-f]");
  if (flag) return goFinding(+flag.dataset.f);
  if (press.svg.id === "map") {
    const f = frameOf();
    const to = (event.clientX - press.svg.getBoundingClientRect().left - state.gutter) / (f.right - f.left);
    showAxis(to - (f.ub - f.ua) / 2, to + (f.ub - f.ua) / 2);
    return;
  }
  const it = pick(event);
  if (it) pinItem(same(it, state.pin) ? null : it, false);
  else unpin();
}
