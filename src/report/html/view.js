// The state of the page: the run, the range in view, its scale, and positions on the screen.

const GAP = 8;
const state = {
  run: null,
  a: 0, // the stretch in view, in ns
  b: 1,
  even: true, // short phases stretched, so that the order can be read
  live: false, // only rows with changes in view
  reads: "newer", // all, newer, none
  fields: new Set(WORDS.fields.map((_, field) => field)),
  hover: null,
  pin: null,
  finding: -1,
  width: 1000,
  gutter: 132,
};

// A scale maps virtual time to the axis, 0 to 1, and back.
function straight(begin, end) {
  const size = Math.max(end - begin, 1);
  return { even: false, to: (t) => (t - begin) / size, back: (u) => begin + u * size };
}

// Stretched scale: each interval between two events gets a width that grows slowly with its length.
function evened(run) {
  const { span } = run;
  const edges = new Float64Array(2 * span.n + 2);
  edges.set(span.t0);
  edges.set(span.t1, span.n);
  edges[2 * span.n] = run.begin;
  edges[2 * span.n + 1] = run.end;
  edges.sort();
  const at = [edges[0]];
  for (const edge of edges) if (edge > at[at.length - 1]) at.push(edge);
  const sum = [0];
  for (let i = 1; i < at.length; i++) sum.push(sum[i - 1] + Math.pow(Math.max(at[i] - at[i - 1], 1000) / 1000, 0.22));
  const whole = sum[sum.length - 1] || 1;
  const find = (list, x) => clamp(lower(list, x), 1, list.length - 1);
  const between = (from, to, x) => {
    if (at.length < 2) return 0;
    const i = find(from, x);
    return to[i - 1] + ((x - from[i - 1]) / (from[i] - from[i - 1])) * (to[i] - to[i - 1]);
  };
  return { even: true, to: (t) => between(at, sum, t) / whole, back: (u) => between(sum, at, u * whole) };
}

// The scale of a run, with the positions of its spans and segments.
function scaleOf(run) {
  const key = state.even ? "evenScale" : "timeScale";
  if (!run[key]) {
    const scale = state.even ? evened(run) : straight(run.begin, run.end);
    const map = (list) => Float64Array.from(list, scale.to);
    scale.span0 = map(run.span.t0);
    scale.span1 = map(run.span.t1);
    scale.seg0 = map(run.seg.t0);
    scale.seg1 = map(run.seg.t1);
    run[key] = scale;
  }
  return run[key];
}

// The frame under construction. Positions depend on it alone.
function frameOf() {
  const { run, a, b, width, gutter } = state;
  const scale = scaleOf(run);
  const [ua, ub] = [scale.to(a), scale.to(b)];
  const left = gutter;
  const right = width - GAP;
  const per = (right - left) / Math.max(ub - ua, 1e-12);
  const x = (u) => left + (u - ua) * per;
  return { run, scale, ua, ub, left, right, per, x, xt: (t) => x(scale.to(t)), back: (at) => scale.back(ua + (at - left) / per) };
}

// Shows a range of the axis, limited to the run.
function showAxis(ua, ub) {
  const scale = scaleOf(state.run);
  const least = leastOf(state.run);
  let size = clamp(ub - ua, least, 1);
  let from = (ua + ub) / 2 - size / 2;
  from = clamp(from, 0, 1 - size);
  state.a = scale.back(from);
  state.b = scale.back(from + size);
  if (from <= 0) state.a = state.run.begin;
  if (from + size >= 1) state.b = state.run.end;
  frame();
}

const leastOf = (run) => clamp(4 / Math.max(run.span.n, 4), 1e-7, 0.5);

function showTime(a, b) {
  const scale = scaleOf(state.run);
  showAxis(scale.to(a), scale.to(b));
}

const showAll = () => showAxis(0, 1);

function zoom(factor, at) {
  const f = frameOf();
  const size = clamp((f.ub - f.ua) / factor, leastOf(f.run), 1);
  const share = at === undefined ? 0.5 : clamp((at - f.left) / (f.right - f.left), 0, 1);
  const ua = f.ua + share * (f.ub - f.ua) - share * size;
  showAxis(ua, ua + size);
}

function pan(share) {
  const f = frameOf();
  const by = share * (f.ub - f.ua);
  const to = clamp(f.ua + by, 0, 1 - (f.ub - f.ua));
  showAxis(to, to + (f.ub - f.ua));
}

// Shows turns by index, with a margin on both sides.
function showTurns(from, to) {
  const { turn, end } = state.run;
  from = clamp(from, 0, turn.n - 1);
  showTime(turn.at[from], to + 1 < turn.n ? turn.at[to + 1] : end);
}

// The index of the turn at a moment.
function turnAt(t) {
  const { turn } = state.run;
  return clamp(lower(turn.at, t + 0.5) - 1, 0, Math.max(turn.n - 1, 0));
}

const drawers = [];
const outlines = [];
let asked = false;
let whole = false;

// Requests a frame that draws all changes since the last.
function frame() {
  whole = true;
  frameOutlines();
}

// Requests a frame in which only the hovered item has changed.
function frameOutlines() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => asked && (whole ? drawNow() : draw(outlines)));
}

function drawNow() {
  whole = false;
  draw([...drawers, ...outlines]);
}

function draw(all) {
  asked = false;
  if (!state.run) return;
  const f = frameOf();
  for (const one of all) one(f);
}
