// The plots below the chart: lookahead, boundary outcomes by rule, load over time, KL divergence of hits, reads of shared fields.
// A plot without data is left out.

const PLOT = { width: 420, height: 170, left: 44, right: 12, top: 10, bottom: 24 };

function figure(title, note, body, legend = "") {
  return `<figure><figcaption><b>${title}</b> <span class="soft">${note}</span></figcaption>${body}${legend ? `<div class="legend">${legend}</div>` : ""}</figure>`;
}

const plotSvg = (label, inner, height = PLOT.height) => `<svg viewBox="0 0 ${PLOT.width} ${height}" role="img" aria-label="${html(label)}">${inner}</svg>`;

function niceMost(most) {
  if (most <= 5) return Math.max(1, Math.ceil(most));
  const power = Math.pow(10, Math.floor(Math.log10(most)));
  return [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= most);
}

// A plot is as wide as its place, so that its text has the size of the page.
function plotWidth() {
  const whole = $("plots").clientWidth || 420;
  const columns = Math.max(1, Math.floor((whole + 14) / 414));
  return state.printing ? 420 : Math.round(clamp((whole - 14 * (columns - 1)) / columns - 30, 240, 900));
}

function drawPlots() {
  const { run } = state;
  PLOT.width = plotWidth();
  $("plots").innerHTML = [plotLookahead(run), plotOutcomes(), plotBatch(run), plotSlots(run), plotReads(run), plotKl(run)].join("");
}

function plotLookahead(run) {
  const all = Object.entries(run.report.lookahead).map(([l, rows]) => [+l, rows]).sort((a, b) => a[0] - b[0]);
  const sum = all.reduce((sum, [, rows]) => sum + rows, 0);
  if (!sum) return "";
  const { width, left, right } = PLOT;
  const most = Math.max(...all.map(([, rows]) => rows));
  let inner = "";
  all.forEach(([l, rows], at) => {
    const y = 14 + at * 36;
    const w = ((width - left - right - 110) * rows) / most;
    inner += `<text class="tick-y" x="${left - 6}" y="${y + 16}">L = ${l}</text><rect class="bar look${clamp(l, 0, 2)}" x="${left}" y="${y}" width="${px(Math.max(w, rows ? 1 : 0))}" height="24" rx="3"/><text class="val" x="${px(left + w + 6)}" y="${y + 16}">${number(rows)} · ${((100 * rows) / sum).toFixed(1)} %</text>`;
  });
  const words = all.map(([l, rows]) => `L=${l}: ${rows}`).join(", ");
  return figure("Lookahead", "decode batches of the request prepared before its result was processed", plotSvg(`Lookahead of decode results: ${words}`, inner, 20 + all.length * 36));
}

const OUTCOMES = ["agree", "settled", "early", "repeat", "missed", "wrong-label", "wrong-slot"];

// Boundaries only: rows with nothing due and no decision are far more.
const outcomesOf = (head) => OUTCOMES.map((word) => [word, head.outcomes[CLASS[word]]]);

function plotOutcomes() {
  const { width, left, right } = PLOT;
  const rows = PAGE.runs.map((head) => [head.report.rule, outcomesOf(head), head.report.verdict]);
  const most = Math.max(...rows.map(([, all]) => all.reduce((sum, [, n]) => sum + n, 0)));
  if (!most) return "";
  const names = 118;
  const room = width - names - right - 40;
  let inner = "";
  rows.forEach(([rule, all, verdict], at) => {
    const y = 6 + at * 28;
    let x = names;
    const sum = all.reduce((sum, [, n]) => sum + n, 0);
    inner += `<text class="tick-y${PAGE.runs[at] === state.run.head ? " now" : ""}" x="${names - 8}" y="${y + 14}">${html(rule)}</text>`;
    for (const [word, n] of all) {
      if (!n) continue;
      const w = (room * n) / most;
      inner += `<g class="part"><title>${html(rule)}: ${n} ${word}</title><rect class="fill c-${word}" x="${px(x)}" y="${y}" width="${px(Math.max(w - 1, 1))}" height="20" rx="2"/>${w > 16 ? `<path class="mk on-bar s-${word}" d="${sign(CLASS[word], x + w / 2, y + 10, 4)}"/>` : ""}</g>`;
      x += w;
    }
    inner += `<text class="val" x="${px(x + 6)}" y="${y + 14}">${number(sum)} <tspan class="v-${verdict}">${VERDICT_SIGN[verdict]}</tspan></text>`;
  });
  const legend = OUTCOMES.filter((word) => rows.some(([, all]) => all.some(([of, n]) => of === word && n))).map((word) => `<span>${signSvg(CLASS[word])}${word}</span>`).join("");
  return figure("Boundary outcomes by rule", "decisions where a checkpoint was due or the rule fired", plotSvg("Boundary outcomes by rule", inner, 10 + rows.length * 28), legend);
}

