// The lanes: CPU phases, the forward stream, the copy stream.

const LANES = { top: 66, cpu: 30, gap: 22, forward: 30, copyGap: 8, copy: 14, foot: 8 };
const BIN = 3;
const CHAR = 6.4;

function laneBox(lane) {
  const cpu = LANES.top;
  const forward = cpu + LANES.cpu + LANES.gap;
  if (lane === 0) return [cpu, LANES.cpu];
  if (lane === 1) return [forward, LANES.forward];
  return [forward + LANES.forward + LANES.copyGap, LANES.copy];
}

function lanesHeight(run) {
  const [y, h] = laneBox(run.lanes[2].length ? 2 : 1);
  return y + h + LANES.foot;
}

// Spans too short to see alone are binned: `add` takes a span of a kind, `paths` returns one path for each kind, stacked by share.
function bins(left, right, kinds) {
  const n = Math.max(1, Math.ceil((right - left) / BIN));
  const sums = Array.from({ length: kinds }, () => new Float64Array(n));
  const counts = new Uint16Array(n);
  return {
    add(x0, x1, kind) {
      let bin = clamp(Math.floor((x0 - left) / BIN), 0, n - 1);
      counts[bin] += 1;
      for (; x0 < x1 && bin < n; bin++) {
        const to = Math.min(x1, left + (bin + 1) * BIN);
        sums[kind][bin] += Math.max(to - x0, 0) / BIN;
        x0 = to;
      }
    },
    paths(y, h, prefix) {
      const base = new Float64Array(n);
      let out = "";
      sums.forEach((sum, kind) => {
        let d = "";
        for (let bin = 0; bin < n; bin++) {
          if (sum[bin] <= 0) continue;
          // One or two short spans in a bin are drawn alone, in full height.
          const alone = counts[bin] <= 2;
          const width = alone ? Math.max(1, sum[bin] * BIN) : BIN;
          const height = alone ? h : sum[bin] * h;
          if (height < 0.15) continue;
          const top = alone ? y : y + h - base[bin] - height;
          base[bin] += alone ? 0 : height;
          d += `M${px(left + bin * BIN + (alone ? Math.min(base[bin], BIN - 1) : 0))} ${px(Math.max(top, y))}h${px(width)}v${px(height)}h${-px(width)}z`;
        }
        if (d) out += `<path class="${prefix}${kind}" d="${d}"/>`;
      });
      return out;
    },
  };
}

// The spans of a lane in view, by index.
function spansInView(f, lane, visit) {
  const ids = f.run.lanes[lane];
  const { span0, span1 } = f.scale;
  for (let at = lower(ids, f.ua, (i) => span1[i]); at < ids.length && span0[ids[at]] <= f.ub; at++) visit(ids[at]);
}

function spanLabel(run, i, width) {
  const { span } = run;
  const work = WORDS.works[span.work[i]];
  const batch = span.batch[i] >= 0 ? `b${span.batch[i]}` : "";
  const rows = span.lane[i] === 1 ? rowsOf(run, span.batch[i]) : 0;
  const forms = span.lane[i] === 0
    ? [batch ? `${work} ${batch}` : work, batch]
    : [`${batch} ${work}${rows > 1 ? ` × ${rows}` : ""}`, `${batch} ${work}`, batch];
  return forms.find((text) => text && text.length * CHAR + 6 <= width) ?? "";
}

const rowsOf = (run, batch) => (run.groupsOf.get(batch) ?? []).reduce((sum, g) => sum + run.group.rows[g], 0);

function drawLanes(f) {
  const { run, left, right } = f;
  const { span } = run;
  let out = "";
  for (const lane of [0, 1, 2]) {
    if (lane === 2 && !run.lanes[2].length) continue;
    const [y, h] = laneBox(lane);
    out += `<rect class="lane" x="${left}" y="${y}" width="${px(right - left)}" height="${h}"/>`;
    const small = bins(left, right, WORDS.works.length);
    let bars = "";
    let words = "";
    spansInView(f, lane, (i) => {
      const x0 = Math.max(f.x(f.scale.span0[i]), left);
      const x1 = Math.min(f.x(f.scale.span1[i]), right);
      if (x1 - x0 < 2.5) {
        small.add(x0, Math.max(x1, x0 + 1e-4), span.work[i]);
        return;
      }
      bars += `<rect class="sp w${span.work[i]}" data-s="${i}" x="${px(x0)}" y="${y}" width="${px(x1 - x0 - 0.7)}" height="${h}" rx="2.5"/>`;
      const text = lane < 2 ? spanLabel(run, i, x1 - x0) : "";
      if (text) words += `<text class="on w${span.work[i]}t" x="${px((x0 + x1) / 2)}" y="${y + h / 2 + 4}">${text}</text>`;
    });
    out += small.paths(y, h, "bin w") + bars + words;
  }
  out += drawFlows(f) + drawReads(f);
  const svg = $("lanes");
  size(svg, f, lanesHeight(run));
  svg.querySelector(".plot").innerHTML = out;
  svg.querySelector(".names").innerHTML = `<rect class="gutter" width="${left - 1}" height="${lanesHeight(run)}"/>` + [0, 1, 2]
    .filter((lane) => lane < 2 || run.lanes[2].length)
    .map((lane) => {
      const [y, h] = laneBox(lane);
      const word = f.left < 100 ? ["CPU", "GPU", "copy"][lane] : LANE_WORDS[lane];
      return `<text class="name" x="${left - 12}" y="${y + h / 2 + 4}">${word}</text>`;
    })
    .join("") + (f.left < 100 || state.reads === "none" ? "" : `<text class="sub" x="${left - 12}" y="36">reads of</text><text class="sub" x="${left - 12}" y="49">shared fields</text>`);
}

// Arrows from the end of a forward to its result.
function drawFlows(f) {
  const { run } = f;
  const { span } = run;
  const [cpu, cpuH] = laneBox(0);
  const [forward] = laneBox(1);
  const flows = [];
  let last = -Infinity;
  let close = 0;
  spansInView(f, 1, (i) => {
    const to = run.resultOf.get(span.batch[i]);
    if (to === undefined) return;
    const x0 = f.x(f.scale.span1[i]);
    const x1 = f.x(f.scale.span0[to]);
    if (x0 - last < 7) close += 1;
    last = x0;
    if (Math.max(x0, x1) >= f.left && Math.min(x0, x1) <= f.right) flows.push([i, x0, x1, span.batch[i]]);
  });
  if (close > flows.length / 2 && flows.length > 20) return "";
  const [y0, y1] = [forward, cpu + cpuH];
  const mid = (y0 + y1) / 2;
  return flows
    .map(([i, x0, x1, batch]) => `<path class="flow" data-flow="${i}" data-b="${batch}" d="M${px(x0)} ${y0}C${px(x0)} ${mid} ${px(x1 + 2)} ${mid} ${px(x1 + 2)} ${y1 + 2}" marker-end="url(#tip-flow)"/>`)
    .join("");
}

function size(svg, f, height) {
  const box = `0 0 ${f.right + GAP} ${height}`;
  if (svg.getAttribute("viewBox") !== box) {
    svg.setAttribute("viewBox", box);
    svg.style.height = `${height}px`;
  }
}
