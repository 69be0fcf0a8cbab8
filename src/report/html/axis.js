// The axis above the lanes, its ticks, the flags of findings on it, and the overview of the whole run.

const NICE = [1, 2, 5];

// Moments for ticks at least `least` pixels apart.
function tickTimes(f, least) {
  const { back, left, right } = f;
  const out = [];
  if (f.scale.even) return out;
  const per = (state.b - state.a) / (right - left);
  let step = 1;
  for (let power = 0; step < per * least; power++) step = NICE[power % 3] * Math.pow(10, Math.floor(power / 3));
  for (let t = Math.ceil(back(left) / step) * step; t <= state.b && out.length < 500; t += step) out.push([t, step]);
  return out;
}

// The indices of turns whose beginnings are at least `least` pixels apart.
function tickTurns(f, least) {
  const { turn } = f.run;
  const first = Math.max(0, lower(turn.at, state.a));
  const last = lower(turn.at, state.b + 1);
  const most = Math.max(1, Math.floor((f.right - f.left) / least));
  let every = 1;
  for (let power = 0; (last - first) / every > most; power++) every = NICE[power % 3] * Math.pow(10, Math.floor(power / 3));
  const out = [];
  let free = -Infinity;
  for (let i = Math.ceil(first / every) * every; i < last; i += every) {
    const x = f.xt(turn.at[i]);
    if (x < free) continue;
    free = x + least * 0.8;
    out.push([i, x]);
  }
  return out;
}

function drawAxis(f) {
  const { run, left, right } = f;
  let out = "";
  const turns = tickTurns(f, 74);
  const step = turns.length > 1 ? Math.max(1, (state.b - state.a) / turns.length / 50) : 1000;
  for (const [i, x] of turns) {
    out += `<path class="tick" d="M${px(x)} 4v34"/>`;
    if (right - x < 62) continue;
    out += `<text class="turn" x="${px(x + 4)}" y="14">turn ${run.turn.turn[i]}</text>`;
    if (f.scale.even) out += `<text class="at" x="${px(x + 4)}" y="31">${time(run.turn.at[i], step)}</text>`;
  }
  for (const [t, step] of tickTimes(f, 90)) {
    const x = f.xt(t);
    out += `<path class="tick at" d="M${px(x)} 34v5"/><text class="at${x - left < 24 ? "" : " mid"}" x="${px(x)}" y="31">${time(t, step)}</text>`;
  }
  out += drawFlags(f);
  const svg = $("axis");
  size(svg, f, 40);
  svg.querySelector(".plot").innerHTML = out;
  svg.querySelector(".names").innerHTML = `<text class="sub" x="${left - 12}" y="14">turn</text><text class="sub" x="${left - 12}" y="31">${f.left < 100 ? "time" : "virtual time"}</text>`;
}

// The flags of findings, with their numbers.
function drawFlags(f) {
  const { run } = f;
  const places = findingTimes(run);
  let out = "";
  let free = -Infinity;
  let shown = 0;
  places.forEach((t, i) => {
    if (t === null || t < state.a || t > state.b || shown > 200) return;
    const x = f.xt(t);
    const on = i === state.finding;
    if (x < free && !on) return;
    free = x + 14;
    shown += 1;
    out += `<g class="flag k-${run.report.findings[i].kind}${on ? " on" : ""}" data-f="${i}"><path d="M${px(x)} 39l-5 -8h10z"/></g>`;
  });
  return out;
}

// The time of each finding in ns; null if its turn is not shown.
function findingTimes(run) {
  if (!run.findingTimes) {
    run.findingTimes = run.report.findings.map((finding, i) => {
      const place = run.places[i] ?? -1;
      if (place >= 0) return run.span.t1[place];
      const at = lower(run.turn.turn, finding.turn, (turn) => turn);
      return run.turn.turn[at] === finding.turn ? run.turn.at[at] : null;
    });
  }
  return run.findingTimes;
}

// The overview: the whole run in a strip, with the range in view.
function drawMap(f) {
  const { run, scale, left, right } = f;
  const key = `${run.index} ${scale.even} ${right} ${left}`;
  const svg = $("map");
  const x = (u) => left + u * (right - left);
  if (svg.dataset.key !== key) {
    svg.dataset.key = key;
    const small = bins(left, right, WORDS.works.length);
    for (const i of run.lanes[1]) small.add(x(scale.span0[i]), x(scale.span1[i]), run.span.work[i]);
    let out = `<rect class="lane" x="${left}" y="6" width="${px(right - left)}" height="18"/>` + small.paths(6, 18, "bin w");
    const seen = new Set();
    for (const m of run.boundaries) {
      if (!BAD.has(run.mark.class[m])) continue;
      const at = Math.round(x(scale.span1[run.stepSpan(run.mark.step[m])]) / 2) * 2;
      if (seen.has(at)) continue;
      seen.add(at);
      out += `<path class="spot" d="M${at} 24v5"/>`;
    }
    let free = -Infinity;
    findingTimes(run).forEach((t) => {
      if (t === null) return;
      const at = x(scale.to(t));
      if (at < free && at > free - 6) return;
      free = at + 5;
      out += `<path class="flag" d="M${px(at)} 7l-4 -7h8z"/>`;
    });
    size(svg, f, 30);
    svg.querySelector(".plot").innerHTML = out;
    svg.querySelector(".names").innerHTML = `<text class="sub" x="${left - 12}" y="19">${left < 100 ? "all" : "whole run"}</text>`;
  }
  const [x0, x1] = [x(f.ua), x(f.ub)];
  svg.querySelector(".over").innerHTML =
    `<path class="shade" d="M${left} 2H${px(x0)}V28H${left}zM${px(x1)} 2H${right}V28H${px(x1)}z"/>` +
    `<rect class="brush" x="${px(x0)}" y="2" width="${px(Math.max(x1 - x0, 3))}" height="26" rx="3"/>`;
}