// A line or an area over time. Each pixel shows the greatest value in it.
function overTime(run, series, label, most) {
  const { width, height, left, right, top, bottom } = PLOT;
  const top0 = niceMost(most);
  const x = (t) => left + ((t - run.begin) / (run.end - run.begin || 1)) * (width - left - right);
  const y = (v) => height - bottom - (v / top0) * (height - top - bottom);
  let inner = "";
  for (const v of [0, top0 / 2, top0]) {
    if (v % 1) continue;
    inner += `<path class="grid" d="M${left} ${px(y(v))}H${width - right}"/><text class="tick-y" x="${left - 6}" y="${px(y(v) + 4)}">${number(v)}</text>`;
  }
  inner += `<text class="tick-x" x="${left}" y="${height - 6}">${time(run.begin)}</text><text class="tick-x last" x="${width - right}" y="${height - 6}">${time(run.end)}</text>`;
  for (const [values, cls] of series) {
    let d = "";
    let column = -1;
    let high = 0;
    let last = 0;
    const put = (at, v) => (d += `${d ? "L" : "M"}${px(at)} ${px(y(v))}`);
    for (let i = 0; i < run.turn.n; i++) {
      const at = Math.floor(x(run.turn.at[i]) * 2);
      if (at !== column) {
        if (column >= 0) put(column / 2, high), put(column / 2, last);
        put(at / 2, last);
        column = at;
        high = values[i];
      }
      high = Math.max(high, values[i]);
      last = values[i];
    }
    if (column >= 0) put(column / 2, high), put(column / 2, last), put(x(run.end), last);
    if (cls.startsWith("area")) d += `L${px(x(run.end))} ${y(0)}L${px(x(run.turn.at[0] ?? 0))} ${y(0)}z`;
    inner += `<path class="${cls}" d="${d}"/>`;
  }
  inner += `<rect class="window" data-x0="${left}" data-x1="${width - right}" y="${top}" height="${height - top - bottom}" x="${left}" width="0"/>`;
  return plotSvg(label, inner);
}

function plotBatch(run) {
  const most = Math.max(...run.turn.rows, 0);
  if (!most) return "";
  const waiting = Math.max(...run.turn.waiting, 0);
  const series = [[run.turn.rows, "area batch"]];
  if (waiting) series.push([run.turn.waiting, "line waiting"]);
  return figure("Batch size over time", "requests in the batch that each turn launched", overTime(run, series, `Batch size over time, at most ${most}`, Math.max(most, waiting)), `<span><i class="key batch"></i>rows</span>${waiting ? `<span><i class="key waiting"></i>requests waiting</span>` : ""}`);
}

function plotSlots(run) {
  const most = Math.max(...run.turn.used, 0);
  if (!most) return "";
  return figure("State slots over time", "held at the end of each turn", overTime(run, [[run.turn.used, "area used"], [run.turn.cached, "area cached"]], `State slots held over time, at most ${most}`, most), `<span><i class="key used"></i>held</span><span><i class="key cached"></i>of these cached</span>`);
}

function plotReads(run) {
  const rows = run.byField.map((of, field) => [WORDS.fields[field], of]).filter(([, of]) => of.newer);
  if (!rows.length) return "";
  const { width, right } = PLOT;
  const names = 130;
  const most = Math.max(...rows.map(([, of]) => of.newer));
  let inner = "";
  rows.forEach(([field, of], at) => {
    const y = 6 + at * 28;
    const w = ((width - names - right - 148) * of.newer) / most;
    const hot = (w * of.changed) / of.newer;
    inner += `<text class="tick-y" x="${names - 8}" y="${y + 14}">${field}</text><rect class="fill warm" x="${names}" y="${y}" width="${px(Math.max(w, 1))}" height="20" rx="2"/><rect class="fill hot" x="${names}" y="${y}" width="${px(of.changed ? Math.max(hot, 2) : 0)}" height="20" rx="2"/><text class="val" x="${px(names + w + 6)}" y="${y + 14}">${number(of.newer)} newer, ${number(of.changed)} changed</text>`;
  });
  return figure("Reads of shared fields", "results that read a newer value than their prepare saw", plotSvg("Reads of shared fields", inner, 10 + rows.length * 28), `<span><i class="key warm"></i>newer</span><span><i class="key hot"></i>changed the decision</span>`);
}

const nats = (kl) => (kl === null ? "-" : kl === 0 ? "0" : kl >= 0.0001 ? kl.toFixed(4) : kl.toExponential(1));

function plotKl(run) {
  const { kl } = run;
  if (!kl || !kl.hits.some((hit) => hit.avg !== null)) return "";
  const { width, height, left, right, top, bottom } = PLOT;
  const hits = kl.hits.filter((hit) => hit.avg !== null);
  const floor = 1e-6;
  const high = Math.max(kl.limit * 5, ...hits.map((hit) => hit.max)) * 1.5;
  const low = floor / 2;
  const y = (v) => height - bottom - ((Math.log10(Math.max(v, floor)) - Math.log10(low)) / (Math.log10(high) - Math.log10(low))) * (height - top - bottom);
  const x = (i) => left + 10 + ((i + 0.5) * (width - left - right - 20)) / hits.length;
  let inner = "";
  for (let power = -6; Math.pow(10, power) <= high; power++) {
    const v = Math.pow(10, power);
    inner += `<path class="grid" d="M${left} ${px(y(v))}H${width - right}"/><text class="tick-y" x="${left - 6}" y="${px(y(v) + 4)}">${power === -6 ? "≤ 1e-6" : power <= -4 ? v.toExponential(0) : v}</text>`;
  }
  for (const [v, word, cls] of [[kl.limit, `limit ${kl.limit}`, "limit"], [kl.before, `before ${kl.before}`, "before"]]) {
    inner += `<path class="${cls}" d="M${left} ${px(y(v))}H${width - right}"/><text class="lim" x="${width - right}" y="${px(y(v) + (cls === "limit" ? -3 : 11))}">${word}</text>`;
  }
  hits.forEach((hit, i) => {
    const bad = hit.avg > kl.limit;
    inner += `<g class="hit${bad ? " bad" : ""}"><title>${html(hit.request)}, turn ${hit.turn}, label ${hit.label}: avg ${nats(hit.avg)}, max ${nats(hit.max)} nats over ${counted(hit.outputs, "output")}${hit.first_difference ? `, first other token at output ${hit.first_difference}` : ""}</title><path class="stem" d="M${px(x(i))} ${px(y(hit.avg))}V${px(y(hit.max))}"/><circle cx="${px(x(i))}" cy="${px(y(hit.avg))}" r="4"/><path class="max" d="M${px(x(i) - 4.5)} ${px(y(hit.max) + 3.5)}h9l-4.5 -8z"/></g>`;
    if (hits.length <= 8) inner += `<text class="tick-x mid" x="${px(x(i))}" y="${height - 6}">${html(hit.request)}</text>`;
  });
  const sums = hits.reduce((sum, hit) => [sum[0] + hit.avg * hit.outputs, sum[1] + hit.outputs], [0, 0]);
  const note = `KL(cold prefill ‖ from the cache), nats: avg ${nats(sums[1] ? sums[0] / sums[1] : 0)}, max ${nats(Math.max(...hits.map((hit) => hit.max)))}`;
  return figure("KL divergence of cache hits", note, plotSvg(note, inner), `<span>● average of a hit</span><span>▲ most</span>`);
}

// Marks the range in view on the plots over time.
function drawWindows(f) {
  const { run } = f;
  const share = (t) => (t - run.begin) / (run.end - run.begin || 1);
  for (const rect of document.querySelectorAll("#plots .window")) {
    const [x0, x1] = [+rect.dataset.x0, +rect.dataset.x1];
    rect.setAttribute("x", px(x0 + share(state.a) * (x1 - x0)));
    rect.setAttribute("width", px(Math.max(2, (share(state.b) - share(state.a)) * (x1 - x0))));
  }
}
